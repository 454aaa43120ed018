//! Programs that sysdyno starts for itself: to check, reload, make, mount, fetch, or ask something. Each has a deadline.
//!
//! All are started the same way: in their own session, so that no terminal reaches them; with empty input unless some is
//! given; with bounded output. When its time is up, a program and everything in its process group get SIGTERM, then SIGKILL
//! if needed; it counts as failed, and its caller continues. The kernel enforces the deadline too (`alarm`), in case this
//! process dies first. Most programs die with this process anyway; those that must not be cut off by another process's
//! death (`tune2fs`) live on.
//!
//! Users' own commands have their own limits and run elsewhere (`crate::work`, `crate::service`), as do services of labs,
//! which run until they are stopped. A [`Watchdog`] limits the wait for messages from a running child (an agent, a guardian,
//! a keeper).

mod group;
mod watchdog;

pub(crate) use group::{end_group, has_ended};
pub use watchdog::Watchdog;

use crate::clock;
use crate::sys;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;
use sysdyno_record::units::{MonoNs, SpanNs};

/// Replaces the limit of every program.
const LIMIT_VARIABLE: &str = "SYSDYNO_PROGRAM_TIMEOUT";

/// From SIGTERM to SIGKILL.
const GRACE: Duration = Duration::from_secs(2);

/// How long a program that was killed may take to be gone: one that waits for a device does not hear the signal.
const BURIAL: Duration = Duration::from_secs(2);

/// How long the output of a program that has ended is waited for: a child of it may have it open.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// How much later than this process the kernel ends a program, so that this process can report why.
const KERNEL_LATER: Duration = Duration::from_secs(10);

/// How much of each output is kept. Unit: bytes.
const MAX_OUTPUT: usize = 64 * 1024;

/// What becomes of a program when the one who started it dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bond {
    /// It is killed: nobody needs its answer.
    DiesWithUs,
    /// It continues until its deadline: a half-finished job would be worse.
    LivesOn,
}

/// A program that is to be run.
pub struct Program {
    command: Command,
    name: String,
    limit: Duration,
    bond: Bond,
    /// How much of each output is kept. Unit: bytes.
    kept_bytes: usize,
}

/// The result.
#[derive(Debug)]
pub struct EndedProgram {
    /// How it ended.
    pub status: ExitStatus,
    /// The beginning of what it printed.
    pub output: Vec<u8>,
    /// The beginning of what it printed on standard error.
    pub errors: Vec<u8>,
}

impl Program {
    /// A command that may run so long. Its input is empty unless it is set afterwards.
    pub fn new(mut command: Command, limit: Duration) -> Program {
        let path = std::path::Path::new(command.get_program());
        let name = path.file_name().unwrap_or_default().to_string_lossy().escape_debug().to_string();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Program { command, name, limit: chosen(limit), bond: Bond::DiesWithUs, kept_bytes: MAX_OUTPUT }
    }

    /// How much of each output is kept. Unit: bytes.
    pub fn keeping(self, kept_bytes: usize) -> Program {
        Program { kept_bytes, ..self }
    }

    /// Its name, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it reads.
    pub fn input(mut self, input: Stdio) -> Program {
        self.command.stdin(input);
        self
    }

    /// What becomes of it when this process dies.
    pub fn bond(self, bond: Bond) -> Program {
        Program { bond, ..self }
    }

    /// Runs it to its end, or to that of its time.
    ///
    /// # Errors
    /// It cannot be started, or did not end in time (`TimedOut`).
    pub fn run(mut self) -> io::Result<EndedProgram> {
        let failed =
            |error: io::Error| io::Error::new(error.kind(), format!("cannot run {}: {error}", self.name));
        sys::program::prepare(
            &mut self.command,
            self.limit + GRACE + KERNEL_LATER,
            self.bond == Bond::DiesWithUs,
        );
        let child = self.command.spawn().map_err(failed)?;
        let end = clock::monotonic().after(self.limit);
        let mut running = Running::of(child, self.kept_bytes).map_err(failed)?;
        if running.listen(end)? {
            return running.ended();
        }
        let ended_by_us = end_group(running.pid, &running.pidfd, GRACE);
        let how = match ended_by_us || running.listen(clock::monotonic().after(BURIAL))? {
            true => "and was killed",
            false => "and cannot be killed: it is stuck in the kernel",
        };
        running.leave();
        let (name, limit) = (&self.name, SpanNs(self.limit.as_nanos() as u64));
        let cause = format!(
            "{name} did not finish within {limit} {how}\nhint: {LIMIT_VARIABLE}=5m gives each program 5 \
             minutes"
        );
        Err(io::Error::new(io::ErrorKind::TimedOut, cause))
    }
}

