//! Runs side by side: whether they are comparable, what differs, and by how much. `sysdyno compare --json` prints this.
//!
//! A side is one run, or several that are meant as repetitions of each other; the first side is the baseline. Runs are not
//! interleaved, so a difference shows that they differ, never why.

use crate::analysis::VerdictStatus;
use crate::effect::{Better, BoundSide, ComparisonVerdict, Effect};
use crate::facts::FactDifference;
use crate::scoreboard::Scoreboard;
use crate::units::WallNs;
use serde::Serialize;

/// Schema of a comparison of runs.
pub const RUNS_COMPARISON_SCHEMA: &str = "sysdyno.comparison/1";

/// The result of comparing runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunsComparison {
    /// [`RUNS_COMPARISON_SCHEMA`].
    pub schema: &'static str,
    /// The result in one sentence.
    pub headline: String,
    /// Whether some side may not be compared with the first: then there is no effect of it anywhere.
    pub is_refused: bool,
    /// The sides, in the order in which they were named.
    pub sides: Vec<ComparedSide>,
    /// What speaks against comparing them: what refuses first, then warnings.
    pub gates: Vec<GateOutcome>,
    /// Each further side seen from the first.
    pub verdicts: Vec<SideVerdict>,
    /// The numbers, operation by operation.
    pub operations: Vec<OperationComparison>,
    /// What differs between the hosts of the first side and each further one that has differences.
    pub machines: Vec<MachineDifferences>,
    /// The runs as a series in time; `None`: it was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trend: Option<Trend>,
    /// The experiment that the runs are cells of, its variants being the sides; `None`: they are runs of their own.
    #[serde(rename = "matrix", skip_serializing_if = "Option::is_none")]
    pub experiment: Option<ExperimentShown>,
    /// The machines that one experiment was measured on, the sides being these and the operations its variants; `None`: the
    /// sides are no machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts: Option<HostsShown>,
    /// What these numbers cannot say, in sentences.
    pub limits: Vec<String>,
}

/// Machines on which one experiment was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HostsShown {
    /// The experiment. Untrusted.
    pub experiment: String,
    /// The machines, in the order of the sides.
    pub hosts: Vec<HostShown>,
}

/// A machine, and what its numbers are divided by.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HostShown {
    /// Position of its side.
    pub side: usize,
    /// Model of its CPU; `None`: not known. Untrusted.
    pub cpu: Option<String>,
    /// What its kernel was built for: `x86_64`; `None`: not known. Untrusted.
    pub architecture: Option<String>,
    /// Its kernel; `None`: not known. Untrusted.
    pub kernel: Option<String>,
    /// What it was emulated by, as `aarch64 on x86_64`; `None`: it was not, as far as is known. Untrusted.
    pub emulator: Option<String>,
    /// CPUs of the machine; `None`: not known.
    pub cpus_count: Option<f64>,
    /// Cores that the server could use, with its CPU set and quota; `None`: not known.
    pub cores_count: Option<f64>,
    /// Nominal frequency, or the highest allowed one; `None`: not known, or emulated. Unit: GHz.
    pub frequency_ghz: Option<f64>,
    /// Where its power was read; `None`: nowhere.
    pub power: Option<PowerSource>,
}

/// Where energy was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PowerSource {
    /// The processors' own counters: packages and memory, not the rest of the machine.
    Rapl,
    /// A meter's file: whatever it was plugged into.
    Meter,
}

/// An experiment as a report shows it, beside the comparison of its variants.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExperimentShown {
    /// Its name. Untrusted.
    pub name: String,
    /// Cells that were planned.
    pub planned_count: u64,
    /// Cells that were measured.
    pub measured_count: u64,
    /// Runs that were disturbed, after which their cells were measured once more.
    pub repeated_count: u64,
    /// Its variants that were measured, in the order of the sides.
    pub variants: Vec<VariantShown>,
}

