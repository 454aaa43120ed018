//! `up` and `down` killed at every system call of their first thread, and at any moment; then `down`, and nothing is left.

use crate::rig::{Rig, can_limit_disks, finish, has_limits, own_iops};
use crate::scenarios::LAB;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};
use sysdyno_needs::skip;

/// A file system in a file, mounted through a loop device.
const VOLUME: &str = r#"
[[service]]
name = "disk"
host = "b"
recipe = "file-system"
with = { type = "ext4", size_mib = 16, journal_mib = 4, disk_iops = IOPS }
"#;

const LIMITS: &str = "limits = { cpus = 1.0, memory_mib = 64, pids = 20 }\n";

/// The n-th system call of a name.
#[derive(Debug)]
struct Point {
    call: String,
    count: u32,
}

impl Point {
    fn kill(&self) -> String {
        format!("inject={}:signal=KILL:when={}", self.call, self.count)
    }
}

pub fn run(rig: &mut Rig) {
    let is_there = Path::new("/usr/sbin/mkfs.ext4").is_file();
    let limits = if has_limits("kills of what is limited") { LIMITS } else { "" };
    let iops = if can_limit_disks("kills with a disk that is limited") { own_iops() } else { 0 };
    let volume =
        if is_there { format!("{VOLUME}{limits}").replace("IOPS", &iops.to_string()) } else { String::new() };
    if !is_there {
        skip("kills with a volume", &["e2fsprogs"]);
    }
    let file = rig.lab(&format!("{}{volume}", LAB.replace("LAB", "one")));
    let mut check = |rig: &mut Rig, after: &str| rig.check(after);
    kill_up_at_calls(rig, &file, &mut check);
    kill_down_at_calls(rig, &file, &mut check);
    kill_up_at_moments(rig, &file, &mut check);
}

/// The points of a run that ends as it should.
fn points(rig: &Rig, arguments: &[&str]) -> Vec<Point> {
    let log = rig.folder().join("trace");
    let traced = rig.command(&["strace", "-qq", "-o", &log.to_string_lossy()], arguments).spawn();
    let ended = finish(traced.expect("strace starts"));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let trace = fs::read_to_string(log).expect("strace wrote");
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    let mut points = Vec::new();
    for (call, _) in trace.lines().filter_map(|line| line.split_once('(')) {
        let is_name =
            !call.is_empty() && call.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_name || matches!(call, "exit_group" | "execve") {
            continue;
        }
        let count = counts.entry(call).or_default();
        *count += 1;
        points.push(Point { call: call.into(), count: *count });
    }
    points
}

/// All points, or some that are spread over them.
fn chosen(rig: &Rig, points: Vec<Point>) -> Vec<Point> {
    let step = rig.sample.map_or(1, |sample| (points.len() / sample).max(1));
    points.into_iter().step_by(step).collect()
}

fn killed(rig: &Rig, point: &Point, arguments: &[&str]) {
    let traced = rig.command(&["strace", "-qq", "-o", "/dev/null", "-e", &point.kill()], arguments).spawn();
    finish(traced.expect("strace starts"));
}

/// Looks whether anything is left after what.
type Check<'a> = &'a mut dyn FnMut(&mut Rig, &str);

/// Takes the lab away, or hears that there is none.
fn take_away(rig: &mut Rig, after: &str, check: Check<'_>) {
    let down = rig.ask(&["down", "one"]);
    let is_gone = down.code == Some(0) || down.stderr.contains("there is no such lab");
    assert!(is_gone, "after {after}: {down:?}");
    rig.kills_count += 1;
    check(rig, after);
}

pub fn kill_up_at_calls(rig: &mut Rig, file: &str, check: Check<'_>) {
    let all = points(rig, &["up", file]);
    rig.expect(&["down", "one"], 0);
    for point in chosen(rig, all) {
        killed(rig, &point, &["up", file]);
        take_away(rig, &format!("up killed at {point:?}"), check);
    }
}

pub fn kill_down_at_calls(rig: &mut Rig, file: &str, check: Check<'_>) {
    rig.expect(&["up", file], 0);
    let all = points(rig, &["down", "one"]);
    for point in chosen(rig, all) {
        rig.expect(&["up", file], 0);
        killed(rig, &point, &["down", "one"]);
        take_away(rig, &format!("down killed at {point:?}"), check);
    }
}

/// Moments are spread evenly over the time that `up` takes, so that its other threads are met too.
pub fn kill_up_at_moments(rig: &mut Rig, file: &str, check: Check<'_>) {
    let begin = Instant::now();
    rig.expect(&["up", file], 0);
    let whole = begin.elapsed();
    rig.expect(&["down", "one"], 0);
    let count = rig.sample.map_or(300, |sample| sample) as u32;
    for moment in 0..count {
        let after = whole * moment / count;
        let mut child = rig.command(&[], &["up", file]).spawn().expect("starts");
        pause(after);
        child.kill().expect("is a child");
        finish(child);
        take_away(rig, &format!("up killed after {after:?}"), check);
    }
}

/// Any moment is as good as another: nothing is waited for.
fn pause(span: Duration) {
    std::thread::sleep(span);
}
