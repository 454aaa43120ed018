//! Profiles as their users take them: of this process, of one that ends, without rights, and held against perf.

use crate::rig::program::{Outcome, Program, Running, Target};
use crate::rig::{has, skip, wait_until};
use rustix::process::Signal;
use serde_json::Value;
use std::collections::HashMap;
use std::hint::black_box;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// Functions that are told apart by how long they run, the first one the longest.
const WORK: [fn(u32); 6] = [profiled_a, profiled_b, profiled_c, profiled_d, profiled_e, profiled_f];

/// Rounds of each function: each weighs 1.6 times as much as the next one.
const ROUNDS: [u32; 6] = [5_243, 3_277, 2_048, 1_280, 800, 500];

macro_rules! profiled {
    ($($name:ident $factor:literal),*) => {
        $(
            #[inline(never)]
            fn $name(rounds: u32) {
                let (mut sum, mut round) = (1u64, 0);
                while round < rounds {
                    // As many steps each, and different code, so that no two are merged. None calls a function, also where
                    // nothing is inlined: a profile is to find this one innermost.
                    let mut step = 0;
                    while step < 16 {
                        sum = (sum << 1) ^ (sum >> 7) ^ ($factor << step);
                        step += 1;
                    }
                    sum = black_box(sum);
                    round += 1;
                }
                black_box(sum);
            }
        )*
    };
}

profiled!(profiled_a 3, profiled_b 5, profiled_c 7, profiled_d 11, profiled_e 13, profiled_f 17);

/// A thread of this process that works until it is dropped. Begins when the test has its turn, since others may want to be alone.
struct Worker {
    id: i32,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    fn start(work: impl Fn() + Send + 'static) -> Worker {
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_over);
        let (tell, told) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            tell.send(rustix::thread::gettid().as_raw_pid()).expect("somebody listens");
            while !seen.load(Ordering::Relaxed) {
                work();
            }
        });
        let id = told.recv().expect("the worker runs");
        Worker { id, is_over, thread: Some(thread) }
    }

    fn spinning() -> Worker {
        Worker::start(|| WORK.iter().zip(ROUNDS).for_each(|(work, rounds)| work(rounds)))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the worker ends");
        }
    }
}

/// Whether this machine allows it, and has these programs.
pub(crate) fn can_profile(test: &str, programs: &[&str]) -> bool {
    let has_events = Path::new("/proc/sys/kernel/perf_event_paranoid").exists();
    if !has_events {
        skip(test, &["perf-events"]);
    }
    has_events && has(test, &[&["root"], programs].concat())
}

fn own_pid() -> String {
    std::process::id().to_string()
}

/// The sum of stacks whose frames, the outermost first, satisfy this. Unit: nanoseconds.
fn weight(profile: &Value, is_meant: impl Fn(&[&str]) -> bool) -> u64 {
    let list = |value: &Value, name: &str| value[name].as_array().expect("is a list").clone();
    let frames = list(profile, "frames");
    let name = |index: &Value| {
        frames[index.as_u64().expect("is an index") as usize]["name"].as_str().unwrap_or("").to_owned()
    };
    let meant = list(profile, "stacks").into_iter().filter(|stack| {
        let names: Vec<String> = list(stack, "frames").iter().map(name).collect();
        is_meant(&names.iter().map(String::as_str).collect::<Vec<_>>())
    });
    meant.filter_map(|stack| stack["value_ns"].as_u64()).sum()
}

fn profile(outcome: &Outcome) -> Value {
    outcome.json()["profile"].clone()
}

#[test]
fn a_busy_function_is_named_and_no_address_is_kept() {
    if !can_profile("a_busy_function_is_named_and_no_address_is_kept", &[]) {
        return;
    }
    let program = Program::new();
    let worker = Worker::spinning();
    let outcome = program.run(["profile", "-p", &own_pid(), "-d", "1s", "-F", "499", "--json"]);
    drop(worker);
    outcome.expect_code(0);
    let taken = profile(&outcome);
    let busy_ns = weight(&taken, |names| names.last().is_some_and(|name| name.contains("::profiled_")));
    assert!(busy_ns > 0, "{outcome}");
    let text = outcome.stdout.to_lowercase();
    assert!(!text.contains("0xffff") && !text.contains("\"address"), "{outcome}");
    assert_eq!(taken["scope_pids"].as_array().map(Vec::len), Some(1), "{outcome}");
}