/// A variant of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VariantShown {
    /// Position of its side.
    pub side: usize,
    /// Factor and level. Untrusted.
    pub levels: Vec<[String; 2]>,
    /// What was changed for its trials, as `KEY=VALUE`. Untrusted.
    pub settings: Vec<String>,
    /// Commands that were run before its trials. Untrusted.
    pub prepare: Vec<String>,
    /// Share of the requests of the shown trial that failed or timed out, the median of the runs, whether these may be compared
    /// or not; 0 if nothing was sent, `None`: there are no runs.
    pub failed_ratio: Option<f64>,
    /// What the CPUs of the server's host did in the shown trial; empty where they were not read.
    pub cpus: Vec<VariantCpu>,
    /// What was found to limit the server, most often first.
    pub found: Vec<FoundShown>,
    /// All sound trials of its runs, by their place on the axis.
    pub curve: Vec<VariantPoint>,
    /// What came of its simulated users; `None`: there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scoreboard: Option<Scoreboard>,
}

/// What a CPU did, as the median of the runs of a variant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct VariantCpu {
    /// Its number.
    pub number: u32,
    /// Time that was neither idle nor waiting for I/O, as a share.
    pub busy_ratio: f64,
    /// Time in interrupts, hard and soft, as a share of all its time.
    pub softirq_ratio: f64,
}

/// A limit that was found in the runs of a variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FoundShown {
    /// The conclusion of the first run that has it, in a sentence.
    pub title: String,
    /// Its rule; `None`: nothing was found.
    pub id: Option<String>,
    /// Runs in which it comes first.
    pub runs_count: u64,
}

/// A trial on the curve of a variant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct VariantPoint {
    /// Connections.
    pub connections: u32,
    /// Offered rate; `None` if closed.
    pub offered_hz: Option<f64>,
    /// Completed and valid requests per second.
    pub goodput_hz: f64,
    /// 99th percentile of response time (open) or service time (closed); `None`: too few samples.
    pub p99_ns: Option<u64>,
    /// Whether it met the objective; `None` where there is none.
    pub met: Option<bool>,
}

/// One run, or several repetitions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedSide {
    /// A letter: A for the first.
    pub letter: String,
    /// What was typed. Untrusted.
    pub name: String,
    /// Whether it may not be compared with the first side.
    pub is_refused: bool,
    /// Its runs.
    pub runs: Vec<ComparedRun>,
}

/// One run of a side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedRun {
    /// Its id.
    pub id: String,
    /// When it began, for labels.
    pub started_unix_ns: WallNs,
    /// The server's URL as it was typed. Untrusted.
    pub url: String,
    /// Its own verdict.
    pub status: VerdictStatus,
    /// Its result in one sentence.
    pub headline: String,
}

/// How much a gate weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It may be compared, and this should be known.
    Warned,
    /// It would have refused, and the user allowed it.
    Allowed,
    /// Its values are only bounds of those of the server, and are compared as such.
    Bounded,
    /// It may not be compared.
    Refused,
}

/// A gate that speaks against comparing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GateOutcome {
    /// The gate, e.g. `C05`.
    pub id: &'static str,
    /// Its short name, e.g. `other-length`.
    pub name: &'static str,
    /// How much it weighs.
    pub severity: Severity,
    /// Position of the side that it speaks of.
    pub side: usize,
    /// What was seen, with numbers, in a sentence.
    pub text: String,
    /// What to do about it, in a sentence.
    pub remedy: &'static str,
}

/// A side seen from the first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SideVerdict {
    /// Position of the side.
    pub side: usize,
    /// The metric that the word is of; `None`: nothing could be compared.
    pub metric: Option<&'static str>,
    /// The word.
    pub verdict: ComparisonVerdict,
    /// Metrics whose own word is "worse", with their operation where there are several: `p99 of cart`.
    pub worse: Vec<String>,
    /// Metrics whose own word is "better".
    pub better: Vec<String>,
    /// All of it in a sentence.
    pub sentence: String,
}

/// One operation in all sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OperationComparison {
    /// The operation: `GET /`; of several, first `all operations` and then each by its name. Untrusted.
    pub operation: String,
    /// Its metrics, the one that decides first.
    pub metrics: Vec<MetricComparison>,
}

/// One metric in all sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricComparison {
    /// The word that is typed.
    pub metric: &'static str,
    /// The words of a sentence.
    pub title: &'static str,
    /// Unit of its values: `hz`, `ns`, or `per_joule`.
    pub unit: &'static str,
    /// Which way it gets better.
    pub better: Better,
    /// The smallest effect that matters, as a ratio of A.
    pub margin_ratio: f64,
    /// Its values, by side.
    pub sides: Vec<SideValues>,
    /// Its effects: of each further side that may be compared against the first.
    pub effects: Vec<MetricEffect>,
    /// What the runs of an experiment scatter like, in a sentence, where some lie far off or form two groups; `None`: they do not.
    pub scatter: Option<String>,
    /// Letters by side: sides that share one cannot be told apart. Empty with fewer than three sides.
    pub letters: Vec<String>,
}

