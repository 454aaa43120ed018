//! What is not a matter of system calls: every setting once, somebody else's writes, reboots, namespaces, full disks.

use crate::rig::{self, Rig};
use crate::snapshot::Snapshot;
use std::fs;
use std::path::Path;
use std::process::Command;
use sysdyno_needs::skip;
use sysdyno_record::units::SpanNs;
use sysdyno_run::agent::{Generator, Lasts, LocalAgent, TuneAnswer, TuneRequest, TuneTask};
use sysdyno_tune::{Scope, Tunable, ValueKind};

/// All of them.
pub fn run(rig: &mut Rig) {
    every_setting_of_the_namespace_is_changed_seen_and_put_back(rig);
    shell_lines_undo_without_the_program(rig);
    what_somebody_else_has_set_is_left_alone(rig);
    after_a_reboot_nothing_is_written(rig);
    a_namespace_that_is_gone_takes_its_settings_along(rig);
    a_namespace_elsewhere_is_restored_from_within(rig);
    a_full_disk_changes_nothing(rig);
    nine_wrong_plans_each_name_their_object_and_write_nothing(rig);
    a_deadline_is_kept(rig);
    settings_that_exclude_each_other_are_put_back_together(rig);
    settings_of_devices_are_changed_seen_and_put_back(rig);
    a_device_of_the_same_name_is_not_taken_for_the_old_one(rig);
    listeners_and_processes_are_changed_while_they_run(rig);
    a_trial_can_end_with_the_agent_that_made_it(rig);
}

const SOMAXCONN: &str = "/proc/sys/net/core/somaxconn";

