//! `sysdyno try`: words on what is known to differ and to be the same, and settings that are undone whatever happens.
//!
//! Settings are those of a tree of files, so that no rights are needed and the host is not touched; the demo's test
//! changes a real listener. `SYSDYNO_CRASH_TESTS=all` (`make crash-test`) kills at 50 moments instead of 4;
//! `SYSDYNO_AA_TESTS=20` (`make aa-test`) compares this host with itself so often and prints the counts.

use crate::rig::pair::Pair;
use crate::rig::program::{Outcome, Program, Running, Target};
use crate::rig::{has, skip, wait_until};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(180);

/// A server, a tree with a setting, and a program that tries on both.
pub(crate) struct Bench {
    pub(crate) program: Program,
    pub(crate) target: Target,
}

impl Bench {
    pub(crate) fn new(target: &[&str]) -> Bench {
        let bench = Bench { program: Program::new(), target: Target::start(target) };
        for (path, text) in
            [("proc/sys/kernel/random/boot_id", "first\n"), ("proc/sys/vm/swappiness", "60\n")]
        {
            let path = bench.root().join(path);
            fs::create_dir_all(path.parent().expect("is in a folder")).expect("makes");
            fs::write(path, text).expect("writes");
        }
        bench
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.program.runs().join("root")
    }

    fn swappiness(&self) -> String {
        fs::read_to_string(self.root().join("proc/sys/vm/swappiness")).expect("reads").trim().to_owned()
    }

    /// Journals of settings that are changed; a draft that was never made one changes nothing.
    fn open_journals(&self) -> usize {
        let entries = fs::read_dir(self.program.runs().join("state/tune/open"));
        let names = entries.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
        names.filter(|path| path.extension().is_some_and(|ending| ending == "wal")).count()
    }

    pub(crate) fn is_as_before(&self) -> bool {
        self.swappiness() == "60" && self.open_journals() == 0
    }

    /// Starts a short experiment; what is not said is small.
    fn start(&self, arguments: &[&str]) -> Running {
        let (root, state) = (self.root(), self.program.runs().join("state"));
        let runs = self.program.runs().join("runs");
        let [root, state, runs] = [root, state, runs].map(|path| path.display().to_string());
        let fixed = ["try", "--root", &root, "--state-dir", &state, "--runs-dir", &runs, "--noisy", "--json"];
        let small = [["--pairs", "8"], ["--window", "200ms"], ["--warmup", "50ms"], ["--connections", "4"]];
        let missing = small.iter().filter(|option| !arguments.contains(&option[0])).flatten();
        self.program.start(fixed.iter().chain(missing).chain(arguments).copied())
    }

    fn lines(&self) -> Vec<Value> {
        lines_below(&self.program.runs().join("runs").display().to_string())
    }
}

/// Lines of the newest experiment in a folder of runs, as far as they are written.
fn lines_below(runs: &str) -> Vec<Value> {
    let runs = fs::read_dir(runs).into_iter().flatten();
    let newest = runs.filter_map(|entry| Some(entry.ok()?.path())).max();
    let text =
        newest.and_then(|run| fs::read_to_string(run.join("experiment.jsonl")).ok()).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(|line| serde_json::from_str(line).expect("is JSON")).collect()
}

fn word(outcome: &Outcome) -> String {
    outcome.json()["verdict"]["word"].as_str().unwrap_or_else(|| panic!("no word in {outcome}")).to_owned()
}

fn commands(program: &Program, a: &str, b: &str, more: &[&str]) -> Outcome {
    let fixed = ["try", "--a", a, "--b", b, "--noisy", "--json", "--pairs", "8"];
    program.start(fixed.iter().chain(more).copied()).finish(LIMIT)
}

#[test]
fn a_faster_command_is_better_a_slower_one_worse() {
    let program = Program::new();
    let better = commands(&program, "sleep 0.2", "sleep 0.01", &[]);
    assert_eq!(
        (word(better.expect_code(0)).as_str(), better.json()["metric"].as_str()),
        ("better", Some("time"))
    );
    let worse = commands(&program, "sleep 0.01", "sleep 0.2", &["--fail-if", "worse"]);
    assert_eq!(word(worse.expect_code(1)), "worse", "{worse}");
    assert!(worse.json()["effect"]["low"].as_f64().is_some_and(|low| low > 1.0), "{worse}");
    // No shell reads what is typed, unless it is asked to.
    let refused = commands(&program, "exit 0", "true", &[]);
    assert!(refused.expect_code(2).stderr.contains("cannot start 'exit'"), "{refused}");
    let failing = commands(&program, "true", "false", &[]);
    assert!(failing.expect_code(2).stderr.contains("exited with code 1"), "{failing}");
}

