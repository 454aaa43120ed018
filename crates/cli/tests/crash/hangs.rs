//! Programs of services and file systems that hang: they are ended, it is told, and everything else goes on.

use crate::rig::{self, Rig};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use sysdyno_needs::skip;

/// How long a program may take here.
const TIMEOUT: &str = "700ms";

/// Settings before and after the one that takes a program: they are put back whatever becomes of that.
const BEFORE: &str = "net.core.somaxconn=777";
const AFTER: &str = "net.ipv4.tcp_fin_timeout=33";

/// All of them; `change` is one of a file of a running nginx.
pub fn run(rig: &mut Rig, change: &str) {
    rig.forget();
    a_service_that_cannot_check_its_file_changes_nothing(rig, change);
    a_service_that_is_not_told_does_not_keep_the_rest_from_being_undone(rig, change);
    a_guardian_is_not_kept_by_a_program_that_hangs(rig, change);
    a_file_system_that_cannot_be_checked_waits_for_the_next_recovery(rig);
    rig.forget();
}

/// A program that hangs, in the place of another one, in this namespace.
struct Hanging {
    place: PathBuf,
    pids: PathBuf,
}

impl Hanging {
    fn in_place_of(rig: &Rig, name: &str) -> Hanging {
        let found = rig::run(Command::new("sh").args(["-c", &format!("command -v {name}")]));
        let place = fs::canonicalize(found.text.trim()).expect("is installed");
        let (script, pids) = (rig.folder().join("hangs"), rig.folder().join("hanging"));
        let _ = fs::remove_file(&pids);
        // What it starts hangs too, and both are deaf.
        let text = format!(
            "#!/bin/sh\ntrap '' TERM\necho $$ >> {}\nsleep 600 & wait; wait; sleep 600\n",
            pids.display()
        );
        fs::write(&script, text).expect("can be written");
        fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("sets");
        let mounted = rig::run(Command::new("mount").arg("--bind").args([&script, &place]));
        assert_eq!(mounted.code, Some(0), "{mounted}");
        Hanging { place, pids }
    }

    /// Puts the real one back, and looks whether those that hung were ended.
    fn end(self, rig: &mut Rig) {
        let unmounted = rig::run(Command::new("umount").arg(&self.place));
        assert_eq!(unmounted.code, Some(0), "{unmounted}");
        rig.wait_for_orphans();
        let pids = fs::read_to_string(&self.pids).unwrap_or_default();
        let pids: Vec<Pid> = pids.lines().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect();
        assert!(!pids.is_empty(), "it was never run");
        if pids.iter().any(|pid| test_kill_process(*pid).is_ok()) {
            rig.wrong(format!("'{}' hangs on", self.place.display()));
        }
        rig.counts.hangs += pids.len() as u32;
    }
}

fn a_service_that_cannot_check_its_file_changes_nothing(rig: &mut Rig, change: &str) {
    let hanging = Hanging::in_place_of(rig, "nginx");
    rig.program_timeout = Some(TIMEOUT);
    let refused = rig.expect(&["apply", BEFORE, change, AFTER], 2);
    rig.program_timeout = None;
    let told = "nginx did not finish within 700ms and was killed";
    assert!(
        refused.text.contains(told) && refused.text.contains("all settings have their old values"),
        "{refused}"
    );
    hanging.end(rig);
    rig.check("a service that hangs while it is asked to check its file");
}

fn a_service_that_is_not_told_does_not_keep_the_rest_from_being_undone(rig: &mut Rig, change: &str) {
    rig.expect(&["apply", BEFORE, change, AFTER], 0);
    rig.kill_guardians();
    let hanging = Hanging::in_place_of(rig, "nginx");
    rig.program_timeout = Some(TIMEOUT);
    let undone = rig.expect(&["recover"], 0);
    rig.program_timeout = None;
    let told = "restored, but not yet in effect: nginx did not finish within 700ms and was killed";
    assert!(undone.text.contains(told), "{undone}");
    hanging.end(rig);
    rig.check("a service that hangs while it is told to read its file again");
}

fn a_guardian_is_not_kept_by_a_program_that_hangs(rig: &mut Rig, change: &str) {
    // What it starts has the limits that its maker was given.
    rig.program_timeout = Some("8s");
    rig.expect(&["apply", BEFORE, change, AFTER], 0);
    let hanging = Hanging::in_place_of(rig, "nginx");
    rig.program_timeout = None;
    for guardian in rig.guardians() {
        kill_process(guardian, Signal::TERM).expect("it is there");
    }
    assert!(rig::wait_until(|| hanging.pids.exists()), "it runs the program");
    // Another command waits for it, and is told that there is nothing left to do.
    let undone = rig.ask(&["undo"]);
    if undone.code != Some(2) || !undone.text.contains("no trial is open") {
        rig.wrong(format!("undo while the guardian waits for a program: {undone}"));
    }
    hanging.end(rig);
    rig.check("a guardian whose program hangs");
}

fn a_file_system_that_cannot_be_checked_waits_for_the_next_recovery(rig: &mut Rig) {
    let image = rig.folder().join("journal.img").display().to_string();
    let script = format!("truncate -s 64M {image} && mkfs.ext4 -q -F -J size=8 {image}");
    let made = rig::run(Command::new("sh").args(["-c", &script]));
    if made.code != Some(0) {
        return skip("a file system whose program hangs", &["e2fsprogs"]);
    }
    let size = || {
        let shown = rig::run(Command::new("dumpe2fs").args(["-h", &image])).text;
        let line = shown.lines().find(|line| line.starts_with("Total journal size:")).unwrap_or_default();
        line.split_whitespace().last().unwrap_or_default().to_owned()
    };
    let before = size();
    rig.expect(&["apply", BEFORE, &format!("ext4:{image}:journal_mib=4"), AFTER], 0);
    assert_ne!(size(), before);
    rig.kill_guardians();
    let hanging = Hanging::in_place_of(rig, "e2fsck");
    rig.program_timeout = Some(TIMEOUT);
    let recovered = rig.expect(&["recover"], 7);
    rig.program_timeout = None;
    let told = "e2fsck did not finish within 700ms and was killed";
    assert!(recovered.text.contains(told) && recovered.text.contains("retries"), "{recovered}");
    for setting in ["somaxconn", "tcp_fin_timeout"] {
        let is_back = recovered.text.lines().any(|line| line.contains(setting) && line.ends_with("restored"));
        assert!(is_back, "{recovered}");
    }
    hanging.end(rig);
    rig.expect(&["recover"], 0);
    assert_eq!(size(), before);
    rig.check("a file system whose program hangs");
    let _ = fs::remove_file(image);
}