impl EndedProgram {
    /// What it printed on standard error, in a line; how it ended if it printed nothing.
    pub fn said(&self) -> String {
        let said = String::from_utf8_lossy(&self.errors);
        let said = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ");
        if said.is_empty() { self.status.to_string() } else { said }
    }
}

/// Refuses a requested time limit for programs that is not valid.
///
/// # Errors
/// What is wrong with it.
pub fn check_program_timeout() -> Result<(), String> {
    let Ok(text) = std::env::var(LIMIT_VARIABLE) else { return Ok(()) };
    match text.parse::<SpanNs>() {
        Ok(limit) if limit.0 > 0 => Ok(()),
        _ => Err(format!(
            "cannot use {LIMIT_VARIABLE}: '{}' is not a duration, such as 5m",
            text.escape_debug()
        )),
    }
}

/// The limit that a program has, and that was asked for instead, if it was.
fn chosen(own: Duration) -> Duration {
    let asked = std::env::var(LIMIT_VARIABLE).ok().and_then(|text| text.parse::<SpanNs>().ok());
    asked.filter(|asked| asked.0 > 0).map_or(own, SpanNs::duration)
}

/// A running program and its output so far.
struct Running {
    child: Child,
    pid: Pid,
    pidfd: OwnedFd,
    output: Vec<u8>,
    errors: Vec<u8>,
    kept_bytes: usize,
}

impl Running {
    fn of(mut child: Child, kept_bytes: usize) -> io::Result<Running> {
        let pid = Pid::from_child(&child);
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(pidfd) => {
                Ok(Running { child, pid, pidfd, output: Vec::new(), errors: Vec::new(), kept_bytes })
            }
            Err(errno) => {
                // One that cannot be watched has no deadline.
                let _ = child.kill();
                let _ = child.wait();
                Err(errno.into())
            }
        }
    }

    /// Reads its output until it ends; false if it does not end in time.
    fn listen(&mut self, end: MonoNs) -> io::Result<bool> {
        let mut is_dead = false;
        let mut end = end;
        loop {
            let Some(left) = left(end) else { return Ok(is_dead) };
            let mut watched = vec![PollFd::new(&self.pidfd, PollFlags::IN)];
            let (output, errors) = (self.child.stdout.as_ref(), self.child.stderr.as_ref());
            let is_open = [output.is_some(), errors.is_some()];
            watched.extend(output.map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)));
            watched.extend(errors.map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)));
            // A dead one is always ready.
            let from = usize::from(is_dead);
            match poll(&mut watched[from..], Some(&left)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let ready: Vec<bool> = watched.iter().map(|one| !one.revents().is_empty()).collect();
            drop(watched);
            if !is_dead && ready[0] {
                is_dead = true;
                end = clock::monotonic().after(LAST_WORDS);
            }
            let mut pipes = ready[1..].iter().copied();
            let [is_output, is_errors] = is_open.map(|is_open| is_open && pipes.next() == Some(true));
            if is_output {
                take(&mut self.child.stdout, (&mut self.output, self.kept_bytes))?;
            }
            if is_errors {
                take(&mut self.child.stderr, (&mut self.errors, self.kept_bytes))?;
            }
            if is_dead && self.child.stdout.is_none() && self.child.stderr.is_none() {
                return Ok(true);
            }
        }
    }

    /// Buries one that has ended.
    fn ended(mut self) -> io::Result<EndedProgram> {
        let status = self.child.wait()?;
        Ok(EndedProgram { status, output: self.output, errors: self.errors })
    }

    /// Has it buried whenever it ends.
    fn leave(mut self) {
        std::thread::spawn(move || self.child.wait());
    }
}

/// What is left of a time; `None` if nothing is.
fn left(end: MonoNs) -> Option<Timespec> {
    let left_ns = end.since(clock::monotonic());
    let left =
        Timespec { tv_sec: (left_ns / 1_000_000_000) as i64, tv_nsec: (left_ns % 1_000_000_000) as i64 };
    (left_ns > 0).then_some(left)
}

/// Takes what a pipe has, and keeps the beginning; closes it at its end.
fn take(pipe: &mut Option<impl Read>, (kept, most): (&mut Vec<u8>, usize)) -> io::Result<()> {
    let mut piece = [0; 8192];
    let Some(open) = pipe else { return Ok(()) };
    match open.read(&mut piece) {
        Ok(0) => *pipe = None,
        Ok(length) => {
            let room = most.saturating_sub(kept.len());
            kept.extend_from_slice(&piece[..length.min(room)]);
        }
        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
        Err(error) => return Err(error),
    }
    Ok(())
}

#[cfg(test)]
mod tests;
