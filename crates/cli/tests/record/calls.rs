//! An error at every system call that writes the record: the n-th call of each name by the thread that keeps it.
//!
//! A first run is traced, and the calls that name the folder of runs are its points. How many calls there are before them
//! differs a little from run to run; a point that then hits something else is not counted.

use crate::rig::{Kind, Rig};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Calls by which files come, change, are made durable and go.
const CALLS: &str = "openat,write,fsync,fdatasync,renameat,renameat2,mkdirat,fchmod,unlinkat,ftruncate";

const ERRORS: [&str; 2] = ["ENOSPC", "EIO"];

/// How many points of a run a sample takes.
const SAMPLE: usize = 6;

pub fn run(rig: &mut Rig) {
    for kind in [Kind::Load, Kind::Work] {
        let points = points(rig, kind);
        let step = if rig.is_whole { 1 } else { (points.len() / SAMPLE).max(1) };
        for (number, (call, count)) in points.into_iter().enumerate().step_by(step) {
            let errors = if rig.is_whole { &ERRORS[..] } else { &ERRORS[number / step % 2..][..1] };
            for error in errors {
                fail(rig, kind, (&call, count), error);
            }
        }
    }
}

/// The calls of a run that name its record.
fn points(rig: &Rig, kind: Kind) -> Vec<(String, u32)> {
    let runs = rig.folder().join("traced");
    let log = rig.folder().join("trace");
    let ended = Rig::end_of(&mut traced(rig, kind, (&runs, &log), &[]));
    assert!(ended.code == Some(0) || ended.is_invalid(), "{ended:?}");
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    let mut points = Vec::new();
    for line in fs::read_to_string(&log).expect("strace wrote").lines() {
        let Some((call, rest)) = line.split_once('(') else { continue };
        let count = counts.entry(call.to_owned()).or_default();
        *count += 1;
        let is_read = call == "openat" && !rest.contains("O_CREAT");
        if rest.contains(&*runs.to_string_lossy()) && !is_read {
            points.push((call.to_owned(), *count));
        }
    }
    assert!(points.len() > 50, "a record takes more calls than {}", points.len());
    points
}

fn fail(rig: &mut Rig, kind: Kind, (call, count): (&str, u32), error: &str) {
    let runs = rig.folder().join("failing");
    let log = rig.folder().join("failed");
    let _ = fs::remove_dir_all(&runs);
    let inject = format!("inject={call}:error={error}:when={count}");
    let ended = Rig::end_of(&mut traced(rig, kind, (&runs, &log), &["-e", &inject]));
    let trace = fs::read_to_string(&log).expect("strace wrote");
    let hit = trace.lines().find(|line| line.contains("(INJECTED)")).unwrap_or_default();
    if hit.contains(&*runs.to_string_lossy()) {
        rig.check(kind, &runs, &ended, &format!("{kind:?} with {error} at {hit}"));
    }
}

/// The program under strace, which follows its first thread only: that is the one which keeps the record.
fn traced(rig: &Rig, kind: Kind, (runs, log): (&Path, &Path), options: &[&str]) -> Command {
    let mut command = Command::new("strace");
    command.args(["-qq", "-y", "-s", "0", "-e"]).arg(format!("trace={CALLS}")).arg("-o").arg(log);
    command.args(options).arg(env!("CARGO_BIN_EXE_sysdyno")).args(rig.arguments(kind, runs));
    command
}
