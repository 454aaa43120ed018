//! One run of a command, in its own process group and with empty input. Its output is discarded, unless it is to be shown;
//! if it must contain certain texts, it is kept in memory, and its first MiB is searched.
//!
//! A pidfd tells when it has ended, so that the wait can be abandoned; meanwhile each look counts what the command does or waits
//! for. Its resource usage is read before it is reaped. When
//! its time is up or the work is interrupted, its group gets SIGTERM, and SIGKILL if it has not ended two seconds later; no
//! process outside the group is ever signaled.

use crate::clock;
use crate::program::{end_group, has_ended};
use crate::sys::wait::bury;
use rustix::fd::OwnedFd;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sysdyno_observe::{WatchedCommand, allowed_cpus, process_io};
use sysdyno_record::units::{MonoNs, SpanNs};
use sysdyno_record::work::{CommandWait, Ending, Usage};

/// Interval between two looks at what the command does, and two questions whether the work continues.
const TICK: Duration = Duration::from_millis(20);

/// From SIGTERM to SIGKILL.
const GRACE: Duration = Duration::from_secs(2);

/// How much of an output is searched. Unit: bytes.
const MAX_OUTPUT: usize = 1 << 20;

/// What an output has to be.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Expected<'a> {
    /// Texts that it must hold.
    pub texts: &'a [String],
    /// Texts that it must not hold.
    pub never: &'a [String],
}

impl Expected<'_> {
    fn is_any(&self) -> bool {
        !self.texts.is_empty() || !self.never.is_empty()
    }

    /// What is wrong with an output; `None`: nothing.
    fn wrong(&self, output: &str) -> Option<String> {
        let lacks = self.texts.iter().find(|text| !output.contains(text.as_str()));
        let has = self.never.iter().find(|text| output.contains(text.as_str()));
        let lacks = lacks.map(|text| format!("its output lacks '{}'", text.escape_debug()));
        lacks.or_else(|| has.map(|text| format!("its output contains '{}'", text.escape_debug())))
    }
}

/// What a command is run with.
#[derive(Clone, Copy, Debug)]
pub(super) struct CommandOrder<'a> {
    /// Program and arguments; `{worker}` and `{number}` in an argument are replaced with these.
    pub words: &'a [String],
    pub worker: u32,
    pub number: u64,
    pub timeout: SpanNs,
    /// Whether its output goes to standard error; else nowhere.
    pub is_shown: bool,
    /// What its output has to be, if it succeeds otherwise; then it is not shown.
    pub expected: Expected<'a>,
}

/// The result.
#[derive(Clone, Debug)]
pub(super) struct Ran {
    pub begin: MonoNs,
    pub end: MonoNs,
    pub ending: Ending,
    pub usage: Option<Usage>,
    /// How often it was seen at what.
    pub waits: BTreeMap<CommandWait, u64>,
}

/// Runs a command to its end.
pub(super) fn run(setting: &CommandOrder<'_>, stop: &AtomicBool) -> Ran {
    let kept =
        match setting.expected.is_any().then(|| memfd_create("output", MemfdFlags::CLOEXEC)).transpose() {
            Ok(kept) => kept.map(File::from),
            Err(errno) => return not_kept(errno),
        };
    let mut command = command(setting, kept.as_ref());
    let begin = clock::monotonic();
    let not_started = |cause: String| Ran {
        begin,
        end: clock::monotonic(),
        ending: Ending::NotStarted(cause),
        usage: None,
        waits: BTreeMap::new(),
    };
    let child = match command.spawn() {
        Ok(child) => Pid::from_child(&child),
        Err(error) => {
            let program = setting.words.first().map_or(String::new(), |word| word.escape_debug().to_string());
            return not_started(format!("cannot start '{program}': {error}"));
        }
    };
    let pid = child.as_raw_nonzero().get().unsigned_abs();
    let mut waits = BTreeMap::new();
    let mut watched = WatchedCommand::of(pid);
    let look = &mut || {
        let seen = watched.look();
        seen.into_iter().for_each(|wait| *waits.entry(wait).or_default() += 1);
    };
    let cut_off = match pidfd_open(child, PidfdFlags::empty()) {
        Ok(pidfd) => wait(child, &pidfd, (begin, setting.timeout), stop, look),
        // Without one it is waited for as long as it takes.
        Err(_) => None,
    };
    let end = clock::monotonic();
    let (io, cpus_count) = (process_io(pid), allowed_cpus(pid).map(|cpus| cpus.len() as u32));
    match bury(child) {
        Err(errno) => not_started(format!("cannot wait for it: {errno}")),
        Ok((status, usage)) => {
            let ended =
                status.code().map_or_else(|| Ending::Signal(status.signal().unwrap_or(0)), Ending::Exit);
            let ended = match (&ended, &kept) {
                (Ending::Exit(0), Some(kept)) => judge(&setting.expected, kept).map_or(ended, Ending::Output),
                _ => ended,
            };
            let usage = Some(Usage { io, cpus_count, ..usage });
            Ran { begin, end, ending: cut_off.unwrap_or(ended), usage, waits }
        }
    }
}

