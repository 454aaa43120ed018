//! Settings that are no sysctls: of disks, links, mounts, services and file systems. Each is changed on an object that
//! was made for it, seen to change, put back, and then killed at every point like the others.

use crate::hangs;
use crate::rig::{self, Rig};
use crate::snapshot::{DISK_LIMIT, MOVED, OWN_FILE, Snapshot};
use crate::sweep;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use sysdyno_needs::skip;

/// All kinds.
pub fn run(rig: &mut Rig) {
    rig.forget();
    let disk = Disk::new(rig, "disk");
    let mut changes = Vec::new();
    changes.extend(disk.as_ref().map(|disk| schedulers(rig, disk)));
    let links = Links::new();
    changes.extend(links.iter().flat_map(|_| links_are_set(rig)));
    let mount = Mount::new(rig);
    changes.extend(mount.as_ref().map(|mount| options(rig, mount)));
    let family = Family::new(rig);
    changes.extend(family.as_ref().map(|family| quotas(rig, family)));
    let servers = Servers::new(rig);
    changes.extend(servers.settings(rig));
    if let (Some(disk), Some(_), Some(mount)) = (&disk, &links, &mount) {
        the_snapshot_sees_each_object(rig, disk, mount, &servers);
    }
    changes.extend(links.iter().map(|_| rates(rig)));
    let limit = disk.as_ref().and_then(DiskLimit::set);
    changes.extend(disk.iter().zip(&limit).map(|(disk, _)| disk_limits(rig, disk)));
    rig.before = Snapshot::take();
    rig.sample = 4;
    sweep::run_over(rig, changes);
    drop((limit, disk, links, mount, family, servers));
    rig.servers.clear();
}

/// A loop device of our own.
pub struct Disk {
    pub device: String,
    /// The file behind it.
    _file: PathBuf,
}

impl Disk {
    /// Size of the file behind it. Unit: bytes.
    const SIZE: u64 = 64 << 20;

    /// Attaches a file; `None` where that cannot be.
    fn new(rig: &Rig, name: &str) -> Option<Disk> {
        Disk::sized(rig, name, Disk::SIZE)
    }

    /// The same, of so many bytes.
    pub fn sized(rig: &Rig, name: &str, size_bytes: u64) -> Option<Disk> {
        let file = rig.folder().join(format!("{OWN_FILE}-{name}.img"));
        fs::File::create(&file).and_then(|image| image.set_len(size_bytes)).expect("can be made");
        let ended = rig::run(Command::new("losetup").args(["--find", "--show"]).arg(&file));
        if ended.code != Some(0) {
            skip("settings of disks", &["losetup", "loop"]);
            return None;
        }
        Some(Disk { device: ended.text.trim().to_owned(), _file: file })
    }

    /// Its name, without the folder.
    pub fn name(&self) -> &str {
        self.device.trim_start_matches("/dev/")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        rig::run(Command::new("losetup").args(["--detach", &self.device]));
    }
}

/// An ext4 file system of our own, mounted in this namespace.
struct Mount {
    path: String,
    _disk: Disk,
}

impl Mount {
    /// Makes and mounts it; `None` where that cannot be.
    fn new(rig: &Rig) -> Option<Mount> {
        let disk = Disk::new(rig, "mount")?;
        let path = rig.folder().join("mounted").display().to_string();
        let script =
            format!("mkfs.ext4 -q {0} && mkdir {path} && mount -o nosuid,commit=9 {0} {path}", disk.device);
        let made = rig::run(Command::new("sh").args(["-c", &script]));
        if made.code != Some(0) {
            skip("settings of mounts", &["e2fsprogs", "ext4"]);
            return None;
        }
        Some(Mount { path, _disk: disk })
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        rig::run(Command::new("umount").arg(&self.path));
    }
}

/// A process with a child, both of which may be moved between control groups.
struct Family {
    parent: Child,
    child: u32,
}

impl Family {
    /// Starts them; `None` where their CPUs cannot be limited.
    fn new(rig: &mut Rig) -> Option<Family> {
        let (name, value) = MOVED.split_once('=').expect("has a value");
        let script = "sleep 86400 & wait";
        let parent = Command::new("sh").args(["-c", script]).env(name, value).stdin(Stdio::null()).spawn();
        let parent = parent.expect("sh can be run");
        rig.servers.push(parent.id());
        let list = format!("/proc/{0}/task/{0}/children", parent.id());
        let child = || fs::read_to_string(&list).ok()?.split_whitespace().next()?.parse().ok();
        assert!(rig::wait_until(|| child().is_some()), "the child does not start");
        let family = Family { child: child().expect("is there"), parent };
        if rig.ask(&["plan", &family.key("0.5")]).code != Some(0) {
            skip("CPUs of processes", &["cgroup-cpu"]);
            return None;
        }
        Some(family)
    }