#[test]
fn a_setting_is_tried_with_a_command_between_what_prepares_and_what_clears_away() {
    let bench = Bench::new(&[]);
    let log = bench.program.runs().join("log");
    let note = |text: &str| format!("sh -c \"echo {text} >> '{}'\"", log.display());
    let setting = bench.root().join("proc/sys/vm/swappiness");
    // It is slow as long as the setting is what it was.
    let command = format!(
        "sh -c \"echo run >> '{}'; grep -qv 60 '{}' || sleep 0.2\"",
        log.display(),
        setting.display()
    );
    let [prepare, clean] = ["prepare", "clean"].map(note);
    let outcome = bench
        .start(&["vm.swappiness=59", "--command", &command, "--prepare", &prepare, "--clean", &clean])
        .finish(LIMIT);
    assert_eq!(word(outcome.expect_code(0)), "better", "{outcome}");
    assert!(bench.is_as_before(), "{outcome}");
    let ran = fs::read_to_string(&log).expect("commands ran");
    let ran: Vec<&str> = ran.lines().collect();
    let is_whole = ran.chunks(3).all(|round| round == ["prepare", "run", "clean"]);
    // One run of each side comes before the pairs.
    assert!(is_whole && ran.len() >= 3 * 18, "{ran:?}");
    for (arguments, said) in [
        (&["vm.swappiness=59", "--command", "false"][..], "exited with code 1"),
        (&["vm.swappiness=59", "--command", "true", "--prepare", "false"], "'false'"),
        (&["--command", "true"], "cannot try nothing"),
    ] {
        let refused = bench.start(arguments).finish(LIMIT);
        assert!(refused.expect_code(2).stderr.contains(said), "{refused}");
    }
}

#[test]
fn a_setting_that_cannot_matter_is_tried_read_back_and_undone() {
    let bench = Bench::new(&[]);
    let outcome = bench
        .start(&["vm.swappiness=59", "--metric", "goodput", "--effect", "60%", "--", bench.target.url()])
        .finish(LIMIT);
    // Once in twenty times an interval misses what it is of, so no single word is certain: `make aa-test` counts the false ones.
    assert!(bench.is_as_before(), "{outcome}");
    let change = &outcome.json()["changes"][0];
    assert_eq!((change["before"].as_str(), change["after"].as_str()), (Some("60"), Some("59")), "{outcome}");
    assert_eq!(change["persist"], "sysdyno tune persist 'vm.swappiness=59'");
    let lines = bench.lines();
    let trials: Vec<&Value> = lines.iter().filter_map(|line| line.get("trial")).collect();
    // Where others take the CPUs, pairs are discarded, and the verdict comes sooner.
    assert!(word(&outcome) == "cannot_tell" || trials.len() >= 16, "{} trials: {outcome}", trials.len());
    for trial in trials {
        let expected = if trial["arm"] == "a" { "60" } else { "59" };
        assert_eq!(trial["read_back"][0]["value"], expected, "{trial}");
        assert!(trial["values"]["goodput"].as_f64().is_some_and(|hz| hz > 0.0), "{trial}");
    }
    let settled = lines[0]["settled"]["plan_sha256"].as_str().expect("the plan was hashed").len();
    assert_eq!(settled, 64);
    let runs = bench.program.runs().join("runs").display().to_string();
    let shown = bench.program.run(["show", "--runs-dir", &runs]);
    assert!(shown.stdout.contains("vm.swappiness: 60 → 59 (undone)"), "{shown}");
    let verified = bench.program.run(["show", "--runs-dir", &runs, "--verify", "--json"]);
    assert_eq!(word(&verified), word(&outcome));
    assert!(bench.program.run(["runs", "--runs-dir", &runs]).stdout.contains("-try-"));
    assert!(bench.program.run(["report", "--runs-dir", &runs]).expect_code(0).stdout.contains("report.html"));
}