/// It was not started, since its output cannot be kept.
fn not_kept(errno: Errno) -> Ran {
    let now = clock::monotonic();
    let cause = format!("cannot store its output: {errno}");
    Ran { begin: now, end: now, ending: Ending::NotStarted(cause), usage: None, waits: BTreeMap::new() }
}

/// What is wrong with an output that was kept; `None`: nothing.
fn judge(expected: &Expected<'_>, kept: &File) -> Option<String> {
    let mut output = Vec::new();
    let length = kept.metadata().map_or(0, |found| found.len()).min(MAX_OUTPUT as u64) as usize;
    output.resize(length, 0);
    match kept.read_exact_at(&mut output, 0) {
        Ok(()) => expected.wrong(&String::from_utf8_lossy(&output)),
        Err(error) => Some(format!("cannot read its output: {error}")),
    }
}

fn command(setting: &CommandOrder<'_>, kept: Option<&File>) -> Command {
    let (worker, number) = (setting.worker.to_string(), setting.number.to_string());
    let filled = |word: &String| word.replace("{worker}", &worker).replace("{number}", &number);
    let program = setting.words.first().map(String::as_str).unwrap_or_default();
    let mut command = Command::new(program);
    command
        .args(setting.words.iter().skip(1).map(filled))
        .env("SYSDYNO_WORKER", &worker)
        .env("SYSDYNO_NUMBER", &number)
        .stdin(Stdio::null())
        .stdout(output(setting.is_shown, kept))
        .stderr(output(setting.is_shown, kept))
        .process_group(0);
    command
}

/// What keeps it, standard error, or nothing.
fn output(is_shown: bool, kept: Option<&File>) -> Stdio {
    if let Some(Ok(kept)) = kept.map(File::try_clone) {
        return Stdio::from(kept);
    }
    let error = is_shown.then(|| std::io::stderr().as_fd().try_clone_to_owned().ok()).flatten();
    error.map_or_else(Stdio::null, Stdio::from)
}

