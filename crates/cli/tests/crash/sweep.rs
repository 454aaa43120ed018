//! Kills and failures at every system call of apply, commit, undo, recover, and of the guardian.
//!
//! A first run is traced and counted: the n-th call of each name is a point. Then, for each point, the program is run
//! again and killed as it enters that call (which is then not carried out), or the call fails.

use crate::rig::{self, Rig};
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Settings of the network namespace, of every shape.
pub const CHANGES: [&str; 8] = [
    "net.core.somaxconn=777",
    "net.ipv4.tcp_rmem=4096 100000 1000000",
    "net.ipv4.ip_local_port_range=20000 30000",
    "net.ipv4.tcp_congestion_control=reno",
    "net.ipv4.tcp_fin_timeout=33",
    "net.ipv6.auto_flowlabels=2",
    "net.ipv4.tcp_notsent_lowat=131072",
    "net.ipv4.tcp_keepalive_time=600",
];

const FAILURES: [&str; 8] = ["EIO", "ENOSPC", "EINTR", "EACCES", "ENOMEM", "EROFS", "EAGAIN", "EMFILE"];

/// The n-th system call of a name.
#[derive(Clone, Debug)]
pub struct Point {
    pub call: String,
    pub count: u32,
    /// Whether it comes before the guardian is let go.
    is_attended: bool,
}

impl Point {
    pub fn kill(&self) -> String {
        format!("inject={}:signal=KILL:when={}", self.call, self.count)
    }

    /// Stops the process right after that call.
    pub fn stop(&self) -> String {
        format!("inject={}:signal=STOP:when={}", self.call, self.count)
    }

    fn fail(&self, error: &str) -> String {
        format!("inject={}:error={error}:when={}", self.call, self.count)
    }
}

/// All sweeps, over settings of the network namespace.
pub fn run(rig: &mut Rig) {
    rig.changes = CHANGES.map(str::to_owned).to_vec();
    kill_apply(rig);
    kill_apply_and_guardian(rig);
    kill_commit(rig);
    kill_undo(rig);
    kill_recover(rig);
    kill_guardian(rig);
    kill_twice(rig);
    fail_calls(rig);
}

/// System calls by which something changes, on the disk, in the kernel or in another process.
const EFFECTS: [&str; 24] = [
    "openat",
    "write",
    "fdatasync",
    "fsync",
    "rename",
    "flock",
    "ftruncate",
    "unlink",
    "mkdir",
    "fchmod",
    "fchown",
    "chmod",
    "utimensat",
    "fsetxattr",
    "mount",
    "sendto",
    "recvfrom",
    "connect",
    "ioctl",
    "clone",
    "clone3",
    "vfork",
    "wait4",
    "waitid",
];

/// The sweeps over settings of devices, files and file systems, at the calls by which something changes: what lies
/// between them is the same for all settings, and was swept before.
pub fn run_over(rig: &mut Rig, changes: Vec<String>) {
    rig.changes = changes;
    rig.has_effects_only = true;
    kill_apply(rig);
    kill_apply_and_guardian(rig);
    kill_undo(rig);
    kill_recover(rig);
    fail_calls(rig);
}

pub fn apply(rig: &Rig) -> Vec<&str> {
    std::iter::once("apply").chain(rig.changes.iter().map(String::as_str)).collect()
}

/// The points of a run, in order.
fn points(rig: &Rig, arguments: &[&str]) -> Vec<Point> {
    let log = rig.folder().join("trace");
    let ended = rig::run(&mut rig.traced(&["-o", &log.to_string_lossy()], arguments));
    assert_eq!(ended.code, Some(0), "{arguments:?}: {ended}");
    read_points(&fs::read_to_string(log).expect("strace wrote"))
}

fn read_points(trace: &str) -> Vec<Point> {
    read_points_where(trace, |_| true)
}

/// The calls of a trace whose lines are meant.
pub fn read_points_where(trace: &str, is_meant: impl Fn(&str) -> bool) -> Vec<Point> {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    let mut is_attended = true;
    let mut points = Vec::new();
    for line in trace.lines() {
        let Some((call, rest)) = line.split_once('(') else { continue };
        if call.is_empty() || !call.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            continue;
        }
        let count = counts.entry(call).or_default();
        *count += 1;
        // Calls that do not return cannot be told apart from death; execve is strace's own.
        if !matches!(call, "exit_group" | "execve") && is_meant(line) {
            points.push(Point { call: call.into(), count: *count, is_attended });
        }
        if call == "write" && rest.contains("\"d\", 1)") {
            is_attended = false;
        }
    }
    points
}

