//! The result of work, as in `work.json`. It follows from the plan and the lines alone.

use super::{CommandWait, FileOperation};
use crate::analysis::Verdict;
use crate::load::LatencySummary;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Schema of the conclusion.
pub const WORK_SCHEMA: &str = "sysdyno.work/1";

/// The result of the work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkSummary {
    /// [`WORK_SCHEMA`].
    pub schema: String,
    /// Whether the numbers may be trusted.
    pub verdict: Verdict,
    /// The result in one sentence.
    pub headline: String,
    /// Measured runs of the command.
    pub runs_count: u64,
    /// Those with exit code 0.
    pub ok_count: u64,
    /// Those that ended otherwise by themselves, or could not be started.
    pub failed_count: u64,
    /// Those that were ended after their time.
    pub timed_out_count: u64,
    /// Those that were ended with the whole work.
    pub interrupted_count: u64,
    /// From the first begin to the last end. Unit: nanoseconds.
    pub elapsed_ns: u64,
    /// Time of the runs that succeeded, from start to end, of several commands that of the round; `None`: none did. Unit:
    /// nanoseconds.
    pub wall_ns: Option<Spread>,
    /// Their CPU time in user mode; `None`: not known. Unit: microseconds.
    pub user_us: Option<Spread>,
    /// Their CPU time in the kernel. Unit: microseconds.
    pub system_us: Option<Spread>,
    /// What they fetched from storage; `None`: not known. Unit: bytes.
    pub read_bytes: Option<Spread>,
    /// What they sent to storage; `None`: not known. Unit: bytes.
    pub written_bytes: Option<Spread>,
    /// Their calls of `read`, `write` and the like; `None`: not known.
    pub io_calls_count: Option<Spread>,
    /// Their page faults that needed storage.
    pub major_faults_count: Option<Spread>,
    /// Their page faults that did not.
    pub minor_faults_count: Option<Spread>,
    /// Resident memory of their largest process. Unit: bytes.
    pub max_rss_bytes: Option<Spread>,
    /// File operations by kind.
    pub files: Vec<FileSummary>,
    /// Commands of a round, each by itself; empty where there is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<CommandSummary>,
    /// What the machine had least of while commands ran, in a sentence; `None`: nothing was read.
    #[serde(default)]
    pub limit: Option<String>,
    /// What operations cost, as a service has counted them; `None`: nothing counts them, or it did not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served: Option<ServedSummary>,
    /// What commands spent their time on, most first; empty: they were not looked at often enough.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<WaitSummary>,
    /// What each CPU did while commands ran; empty: nothing was read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<CpuSummary>,
}

/// Operations that a service has counted: how often, and at what cost on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServedSummary {
    /// The service. Untrusted.
    pub service: String,
    /// Operations of a round, or of a run of the command.
    pub operations_count: Spread,
    /// Operations per second, from the start of the command to its end.
    pub rate_hz: Spread,
    /// CPU time of the command per operation; `None`: not known. Unit: nanoseconds.
    pub cpu_ns: Option<Spread>,
    /// CPU time of the service per operation; `None`: not known. Unit: nanoseconds.
    pub server_cpu_ns: Option<Spread>,
    /// CPU time of the command over its time. Unit: CPUs.
    pub busy_cpus: Option<Spread>,
    /// CPU time of the service over this time. Unit: CPUs.
    pub server_busy_cpus: Option<Spread>,
}

/// A part of the time of commands.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WaitSummary {
    /// What they did, or waited for.
    pub wait: CommandWait,
    /// Of all looks, those that saw it.
    pub share_ratio: f64,
    /// That share of the mean time of a run, or of a round. Unit: nanoseconds.
    pub time_ns: f64,
}

/// What a CPU did, as shares of its time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CpuSummary {
    /// Its number.
    pub number: u32,
    /// All but idle and waiting for I/O.
    pub busy_ratio: f64,
    /// Interrupts, hard and soft.
    pub softirq_ratio: f64,
}

/// One of the commands of a round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommandSummary {
    /// What it is called. Untrusted.
    pub name: String,
    /// Those of its runs with exit code 0.
    pub ok_count: u64,
    /// Time of these, from start to end; `None`: there is none. Unit: nanoseconds.
    pub wall_ns: Option<Spread>,
    /// What the machine had least of while it ran, in a sentence; `None`: nothing was read.
    pub limit: Option<String>,
    /// As of the whole work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served: Option<ServedSummary>,
    /// What it spent its time on, most first; empty: it was not looked at often enough.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<WaitSummary>,
}

/// How a number is spread over runs. Unit: that of the number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Number of runs.
    pub count: u64,
    /// Least value.
    pub min: f64,
    /// Median.
    pub median: f64,
    /// 95% interval of the median, from order statistics; `None`: there are too few runs.
    pub median_interval: Option<[f64; 2]>,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation; `None`: there is one run.
    pub deviation: Option<f64>,
    /// Greatest value.
    pub max: f64,
}

/// File operations of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileSummary {
    /// Which.
    pub operation: FileOperation,
    /// How many succeeded.
    pub ok_count: u64,
    /// How many did not, by the kernel's name of the error.
    pub failures: BTreeMap<String, u64>,
    /// How many succeeded per second, over the whole work.
    pub rate_hz: f64,
    /// How long they took. Unit: nanoseconds.
    pub latency: LatencySummary,
}