#[test]
fn waits_weigh_as_long_as_they_take() {
    if !can_profile("waits_weigh_as_long_as_they_take", &[]) {
        return;
    }
    let program = Program::new();
    let worker = Worker::start(|| std::thread::sleep(Duration::from_millis(20)));
    let outcome = program.run(["profile", "--off-cpu", "-p", &own_pid(), "-d", "1s", "--json"]);
    drop(worker);
    let taken = profile(&outcome);
    let slept_ns = weight(&taken, |names| names.last().is_some_and(|name| name.contains("nanosleep")));
    assert!(slept_ns > 100_000_000, "{slept_ns} in {outcome}");
}

#[test]
fn a_profile_ends_with_its_process() {
    if !can_profile("a_profile_ends_with_its_process", &[]) {
        return;
    }
    let mut child = child("sleep", &["1000"]);
    let program = Program::new();
    let mut running = program.start(["profile", "-p", &child.id().to_string(), "-d", "1h"]);
    assert!(wait_until(LIMIT, || has_event(running.pid())), "it samples");
    child.kill().expect("is there");
    child.wait().expect("ends");
    let has_ended = wait_until(LIMIT, || !running.is_running());
    assert!(has_ended, "it goes on without its process");
    running.finish(LIMIT * 2).expect_code(0);
}

#[test]
fn an_interrupted_profile_shows_what_it_has() {
    if !can_profile("an_interrupted_profile_shows_what_it_has", &[]) {
        return;
    }
    let program = Program::new();
    let _worker = Worker::spinning();
    let running = program.start(["profile", "-p", &own_pid(), "-d", "1h"]);
    assert!(wait_until(LIMIT, || has_event(running.pid())), "it samples");
    std::thread::sleep(Duration::from_millis(300));
    running.signal(Signal::INT);
    let outcome = running.finish(LIMIT);
    assert!(outcome.code == Some(0) || outcome.code == Some(130), "{outcome}");
    assert!(outcome.stdout.contains("On CPU"), "{outcome}");
}

#[test]
fn what_cannot_be_profiled_is_refused_with_a_hint() {
    for (arguments, text) in [
        (&["profile", "-p", "4194305"][..], "cannot profile process 4194305: it does not exist"),
        (&["profile", "--tier", "no-such-program"], "no process has such a name"),
        (&["profile", "-d", "0s"], "cannot read duration '0s'"),
        (&["profile", "-o", "x.svg"], "hint: end it with .html"),
        (&["profile", "-F", "0"], "--frequency"),
    ] {
        let outcome = Program::new().run(arguments);
        outcome.expect_code(2);
        assert!(outcome.stderr.contains(text), "'{text}' is not in {outcome}");
    }
}

#[test]
fn an_event_that_this_machine_does_not_count_is_refused_and_the_timer_is_named_in_the_record() {
    let test = "an_event_that_this_machine_does_not_count_is_refused_and_the_timer_is_named_in_the_record";
    if !can_profile(test, &[]) {
        return;
    }
    let program = Program::new();
    let _worker = Worker::spinning();
    // As the kernel says it: what counts is a unit of this name, `cpu` and `cpu_core` of x86, `armv8_…` of ARM.
    let units = std::fs::read_dir("/sys/bus/event_source/devices").expect("is there");
    let mut names = units.flatten().map(|unit| unit.file_name().to_string_lossy().into_owned());
    let has_counters = names.any(|name| name.starts_with("cpu") || name.starts_with("armv8"));
    let pid = own_pid();
    let of = |more: &[&str]| {
        program.run([&["profile", "-p", &pid, "-d", "300ms", "-F", "499", "--json"][..], more].concat())
    };
    let counted = if has_counters { "cycles" } else { "cpu-clock" };
    for (more, event) in [(&[][..], counted), (&["--event", "cpu-clock"], "cpu-clock")] {
        let outcome = of(more);
        outcome.expect_code(0);
        assert_eq!(profile(&outcome)["event"], event, "{outcome}");
    }
    let screen = program.run(["profile", "-p", &pid, "-d", "300ms", "-F", "499", "--event", "cpu-clock"]);
    assert!(screen.stdout.contains(" samples (cpu-clock)"), "{screen}");
    if !has_counters {
        for event in ["cycles", "instructions", "cache-misses", "branch-misses"] {
            let outcome = of(&["--event", event]);
            outcome.expect_code(2);
            let text = format!(
                "error: cannot sample {event}: this machine has no hardware counters\nhint: `--event cpu-clock`"
            );
            assert!(outcome.stderr.starts_with(&text), "{outcome}");
        }
    }
    let outcome = of(&["--event", "cycles", "--off-cpu"]);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("cannot be used with '--off-cpu'"), "{outcome}");
}