    fn key(&self, cpus: &str) -> String {
        format!("process.{}.cpus={cpus}", self.parent.id())
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        rig::run(Command::new("kill").args(["-KILL", &self.child.to_string()]));
        let _ = self.parent.kill();
        let _ = self.parent.wait();
    }
}

/// Processes are moved into a group and back, with a limit and without one; one that was kept is undone too.
fn quotas(rig: &mut Rig, family: &Family) -> String {
    rig.before = Snapshot::take();
    for cpus in ["0.5", "placed", "0.05"] {
        there_and_back(rig, &family.key(cpus), &["cgroup/"]);
    }
    rig.expect(&["apply", &family.key("0.5")], 0);
    let kept = rig.expect(&["commit"], 0).text;
    let id = kept.split_whitespace().next().expect("is told").to_owned();
    rig.wait_for_orphans();
    rig.expect(&["undo", &id], 0);
    rig.wait_for_orphans();
    rig.check("CPUs of processes that were kept");
    family.key("0.5")
}

/// A service that runs on a file of our own: its program, arguments, file, and what is changed in it.
struct Served {
    program: &'static str,
    arguments: &'static str,
    file: &'static str,
    text: &'static str,
    key: &'static str,
    changes: &'static [&'static str],
    /// What it does not understand, though it is of the right kind.
    wrong: Option<&'static str>,
}

/// `{}` is the folder of the files; what services write themselves lies beside it.
const SERVED: &[Served] = &[
    Served {
        program: "nginx",
        arguments: "-c {}/nginx.conf -g daemon%20off;",
        file: "nginx.conf",
        text: "pid {}/../nginx.pid;\nerror_log /dev/null;\nworker_processes 1; # one\nevents { worker_connections 64; }\nhttp { access_log off; server { listen unix:{}/../nginx.sock; } }\n",
        key: "nginx",
        changes: &["worker_processes=2", "events/worker_connections=128", "http/sendfile=on"],
        wrong: None,
    },
    Served {
        program: "lighttpd",
        arguments: "-D -f {}/lighttpd.conf",
        file: "lighttpd.conf",
        text: "server.pid-file = \"{}/../lighttpd.pid\"\nserver.document-root = \"/var/empty\"\nserver.bind = \"{}/../lighttpd.sock\"\nserver.max-fds = 64\n",
        key: "lighttpd",
        changes: &["server.max-fds=128", "server.max-keep-alive-idle=3"],
        wrong: None,
    },
    Served {
        program: "php-fpm8.2",
        arguments: "-F -R -y {}/php-fpm.conf",
        file: "php-fpm.conf",
        text: "[global]\npid = {}/../php-fpm8.2.pid\nerror_log = /dev/null\n[www]\nuser = root\nlisten = {}/../php.sock\npm = dynamic\npm.max_children = 4\npm.start_servers = 1\npm.min_spare_servers = 1\npm.max_spare_servers = 2\n",
        key: "php-fpm",
        changes: &["www/pm.max_children=5", "www/pm.max_requests=100"],
        wrong: Some("www/pm.start_servers=4"),
    },
];

/// Services that run on files in a folder of our own.
struct Servers {
    folder: String,
    running: Vec<(&'static Served, Child)>,
}

impl Servers {
    /// Starts those that are installed.
    fn new(rig: &mut Rig) -> Servers {
        let folder = rig.folder().join("etc").display().to_string();
        fs::create_dir(&folder).expect("can be made");
        // Workers that have given up their rights have to get through.
        rig::run(Command::new("chmod").args(["a+x"]).arg(rig.folder()));
        let mut running = Vec::new();
        for served in SERVED {
            let filled = |text: &str| text.replace("{}", &folder);
            fs::write(format!("{folder}/{}", served.file), filled(served.text)).expect("can be written");
            let arguments = served.arguments.split(' ').map(|word| filled(word).replace("%20", " "));
            let quiet = |command: &mut Command| {
                command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
            };
            let Ok(child) = quiet(Command::new(served.program).args(arguments)) else {
                skip(&format!("settings of {}", served.key), &[served.key]);
                continue;
            };
            let pid_file = format!("{folder}/../{}.pid", served.program);
            let is_ready = || fs::read_to_string(&pid_file).is_ok_and(|text| !text.trim().is_empty());
            assert!(rig::wait_until(is_ready), "{} does not start", served.program);
            rig.servers.push(child.id());
            running.push((served, child));
        }
        fs::write(format!("{folder}/memcached.conf"), "# options\n-m 64\n").expect("can be written");
        Servers { folder, running }
    }

