//! What becomes of a load when an agent cannot keep what it measures: its disk is full, slow, or hangs.

use super::{
    LIMIT, await_load, is_thorough, logged, long_load, no_process_is_left, sent_after_lease, written,
};
use crate::rig::fleet::{FleetRig, NEEDS};
use crate::rig::program::Program;
use crate::rig::{has, skip, wait_until};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Writes per second of a slow disk.
const SLOW_HZ: u32 = 20;

/// What an agent has sent at most since it could tell it last.
const UNTOLD: u64 = 400;

/// A file system of a megabyte in memory; unmounted with the value.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: PathBuf) -> Option<SmallDisk> {
        std::fs::create_dir_all(&at).expect("a folder");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=1m,mode=755", "tmpfs"]).arg(&at);
        mount.status().is_ok_and(|status| status.success()).then_some(SmallDisk(at))
    }

    /// Leaves no room on it.
    fn fill(&self) {
        let mut file = std::fs::File::create(self.0.join("filler")).expect("a file");
        while file.write_all(&[0; 4096]).is_ok() {}
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

#[test]
fn an_agent_whose_disk_is_full_stops_and_is_named_with_the_reason() {
    let test = "an_agent_whose_disk_is_full_stops_and_is_named_with_the_reason";
    if !is_thorough(test) {
        return;
    }
    let Some(mut rig) = FleetRig::without_agents(2) else { return skip(test, NEEDS) };
    let Some(disk) = SmallDisk::mount(rig.agent_state(0)) else { return skip(test, &["root"]) };
    (0..2).for_each(|number| rig.start_agent(number, &["--allow", "load"]));
    rig.await_agents(2);
    let program = Program::new();
    let mut running = rig.start(&program, long_load(&rig));
    await_load(&rig, &mut running, 2);
    disk.fill();
    let outcome = running.finish(LIMIT);
    outcome.expect_code(3);
    let lost = outcome.json()["generators"][0]["lost"].to_string();
    assert!(lost.contains("No space left on device"), "{outcome}");
    let counted = written(&program.run_folder().expect("the run is kept"));
    let is_told = || (counted..=counted + UNTOLD).contains(&logged(&rig, 2));
    assert!(wait_until(Duration::from_secs(5), is_told), "{counted} counted, {} served", logged(&rig, 2));
    assert!(no_process_is_left(&rig), "an agent's process outlives the run");
    drop(rig);
    drop(disk);
}

/// A file system in a file, where each write waits for its disk; unmounted with the value.
struct OwnDisk(PathBuf);

impl OwnDisk {
    fn mount(at: PathBuf) -> Option<OwnDisk> {
        std::fs::create_dir_all(&at).expect("a folder");
        let image = at.with_extension("img");
        std::fs::File::create(&image).and_then(|file| file.set_len(32 << 20)).expect("a file");
        let done = |command: &mut Command| command.status().is_ok_and(|status| status.success());
        let is_made = done(Command::new("mkfs.ext4").arg("-q").arg(&image));
        let is_mounted =
            is_made && done(Command::new("mount").args(["-o", "loop,sync"]).arg(&image).arg(&at));
        is_mounted.then_some(OwnDisk(at))
    }

    /// Takes no more writes, as a disk does that hangs, or goes on; writers wait.
    fn hang(&self, is_hung: bool) {
        let option = if is_hung { "--freeze" } else { "--unfreeze" };
        let ended = Command::new("fsfreeze").arg(option).arg(&self.0).status().expect("fsfreeze starts");
        assert!(ended.success(), "fsfreeze {option}");
    }

    /// Takes so many writes per second at most; 0: as many as it can.
    fn limit(&self, writes_hz: u32) {
        let device = std::fs::metadata(&self.0).expect("it is mounted").dev();
        let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
        std::fs::write(WRITES, format!("{major}:{minor} {writes_hz}")).expect("the kernel limits disks");
    }
}

impl Drop for OwnDisk {
    fn drop(&mut self) {
        // It hangs only where a test has failed meanwhile.
        let _ = Command::new("fsfreeze").arg("--unfreeze").arg(&self.0).stderr(Stdio::null()).status();
        if has_limits() {
            self.limit(0);
        }
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

/// Where the kernel limits writes of its root group, in which the thread of a journal is.
const WRITES: &str = "/sys/fs/cgroup/blkio/blkio.throttle.write_iops_device";

fn has_limits() -> bool {
    std::path::Path::new(WRITES).exists()
}

#[test]
fn an_agent_with_a_slow_disk_sends_and_keeps_everything() {
    let test = "an_agent_with_a_slow_disk_sends_and_keeps_everything";
    if !is_thorough(test) || !has(test, &["e2fsprogs"]) {
        return;
    }
    if !has_limits() {
        return skip(test, &["cgroup-blkio"]);
    }
    let Some(mut rig) = FleetRig::without_agents(2) else { return skip(test, NEEDS) };
    let Some(disk) = OwnDisk::mount(rig.agent_state(0)) else { return skip(test, &["loop", "ext4"]) };
    (0..2).for_each(|number| rig.start_agent(number, &["--allow", "load"]));
    rig.await_agents(2);
    disk.limit(SLOW_HZ);
    let program = Program::new();
    let url = rig.star().url();
    let load = ["load", &url, "-c", "4", "-r", "400/s", "-d", "8s", "--load-from", "fleet:all", "--json"];
    let outcome = rig.start(&program, load).finish(LIMIT);
    assert!(outcome.code == Some(0) || outcome.is_disturbed(), "{outcome}");
    assert_eq!([outcome.count("unsent"), outcome.count("failed")], [0, 0], "{outcome}");
    assert_eq!(written(&program.run_folder().expect("the run is kept")), logged(&rig, 2), "{outcome}");
    assert!(no_process_is_left(&rig), "an agent's process outlives the run");
    drop(rig);
    drop(disk);
}

#[test]
fn an_agent_whose_disk_hangs_stops_and_loses_nothing() {
    let test = "an_agent_whose_disk_hangs_stops_and_loses_nothing";
    if !is_thorough(test) || !has(test, &["e2fsprogs"]) {
        return;
    }
    let Some(mut rig) = FleetRig::without_agents(2) else { return skip(test, NEEDS) };
    let Some(disk) = OwnDisk::mount(rig.agent_state(0)) else { return skip(test, &["loop", "ext4"]) };
    (0..2).for_each(|number| rig.start_agent(number, &["--allow", "load"]));
    rig.await_agents(2);
    let program = Program::new();
    let mut running = rig.start(&program, long_load(&rig));
    await_load(&rig, &mut running, 2);
    disk.hang(true);
    // What it measures cannot be kept, and what the controller says is not passed on: its lease runs out.
    assert_eq!(sent_after_lease(&rig, 1), 0, "it went on");
    disk.hang(false);
    let outcome = running.finish(LIMIT);
    outcome.expect_code(3);
    let folder = program.run_folder().expect("the run is kept");
    let is_told = || written(&folder) == logged(&rig, 2);
    assert!(wait_until(Duration::from_secs(5), is_told), "{} served: {outcome}", logged(&rig, 2));
    assert!(no_process_is_left(&rig), "an agent's process outlives the run");
    drop(rig);
    drop(disk);
}