#[test]
fn without_rights_it_says_which_are_missing() {
    let test = "without_rights_it_says_which_are_missing";
    let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    if !can_profile(test, &["setpriv"]) || paranoid.trim().parse().is_ok_and(|level: i32| level < 1) {
        return;
    }
    for arguments in [&["profile", "-d", "1s"][..], &["run", "http://127.0.0.1:9/", "--profile"]] {
        let mut command = Command::new("setpriv");
        command
            .args(["--bounding-set", "-perfmon,-sys_admin", env!("CARGO_BIN_EXE_sysdyno")])
            .args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let outcome = Running::start(command).finish(LIMIT);
        outcome.expect_code(2);
        assert!(outcome.stderr.starts_with("error: cannot profile this host"), "{outcome}");
        for text in ["kernel.perf_event_paranoid is", "hint: run it with `sudo`"] {
            assert!(outcome.stderr.contains(text), "'{text}' is not in {outcome}");
        }
    }
}

#[test]
fn each_ending_writes_its_format() {
    if !can_profile("each_ending_writes_its_format", &[]) {
        return;
    }
    let program = Program::new();
    let _worker = Worker::spinning();
    let firefox: &[u8] = br#"{"meta":{"categories":"#;
    let endings = [
        ("x.html", &b"<!doctype html>"[..]),
        ("x.pb.gz", b"\x1f\x8b"),
        ("x.firefox.json", firefox),
        ("x.json", b"{\n"),
    ];
    for (file, beginning) in endings {
        program.run(["profile", "-p", &own_pid(), "-d", "200ms", "-o", file]).expect_code(0);
        let bytes = std::fs::read(program.runs().join(file)).expect("was written");
        assert!(bytes.starts_with(beginning), "{file} begins with {:?}", bytes.get(..20));
    }
    let outcome =
        program.run(["profile", "-p", &own_pid(), "-d", "300ms", "-F", "999", "--output", "folded"]);
    let is_folded = |line: &str| {
        line.rsplit_once(' ')
            .is_some_and(|(stack, count)| stack.contains(';') && count.parse::<u64>().is_ok())
    };
    assert!(outcome.stdout.lines().count() > 0 && outcome.stdout.lines().all(is_folded), "{outcome}");
}

/// A control group of its own with one process that works; both are gone at the end.
struct BusyGroup {
    folder: PathBuf,
    busy: Child,
}

impl BusyGroup {
    fn start(name: &str) -> BusyGroup {
        let roots = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/pids"].map(PathBuf::from);
        let root =
            roots.iter().find(|root| root.join("cgroup.procs").exists()).expect("there are control groups");
        let folder = root.join(name);
        std::fs::create_dir(&folder).expect("a group is made");
        let busy = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("starts");
        std::fs::write(folder.join("cgroup.procs"), busy.id().to_string()).expect("is moved");
        BusyGroup { folder, busy }
    }
}

impl Drop for BusyGroup {
    fn drop(&mut self) {
        let _ = self.busy.kill();
        let _ = self.busy.wait();
        let _ = std::fs::remove_dir(&self.folder);
    }
}

