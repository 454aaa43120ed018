//! The keeper of a service: a separate process that starts the service, notices how it ends, and leaves none of its processes
//! behind.
//!
//! It waits for its order ([`KeeperOrder`], one line on its standard input) and exits if none comes, so that nothing runs that
//! is not in the journal. Orphans below it become its children, so that it never loses sight of a descendant. The process
//! does nothing else and has one thread; when that dies, the kernel kills the service.

use super::limits::{JoinedGroups, LimitGroup};
use super::recipe::StopSignal;
use super::{check, files, machine, namespace, process};
use crate::sys;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, set_child_subreaper, wait};
use rustix::thread::{CpuSet, sched_setaffinity};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;
use sysdyno_run::clock;

/// Longest order that is read. Unit: bytes.
const MAX_ORDER: u64 = 4 << 20;

/// How long each step may take that comes before a service.
pub(super) const PREPARE_LIMIT: Duration = Duration::from_secs(300);

/// What a keeper is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct KeeperOrder {
    pub(super) lab: String,
    pub(super) service: String,
    pub(super) namespace: PathBuf,
    /// The folder that it runs in.
    pub(super) folder: PathBuf,
    pub(super) log: PathBuf,
    /// Where it is written down how the service ended.
    pub(super) ended: PathBuf,
    pub(super) prepare: Vec<Vec<String>>,
    pub(super) argv: Vec<String>,
    /// CPUs that it may run on; empty: all.
    #[serde(default)]
    pub(super) cpus: Vec<u32>,
    /// Groups that limit it.
    #[serde(default)]
    pub(super) limits: Vec<LimitGroup>,
    pub(super) stop: StopSignal,
    /// Unit: milliseconds.
    pub(super) stop_within_ms: u64,
}

/// What a keeper hears of the world: it should stop; a child has ended. Each is a stream that becomes readable.
#[derive(Clone, Copy, Debug)]
pub struct KeeperSigns<'a> {
    /// Readable once it should stop.
    pub stop: BorrowedFd<'a>,
    /// Gets a byte for each child that has ended.
    pub child: BorrowedFd<'a>,
}

/// Keeps the service that the first line of `input` orders, until it has ended and nothing of it is left. What happens is
/// said on `output`, a line each.
///
/// # Errors
/// There was no order, or it cannot be carried out; then nothing of the service is left either.
pub fn keep(input: impl BufRead, output: &mut dyn Write, signs: KeeperSigns<'_>) -> io::Result<()> {
    let mut line = String::new();
    input.take(MAX_ORDER).read_line(&mut line)?;
    if !line.ends_with('\n') {
        // Who started this is dead.
        return Ok(());
    }
    let order: KeeperOrder = serde_json::from_str(&line)?;
    set_child_subreaper(Some(rustix::process::getpid()))?;
    let mut log = files::open(&order.log, OFlags::APPEND)?;
    let kept = keep_within(&order, signs, &log, output);
    let how = match &kept {
        Ok(how) => how.clone(),
        Err(error) => format!("it could not be started: {error}"),
    };
    // Whoever asks for the status reads it; the log has it for people.
    let _ = writeln!(log, "sysdyno: {}: {how}", order.service);
    let _ = files::replace(&order.ended, &how);
    let _ = writeln!(output, "ended {how}");
    kept.map(drop)
}

/// Runs the service within its limits until nothing of it is left.
fn keep_within(
    order: &KeeperOrder,
    signs: KeeperSigns<'_>,
    mut log: &File,
    output: &mut dyn Write,
) -> io::Result<String> {
    let groups = JoinedGroups::join(&order.limits)?;
    let kept = Kept { order, signs }.run(log, output);
    process::kill_descendants(std::process::id());
    while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
    if let Err(error) = groups.leave() {
        // Taking the lab down tries it again.
        let _ = writeln!(log, "sysdyno: {}: {error}", order.service);
    }
    kept
}

struct Kept<'a> {
    order: &'a KeeperOrder,
    signs: KeeperSigns<'a>,
}

