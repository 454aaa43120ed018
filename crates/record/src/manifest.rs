//! The first file of a run folder: what the folder is, which program wrote it, and whether it is complete.

use crate::named::named;
use crate::units::{MonoNs, WallNs};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The schema that this program writes.
pub const SCHEMA: &str = "sysdyno.run/1";

/// Content of `manifest.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Always [`SCHEMA`] in what is written; checked in what is read.
    pub schema: String,
    /// Name of the folder.
    pub id: String,
    /// The command that made it.
    pub kind: RunKind,
    /// The program that made it.
    pub tool: Tool,
    /// Start, for labels.
    pub started_unix_ns: WallNs,
    /// End, for labels; `None` while it runs.
    pub ended_unix_ns: Option<WallNs>,
    /// The two clocks, read together at the start.
    pub clock: ClockPair,
    /// The command line, secrets redacted.
    pub command: Vec<String>,
    /// Process that writes the folder.
    pub pid: u32,
    /// Its start time. Unit: clock ticks since boot. Source: `/proc/PID/stat` field 22.
    pub pid_start_ticks: u64,
    /// How far it got.
    pub status: RunStatus,
    /// Why it did not get further.
    pub reason: Option<String>,
    /// Digests of the finished files.
    pub files: BTreeMap<String, FileDigest>,
    /// SHA-256 of the manifest's own bytes with these 64 digits written as zeros; `None` while the run lasts.
    #[serde(default)]
    pub manifest_sha256: Option<String>,
}

named! {
    /// The command that made a run.
    RunKind {
        /// `sysdyno run`: capacity and limit.
        Run "run";
        /// `sysdyno load`: one load.
        Load "load";
        /// `sysdyno demo`: a run against the built-in target.
        Demo "demo";
        /// `sysdyno try`: a tryout.
        Try "try";
        /// `sysdyno squeeze`: how much each resource matters.
        Squeeze "squeeze";
        /// `sysdyno watch --record`: a host, without a load.
        Watch "watch";
        /// `sysdyno probe --record`: single operations.
        Probe "probe";
    }
}

/// The program that made a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// Version of sysdyno.
    pub version: String,
    /// Target triple that it was built for.
    pub target: String,
}

/// The monotonic and the wall clock at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockPair {
    /// Monotonic.
    pub mono_ns: MonoNs,
    /// Wall.
    pub unix_ns: WallNs,
}

impl ClockPair {
    /// The wall-clock instant of a monotonic one, assuming that the wall clock was not stepped since.
    pub fn wall(&self, at: MonoNs) -> WallNs {
        let delta = at.0 as i128 - self.mono_ns.0 as i128;
        WallNs((self.unix_ns.0 as i128 + delta).clamp(0, u64::MAX as i128) as u64)
    }
}

/// How far a run got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// It goes on, or died without a word.
    Running,
    /// To the end.
    Complete,
    /// Stopped by a signal; everything up to it is there.
    Interrupted,
    /// Ended by an error.
    Failed,
}

/// Size and digest of a finished file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDigest {
    /// Length in bytes.
    pub bytes: u64,
    /// SHA-256 in lower-case hexadecimal.
    pub sha256: String,
}
