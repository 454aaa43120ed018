//! Processes that come and go, on a tree that the test changes.

use super::*;
use std::os::unix::fs::symlink;

const SECOND: u64 = 1_000_000_000;
const SOCKET: u64 = 77;

struct Host {
    folder: tempfile::TempDir,
    scene: Watchlist,
    now: u64,
}

impl Host {
    fn new() -> Host {
        let folder = tempfile::tempdir().expect("makes a folder");
        std::fs::create_dir(folder.path().join("proc")).expect("makes a folder");
        let scene = Watchlist::new(Roots::at(folder.path()), None, vec![]);
        Host { folder, scene, now: 100 * SECOND }
    }

    fn start(&self, pid: u32, parent: u32, holds_socket: bool) {
        let own = self.folder.path().join("proc").join(pid.to_string());
        std::fs::create_dir_all(own.join("fd")).expect("makes folders");
        std::fs::create_dir_all(own.join(format!("task/{pid}"))).expect("makes folders");
        let stat = format!("{pid} (x) S {parent} 1 1 0 -1 0 0 0 0 0 1 2 0 0 20 0 1 0 {} 0 5", pid * 10);
        std::fs::write(own.join("stat"), stat).expect("writes");
        self.set_children(pid, "");
        if holds_socket {
            symlink(format!("socket:[{SOCKET}]"), own.join("fd/3")).expect("links");
        }
    }

    fn set_children(&self, pid: u32, children: &str) {
        let path = self.folder.path().join(format!("proc/{pid}/task/{pid}/children"));
        std::fs::write(path, children).expect("writes");
    }

    fn end(&mut self, pid: u32) {
        std::fs::remove_dir_all(self.folder.path().join(format!("proc/{pid}"))).expect("removes");
        self.scene.note_gone(pid);
    }

    fn came(&mut self) -> Vec<u32> {
        let mut pids: Vec<u32> = self.scene.take_came().iter().map(|process| process.pid).collect();
        pids.sort_unstable();
        pids
    }

    /// Lets seconds pass, looks, and tells the processes.
    fn look(&mut self, after_s: u64) -> Vec<u32> {
        self.now += after_s * SECOND;
        self.scene.look(MonoNs(self.now), &mut Vec::new());
        let mut pids: Vec<u32> = self.scene.processes().map(|process| process.pid).collect();
        pids.sort_unstable();
        pids
    }
}

#[test]
fn a_server_is_found_by_its_socket_and_its_workers_by_their_parent() {
    let mut host = Host::new();
    host.start(10, 1, true);
    host.start(11, 10, true);
    host.start(12, 10, false);
    host.start(13, 1, false);
    assert_eq!(host.look(0), [0u32; 0], "no socket is known");
    host.scene.note_listeners([SOCKET].into_iter());
    assert_eq!(host.look(1), [10, 11, 12]);
    assert_eq!(host.came(), [10, 11, 12]);
    host.start(14, 12, false);
    host.set_children(12, "14 ");
    let generation = host.scene.generation();
    assert_eq!(host.look(1), [10, 11, 12, 14]);
    assert!(host.scene.generation() > generation);
    assert_eq!(host.came(), [14], "each is told once");
    assert_eq!(host.came(), [0u32; 0]);
}

#[test]
fn a_server_that_was_restarted_is_found_again() {
    let mut host = Host::new();
    host.start(10, 1, true);
    host.scene.note_listeners([SOCKET].into_iter());
    assert_eq!(host.look(0), [10]);
    host.end(10);
    assert_eq!(host.look(1), [10], "it keeps its place until others come");
    assert!(host.scene.first(ProcessRole::Target).is_none());
    host.start(20, 1, true);
    assert_eq!(host.look(1), [10], "the last search was not long ago");
    assert_eq!(host.look(5), [20]);
    assert_eq!(host.scene.first(ProcessRole::Target).map(|process| process.pid), Some(20));
}

#[test]
fn another_process_with_the_same_id_is_another_process() {
    let mut host = Host::new();
    host.start(10, 1, true);
    host.scene.note_listeners([SOCKET].into_iter());
    assert_eq!(host.look(0), [10]);
    host.end(10);
    host.start(10, 1, true);
    let stat = "10 (x) S 1 1 1 0 -1 0 0 0 0 0 1 2 0 0 20 0 1 0 4321 0 5";
    std::fs::write(host.folder.path().join("proc/10/stat"), stat).expect("writes");
    assert_eq!(host.look(6), [10]);
    assert_eq!(host.scene.first(ProcessRole::Target).map(|process| process.start_ticks), Some(4321));
}

#[test]
fn other_sockets_are_searched_for() {
    let mut host = Host::new();
    host.start(10, 1, true);
    host.scene.note_listeners([SOCKET].into_iter());
    assert_eq!(host.look(0), [10]);
    host.start(20, 1, false);
    symlink("socket:[78]", host.folder.path().join("proc/20/fd/3")).expect("links");
    assert_eq!(host.look(10), [10]);
    host.scene.note_listeners([SOCKET, 78].into_iter());
    assert_eq!(host.look(1), [10, 20]);
}

#[test]
fn a_flood_of_workers_is_bounded() {
    let mut host = Host::new();
    host.start(10, 1, true);
    (1000..1200).for_each(|pid| host.start(pid, 10, false));
    host.scene.note_listeners([SOCKET].into_iter());
    assert_eq!(host.look(0).len(), MAX_FIRST);
}
