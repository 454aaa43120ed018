//! `watch` and the progress of a load, as they are on a terminal: `script` gives them one.

use crate::rig::program::{Program, Target};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(60);

/// What a terminal shows of a line of a shell. It says `before` with the terminal's settings, then the process of the program.
struct OnTerminal {
    child: Child,
    keys: ChildStdin,
    shown: Receiver<Vec<u8>>,
    text: String,
}

impl OnTerminal {
    fn start(program: &Program, arguments: &str) -> OnTerminal {
        let exe = env!("CARGO_BIN_EXE_sysdyno");
        let line = format!(
            "stty cols 80 rows 24; echo before $(stty -g); sh -c 'echo pid $$; exec {exe} {arguments}'; \
             echo code $?; echo after $(stty -g)"
        );
        let mut command = std::process::Command::new("script");
        command.args(["-q", "-c", &line, "/dev/null"]);
        command.env("SYSDYNO_RUNS_DIR", program.runs()).env("LANG", "C.UTF-8").env("TERM", "xterm");
        command.env_remove("COLUMNS").env_remove("NO_COLOR");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("script starts");
        let keys = child.stdin.take().expect("piped");
        let mut output = child.stdout.take().expect("piped");
        let (sender, shown) = mpsc::channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut buffer) {
                if sender.send(buffer[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        OnTerminal { child, keys, shown, text: String::new() }
    }

    /// Waits until the terminal has shown this, after what was awaited before.
    fn expect(&mut self, part: &str) -> String {
        let begin = Instant::now();
        loop {
            if let Some(at) = self.text.find(part) {
                let rest = self.text.split_off(at + part.len());
                return std::mem::replace(&mut self.text, rest);
            }
            match self.shown.recv_timeout(LIMIT) {
                Ok(bytes) if begin.elapsed() < LIMIT => self.text.push_str(&String::from_utf8_lossy(&bytes)),
                _ => panic!("'{part}' is not shown: {:?}", self.text),
            }
        }
    }

    /// The rest of a line that begins with a word.
    fn word(&mut self, name: &str) -> String {
        self.expect(&format!("{name} "));
        self.expect("\n").trim().to_owned()
    }

    fn press(&mut self, keys: &str) {
        self.keys
            .write_all(keys.as_bytes())
            .and_then(|()| self.keys.flush())
            .expect("the terminal takes keys");
    }
}

impl Drop for OnTerminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_full_screen_shows_the_host_obeys_keys_and_gives_the_terminal_back() {
    let program = Program::new();
    let mut terminal = OnTerminal::start(&program, "watch -i 200ms");
    let before = terminal.word("before");
    terminal.expect("▸ live");
    terminal.expect("CPU ");
    terminal.expect("Memory ");
    terminal.press("?");
    terminal.expect("explain the chosen finding");
    terminal.press("?");
    terminal.press("p");
    terminal.expect("▸ held");
    terminal.press("q");
    terminal.expect("\u{1b}[?1049l");
    assert_eq!(terminal.word("code"), "0");
    assert_eq!(terminal.word("after"), before);
}

#[test]
fn a_signal_gives_the_terminal_back_too() {
    let program = Program::new();
    let mut terminal = OnTerminal::start(&program, "watch -i 200ms");
    let before = terminal.word("before");
    let pid = terminal.word("pid").parse().ok().and_then(Pid::from_raw).expect("a process");
    terminal.expect("▸ live");
    kill_process(pid, Signal::TERM).expect("it is there");
    terminal.expect("\u{1b}[?1049l");
    assert_eq!(terminal.word("code"), "0");
    assert_eq!(terminal.word("after"), before);
}

#[test]
fn a_load_on_a_terminal_is_drawn_and_a_quiet_one_is_not() {
    let (program, target) = (Program::new(), Target::start(&[]));
    let load = format!("load {} -c 2 -d 3s", target.url());
    let mut terminal = OnTerminal::start(&program, &load);
    terminal.expect("▸ steady");
    terminal.expect("p99");
    terminal.expect("generator");
    assert_ne!(terminal.word("code"), "2");
    let mut terminal = OnTerminal::start(&program, &format!("{load} --quiet"));
    let shown = terminal.expect("code ");
    assert!(!shown.contains("▸ steady"), "{shown}");
}

#[test]
fn elsewhere_there_is_a_header_and_a_line_for_each_sample() {
    let program = Program::new();
    let outcome = program.run(["watch", "-cdngy", "--count", "2", "-i", "200ms"]);
    let lines: Vec<&str> = outcome.expect_code(0).stdout.lines().collect();
    assert_eq!(lines.len(), 4, "{lines:#?}");
    assert!(lines[0].contains("total cpu usage") && lines[1].starts_with("usr sys idl"), "{lines:#?}");
    let shares: Vec<u32> =
        lines[3].split(['|', ' ']).filter_map(|share| share.parse().ok()).take(7).collect();
    assert!((97..=103).contains(&shares.iter().sum::<u32>()), "rounded shares of all time: {lines:#?}");
    assert!(!outcome.stdout.contains('\u{1b}'));
}

#[test]
fn csv_and_json_are_for_programs() {
    let program = Program::new();
    let csv = program.run(["watch", "-cm", "-C", "0,total", "--csv", "--count", "3", "-i", "100ms"]);
    let fields: Vec<usize> = csv.expect_code(0).stdout.lines().map(|line| line.split(',').count()).collect();
    assert_eq!(fields, [1 + 14 + 4; 4]);
    let json = program.run(["watch", "--json", "--count", "1", "-i", "200ms"]);
    let document: serde_json::Value = serde_json::from_str(&json.expect_code(0).stdout).expect("is JSON");
    let shares = ["user", "system", "softirq", "irq", "iowait", "steal", "idle"];
    let sum: f64 = shares.iter().filter_map(|name| document["cpu"][format!("{name}_ratio")].as_f64()).sum();
    assert!((sum - 1.0).abs() < 0.01, "{document:#}");
    assert!(document["findings"].is_array() && document["memory"]["total_bytes"].as_f64() > Some(0.0));
}

#[test]
fn hosts_that_are_named_have_a_column_and_tab_leads_from_one_to_the_next() {
    let program = Program::new();
    let csv = program.run(["watch", "here", "here", "-c", "--csv", "--count", "2", "-i", "200ms"]);
    let lines: Vec<Vec<&str>> =
        csv.expect_code(0).stdout.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!((lines.len(), lines[0][1]), (5, "host"), "{lines:?}");
    assert!(lines[1..].iter().all(|line| line.len() == 9 && line[1] == "\"here\""), "{lines:?}");
    let mut terminal = OnTerminal::start(&program, "watch here -i 200ms");
    terminal.expect("sysdyno watch here");
    terminal.press("?");
    terminal.expect("the next host");
    terminal.press("\tq");
    terminal.expect("code 0");
}

#[test]
fn what_is_watched_is_recorded_and_shown_again() {
    let program = Program::new();
    let watch = program.run(["watch", "-c", "--csv", "--count", "12", "-i", "100ms", "--record"]);
    assert_eq!(watch.expect_code(0).stdout.lines().count(), 13, "{watch}");
    assert!(watch.stderr.contains("recording to ") && watch.stderr.contains("-watch-"), "{watch}");
    let folder = program.run_folder().expect("a folder");
    assert!(folder.join("report.html").exists());
    let shown = program.run(["show", "--json"]);
    let document = shown.expect_code(0).json();
    assert_eq!((&document["kind"], &document["status"]), (&"watch".into(), &"complete".into()));
    assert!(document["watched"]["samples_count"].as_u64() >= Some(13), "{document:#}");
    let levels = document["watched"]["levels"].as_array().expect("levels");
    assert!(levels.iter().any(|level| level["resource"] == "cpus_busy_ratio"), "{levels:?}");
    let text = program.run(["show"]);
    assert!(text.expect_code(0).stdout.contains("This host was watched for"), "{text}");
    let verified = program.run(["show", "--verify"]);
    verified.expect_code(0);
    let requests = program.run(["show", "--output", "ab"]);
    assert!(requests.expect_code(2).stderr.contains("it is for requests"), "{requests}");
    let explained = program.run(["explain"]);
    assert!(explained.expect_code(2).stderr.contains("it is no load"), "{explained}");
}

/// Waits until a record has readings; returns its folder.
fn recorded(program: &Program) -> std::path::PathBuf {
    let begin = Instant::now();
    loop {
        let folder = program.run_folder();
        let readings =
            folder.as_ref().and_then(|folder| std::fs::read_to_string(folder.join("series.jsonl")).ok());
        if readings.is_some_and(|text| text.lines().count() > 5) {
            return folder.expect("was there");
        }
        assert!(begin.elapsed() < LIMIT, "nothing is recorded");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_record_that_is_killed_opens_and_one_that_is_stopped_is_complete() {
    for (signal, status, code) in [(Signal::KILL, "incomplete", None), (Signal::INT, "complete", Some(0))] {
        let program = Program::new();
        let words = ["watch", "-c", "-i", "100ms", "--record"];
        let mut child = program.command(words).stderr(Stdio::null()).spawn().expect("it starts");
        let folder = recorded(&program);
        kill_process(Pid::from_child(&child), signal).expect("it is there");
        assert_eq!(child.wait().expect("it ends").code(), code);
        let shown = program.run(["show", "--json"]);
        let document = shown.expect_code(0).json();
        assert_eq!(document["status"], status, "{document:#}");
        assert!(document["watched"]["samples_count"].as_u64() >= Some(5), "{document:#}");
        let report = program.run(["report"]);
        assert!(report.expect_code(0).stdout.contains("report.html"), "{report}");
        assert!(folder.join("report.html").exists());
    }
}

#[test]
fn the_full_screen_is_recorded_until_it_is_quit() {
    let program = Program::new();
    let mut terminal = OnTerminal::start(&program, "watch -i 100ms --record");
    terminal.expect("recording to ");
    terminal.expect("▸ live");
    recorded(&program);
    terminal.press("q");
    terminal.expect("\u{1b}[?1049l");
    terminal.expect("recorded: `sysdyno show ");
    assert_eq!(terminal.word("code"), "0");
    let shown = program.run(["show", "--json"]);
    assert_eq!(shown.expect_code(0).json()["status"], "complete", "{shown}");
}

#[test]
fn another_host_is_recorded_with_its_facts_and_several_are_refused() {
    let program = Program::new();
    let two = program.run(["watch", "here", "here", "--record", "-c", "--count", "1"]);
    assert!(two.expect_code(2).stderr.contains("cannot record 2 hosts"), "{two}");
    assert!(two.stderr.contains("hint: ") && program.run_folder().is_none(), "{two}");
    let one = program.run(["watch", "here", "--record", "-c", "--count", "3", "-i", "100ms"]);
    one.expect_code(0);
    let folder = program.run_folder().expect("a folder");
    assert!(folder.join("server.json").exists() && folder.join("server-series.jsonl").exists());
    let document = program.run(["show", "--json"]).expect_code(0).json();
    assert_eq!(document["watched"]["host"], "here", "{document:#}");
}

#[test]
fn busy_processes_are_listed_with_what_their_threads_do() {
    let program = Program::new();
    // It burns a CPU, and its child waits for a timer.
    let burn = "while :; do :; done";
    let mut burning = std::process::Command::new("sh").args(["-c", burn]).spawn().expect("it starts");
    let watch = program.run(["watch", "--json", "--count", "3", "-i", "300ms"]);
    let killed = (burning.kill(), burning.wait());
    let line = watch.expect_code(0).stdout.lines().last().expect("a sample").to_owned();
    let document: serde_json::Value = serde_json::from_str(&line).expect("is JSON");
    assert!(killed.0.is_ok(), "it was there to the end");
    let processes = document["processes"].as_array().expect("processes");
    let found = processes.iter().find(|process| process["pid"] == burning.id()).expect("it is busy");
    let what = found["waits"][0]["what"].as_str();
    assert!(matches!(what, Some("running" | "runnable" | "throttled")), "{found:#}");
    assert_eq!(found["threads_count"], 1);
    let threads = document["threads"].as_array().expect("threads");
    assert!(threads.iter().any(|thread| thread["tid"] == burning.id()), "{threads:?}");
}

#[test]
fn what_cannot_be_watched_is_said() {
    let program = Program::new();
    let short = program.run(["watch", "-i", "1ms", "--count", "1"]);
    assert!(short.expect_code(2).stderr.contains("--interval 1ms is not in 100ms to 1h"), "{short}");
    let nowhere = program.run(["watch", "--target", "nowhere", "--count", "1"]);
    assert!(nowhere.expect_code(2).stderr.contains("cannot watch 'nowhere'"), "{nowhere}");
    let nobody = program.run(["watch", "--target", "127.0.0.1:1", "--count", "1"]);
    assert!(nobody.expect_code(2).stderr.contains("cannot watch '127.0.0.1:1': no process"), "{nobody}");
    let no_host = program.run(["watch", "netns:there-is-none", "--count", "1"]);
    assert!(no_host.expect_code(2).stderr.contains("cannot reach host 'netns:there-is-none'"), "{no_host}");
}