/// The values of a metric in the runs of a side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SideValues {
    /// Median over the runs; `None`: no run has it. Unit: the metric's.
    pub median: Option<f64>,
    /// Whether the true median may be greater, because runs are lower bounds.
    pub is_lower_bound: bool,
    /// One value per run that has it.
    pub runs: Vec<RunValue>,
    /// Why a run lacks it; `None`: all have it.
    pub missing: Option<String>,
}

/// A metric of one run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RunValue {
    /// The value. Unit: the metric's.
    pub value: f64,
    /// Both ends of its 95% interval within the run, or of what encloses it, which says nothing of other runs; `None`: not
    /// known.
    pub interval: Option<[f64; 2]>,
    /// Whether the true value may be greater: requests timed out, or something other than the server ended the search.
    pub is_lower_bound: bool,
}

/// Where an interval comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectMethod {
    /// One side has one run only: how much runs differ by themselves is assumed, not measured.
    AssumedDeviation,
    /// Difference of means of logarithms over runs (Welch): too few runs for ranks.
    Welch,
    /// Hodges–Lehmann shift of logarithms over runs, with the interval of the rank-sum test.
    RankShift,
    /// Differences of logarithms within the blocks of an experiment, in one model of all its variants, with intervals that hold
    /// together for all of them.
    Blocks,
    /// The same by ranks within blocks, because some runs lie far off.
    BlockRanks,
}

/// What B is of A at least or at most, where the other end of the interval is not known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EffectBound {
    /// Which end is known.
    pub side: BoundSide,
    /// B ÷ A.
    pub ratio: f64,
    /// Confidence as a ratio: 0.95.
    pub confidence_ratio: f64,
    /// As of an effect.
    pub pairs_count: u32,
}

/// A metric of a side against that of the first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricEffect {
    /// Position of the side.
    pub side: usize,
    /// The effect; `None`: there is none to give, and the verdict says why, or only `bound` is known.
    pub effect: Option<Effect>,
    /// What the effect is at least or at most, where no more is known; `None`: there is an effect, or nothing.
    pub bound: Option<EffectBound>,
    /// Where its interval comes from; `None`: there is none.
    pub method: Option<EffectMethod>,
    /// Probability of such a difference between runs that do not differ, adjusted for the number of sides: by Holm's
    /// method, in blocks by Dunnett's.
    pub p: Option<f64>,
    /// The word.
    pub verdict: ComparisonVerdict,
}

/// What differs between two hosts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MachineDifferences {
    /// Position of the side; the other is the first.
    pub side: usize,
    /// Those most likely to matter first; bounded.
    pub differences: Vec<FactDifference>,
    /// How many there are in all.
    pub count: u64,
}

/// Runs in the order of time, metric by metric.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trend {
    /// The runs that may be compared with the first, oldest first.
    pub runs: Vec<ComparedRun>,
    /// The metrics.
    pub metrics: Vec<MetricTrend>,
}

/// One metric over runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricTrend {
    /// The word that is typed.
    pub metric: &'static str,
    /// The words of a sentence.
    pub title: &'static str,
    /// Unit of its values.
    pub unit: &'static str,
    /// Which way it gets better.
    pub better: Better,
    /// The smallest effect that matters, as a ratio.
    pub margin_ratio: f64,
    /// One value per run, or none where the run lacks it.
    pub values: Vec<Option<f64>>,
    /// Where the level changed, in order of time.
    pub changes: Vec<LevelChange>,
    /// What was found, in a sentence.
    pub sentence: String,
}

/// A change of level between two neighboring runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LevelChange {
    /// Position of the first run at the new level.
    pub index: usize,
    /// The new level against the one before.
    pub effect: Option<Effect>,
    /// Probability of a split at least as good in runs without order, by permutation.
    pub permutation_p: f64,
    /// Probability of such a difference of means (Welch); `None`: a level without any spread.
    pub welch_p: Option<f64>,
    /// The word on the new level.
    pub verdict: ComparisonVerdict,
}