#[test]
fn a_file_compares_two_configurations_each_with_the_command_that_sets_it() {
    let bench = Bench::new(&[]);
    let log = bench.program.runs().join("log");
    let prepare = |name: &str| format!("sh -c \"echo {name} >> '{}'\"", log.display());
    let text = format!(
        "url = '{}'\n[a]\nprepare = '''{}'''\n[b]\nprepare = '''{}'''\n[try]\nmetric = 'goodput'\neffect = '60%'\n",
        bench.target.url(),
        prepare("a"),
        prepare("b")
    );
    let file = bench.program.runs().join("experiment.toml");
    fs::write(&file, text).expect("writes");
    let outcome = bench.start(&["--experiment", &file.display().to_string()]).finish(LIMIT);
    let ran = fs::read_to_string(&log).expect("commands ran");
    let ran: Vec<&str> = ran.lines().collect();
    // Never twice the same: one that is on stays on. Where others took the CPUs it may give up before eight pairs.
    let fewest = if word(&outcome) == "cannot_tell" { 3 } else { 9 };
    assert!(ran.len() >= fewest && ran.windows(2).all(|two| two[0] != two[1]), "{ran:?} {outcome}");
}

#[test]
fn an_interrupt_undoes_and_keeps_what_there_is() {
    let bench = Bench::new(&[]);
    let running = bench.start(&[
        "vm.swappiness=59",
        "--metric",
        "goodput",
        "--window",
        "60s",
        "--",
        bench.target.url(),
    ]);
    assert!(wait_until(LIMIT, || bench.swappiness() == "59"), "B never begins");
    running.signal(Signal::INT);
    let outcome = running.finish(LIMIT);
    assert_eq!(word(outcome.expect_code(130)), "cannot_tell", "{outcome}");
    assert!(bench.is_as_before(), "{outcome}");
    let runs = bench.program.runs().join("runs").display().to_string();
    let shown = bench.program.run(["show", "--runs-dir", &runs, "--verify", "--json"]);
    assert_eq!(shown.json()["status"], "interrupted", "{shown}");
}

/// A setting of the network, in a namespace of its own.
const SOMAXCONN: &str = "/proc/sys/net/core/somaxconn";

#[test]
fn a_setting_that_something_else_changes_meanwhile_is_named_and_its_pairs_do_not_count_on_a_quiet_machine() {
    let test = "a_setting_that_something_else_changes_meanwhile_is_named_and_its_pairs_do_not_count_on_a_quiet_machine";
    let needs = ["root", "iproute2", "procps", "namespaces"];
    if !has(test, &needs) {
        return;
    }
    let Some(pair) = Pair::make() else { return skip(test, &needs) };
    // Settings of this host: other tests must not see a trial come and go.
    let (program, target) = (Program::alone(), pair.target(&[]));
    let [state, runs] = ["state", "runs"].map(|name| program.runs().join(name).display().to_string());
    let is = |value: &str| {
        let read = pair.generator_command("cat").arg(SOMAXCONN).output().expect("is read");
        String::from_utf8_lossy(&read.stdout).trim() == value
    };
    assert!(is("4096"));
    let words =
        ["try", "net.core.somaxconn=2048", "--state-dir", &state, "--runs-dir", &runs, "--noisy", "--json"];
    let small = ["--pairs", "8", "--window", "1s", "--warmup", "50ms", "-c", "2", "--rate", "200", "--"];
    let arguments = words.into_iter().chain(small).chain([target.url()]);
    let running = Running::start(pair.command(&program, arguments));
    let has_pairs = || lines_below(&runs).iter().any(|line| line.get("pair").is_some());
    assert!(wait_until(LIMIT, has_pairs), "no pair was measured");
    assert!(wait_until(LIMIT, || is("2048")), "B is never on again");
    let mut sysctl = pair.generator_command("sysctl");
    let changed = sysctl.args(["-q", "-w", "net.core.somaxconn=333"]).status();
    assert!(changed.is_ok_and(|status| status.success()));
    let outcome = running.finish(LIMIT);
    assert_eq!(word(&outcome), "cannot_tell", "{outcome}");
    let reason = outcome.json()["verdict"]["capped_by"][0].as_str().unwrap_or_default().to_owned();
    assert!(
        reason.contains("pairs were discarded") && reason.contains("'net.core.somaxconn' is 333"),
        "{outcome}"
    );
    let dropped: Vec<String> = lines_below(&runs)
        .iter()
        .filter_map(|line| Some(line.get("pair")?.get("dropped")?.as_str()?.to_owned()))
        .filter(|reason| reason.contains("somaxconn"))
        .collect();
    let during =
        "'net.core.somaxconn' is 333 instead of 2048: something else changed it (no other sysdyno trial";
    let is_told = |line: &Value| {
        let told = line["trial"]["environment"]["invalid"][0].as_str();
        line["trial"]["arm"] == "b" && told.is_some_and(|told| told.starts_with(during))
    };
    assert!(lines_below(&runs).iter().any(is_told), "{dropped:?}");
    assert!(
        dropped.iter().any(|reason| reason.starts_with("A: 'net.core.somaxconn' is 333 instead of 4096")),
        "{dropped:?}"
    );
    assert!(is("333"), "what somebody else has set is theirs");
}

