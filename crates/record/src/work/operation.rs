//! Completed work: a line per command, and per second and kind of file operation.

use crate::named::named;
use crate::units::MonoNs;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A line of `operations.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkLine {
    /// A command that ended.
    Command(Box<CommandRun>),
    /// File operations of one kind in one second.
    Files(FileWindow),
}

/// One run of a command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommandRun {
    /// Number of the run, from 1; 0 for the one that warms up.
    pub number: u64,
    /// Which worker, from 0.
    pub worker: u32,
    /// What the command is called; `None`: it has no name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Which of the commands.
    pub step: Step,
    /// Just before it was started.
    pub begin_mono_ns: MonoNs,
    /// When it was known to have ended.
    pub end_mono_ns: MonoNs,
    /// How it ended.
    pub ending: Ending,
    /// What it used; `None`: it was not started, or is not known.
    pub usage: Option<Usage>,
    /// What the service that counts its operations did meanwhile; `None`: nothing counts them, or it did not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served: Option<Served>,
    /// How often it was seen at what, by looks at regular intervals; empty: it was not looked at.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub waits: BTreeMap<CommandWait, u64>,
}

/// What a service did between two questions, just before a command was started and just after it had ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Served {
    /// How much its counter grew; the second question may be among it.
    pub operations_count: u64,
    /// CPU time of its processes; `None`: they were not seen. Unit: microseconds.
    pub cpu_us: Option<u64>,
    /// CPUs that they may run on; empty: not known.
    pub cpus: Vec<u32>,
}

named! {
    /// What a command does, or waits for, at one instant.
    CommandWait {
        /// Nothing: one of its threads is on a CPU, or ready.
        Running "running";
        /// Room in the journal of a file system: the journal is full, and changes that it holds are written to their places.
        JournalSpace "journal_space";
        /// A transaction of a file system's journal that is being written.
        JournalCommit "journal_commit";
        /// Fewer dirty pages: the kernel holds back who writes faster than the disk does.
        Writeback "writeback";
        /// A disk: data that are read, or written out.
        Disk "disk";
        /// The server of a network file system, or the program behind one in user space.
        FileServer "file_server";
        /// The other end of a connection.
        Network "network";
        /// Another thread or process that has a lock.
        Lock "lock";
        /// A time: it sleeps.
        Timer "timer";
        /// Another process, at a pipe or its end.
        Process "process";
        /// To be continued: it was stopped.
        Stopped "stopped";
        /// Anything else.
        Other "other";
    }
}

impl CommandWait {
    /// What a part of a command's time went to, as a noun.
    pub fn title(self) -> &'static str {
        match self {
            CommandWait::Running => "CPU",
            CommandWait::JournalSpace => "journal space",
            CommandWait::JournalCommit => "journal commits",
            CommandWait::Writeback => "writeback",
            CommandWait::Disk => "disk",
            CommandWait::FileServer => "file server",
            CommandWait::Network => "network",
            CommandWait::Lock => "locks",
            CommandWait::Timer => "sleep",
            CommandWait::Process => "other processes",
            CommandWait::Stopped => "stopped",
            CommandWait::Other => "other",
        }
    }
}

/// Which command of a plan it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Before a run.
    Prepare,
    /// The measured one, before it is measured.
    WarmUp,
    /// The measured one.
    Run,
    /// After a run.
    Clean,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// With this exit code.
    Exit(i32),
    /// By this signal.
    Signal(i32),
    /// It was ended after its time.
    TimedOut,
    /// It was ended with the whole work.
    Interrupted,
    /// It could not be started, for this reason.
    NotStarted(String),
    /// Its exit code was 0, and its output was not as it had to be, for this reason.
    Output(String),
}

/// What a command and the children that it waited for have used. Source: wait4(2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// CPU time in user mode. Unit: microseconds.
    pub user_us: u64,
    /// CPU time in the kernel. Unit: microseconds.
    pub system_us: u64,
    /// Page faults that needed no storage.
    pub minor_faults_count: u64,
    /// Page faults that needed storage.
    pub major_faults_count: u64,
    /// Reads of the file system that went to storage. Unit: blocks of 512 bytes.
    pub block_reads_count: u64,
    /// Writes, likewise.
    pub block_writes_count: u64,
    /// Switches because it waited.
    pub voluntary_switches_count: u64,
    /// Switches because another was to run.
    pub involuntary_switches_count: u64,
    /// Resident memory of the largest process, at most.
    pub max_rss_bytes: u64,
    /// How many CPUs its first thread might run on in the end; `None`: not known. Source: sched_getaffinity(2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus_count: Option<u32>,
    /// Input and output; `None`: it could not be read.
    pub io: Option<IoUsage>,
}

/// Input and output of a command and the children that it waited for. Source: `/proc/PID/io`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoUsage {
    /// Fetched from storage.
    pub read_bytes: u64,
    /// Sent to storage, or to be sent.
    pub written_bytes: u64,
    /// Given by `read` and its like, whatever they read from.
    pub read_call_bytes: u64,
    /// Given to `write` and its like.
    pub write_call_bytes: u64,
    /// Calls of `read` and its like.
    pub read_calls_count: u64,
    /// Calls of `write` and its like.
    pub write_calls_count: u64,
}

/// File operations of one kind by one worker in one second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileWindow {
    /// Begin of the second.
    pub begin_mono_ns: MonoNs,
    /// Its end.
    pub end_mono_ns: MonoNs,
    /// Which operation.
    pub operation: FileOperation,
    /// How many succeeded.
    pub ok_count: u64,
    /// How many did not, by the kernel's name of the error.
    pub failures: BTreeMap<String, u64>,
    /// Latencies of those that succeeded: greatest value of a step in nanoseconds, and how many.
    pub steps: Vec<[u64; 2]>,
}

named! {
    /// Operations on a file, in the order in which a file sees them.
    FileOperation {
        /// It is made, written and closed.
        Create "create";
        /// It is opened, locked and let go.
        Lock "lock";
        /// Its content is brought to storage.
        Fsync "fsync";
        /// It gets its name, in the place of what had it.
        Rename "rename";
        /// It is removed.
        Unlink "unlink";
    }
}