#[test]
fn the_processes_of_a_control_group_are_profiled() {
    if !can_profile("the_processes_of_a_control_group_are_profiled", &[]) {
        return;
    }
    let program = Program::new();
    let name = format!("sysdyno-test-{}.service", std::process::id());
    let group = BusyGroup::start(&name);
    let outcome = program.run(["profile", "--cgroup", &name, "-d", "300ms", "--json"]);
    outcome.expect_code(0);
    let profile = &outcome.json()["profile"];
    assert_eq!(profile["scope_pids"], serde_json::json!([group.busy.id()]));
    assert!(profile["counts"]["samples_count"].as_u64() > Some(0), "{outcome}");
    drop(group);
    let outcome = program.run(["profile", "--cgroup", &name, "-d", "300ms"]);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains(&format!("cannot profile control group '{name}'")), "{outcome}");
}

#[test]
fn a_profiled_load_measures_without_the_profiler_and_has_a_flame_graph() {
    if !can_profile("a_profiled_load_measures_without_the_profiler_and_has_a_flame_graph", &[]) {
        return;
    }
    let target = Target::start(&[]);
    let program = Program::new();
    let load = ["load", target.url(), "-c", "2", "-d", "1s", "--warmup", "100ms", "--profile", "--json"];
    let outcome = program.run(load);
    let folder = program.run_folder().expect("a run was recorded");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("was written");
    let taken: Value = serde_json::from_str(&read("profile.json")).expect("is JSON");
    assert!(taken["counts"]["samples_count"].as_u64() > Some(0), "{outcome}");
    assert!(taken["requests_count"].as_u64() > Some(0), "{outcome}");
    let trials = read("trials.jsonl");
    assert_eq!(trials.lines().count(), 2, "one trial: {trials}");
    let trial: Value = serde_json::from_str(trials.lines().nth(1).expect("it ended")).expect("is JSON");
    let measured_until = trial["end"]["end_mono_ns"].as_u64();
    assert!(
        taken["begin_mono_ns"].as_u64() > measured_until,
        "{measured_until:?} {}",
        taken["begin_mono_ns"]
    );
    assert!(read("report.html").contains("\"profile\":{\"kind\":\"on-cpu\""), "{outcome}");
}

#[test]
fn a_profiled_search_has_the_stacks_of_its_highest_load_and_of_a_fifth() {
    if !can_profile("a_profiled_search_has_the_stacks_of_its_highest_load_and_of_a_fifth", &[]) {
        return;
    }
    let target = Target::start(&[]);
    let program = Program::new();
    let search = ["run", target.url(), "--profile", "--effort", "quick", "--max-rate", "500/s", "--json"];
    let outcome = program.start(search).finish(LIMIT);
    let folder = program.run_folder().expect("a run was recorded");
    if !folder.join("profile.json").exists() && outcome.is_disturbed() {
        let _ = writeln!(
            std::io::stderr(),
            "not judged: the machine was disturbed, and no rate could be trusted"
        );
        return;
    }
    let responses = |name: &str| -> u64 {
        let text = std::fs::read_to_string(folder.join(name));
        let text = text.unwrap_or_else(|error| panic!("{name}: {error}: {outcome}"));
        let taken: Value = serde_json::from_str(&text).expect("is JSON");
        assert!(taken["counts"]["samples_count"].as_u64() > Some(0), "{name}: {outcome}");
        taken["requests_count"].as_u64().expect("the load was counted")
    };
    let (measured, low) = (responses("profile.json"), responses("profile-low.json"));
    assert!(low > 0 && low < measured / 2, "{low} of {measured}: {outcome}");
    let page = std::fs::read_to_string(folder.join("report.html")).expect("was written");
    assert!(page.contains("\"profile_low\":{\"kind\":\"on-cpu\""), "{outcome}");
}

#[test]
fn a_load_that_changes_is_not_profiled() {
    let outcome =
        Program::new().run(["load", "http://127.0.0.1:1/", "--profile", "--steps", "10/s,20/s", "-d", "1s"]);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("cannot profile this load: its rate changes"), "{outcome}");
}