impl Kept<'_> {
    /// How the service ended.
    fn run(&self, log: &File, output: &mut dyn Write) -> io::Result<String> {
        namespace::enter(&self.order.namespace)?;
        self.keep_to_cpus()?;
        for argv in &self.order.prepare {
            let child = self.start(argv, log)?;
            let how = self.watch(child, Some(PREPARE_LIMIT))?;
            if how != ENDED_WELL {
                return Err(io::Error::other(format!("{}: {how}", argv.first().map_or("", String::as_str))));
            }
        }
        let child = self.start(&self.order.argv, log)?;
        if let Some(id) = u32::try_from(child.as_raw_nonzero().get()).ok().and_then(process::identify) {
            // Nobody may be there to hear it any more.
            let _ = writeln!(output, "main {} {}", id.pid, id.start_ticks).and_then(|()| output.flush());
        }
        self.watch(child, None)
    }

    /// Of the keeper itself; what it starts inherits them.
    fn keep_to_cpus(&self) -> io::Result<()> {
        if self.order.cpus.is_empty() {
            return Ok(());
        }
        let mut set = CpuSet::new();
        self.order.cpus.iter().for_each(|cpu| set.set(*cpu as usize));
        sched_setaffinity(None, &set).map_err(|errno| {
            let cause = format!("cannot pin it to CPUs {:?}: {errno}", self.order.cpus);
            io::Error::new(io::Error::from(errno).kind(), cause)
        })
    }

    fn start(&self, argv: &[String], log: &File) -> io::Result<Pid> {
        let (program, arguments) = argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let tag = format!("{}/{}", self.order.lab, self.order.service);
        let environment = BTreeMap::from([
            ("PATH", machine::PATH.to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
            ("HOME", self.order.folder.display().to_string()),
            ("SYSDYNO_LAB", tag),
        ]);
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(environment).current_dir(&self.order.folder);
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log.try_clone()?);
        sys::namespace::bind_to_parent(&mut command);
        let started = command.spawn();
        let cannot = |error: io::Error| {
            io::Error::new(error.kind(), format!("cannot start '{}': {error}", program.escape_debug()))
        };
        // The child is buried by `watch`, with all the others.
        started.map(|child| Pid::from_child(&child)).map_err(cannot)
    }

    /// Waits until a child has ended, or should: then it is told to, and killed if it does not. One that has a limit is
    /// killed when that is over.
    fn watch(&self, main: Pid, limit: Option<Duration>) -> io::Result<String> {
        let mut deadline_ns = limit.map(|limit| clock::monotonic().after(limit).0);
        let (mut is_told, mut is_killed) = (false, false);
        loop {
            if let Some(status) = self.bury(main) {
                return Ok(match (limit, is_killed && !is_told) {
                    (Some(limit), true) => {
                        format!("it did not stop within {} s and was killed", limit.as_secs())
                    }
                    _ => how(status),
                });
            }
            let now_ns = clock::monotonic().0;
            if deadline_ns.is_some_and(|deadline| now_ns >= deadline) && !is_killed {
                is_killed = true;
                let _ = kill_process(main, Signal::KILL);
            }
            let left = deadline_ns.map(|deadline| Duration::from_nanos(deadline.saturating_sub(now_ns)));
            if self.wait(left.filter(|_| !is_killed), is_told)? && !is_told {
                is_told = true;
                let _ = kill_process(main, signal(self.order.stop));
                deadline_ns = Some(now_ns + self.order.stop_within_ms * 1_000_000);
            }
        }
    }

    /// Buries all children that have ended; the status of `main` if it is among them.
    fn bury(&self, main: Pid) -> Option<WaitStatus> {
        let mut found = None;
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == main => found = Some(status),
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) | Err(_) => return found,
            }
        }
    }

    /// Waits for a sign; true if it is the one to stop.
    fn wait(&self, limit: Option<Duration>, is_told: bool) -> io::Result<bool> {
        let limit = limit.map(|limit| Timespec {
            tv_sec: limit.as_secs() as i64,
            tv_nsec: i64::from(limit.subsec_nanos()) + 1,
        });
        let stop = if is_told { PollFlags::empty() } else { PollFlags::IN };
        let mut watched =
            [PollFd::new(&self.signs.child, PollFlags::IN), PollFd::new(&self.signs.stop, stop)];
        match poll(&mut watched, limit.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let (child, stop) = (watched[0].revents(), watched[1].revents());
        if child.contains(PollFlags::IN) {
            // How many there were does not matter: all that have ended are buried.
            rustix::io::read(self.signs.child.as_fd(), &mut [0; 256])?;
        }
        Ok(stop.contains(PollFlags::IN))
    }
}

const ENDED_WELL: &str = "it exited with code 0";

fn how(status: WaitStatus) -> String {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => format!("it exited with code {code}"),
        (None, Some(signal)) => format!("it was killed by signal {signal}"),
        (None, None) => "it exited for an unknown reason".into(),
    }
}

fn signal(stop: StopSignal) -> Signal {
    match stop {
        StopSignal::Term => Signal::TERM,
        StopSignal::Quit => Signal::QUIT,
        StopSignal::Int => Signal::INT,
        StopSignal::Winch => Signal::WINCH,
        StopSignal::Kill => Signal::KILL,
    }
}

/// What a log says in its last lines.
pub(super) fn last_lines(order: &KeeperOrder) -> String {
    let text = check::tail(&order.log, 4096).unwrap_or_default();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let from = lines.len().saturating_sub(5);
    lines[from..].join("\n")
}