    /// Makes every change of every service, and those that they refuse.
    fn settings(&self, rig: &mut Rig) -> Vec<String> {
        rig.before = Snapshot::take();
        let mut swept = Vec::new();
        for (served, _) in &self.running {
            let key = |change: &str| format!("{}:{}/{}:{change}", served.key, self.folder, served.file);
            let shows_as = format!("file{}/{}", self.folder, served.file);
            served.changes.iter().for_each(|change| there_and_back(rig, &key(change), &[&shows_as]));
            if let Some(change) = served.wrong {
                let refused = rig.expect(&["apply", &key(change)], 2);
                assert!(refused.text.contains("all settings have their old values"), "{refused}");
                rig.check(change);
            }
            // One that reads its file at once is swept; thousands of reloads are not what the others are made for.
            swept.extend((served.key == "nginx").then(|| key(served.changes[0])));
        }
        if let Some((_, nginx)) = self.running.iter().find(|(served, _)| served.key == "nginx") {
            self.a_service_reads_its_file_again(rig, nginx.id());
            hangs::run(rig, &format!("nginx:{}/nginx.conf:worker_processes=3", self.folder));
        }
        let shows_as = format!("file{}/memcached.conf", self.folder);
        let key = format!("memcached:{}/memcached.conf", self.folder);
        ["-m=128", "-c=2048"]
            .iter()
            .for_each(|set| there_and_back(rig, &format!("{key}:{set}"), &[&shows_as]));
        swept
    }

