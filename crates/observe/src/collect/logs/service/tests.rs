//! A log of a service: what is appended, emptied, rotated, or too much to be read.

use super::*;
use crate::discover::describe_process;
use crate::testing::eventually;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use sysdyno_record::event::ProcessRole;
use sysdyno_record::units::MonoNs;

/// A process that writes what it is told to its log, and opens it again at `reopen`.
struct Server {
    child: Child,
    process: WatchedProcess,
}

const SCRIPT: &str =
    "while read -r line; do case $line in reopen) exec 2>>\"$0\";; *) echo \"$line\" >&2;; esac; done";

impl Server {
    fn start(log: &Path) -> Server {
        let file = OpenOptions::new().append(true).create(true).open(log).expect("opens");
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT]).arg(log).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(file);
        let child = command.spawn().expect("sh starts");
        let process = describe_process(child.id(), ProcessRole::Target).expect("lives");
        Server { child, process }
    }

    fn write(&mut self, line: &str) {
        let input = self.child.stdin.as_mut().expect("is piped");
        writeln!(input, "{line}").expect("it listens");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = (self.child.kill(), self.child.wait());
    }
}

const LOOK: LogLook = LogLook { before: MonoNs(1), now: MonoNs(2), is_asked: false };

fn take(logs: &mut Vec<ServerLog>, server: &Server) -> bool {
    take_up(logs, &server.process, &Roots::host(), (&mut Vec::new(), &LOOK))
}

fn lines_count(logs: &mut [ServerLog]) -> u64 {
    logs[0].read(&mut Vec::new(), u64::MAX, &LOOK);
    logs[0].tally.lines_count
}

#[test]
fn a_log_that_was_rotated_is_followed_and_the_old_one_is_not_taken_again() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let path = folder.path().join("error.log");
    std::fs::write(&path, "ERROR old\n").expect("writes");
    let (mut server, mut late, mut logs) = (Server::start(&path), Server::start(&path), Vec::new());
    assert!(take(&mut logs, &server) && !take(&mut logs, &late), "one log of two processes");
    server.write("ERROR first");
    assert_eq!(eventually(|| lines_count(&mut logs), |count| *count == 1), 1);
    std::fs::rename(&path, folder.path().join("error.log.1")).expect("rotates");
    server.write("ERROR into the old one");
    server.write("reopen");
    server.write("ERROR second");
    eventually(|| std::fs::read(&path).unwrap_or_default(), |text| !text.is_empty());
    assert!(!take(&mut logs, &server), "it has its place");
    assert_eq!(eventually(|| lines_count(&mut logs), |count| *count == 3), 3);
    late.write("ERROR of who did not reopen it");
    take(&mut logs, &late);
    server.write("ERROR third");
    assert_eq!(eventually(|| lines_count(&mut logs), |count| *count >= 4), 4);
    assert_eq!((logs.len(), logs[0].owner.log.as_str()), (1, path.to_str().expect("is text")));
    assert_eq!(logs[0].tally.errors_count, 4);
}

#[test]
fn names_of_logs_are_bounded_and_differ() {
    let process = WatchedProcess::new(7, 1, "x", ProcessRole::Target);
    let long = LogFile { path: "/ä".repeat(2000).into_bytes(), link: "/none".into() };
    let first = owner(&[], &process, &long);
    assert!(first.log.len() <= MAX_NAME_BYTES + 3 && first.log.starts_with('…'), "{}", first.log);
    let file = open(&Roots::host(), &long, StartAt::End);
    let (place, tally) = ((None, long.path.clone()), LogTally::default());
    let logs = [ServerLog { place, owner: first.clone(), file, past: vec![], tally }];
    let reason = logs[0].unavailable().expect("there is no such file");
    assert!(reason.starts_with("cannot open '/none': "), "{reason}");
    let second = owner(&logs, &process, &long);
    assert!(second.log.starts_with(&first.log) && second.log != first.log);
}
