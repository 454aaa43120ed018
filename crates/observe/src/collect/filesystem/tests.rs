//! Which mounts are chosen, and the space of those of this host.

use super::*;
use crate::collect::Beat;
use crate::roots::Roots;
use crate::watch::Watchlist;

fn chosen(text: &str) -> Vec<String> {
    let mut candidates = Vec::new();
    mountinfo::parse(text.as_bytes(), |mount| candidates.extend(Candidate::new(mount))).expect("parses");
    choose(candidates)
}

#[test]
fn local_file_systems_that_can_be_written_to_are_asked_once() {
    let text = "\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n\
28 27 254:0 /a /run/netns rw - ext4 /dev/vda rw\n\
29 27 0:22 / /sys rw - sysfs sysfs rw\n\
30 29 0:23 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
31 27 0:24 / /dev rw - devtmpfs udev rw\n\
32 31 0:25 / /dev/shm rw - tmpfs tmpfs rw\n\
33 27 0:26 / /run rw - tmpfs tmpfs rw\n\
34 33 0:27 / /run/user/0 rw - tmpfs tmpfs rw\n\
35 27 8:1 / /old ro - ext4 /dev/sda1 ro\n\
36 27 8:2 / /bound ro - xfs /dev/sda2 rw\n\
37 27 0:30 / /far rw - nfs4 server:/far rw\n\
38 37 8:3 / /far/disk rw - ext4 /dev/sda3 rw\n\
39 27 0:31 / /home rw - fuse.sshfs sshfs rw\n\
40 27 0:32 / /layers/a rw - overlay overlay rw\n\
41 27 8:4 / /var/lib/mysql rw - xfs /dev/sda4 rw\n";
    assert_eq!(chosen(text), ["/", "/run", "/dev/shm", "/var/lib/mysql", "/layers/a"]);
}

#[test]
fn what_a_later_mount_hides_is_not_asked() {
    let text = "\
27 1 254:0 / / rw - ext4 /dev/vda rw\n\
28 27 8:1 / /data/a rw - ext4 /dev/sda1 rw\n\
29 27 8:2 / /database rw - ext4 /dev/sda2 rw\n\
30 27 0:31 / /data rw - fuse.x x rw\n";
    assert_eq!(chosen(text), ["/", "/database"]);
    let many: String =
        (0..50).map(|id| format!("{id} 1 8:{id} / /disk{id} rw - ext4 /dev/sd rw\n")).collect();
    assert_eq!(chosen(&many).len(), 12);
}

#[test]
fn the_space_of_this_host_is_read_every_five_seconds_and_at_the_end() {
    let mut scene = Watchlist::new(Roots::host(), None, vec![]);
    let mut collector = FilesystemCollector::default();
    let mut read = |collector: &mut FilesystemCollector| {
        collector.read(&mut Pass { scene: &mut scene, buffer: &mut Vec::new(), beat: Beat::Second });
        collector.table.values().iter().any(Option::is_some)
    };
    if !read(&mut collector) {
        // A host may have nothing that can be written to.
        return;
    }
    assert!(!read(&mut collector));
    collector.hasten();
    assert!(read(&mut collector));
    let values = collector.table.values();
    assert!(
        values.chunks(4).all(|space| space[0].is_none_or(|size| space[1].is_none_or(|free| free <= size)))
    );
}