    fn a_service_reads_its_file_again(&self, rig: &mut Rig, pid: u32) {
        let workers = || fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
        let has = |count: usize| {
            rig::wait_until(|| workers().is_ok_and(|workers| workers.split_whitespace().count() == count))
        };
        assert!(has(1), "nginx has one worker");
        rig.expect(&["apply", &format!("nginx:{}/nginx.conf:worker_processes=3", self.folder)], 0);
        assert!(has(3), "nginx has read the new file");
        rig.kill_guardians();
        rig.expect(&["recover"], 0);
        assert!(has(1), "nginx has read the old file again");
        rig.check("a service that reads its file again");
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        for (_, child) in &mut self.running {
            // Its workers have to end too.
            rig::run(Command::new("kill").args(["-TERM", &child.id().to_string()]));
            let _ = child.wait();
        }
    }
}

/// A pair of interfaces with several queues, in this namespace.
struct Links;

impl Links {
    /// Makes them; `None` where that cannot be.
    fn new() -> Option<Links> {
        let queues = "numtxqueues 4 numrxqueues 4";
        let made = format!("link add crash0 {queues} type veth peer name crash1 {queues}");
        let is_made = rig::run(Command::new("ip").args(made.split(' '))).code == Some(0);
        if !is_made {
            skip("settings of links", &["iproute2", "namespaces"]);
            return None;
        }
        // Packets in flight while queues go away make the kernel warn of them, so there are none.
        for name in ["crash0", "crash1"] {
            let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6"), "1");
        }
        rig::run(Command::new("ip").args("link set crash0 up".split(' ')));
        rig::run(Command::new("ip").args("link set crash1 up".split(' ')));
        Some(Links)
    }
}

impl Drop for Links {
    fn drop(&mut self) {
        rig::run(Command::new("ip").args("link delete crash0".split(' ')));
    }
}

/// Makes a change, which has to show as differences of these beginnings and no others, and undoes it: by undo, and by
/// recovery.
fn there_and_back(rig: &mut Rig, change: &str, shows_as: &[&str]) {
    for is_recovered in [false, true] {
        let ended = rig.ask(&["apply", change]);
        if ended.code != Some(0) {
            rig.wrong(format!("{change}: {ended}"));
            return;
        }
        let differences = rig.before.differences(&Snapshot::take());
        let is_meant = |difference: &String| shows_as.iter().any(|path| difference.starts_with(path));
        if differences.is_empty() || !differences.iter().all(is_meant) {
            rig.wrong(format!("{change} shows as {differences:?}"));
        }
        if is_recovered {
            rig.kill_guardians();
            rig.expect(&["recover"], 0);
        } else {
            rig.expect(&["undo"], 0);
            rig.wait_for_orphans();
        }
        rig.check(change);
    }
}

/// A scheduler resets the depth of the queue and its own parameters, which were set before.
fn schedulers(rig: &mut Rig, disk: &Disk) -> String {
    let queue = format!("/sys/block/{}/queue", disk.name());
    let set = |file: &str, text: &str| fs::write(format!("{queue}/{file}"), text).expect("root can write");
    set("scheduler", "mq-deadline");
    set("nr_requests", "77");
    set("iosched/read_expire", "444");
    rig.before = Snapshot::take();
    let words = fs::read_to_string(format!("{queue}/scheduler")).expect("can be read");
    for word in words.split_whitespace().filter(|word| !word.starts_with('[')) {
        there_and_back(rig, &format!("block.{}.scheduler={word}", disk.name()), &[&queue]);
    }
    format!("block.{}.scheduler=none", disk.name())
}

/// Disciplines over the one that the kernel chose and over one that somebody set up, offloads, numbers of queues.
fn links_are_set(rig: &mut Rig) -> [String; 3] {
    let (qdisc, offloads) = (["tc/dev crash0"], ["ethtool -k/crash0"]);
    let set_up = "qdisc replace dev crash0 root handle 77: pfifo limit 33";
    for is_set_up in [false, true] {
        if is_set_up {
            assert_eq!(rig::run(Command::new("tc").args(set_up.split(' '))).code, Some(0));
        }
        rig.before = Snapshot::take();
        for discipline in ["pfifo limit 99", "pfifo_fast", "bfifo"] {
            there_and_back(rig, &format!("netdev.crash0.qdisc={discipline}"), &qdisc);
        }
    }
    for change in ["rx-gro on", "tx-tcp-segmentation off", "tx-checksum-ip-generic off"] {
        there_and_back(rig, &format!("netdev.crash0.offloads={change}"), &offloads);
    }
    // A queue that goes takes along what was set for it.
    let mask = "/sys/class/net/crash0/queues/rx-3/rps_cpus";
    fs::write(mask, "1").expect("root can write");
    rig.before = Snapshot::take();
    let queues = ["ethtool -l/crash0", "/sys/class/net/crash0/queues", "tc/dev crash0", "ip/"];
    there_and_back(rig, "netdev.crash0.channels=rx 2 tx 2", &queues);
    let refused = rig.expect(&["plan", "netdev.crash0.rings=rx 99"], 2);
    assert!(refused.text.contains("it has no such setting"), "{refused}");
    let htb = "qdisc replace dev crash1 root handle 1: htb";
    rig::run(Command::new("tc").args(htb.split(' ')));
    let refused = rig.expect(&["plan", "netdev.crash1.qdisc=pfifo"], 2);
    assert!(refused.text.contains("a 'htb' discipline was set up"), "{refused}");
    rig::run(Command::new("tc").args("qdisc delete dev crash1 root".split(' ')));
    ["qdisc=pfifo limit 99", "offloads=rx-gro on", "channels=rx 2 tx 2"]
        .map(|set| format!("netdev.crash0.{set}"))
}

/// The rate of a token bucket, whose burst is hardly longer than a packet.
fn rates(rig: &mut Rig) -> String {
    let bucket = "qdisc replace dev crash1 root handle 88: tbf rate 100mbit burst 1600 limit 500000";
    assert_eq!(rig::run(Command::new("tc").args(bucket.split(' '))).code, Some(0));
    rig.before = Snapshot::take();
    for rate in ["80000", "8", "100001"] {
        there_and_back(rig, &format!("netdev.crash1.rate_kbps={rate}"), &["tc/dev crash1"]);
    }
    let refused = rig.expect(&["plan", "netdev.crash0.rate_kbps=80000"], 2);
    assert!(refused.text.contains("it has no token bucket (tbf)"), "{refused}");
    let refused = rig.expect(&["plan", "netdev.nowhere:crash1.rate_kbps=80000"], 2);
    assert!(refused.text.contains("cannot enter network namespace 'nowhere'"), "{refused}");
    "netdev.crash1.rate_kbps=64000".to_owned()
}

/// The limit of the root group for a disk, lifted when this is dropped.
struct DiskLimit {
    /// `MAJOR:MINOR`.
    device: String,
}

impl DiskLimit {
    /// Sets it; `None` where that cannot be.
    fn set(disk: &Disk) -> Option<DiskLimit> {
        let device = fs::read_to_string(format!("/sys/block/{}/dev", disk.name())).expect("can be read");
        let limit = DiskLimit { device: device.trim().to_owned() };
        if fs::write(DISK_LIMIT, format!("{} 500", limit.device)).is_err() {
            skip("limits of disks", &["cgroup-blkio"]);
            return None;
        }
        Some(limit)
    }
}

impl Drop for DiskLimit {
    fn drop(&mut self) {
        let _ = fs::write(DISK_LIMIT, format!("{} 0", self.device));
    }
}

/// A limit that is there is changed, and none is made.
fn disk_limits(rig: &mut Rig, disk: &Disk) -> String {
    rig.before = Snapshot::take();
    there_and_back(rig, &format!("block.{}.write_iops=400", disk.name()), &[DISK_LIMIT]);
    let refused = rig.expect(&["plan", &format!("block.{}.read_iops=400", disk.name())], 2);
    assert!(refused.text.contains("no control group limits it"), "{refused}");
    format!("block.{}.write_iops=300", disk.name())
}

/// Options of the mount alone, of the file system alone, and of both; and what is refused.
fn options(rig: &mut Rig, mount: &Mount) -> String {
    rig.before = Snapshot::take();
    let (key, shows_as) = (format!("mount:{}", mount.path), format!("mount/{}", mount.path));
    let all = ["noatime", "strictatime,nodiratime", "commit=30", "commit=5", "nobarrier,discard,lazytime"];
    for change in all.into_iter().chain(["noatime,noauto_da_alloc,max_batch_time=1,min_batch_time=1"]) {
        there_and_back(rig, &format!("{key}={change}"), &[&shows_as]);
    }
    for (change, cause) in [("data=writeback", "is not an option that"), ("commit=soon", "is not a number")] {
        let refused = rig.expect(&["plan", &format!("{key}={change}")], 2);
        assert!(refused.text.contains(cause) && refused.text.contains(&key), "{refused}");
    }
    // Somebody else remounts it meanwhile.
    rig.expect(&["apply", &format!("{key}=noatime")], 0);
    let remount = |options: &str| rig::run(Command::new("mount").args(["-o", options, &mount.path])).code;
    assert_eq!(remount("remount,nodiratime"), Some(0));
    rig.expect(&["undo"], 7);
    rig.wait_for_orphans();
    rig.counts.conflicts += 1;
    assert_eq!(remount("remount,atime,diratime,relatime"), Some(0));
    rig.check("a mount that somebody else has remounted");
    format!("{key}=noatime,commit=30")
}

/// What compares must see: each object is changed once by other means, has to show alone, and is changed back.
fn the_snapshot_sees_each_object(rig: &mut Rig, disk: &Disk, mount: &Mount, servers: &Servers) {
    let queue = format!("/sys/block/{}/queue", disk.name());
    let (path, file) = (&mount.path, format!("{}/memcached.conf", servers.folder));
    let objects = [
        (
            "ip link set crash1 mtu 1400".to_owned(),
            "ip link set crash1 mtu 1500".to_owned(),
            vec!["ip/", "/sys/class/net/crash1/mtu", "/proc/sys/net/ipv6/conf/crash1/mtu"],
        ),
        (
            "tc qdisc replace dev crash1 root pfifo limit 5".into(),
            "tc qdisc delete dev crash1 root".into(),
            vec!["tc/dev crash1"],
        ),
        (
            "ethtool -K crash1 tx-tcp-segmentation off".into(),
            "ethtool -K crash1 tx-tcp-segmentation on".into(),
            vec!["ethtool -k/crash1"],
        ),
        (
            "ethtool -L crash1 rx 3".into(),
            "ethtool -L crash1 rx 4".into(),
            vec!["ethtool -l/crash1", "/sys/class/net/crash1/queues"],
        ),
        (
            format!("mount -o remount,noatime {path}"),
            format!("mount -o remount,atime,relatime {path}"),
            vec!["mount/"],
        ),
        (
            format!("echo 5 > {queue}/iosched/writes_starved"),
            format!("echo 2 > {queue}/iosched/writes_starved"),
            vec!["/sys/block/"],
        ),
        (format!("chmod 600 {file}"), format!("chmod 644 {file}"), vec!["file/"]),
    ];
    rig.before = Snapshot::take();
    for (change, back, shows_as) in objects {
        let ended = rig::run(Command::new("sh").args(["-c", &change]));
        assert_eq!(ended.code, Some(0), "{change}: {ended}");
        let differences = rig.before.differences(&Snapshot::take());
        let is_meant = |difference: &String| shows_as.iter().any(|path| difference.starts_with(path));
        if differences.is_empty() || !differences.iter().all(is_meant) {
            rig.wrong(format!("{change} shows as {differences:?}"));
        }
        rig::run(Command::new("sh").args(["-c", &back]));
        rig.check(&back);
    }
}
