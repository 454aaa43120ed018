//! The process of a broker: found, started in the background, told to read its configuration again, ended.

use crate::error::FleetError;
use crate::files;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use sysdyno_observe::host_process;

/// The program.
const PROGRAM: &str = "nats-server";

/// Names another place for it.
const VARIABLE: &str = "SYSDYNO_NATS_SERVER";

/// How long it may take to end when asked to.
const ENDING: Duration = Duration::from_secs(5);

/// A process that no other one can be taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BrokerProcess {
    pub(super) pid: u32,
    start_ticks: u64,
}

impl BrokerProcess {
    /// Starts it in the background.
    pub(super) fn start(configuration: &Path, log: &Path) -> Result<BrokerProcess, FleetError> {
        let program = find()?;
        let shown = program.display().to_string();
        files::remove(log).map_err(FleetError::io("remove", format!("'{}'", log.display())))?;
        let output =
            files::create_new(log).map_err(FleetError::io("write", format!("'{}'", log.display())))?;
        let copy = output.try_clone().map_err(FleetError::io("write", format!("'{}'", log.display())))?;
        let mut command = Command::new(&program);
        command.arg("-c").arg(configuration).stdin(Stdio::null()).stdout(output).stderr(copy);
        let child =
            command.process_group(0).spawn().map_err(FleetError::io("start", format!("'{shown}'")))?;
        let pid = child.id();
        let found = host_process(pid)
            .ok_or_else(|| FleetError::Refused(format!("cannot start '{shown}': it exited at once")))?;
        Ok(BrokerProcess { pid, start_ticks: found.start_ticks })
    }

    /// Whether it runs. One that has ended and was not waited for does not.
    pub(super) fn is_running(self) -> bool {
        self.handle().is_some_and(|handle| !has_ended(&handle, Duration::ZERO))
    }

    fn handle(self) -> Option<OwnedFd> {
        let pid = Pid::from_raw(i32::try_from(self.pid).ok()?)?;
        let handle = pidfd_open(pid, PidfdFlags::empty()).ok()?;
        // The handle is of whoever has the pid now; the start time says who that is.
        let is_it = host_process(self.pid).is_some_and(|found| found.start_ticks == self.start_ticks);
        is_it.then_some(handle)
    }

    /// Tells it to read its configuration again.
    pub(super) fn reload(self) {
        if let Some(handle) = self.handle() {
            // One that has ended reads it when it is started.
            let _ = pidfd_send_signal(&handle, Signal::HUP);
        }
    }

    /// Ends it; false: it had ended.
    pub(super) fn end(self) -> bool {
        let Some(handle) = self.handle().filter(|handle| !has_ended(handle, Duration::ZERO)) else {
            return false;
        };
        let _ = pidfd_send_signal(&handle, Signal::TERM);
        if !has_ended(&handle, ENDING) {
            let _ = pidfd_send_signal(&handle, Signal::KILL);
            has_ended(&handle, ENDING);
        }
        true
    }
}

fn has_ended(handle: &OwnedFd, span: Duration) -> bool {
    let limit = Timespec { tv_sec: span.as_secs() as i64, tv_nsec: i64::from(span.subsec_nanos()) };
    poll(&mut [PollFd::new(handle, PollFlags::IN)], Some(&limit)).is_ok_and(|count| count > 0)
}

/// The end of its log, for messages.
pub(super) fn last_words(log: &Path) -> String {
    let mut text = String::new();
    if let Ok(file) = files::open_to_read(log) {
        // A log that is no text has no last words.
        let _ = file.take(64 << 10).read_to_string(&mut text);
    }
    let lines: Vec<&str> =
        text.lines().filter(|line| line.contains("[FTL]") || line.contains("[ERR]")).collect();
    let last = lines.last().or(text.lines().last().as_ref()).copied().unwrap_or("it said nothing");
    last.chars().take(300).collect::<String>().escape_debug().to_string()
}

fn find() -> Result<PathBuf, FleetError> {
    let asked = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.extend(["/usr/sbin".into(), "/usr/local/bin".into(), "/usr/local/sbin".into()]);
    let found =
        asked.or_else(|| folders.into_iter().map(|folder| folder.join(PROGRAM)).find(|file| file.is_file()));
    found.ok_or_else(|| {
        FleetError::Refused(format!(
            "cannot start a broker: '{PROGRAM}' is not installed\nhint: sudo apt-get install {PROGRAM}, or \
             `go install github.com/nats-io/nats-server/v2@latest` and {VARIABLE}=~/go/bin/{PROGRAM}"
        ))
    })
}