/// Kills the program at moments that are spread over an experiment; how often a setting was changed at that moment.
#[test]
fn killed_at_any_moment_it_leaves_the_settings_as_they_were() {
    let is_all = std::env::var_os("SYSDYNO_CRASH_TESTS").is_some_and(|value| value == "all");
    let moments: u64 = if is_all { 50 } else { 4 };
    let bench = Bench::new(&[]);
    let mut changed = 0;
    for moment in 0..moments {
        let running = bench.start(&["vm.swappiness=59", "--metric", "goodput", "--", bench.target.url()]);
        assert!(wait_until(LIMIT, || bench.swappiness() == "59"), "B never begins");
        // From the first change on, in steps that no period of the experiment is a multiple of.
        std::thread::sleep(Duration::from_millis(moment * 337 % 2_503));
        changed += u64::from(bench.swappiness() == "59");
        running.signal(Signal::KILL);
        drop(running);
        assert!(wait_until(LIMIT, || bench.is_as_before()), "moment {moment}: {}", bench.swappiness());
    }
    let _ = writeln!(
        std::io::stderr(),
        "try: killed at {moments} moments, {changed} with a changed setting, all restored"
    );
    let runs = bench.program.runs().join("runs").display().to_string();
    let shown = bench.program.run(["show", "--runs-dir", &runs, "--json"]);
    assert!(shown.stdout.is_empty() || shown.json()["status"] == "incomplete", "{shown}");
}

#[test]
fn what_cannot_be_tried_is_said_before_anything_is_sent() {
    let bench = Bench::new(&[]);
    let url = bench.target.url().to_owned();
    let cases: [(&[&str], &str); 9] = [
        (&["vm.swappiness=59"], "no server to load"),
        (&["--", &url], "cannot try nothing"),
        (&["vm.swappiness=60", "--", &url], "it already has this value"),
        (&["vm.swappines=59", "--", &url], "did you mean"),
        (&["vm.swappiness=5000", "--", &url], "cannot change"),
        (&["vm.swappiness=59", "--metric", "time", "--", &url], "only commands have it"),
        (&["vm.swappiness=59", "--pairs", "3", "--", &url], "cannot measure 3 pairs"),
        (&["vm.swappiness=59", "--", &url, &url], "at the same time"),
        (&["vm.swappiness=59", "-H", "X: {{csv:missing.csv:a}}", "--", &url], "missing.csv"),
    ];
    for (arguments, cause) in cases {
        let outcome = bench.start(arguments).finish(LIMIT);
        assert!(outcome.expect_code(2).stderr.contains(cause), "{arguments:?}: {outcome}");
        assert!(bench.is_as_before() && !bench.program.runs().join("runs").exists(), "{arguments:?}");
    }
}

/// This host against itself, again and again: false words must be as rare as is claimed.
#[test]
fn aa_experiments_on_this_host_give_no_more_false_words_than_is_claimed() {
    let count = std::env::var("SYSDYNO_AA_TESTS").ok().and_then(|count| count.parse::<u64>().ok());
    let Some(count) = count else {
        let _ = writeln!(std::io::stderr(), "not asked for: aa_experiments_on_this_host (`make aa-test`)");
        return;
    };
    let bench = Bench::new(&["--work-us", "200"]);
    let mut words = std::collections::BTreeMap::<String, u64>::new();
    for seed in 1..=count {
        let seed = seed.to_string();
        let arguments = ["--calibrate", "--seed", &seed, "--window", "500ms", "--", bench.target.url()];
        *words.entry(word(&bench.start(&arguments).finish(LIMIT))).or_default() += 1;
    }
    let _ = writeln!(std::io::stderr(), "try: {count} experiments without an effect: {words:?}");
    let wrong = words.get("better").unwrap_or(&0) + words.get("worse").unwrap_or(&0);
    // Of 20 at 5 %, 4 are exceeded once in 400 times.
    assert!(wrong as f64 <= 0.05 * count as f64 + 3.0 * (0.05 * 0.95 * count as f64).sqrt(), "{words:?}");
}