/// Waits until the child has ended, and looks at it meanwhile; why it was made to end, if it was.
fn wait(
    child: Pid,
    pidfd: &OwnedFd,
    (begin, timeout): (MonoNs, SpanNs),
    stop: &AtomicBool,
    look: &mut dyn FnMut(),
) -> Option<Ending> {
    let deadline = begin.after(timeout.duration());
    let mut why = None;
    while !has_ended(pidfd, Duration::from_nanos(deadline.since(clock::monotonic())).min(TICK)) {
        look();
        if stop.load(Ordering::Relaxed) {
            why = Some(Ending::Interrupted);
        } else if clock::monotonic() >= deadline {
            why = Some(Ending::TimedOut);
        }
        if why.is_some() {
            end_group(child, pidfd, GRACE);
            break;
        }
    }
    why
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_words(words: &[&str], timeout: SpanNs, stop: bool) -> Ran {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let setting = CommandOrder {
            words: &words,
            worker: 3,
            number: 8,
            timeout,
            is_shown: false,
            expected: Expected::default(),
        };
        run(&setting, &AtomicBool::new(stop))
    }

    const LONG: SpanNs = SpanNs::from_secs(60);

    #[test]
    fn how_a_command_ended_and_what_it_used_is_known() {
        let slept = run_words(&["sleep", "0.1"], LONG, false);
        assert_eq!(slept.ending, Ending::Exit(0));
        assert!(slept.end.since(slept.begin) >= 100_000_000);
        assert_eq!(run_words(&["sh", "-c", "exit 7"], LONG, false).ending, Ending::Exit(7));
        assert_eq!(run_words(&["sh", "-c", "kill -9 $$"], LONG, false).ending, Ending::Signal(9));
        // What a waited-for child has used counts.
        let busy = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done";
        let usage =
            run_words(&["sh", "-c", &format!("sh -c '{busy}'; true")], LONG, false).usage.expect("known");
        assert!(
            usage.user_us > 1_000 && usage.minor_faults_count > 0 && usage.max_rss_bytes > 0,
            "{usage:?}"
        );
        let io = run_words(&["sh", "-c", "cat /etc/passwd; true"], LONG, false).usage.expect("known").io;
        let length = std::fs::metadata("/etc/passwd").expect("is there").len();
        assert!(io.expect("it is ours").read_call_bytes >= length, "{io:?}");
        let Ending::NotStarted(cause) = run_words(&["/nowhere/at/all"], LONG, false).ending else {
            panic!("it was started")
        };
        assert!(cause.contains("No such file"), "{cause}");
    }

    #[test]
    fn what_a_command_spent_its_time_on_is_known() {
        let waits = run_words(&["sleep", "0.5"], LONG, false).waits;
        assert!(waits.get(&CommandWait::Timer).is_some_and(|count| *count > 0), "{waits:?}");
    }

    #[test]
    fn an_output_has_to_hold_some_texts_and_must_not_hold_others() {
        let words: Vec<String> = ["sh", "-c", "echo '20 good'; echo 1 bad >&2"].map(str::to_owned).to_vec();
        let ended = |texts: &[&str], never: &[&str]| {
            let [texts, never] = [texts, never].map(|all| all.iter().map(|one| (*one).to_owned()).collect());
            let (texts, never): (Vec<String>, Vec<String>) = (texts, never);
            let expected = Expected { texts: &texts, never: &never };
            let setting =
                CommandOrder { words: &words, worker: 0, number: 1, timeout: LONG, is_shown: true, expected };
            run(&setting, &AtomicBool::new(false)).ending
        };
        assert_eq!(ended(&["20 good", "bad"], &["2 bad"]), Ending::Exit(0));
        assert_eq!(ended(&["20 good", "21 good"], &[]), Ending::Output("its output lacks '21 good'".into()));
        assert_eq!(ended(&[], &["1 bad"]), Ending::Output("its output contains '1 bad'".into()));
    }

    #[test]
    fn arguments_are_arguments_whatever_is_in_them() {
        let trap = "$(id); `id` {worker}-{number}";
        assert_eq!(run_words(&["test", trap, "=", "$(id); `id` 3-8"], LONG, false).ending, Ending::Exit(0));
        let script = "test $SYSDYNO_WORKER-$SYSDYNO_NUMBER = 3-8";
        assert_eq!(run_words(&["sh", "-c", script], LONG, false).ending, Ending::Exit(0));
    }

    #[test]
    fn a_command_whose_time_is_over_ends_with_all_that_it_started() {
        // The trap outlives SIGTERM, the pipe's end says when the last of them is gone.
        let (reader, writer) = std::io::pipe().expect("a pipe");
        let script = "trap '' TERM; sleep 600 & wait";
        let words: Vec<String> = ["sh", "-c", script].iter().map(|word| (*word).to_owned()).collect();
        let setting = CommandOrder {
            words: &words,
            worker: 0,
            number: 1,
            timeout: SpanNs::from_millis(100),
            is_shown: false,
            expected: Expected::default(),
        };
        let mut command = command(&setting, None);
        command.stdout(writer);
        let child = Pid::from_child(&command.spawn().expect("starts"));
        drop(command);
        let pidfd = pidfd_open(child, PidfdFlags::empty()).expect("a pidfd");
        let begin = clock::monotonic();
        let why = wait(child, &pidfd, (begin, setting.timeout), &AtomicBool::new(false), &mut || {});
        assert_eq!(why, Some(Ending::TimedOut));
        bury(child).expect("it is ours");
        assert_eq!(std::io::read_to_string(reader).expect("its end"), "");
        assert_eq!(run_words(&["sleep", "600"], LONG, true).ending, Ending::Interrupted);
    }
}