/// All points, or some that are spread over them.
fn chosen(rig: &Rig, mut points: Vec<Point>) -> Vec<Point> {
    points.retain(|point| !rig.has_effects_only || EFFECTS.contains(&point.call.as_str()));
    if rig.is_whole {
        return points;
    }
    let step = (points.len() / rig.sample).max(1);
    points.into_iter().step_by(step).collect()
}

fn begin(rig: &Rig) {
    rig.forget();
    rig.expect(&apply(rig), 0);
}

fn kill_apply(rig: &mut Rig) {
    rig.forget();
    let all = points(rig, &apply(rig));
    rig.expect(&["undo"], 0);
    for point in chosen(rig, all) {
        rig.forget();
        rig::run(&mut rig.traced(&["-e", &point.kill()], &apply(rig)));
        if point.is_attended {
            rig.wait_for_orphans();
            let is_restored = rig.before.differences(&crate::snapshot::Snapshot::take()).is_empty();
            rig.counts.by_guardian += u32::from(is_restored);
            if !is_restored {
                rig.wrong(format!("{point:?}: apply was killed, and its guardian did not restore"));
            }
            rig.expect(&["recover"], 0);
        } else {
            let undone = rig.ask(&["undo"]);
            if undone.code != Some(0) {
                rig.wrong(format!("apply was killed at {point:?}, then undone: {undone}"));
            }
            rig.wait_for_orphans();
        }
        rig.counts.kills += 1;
        rig.check(&format!("apply killed at {point:?}"));
    }
}

fn kill_apply_and_guardian(rig: &mut Rig) {
    rig.forget();
    let all = points(rig, &apply(rig));
    rig.expect(&["undo"], 0);
    for point in chosen(rig, all) {
        rig.forget();
        rig::run(&mut rig.traced(&["-e", &point.kill()], &apply(rig)));
        rig.kill_guardians();
        rig.expect(&["recover"], 0);
        rig.counts.kills += 1;
        rig.check(&format!("apply and guardian killed at {point:?}"));
    }
}

fn kill_commit(rig: &mut Rig) {
    begin(rig);
    let all = points(rig, &["commit"]);
    undo_kept(rig);
    for point in chosen(rig, all) {
        begin(rig);
        rig::run(&mut rig.traced(&["-e", &point.kill()], &["commit"]));
        let kept = rig.ask(&["commit"]);
        if !matches!(kept.code, Some(0 | 2)) {
            rig.wrong(format!("commit killed at {point:?}, then repeated: {kept}"));
        }
        rig.wait_for_orphans();
        undo_kept(rig);
        rig.counts.kills += 1;
        rig.check(&format!("commit killed at {point:?}"));
    }
}

/// Undoes the one commitment that there is.
fn undo_kept(rig: &Rig) {
    let done = fs::read_dir(rig.state().join("tune/done")).expect("there is one that is over");
    let name = done.flatten().next().expect("there is one that is over").path();
    let id = name.file_stem().expect("it has a name").to_string_lossy().into_owned();
    rig.expect(&["undo", &id], 0);
    rig.wait_for_orphans();
}

fn kill_undo(rig: &mut Rig) {
    begin(rig);
    let all = points(rig, &["undo"]);
    for point in chosen(rig, all) {
        begin(rig);
        rig::run(&mut rig.traced(&["-e", &point.kill()], &["undo"]));
        rig.kill_guardians();
        rig.expect(&["recover"], 0);
        rig.counts.kills += 1;
        rig.check(&format!("undo killed at {point:?}"));
    }
}

fn kill_recover(rig: &mut Rig) {
    begin(rig);
    rig.kill_guardians();
    let all = points(rig, &["recover"]);
    for point in chosen(rig, all) {
        begin(rig);
        rig.kill_guardians();
        rig::run(&mut rig.traced(&["-e", &point.kill()], &["recover"]));
        rig.expect(&["recover"], 0);
        rig.counts.kills += 1;
        rig.check(&format!("recover killed at {point:?}"));
    }
}