/// Both sample this process at the same time, and rank its functions by how often they are seen: until perf has seen
/// them often enough that chance does not swap two pairs, however little of a CPU the process is given.
#[test]
fn the_ranks_of_functions_agree_with_perf_on_a_quiet_machine() {
    if !can_profile("the_ranks_of_functions_agree_with_perf_on_a_quiet_machine", &["perf"]) {
        return;
    }
    let program = Program::new();
    let worker = Worker::spinning();
    let (mut our_weights, mut their_counts) = ([0; 6], [0; 6]);
    for _ in 0..20 {
        let (ours, theirs) = profiled_by_both(&program, worker.id);
        for (index, letter) in ('a'..='f').enumerate() {
            let name = format!("::profiled_{letter}");
            our_weights[index] +=
                weight(&ours, |frames| frames.last().is_some_and(|last| last.contains(name.as_str())));
            let seen = theirs.iter().filter(|(symbol, _)| symbol.contains(name.as_str()));
            their_counts[index] += seen.map(|(_, count)| count).sum::<u64>();
        }
        if their_counts.iter().sum::<u64>() >= 2_000 {
            break;
        }
    }
    let correlation = rank_correlation(&our_weights, &their_counts);
    assert!(correlation >= 0.9, "{correlation}: {our_weights:?} {their_counts:?}");
}

/// What this program and perf saw of one thread of this process in the same six seconds.
fn profiled_by_both(program: &Program, thread: i32) -> (Value, HashMap<String, u64>) {
    let data = program.runs().join("perf.data");
    // Given the process, perf fails if one of its threads ends while perf lists them; threads of other tests do.
    let record = ["record", "-q", "-F", "997", "-e", "cpu-clock", "-g", "-t", &thread.to_string(), "-o"];
    let mut perf = Command::new("perf");
    perf.args(record).arg(&data).args(["--", "sleep", "6"]).stdout(Stdio::null()).stderr(Stdio::piped());
    let perf = perf.spawn().expect("perf starts");
    let outcome = program.run(["profile", "-p", &own_pid(), "-d", "6s", "-F", "997", "--json"]);
    let perf = perf.wait_with_output().expect("perf ends");
    assert!(perf.status.success(), "perf record: {}: {}", perf.status, String::from_utf8_lossy(&perf.stderr));
    (profile(&outcome), perf_counts(&data))
}

/// How often perf saw each function as the innermost one.
fn perf_counts(data: &Path) -> HashMap<String, u64> {
    let mut script = Command::new("perf");
    script.args(["script", "-F", "ip,sym", "-i"]).arg(data);
    let script = script.output().expect("perf reads its data");
    assert!(script.status.success(), "perf script: {}", String::from_utf8_lossy(&script.stderr));
    let text = String::from_utf8_lossy(&script.stdout).into_owned();
    let mut counts = HashMap::new();
    for sample in text.split("\n\n") {
        let innermost = sample.lines().find(|line| !line.trim().is_empty());
        let symbol =
            innermost.and_then(|line| line.trim().split_once(' ')).map(|(_, symbol)| symbol.to_owned());
        *counts.entry(symbol.unwrap_or_default()).or_default() += 1;
    }
    counts
}

/// Spearman's ρ without ties: 1 − 6 Σd² / (n (n² − 1)).
fn rank_correlation(a: &[u64], b: &[u64]) -> f64 {
    let rank =
        |values: &[u64], index: usize| values.iter().filter(|value| **value > values[index]).count() as f64;
    let distance: f64 = (0..a.len()).map(|index| (rank(a, index) - rank(b, index)).powi(2)).sum();
    let count = a.len() as f64;
    1.0 - 6.0 * distance / (count * (count * count - 1.0))
}

fn child(program: &str, arguments: &[&str]) -> Child {
    Command::new(program).args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).spawn().expect("starts")
}

/// Whether a process has opened a perf event.
fn has_event(pid: u32) -> bool {
    let Ok(descriptors) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    let links = descriptors.flatten().filter_map(|entry| std::fs::read_link(entry.path()).ok());
    links.into_iter().any(|link| link.to_string_lossy().contains("[perf_event]"))
}
