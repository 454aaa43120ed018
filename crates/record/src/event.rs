//! Marks on the time axis of a run.

use crate::links::LinksForecast;
use crate::log::LogLines;
use crate::plan::{Endpoint, PhaseKind};
use crate::service::{Moment, ServiceReading};
use crate::units::MonoNs;
use serde::{Deserialize, Serialize};

/// Something that happened at an instant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When.
    pub mono_ns: MonoNs,
    /// What.
    pub event: EventKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EventKind {
    /// A phase of a trial began.
    PhaseBegin {
        /// The trial.
        trial: u32,
        /// The phase.
        phase: PhaseKind,
        /// Offered rate, if the process is open. Unit: requests per second.
        rate_hz: Option<f64>,
    },
    /// A phase of a trial ended.
    PhaseEnd {
        /// The trial.
        trial: u32,
        /// The phase.
        phase: PhaseKind,
    },
    /// Something the user should know and that did not stop the run.
    Warning {
        /// In a sentence.
        text: String,
    },
    /// A signal arrived.
    Signal {
        /// Its name, e.g. `SIGINT`.
        name: String,
    },
    /// A hard stop fired.
    HardStop {
        /// Which, in a sentence.
        text: String,
    },
    /// A process is being measured.
    Watched(WatchedProcess),
    /// The agent on another host is gone; from here on nothing is known of that host.
    HostLost {
        /// The host, as it was typed.
        host: String,
        /// Why, in a sentence without its subject.
        reason: String,
        /// Whether the load went on without it, its part missing.
        #[serde(default, skip_serializing_if = "is_false")]
        goes_on: bool,
    },
    /// A service of a lab was asked what it has to tell of itself.
    Service {
        /// The trial.
        trial: u32,
        /// When in it.
        moment: Moment,
        /// What it told.
        reading: ServiceReading,
    },
    /// A setting of a host is that of the variant while the run lasts.
    Setting(SettingHeld),
    /// A setting was changed for the trials that follow.
    SettingChanged(SettingHeld),
    /// A changed setting is again what it was; `before` is what it was changed to.
    SettingUndone(SettingHeld),
    /// A changed setting stays.
    SettingKept(SettingHeld),
    /// A changed setting was not undone, because something else has changed it since; `after` is what it was to be again.
    SettingLeft(SettingHeld),
    /// The server's host has several links that carry the traffic of one, and sends to the sources of the load over these.
    Links(LinksForecast),
    /// A log of the server, or the kernel's, said errors or warnings.
    LogLines(LogLines),
    /// Anything else worth keeping.
    Note {
        /// In a sentence.
        text: String,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls takes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// A setting that is held during a run, and restored after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingHeld {
    /// The host: `here`, `netns:NAME`, or whom ssh reaches.
    pub host: String,
    /// The setting: `net.core.somaxconn`. Untrusted text where the host is another machine, as the values are.
    pub key: String,
    /// What it was.
    pub before: String,
    /// What it is.
    pub after: String,
}

/// The marks of changed settings that are again what they were, apart from the keys in `left`, which something else has changed
/// since. What was so already was neither changed nor undone.
pub fn undone(changed: &[SettingHeld], left: &[String]) -> impl Iterator<Item = EventKind> {
    changed.iter().filter(|held| held.before != held.after).map(move |held| {
        let SettingHeld { host, key, before, after } = held.clone();
        let kind = if left.contains(&key) { EventKind::SettingLeft } else { EventKind::SettingUndone };
        kind(SettingHeld { host, key, before: after, after: before })
    })
}

/// A process that is measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchedProcess {
    /// Process id.
    pub pid: u32,
    /// Start time, which with the pid identifies it. Unit: clock ticks since boot. Source: `/proc/PID/stat` field 22.
    pub start_ticks: u64,
    /// Command name. Untrusted text: its owner chose it.
    pub command: String,
    /// Its part in the run.
    pub role: ProcessRole,
    /// CPUs that its first thread may run on when it was found; `None` in older records, and where the kernel does not
    /// say. Source: `sched_getaffinity`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<Vec<u32>>,
    /// The process that it was a child of when it was found; `None` in older records. Source: `/proc/PID/stat` field 4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_pid: Option<u32>,
    /// Where it stands behind the processes that the load reaches; `None`: it is one of these, was named by the user, is no
    /// part of the server, or the record is older.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// The service or container that it runs in, by the name of its control group: `mariadb.service`. Untrusted text.
    /// `None`: it is in none that has a name, or the record is older. Source: `/proc/PID/cgroup`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Whether the server started it to take its log from a pipe: it serves no requests. Source: `/proc/PID/fd/0` and `1`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_log_reader: bool,
    /// The command of the process that traced it when it was found: `strace`. Untrusted text. `None`: none did, it could not be read,
    /// or the record is older. Source: `/proc/PID/status`, `TracerPid`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracer: Option<String>,
    /// Whether a process of the server waited for a lock of a file that it held when it was found; only of others than the server's.
    /// Source: `/proc/locks`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub holds_lock: bool,
}

/// Where processes stand on the way of a request behind those that the load reaches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tier {
    /// Connections from those that the load reaches: 1 for what these ask, 2 for what those ask in turn.
    pub depth: u32,
    /// Where it listens. Source: `sock_diag`.
    pub address: Endpoint,
    /// A process that was connected to it when it was found.
    pub asked_by_pid: u32,
}

impl WatchedProcess {
    /// A process of which nothing else is known.
    pub fn new(pid: u32, start_ticks: u64, command: impl Into<String>, role: ProcessRole) -> WatchedProcess {
        let command = command.into();
        WatchedProcess {
            pid,
            start_ticks,
            command,
            role,
            cpus: None,
            parent_pid: None,
            tier: None,
            unit: None,
            is_log_reader: false,
            tracer: None,
            holds_lock: false,
        }
    }

    /// Whether it is the same process, whatever has changed about it.
    pub fn is_same(&self, other: &WatchedProcess) -> bool {
        (self.pid, self.start_ticks) == (other.pid, other.start_ticks)
    }
}

/// The part of a process in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessRole {
    /// The server under test.
    Target,
    /// sysdyno itself.
    Generator,
    /// Neither: a process that used CPU while the server was measured.
    Foreign,
    /// The process of sysdyno that burns CPU time to take it away from others.
    Burner,
}