fn read(path: &str) -> String {
    fs::read_to_string(path).expect("can be read").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Another value for a setting, as near as can be to that which it has.
fn another(tunable: &Tunable) -> Option<String> {
    let now = read(&tunable.place());
    if let ValueKind::Listed { file } = tunable.kind {
        return read(file).split(' ').find(|word| *word != now).map(str::to_owned);
    }
    let numbers: Vec<i128> = now.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?;
    let (min, max) = match tunable.kind {
        ValueKind::Integer { min, max } | ValueKind::Rising { min, max, .. } => (min, max),
        ValueKind::PowerOfTwo { min, max, .. } => {
            let doubled = u64::try_from(numbers[0]).ok()? * 2;
            return Some(
                if doubled == 0 {
                    min
                } else if doubled <= max {
                    doubled
                } else {
                    doubled / 4
                }
                .to_string(),
            );
        }
        _ => return None,
    };
    let mut changed = numbers.clone();
    let last = changed.len() - 1;
    changed[last] += if numbers[last] < max { 1 } else { -1 };
    (changed[last] >= min).then(|| changed.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
}

/// A change of every setting of the namespace that goes together with the others.
pub fn all_changes() -> Vec<String> {
    let tunables = sysdyno_tune::TUNABLES.iter().copied().flatten();
    let is_meant = |tunable: &&Tunable| {
        tunable.scope == Scope::Network
            && tunable.counterpart.is_none()
            && Path::new(&tunable.place()).exists()
    };
    let change = |tunable: &Tunable| Some(format!("{}={}", tunable.id, another(tunable)?));
    tunables.filter(is_meant).filter_map(change).collect()
}

fn every_setting_of_the_namespace_is_changed_seen_and_put_back(rig: &mut Rig) {
    let mut seen = 0;
    for tunable in sysdyno_tune::TUNABLES.iter().copied().flatten() {
        if tunable.scope != Scope::Network || !Path::new(&tunable.place()).exists() {
            continue;
        }
        let value = another(tunable).unwrap_or_else(|| panic!("{} has another value", tunable.id));
        let ended = rig.ask(&["apply", &format!("{}={value}", tunable.id)]);
        if ended.code != Some(0) {
            rig.wrong(format!("{}={value}: {ended}", tunable.id));
            continue;
        }
        let differences = rig.before.differences(&Snapshot::take());
        if !differences.iter().any(|difference| difference.starts_with(&tunable.place()))
            || differences.len() != 1
        {
            rig.wrong(format!("{}={value} shows as {differences:?}", tunable.id));
        }
        rig.expect(&["undo"], 0);
        rig.check(tunable.id);
        seen += 1;
    }
    assert!(seen >= 60, "only {seen} settings of a network namespace are there");
    rig.wait_for_orphans();
    rig.forget();
    println!("crash tests: {seen} settings changed, seen to change alone, and put back");
}

fn shell_lines_undo_without_the_program(rig: &mut Rig) {
    rig.expect(&["apply", "net.core.somaxconn=777", "net.ipv4.tcp_rmem=4096 100000 1000000"], 0);
    let lines = rig.expect(&["undo", "--print-shell"], 0).text;
    let ended = rig::run(Command::new("sh").args(["-e", "-c", &lines]));
    assert_eq!(ended.code, Some(0), "{ended}");
    let differences = rig.before.differences(&Snapshot::take());
    assert!(differences.is_empty(), "{lines}: {differences:?}");
    rig.expect(&["undo"], 0);
    rig.wait_for_orphans();
    rig.check("undone by hand, then by the program");
}

fn what_somebody_else_has_set_is_left_alone(rig: &mut Rig) {
    let old = read(SOMAXCONN);
    for is_by_guardian in [false, true] {
        rig.expect(&["apply", "net.core.somaxconn=777", "net.ipv4.tcp_fin_timeout=33"], 0);
        fs::write(SOMAXCONN, "555\n").expect("root can write");
        if is_by_guardian {
            for guardian in rig.guardians() {
                rustix::process::kill_process(guardian, rustix::process::Signal::TERM).expect("it is there");
            }
            rig.wait_for_orphans();
        } else {
            let ended = rig.expect(&["undo"], 7);
            assert!(ended.text.contains("555, changed by somebody else since"), "{ended}");
        }
        assert_eq!(read(SOMAXCONN), "555");
        rig.counts.conflicts += 1;
        fs::write(SOMAXCONN, format!("{old}\n")).expect("root can write");
        rig.wait_for_orphans();
        rig.check("a conflict, and the rest restored");
    }
}

fn after_a_reboot_nothing_is_written(rig: &mut Rig) {
    let old = read(SOMAXCONN);
    rig.expect(&["apply", "net.core.somaxconn=777"], 0);
    rig.kill_guardians();
    let boot_id = rig.folder().join("boot_id");
    fs::write(&boot_id, "00000000-0000-4000-8000-000000000000\n").expect("can be written");
    let place = "/proc/sys/kernel/random/boot_id";
    let mounted = rig::run(Command::new("mount").arg("--bind").arg(&boot_id).arg(place));
    assert_eq!(mounted.code, Some(0), "{mounted}");
    let ended = rig.expect(&["recover"], 0);
    assert!(ended.text.contains("reset by the last boot"), "{ended}");
    assert_eq!(read(SOMAXCONN), "777", "nothing is written for another boot");
    let unmounted = rig::run(Command::new("umount").arg(place));
    assert_eq!(unmounted.code, Some(0), "{unmounted}");
    fs::write(SOMAXCONN, format!("{old}\n")).expect("root can write");
    rig.check("another boot");
}

fn a_namespace_that_is_gone_takes_its_settings_along(rig: &mut Rig) {
    let mut apply = Command::new("unshare");
    apply.args(["--net", env!("CARGO_BIN_EXE_sysdyno"), "tune", "apply", "net.core.somaxconn=777"]);
    let ended = rig::run(apply.env("SYSDYNO_STATE_DIR", rig.state()));
    assert_eq!(ended.code, Some(0), "{ended}");
    rig.kill_guardians();
    let ended = rig.expect(&["recover"], 0);
    assert!(ended.text.contains("gone, together with its network namespace"), "{ended}");
    rig.check("a namespace that is gone");
}

fn a_namespace_elsewhere_is_restored_from_within(rig: &mut Rig) {
    let script = format!(
        "{} tune apply net.core.somaxconn=777 >/dev/null 2>&1 || exit 1; echo ready; read line; cat {SOMAXCONN}",
        env!("CARGO_BIN_EXE_sysdyno")
    );
    let mut shell = Command::new("unshare");
    shell.args(["--net", "sh", "-c", &script]).env("SYSDYNO_STATE_DIR", rig.state());
    shell.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut elsewhere = shell.spawn().expect("unshare can be run");
    let mut output = std::io::BufReader::new(elsewhere.stdout.take().expect("is piped"));
    let mut line = String::new();
    std::io::BufRead::read_line(&mut output, &mut line).expect("can be read");
    assert_eq!(line, "ready\n");
    rig.kill_guardians();
    let ended = rig.expect(&["status"], 0);
    let is_of_here = ended.text.contains("now 4096");
    assert!(
        ended.text.contains("somaxconn: 4096 -> 777") && !is_of_here,
        "another namespace's value: {ended}"
    );
    let ended = rig.expect(&["recover"], 0);
    assert!(ended.text.contains("somaxconn: 777 -> 4096, restored"), "{ended}");
    drop(elsewhere.stdin.take());
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut output, &mut rest).expect("can be read");
    assert_eq!(rest, "4096\n");
    elsewhere.wait().expect("it ends");
    rig.wait_for_orphans();
    rig.check("a namespace elsewhere");
}

fn a_full_disk_changes_nothing(rig: &mut Rig) {
    rig.forget();
    let state = rig.state();
    fs::create_dir(&state).expect("can be made");
    let mounted = rig::run(
        Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k,mode=0700", "tmpfs"]).arg(&state),
    );
    assert_eq!(mounted.code, Some(0), "{mounted}");
    // Filled after a trial began: it is undone all the same.
    rig.expect(&["apply", "net.core.somaxconn=777"], 0);
    let mut filler = vec![0u8; 1 << 20];
    while fs::write(state.join("filler"), &filler).is_err() && filler.len() > 1 {
        filler.truncate(filler.len() / 2);
    }
    rig.expect(&["undo"], 0);
    rig.wait_for_orphans();
    let differences = rig.before.differences(&Snapshot::take());
    assert!(differences.is_empty(), "{differences:?}");
    // Full before: nothing is changed.
    let filler = vec![0u8; 1 << 20];
    let _ = fs::write(state.join("more"), filler);
    let ended = rig.expect(&["apply", "net.core.somaxconn=777"], 6);
    assert!(ended.text.contains("no setting was changed"), "{ended}");
    let unmounted = rig::run(Command::new("umount").arg(&state));
    assert_eq!(unmounted.code, Some(0), "{unmounted}");
    rig.forget();
    rig.check("a full disk");
}

fn nine_wrong_plans_each_name_their_object_and_write_nothing(rig: &mut Rig) {
    rig.forget();
    let wrong: &[(&[&str], &str)] = &[
        (&["net.core.somaxcon=1"], "did you mean 'net.core.somaxconn'"),
        (&["net.core.somaxconn=many"], "is not a number"),
        (&["net.core.somaxconn=99999999999"], "out of range"),
        (&["net.core.somaxconn=1", "net.core.somaxconn=2"], "changes it twice"),
        (&["vm.dirty_bytes=8192", "vm.dirty_ratio=10"], "zeroes it when"),
        (&["net.core.netdev_max_backlog=2000"], "initial network namespace"),
        (&["net.core.rmem_max=300000"], "initial network namespace"),
        (&["kernel.modules_disabled=1"], "only be set in one direction"),
        (&["net.ipv4.tcp_congestion_control=nonsense"], "not available here"),
    ];
    for (changes, expected) in wrong {
        let ended = rig.expect(&[&["apply"], *changes].concat(), 2);
        assert!(
            ended.text.contains(expected) && ended.text.contains(changes[0].split('=').next().unwrap_or("")),
            "{changes:?}: {ended}"
        );
    }
    let program = env!("CARGO_BIN_EXE_sysdyno");
    let nobody = format!("setpriv --reuid 65534 --clear-groups {program} tune apply net.core.somaxconn=1");
    let read_only =
        format!("mount --bind -o ro /proc/sys /proc/sys && {program} tune apply net.core.somaxconn=1");
    let refused = "cannot change 'net.core.somaxconn'";
    for (script, expected) in [(nobody, "only root can write it"), (read_only, "read-only here")] {
        let mut shell = Command::new("unshare");
        shell.args(["--mount", "sh", "-c", &script]).env("SYSDYNO_STATE_DIR", rig.state());
        let ended = rig::run(&mut shell);
        let is_named = ended.text.contains(expected) && ended.text.contains(refused);
        assert!(ended.code == Some(2) && is_named, "{script}: {ended}");
    }
    assert!(!rig.state().exists(), "not even the state folder is made");
    rig.check("wrong plans");
}

fn a_deadline_is_kept(rig: &mut Rig) {
    rig.expect(&["apply", "net.core.somaxconn=777", "--for", "100ms"], 0);
    rig.wait_for_orphans();
    rig.check("a deadline");
    rig.forget();
}

/// Writes a setting of the host back, whatever happens to the test.
struct Keep(&'static str, String);

impl Keep {
    fn of(path: &'static str) -> Keep {
        Keep(path, read(path))
    }
}

impl Drop for Keep {
    fn drop(&mut self) {
        if read(self.0) != self.1 {
            let _ = fs::write(self.0, &self.1);
        }
    }
}

fn settings_that_exclude_each_other_are_put_back_together(rig: &mut Rig) {
    let ratio = Keep::of("/proc/sys/vm/dirty_background_ratio");
    if ratio.1 == "0" {
        return skip("settings that exclude each other", &["dirty-ratio"]);
    }
    rig.expect(&["apply", "vm.dirty_background_bytes=1GiB"], 0);
    assert_eq!(read(ratio.0), "0");
    rig.expect(&["undo"], 0);
    rig.check("a pair, undone");
    rig.expect(&["apply", "vm.dirty_background_bytes=1GiB"], 0);
    rig.kill_guardians();
    rig.expect(&["recover"], 0);
    rig.check("a pair, recovered");
    drop(ratio);
    rig.wait_for_orphans();
}

/// Gives this namespace a pair of interfaces; `None` where that cannot be.
fn interfaces() -> Option<()> {
    let made = Command::new("ip").args("link add crash0 type veth peer name crash1".split(' ')).output();
    made.is_ok_and(|made| made.status.success()).then_some(())
}

fn settings_of_devices_are_changed_seen_and_put_back(rig: &mut Rig) {
    if interfaces().is_none() {
        return skip("settings of devices", &["iproute2", "namespaces"]);
    }
    rig.before = Snapshot::take();
    let changes = [
        ("netdev.crash0.tx_queue_len=777", "/sys/class/net/crash0/tx_queue_len"),
        ("netdev.crash0.gro_flush_timeout=1000", "/sys/class/net/crash0/gro_flush_timeout"),
        ("netdev.crash0.napi_defer_hard_irqs=2", "/sys/class/net/crash0/napi_defer_hard_irqs"),
        ("netdev.crash0.rx-0.rps_cpus=0", "/sys/class/net/crash0/queues/rx-0/rps_cpus"),
        ("netdev.crash0.rx-0.rps_flow_cnt=32", "/sys/class/net/crash0/queues/rx-0/rps_flow_cnt"),
    ];
    for (change, path) in changes {
        rig.expect(&["apply", change], 0);
        let differences = rig.before.differences(&Snapshot::take());
        if differences.len() != 1 || !differences[0].starts_with(path) {
            rig.wrong(format!("{change} shows as {differences:?}"));
        }
        rig.expect(&["undo"], 0);
        rig.check(change);
    }
    rig.wait_for_orphans();
}

fn a_device_of_the_same_name_is_not_taken_for_the_old_one(rig: &mut Rig) {
    if !Path::new("/sys/class/net/crash0").exists() {
        return skip("a device of the same name", &["iproute2", "namespaces"]);
    }
    rig.expect(&["apply", "netdev.crash0.tx_queue_len=777"], 0);
    rig::run(Command::new("ip").args(["link", "delete", "crash0"]));
    interfaces().expect("could be made before");
    rig::run(Command::new("ip").args("link set crash0 txqueuelen 777".split(' ')));
    let ended = rig.expect(&["undo"], 0);
    assert!(ended.text.contains("gone"), "{ended}");
    assert_eq!(read("/sys/class/net/crash0/tx_queue_len"), "777", "it is another device's");
    rig::run(Command::new("ip").args(["link", "delete", "crash0"]));
    rig.wait_for_orphans();
    rig.before = Snapshot::take();
}

fn listeners_and_processes_are_changed_while_they_run(rig: &mut Rig) {
    rig::run(Command::new("ip").args("link set lo up".split(' ')));
    rig.before = Snapshot::take();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("listens");
    let port = listener.local_addr().expect("has an address").port();
    let mut child = Command::new("sleep").arg("600").spawn().expect("sleep can be run");
    let limits = || fs::read_to_string(format!("/proc/{}/limits", child.id())).expect("it runs");
    let before = limits();
    let changes = [format!("listener.{port}.backlog=99"), format!("process.{}.nofile=99", child.id())];
    let planned = rig.expect(&["plan", &changes[0], &changes[1]], 0);
    assert!(planned.text.contains("128 -> 99") && planned.text.contains("prlimit --pid"), "{planned}");
    for is_recovered in [false, true] {
        rig.expect(&["apply", &changes[0], &changes[1]], 0);
        let shown = rig.expect(&["status"], 0);
        assert!(shown.text.contains("backlog: 128 -> 99, now 99"), "{shown}");
        assert!(limits().lines().any(|line| line.starts_with("Max open files") && line.contains(" 99 ")));
        if is_recovered {
            rig.kill_guardians();
            rig.expect(&["recover"], 0);
        } else {
            rig.expect(&["undo"], 0);
        }
        assert_eq!(limits(), before);
        let planned = rig.expect(&["plan", &changes[0]], 0);
        assert!(planned.text.contains("128 -> 99"), "{planned}");
        rig.check("a listener and a process");
    }
    let refused = rig.expect(&["plan", &format!("listener.{port}.backlog=100000000")], 2);
    assert!(refused.text.contains("raise that first"), "{refused}");
    child.kill().expect("can be killed");
    child.wait().expect("has ended");
    rig.wait_for_orphans();
    rig.forget();
}

fn a_trial_can_end_with_the_agent_that_made_it(rig: &mut Rig) {
    let task = TuneTask::Apply {
        changes: vec!["net.core.somaxconn=777".parse().expect("is a change")],
        deadline: SpanNs::from_secs(600),
        program: env!("CARGO_BIN_EXE_sysdyno").into(),
        version: "0.0.0".into(),
        lasts: Lasts::WithAgent,
    };
    let request = TuneRequest { root: "/".into(), state: Some(rig.state()), task };
    let mut agent = LocalAgent::default();
    let answer = agent.tune(request).expect("tries");
    assert!(matches!(answer, TuneAnswer::Held { .. }));
    assert_eq!(read(SOMAXCONN), "777");
    drop(agent);
    rig.wait_for_orphans();
    rig.check("a trial that ends with its agent");
    rig.forget();
}
