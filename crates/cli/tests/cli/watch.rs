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