fn kill_guardian(rig: &mut Rig) {
    let log = rig.folder().join("guardian");
    begin(rig);
    stop_traced_guardian(rig, &["-o", &log.to_string_lossy()]);
    rig.wait_for_orphans();
    rig.check("a guardian that is told to stop");
    let all = read_points(&fs::read_to_string(log).expect("strace wrote"));
    for point in chosen(rig, all) {
        begin(rig);
        stop_traced_guardian(rig, &["-e", &point.kill()]);
        rig.wait_for_orphans();
        rig.expect(&["recover"], 0);
        rig.counts.kills += 1;
        rig.check(&format!("guardian killed at {point:?}"));
    }
}

/// Attaches strace to the guardian, and tells the guardian to stop.
fn stop_traced_guardian(rig: &Rig, options: &[&str]) {
    let guardian = rig.guardians()[0];
    let mut command = Command::new("strace");
    command.args(options).arg("-p").arg(guardian.as_raw_nonzero().to_string());
    let mut strace = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("strace can be run");
    let mut lines = BufReader::new(strace.stderr.take().expect("is piped")).lines();
    let attached = lines.any(|line| line.is_ok_and(|line| line.contains("attached")));
    assert!(attached, "strace attaches");
    rustix::process::kill_process(guardian, Signal::TERM).expect("the guardian is there");
    lines.for_each(drop);
    let _ = strace.wait();
}

fn kill_twice(rig: &mut Rig) {
    let apply_points = points(rig, &apply(rig));
    rig.kill_guardians();
    let recover_points = points(rig, &["recover"]);
    // Points by which something is on the disk or in the kernel.
    let matters = |point: &&Point| {
        matches!(
            point.call.as_str(),
            "openat" | "write" | "fdatasync" | "fsync" | "rename" | "flock" | "ftruncate"
        )
    };
    let firsts: Vec<&Point> = apply_points.iter().filter(matters).collect();
    let seconds: Vec<&Point> = recover_points.iter().filter(matters).collect();
    let pairs = if rig.is_whole { 400 } else { rig.sample };
    for pair in 0..pairs {
        // Strides that share no factor with the lengths spread the pairs over all combinations.
        let first = firsts[pair * 37 % firsts.len()];
        let second = seconds[pair * 61 % seconds.len()];
        rig.forget();
        rig::run(&mut rig.traced(&["-e", &first.kill()], &apply(rig)));
        rig.kill_guardians();
        rig::run(&mut rig.traced(&["-e", &second.kill()], &["recover"]));
        rig.expect(&["recover"], 0);
        rig.counts.double_kills += 1;
        rig.check(&format!("apply killed at {first:?}, recover at {second:?}"));
    }
}

fn fail_calls(rig: &mut Rig) {
    let applied = points(rig, &apply(rig));
    let undone = points(rig, &["undo"]);
    let all: Vec<(bool, Point)> = applied
        .into_iter()
        .map(|point| (true, point))
        .chain(undone.into_iter().map(|point| (false, point)))
        .collect();
    let is_taken = |point: &Point| !rig.has_effects_only || EFFECTS.contains(&point.call.as_str());
    let all: Vec<_> = all.into_iter().filter(|(_, point)| is_taken(point)).collect();
    let step = if rig.is_whole { 1 } else { (all.len() / (2 * rig.sample)).max(1) };
    for (index, (is_apply, point)) in all.into_iter().enumerate().step_by(step) {
        let error = FAILURES[index % FAILURES.len()];
        rig.forget();
        let arguments = if is_apply { apply(rig) } else { vec!["undo"] };
        if !is_apply {
            rig.expect(&apply(rig), 0);
        }
        let ended = rig::run(&mut rig.traced(&["-e", &point.fail(error)], &arguments));
        let what = format!("{} with {error} at {point:?}", arguments[0]);
        // The standard library's own start ends the program where the system denies it the least.
        if ended.text.contains("panicked at crates/") {
            rig.wrong(format!("{what}: {ended}"));
        }
        let now = rig.ask(&["undo"]);
        if !matches!(now.code, Some(0 | 2)) {
            rig.wrong(format!("{what}, then undone: {now}"));
        }
        rig.wait_for_orphans();
        rig.counts.failures += 1;
        rig.check(&what);
    }
}
