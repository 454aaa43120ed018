//! A run as lines of JSON while it lasts: what is sent, each second, marks, who uses the CPUs, and the conclusions at the end.
//!
//! The format is that of `docs/reference/formats/lines.md`, schema [`SCHEMA`]. Each line is complete by itself, and says in `line`
//! what it is. Names are those of the record.

mod compared;

pub use compared::{
    ExperimentBegins, ExperimentEnds, ExperimentTrialBegins, SideBegins, StageBegins, StandingLine,
    TryBegins, TryConcluded, VariantLine,
};

use crate::ReportInput;
use serde::Serialize;
use sysdyno_record::analysis::{Finding, Verdict};
use sysdyno_record::event::Event;
use sysdyno_record::experiment::{TrialEnded, VariantsSettled};
use sysdyno_record::live::{HostFrame, LiveFinding};
use sysdyno_record::load::{Counts, TrialBegin, TrialEnd, TrialEnding, TrialPurpose};
use sysdyno_record::manifest::{ClockPair, RunKind, RunStatus};
use sysdyno_record::plan::{Arrival, PhasePlan};
use sysdyno_record::progress::{CpuUses, LoadSecond};
use sysdyno_record::tryout::{Pair, Settled, TryTrial};
use sysdyno_record::units::MonoNs;
use sysdyno_record::work::WorkLine;

/// The schema of the lines.
pub const SCHEMA: &str = "sysdyno.lines/1";

/// What a line says.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum RunLine<'a> {
    /// A run begins.
    Begin(RunBegins<'a>),
    /// A trial begins: what is sent.
    TrialBegin(TrialBegins<'a>),
    /// About a second of the load is over.
    Interval(&'a LoadSecond),
    /// A mark on the time axis.
    Event(&'a Event),
    /// Who used the CPUs in the last seconds.
    Cpus(CpuLine<'a>),
    /// What the server's host did in the last second.
    Host(&'a HostFrame),
    /// Which limits its readings show, whenever that changes.
    Seen(SeenLine<'a>),
    /// A trial is over.
    TrialEnd(TrialEnds<'a>),
    /// Lines were left out here: whoever reads them was too slow.
    Dropped(DroppedLines),
    /// A conclusion about the host.
    Finding(&'a Finding),
    /// How far the numbers can be trusted, and the result.
    Verdict(Concluded<'a>),
    /// The run is over; the last line of it.
    End(RunEnds<'a>),
    /// What a tryout compares.
    Try(TryBegins<'a>),
    /// What the pilot of a tryout settled.
    Settled(&'a Settled),
    /// A comparison of two variants begins.
    Stage(StageBegins<'a>),
    /// A trial of one side of a tryout begins.
    SideBegin(SideBegins<'a>),
    /// A trial of one side is over.
    SideEnd(&'a TryTrial),
    /// Two trials are a pair.
    Pair(&'a Pair),
    /// A comparison so far.
    Standing(StandingLine<'a>),
    /// The result of a tryout.
    Conclusion(TryConcluded<'a>),
    /// A command has ended, or a second of file operations.
    Operation(&'a WorkLine),
    /// An experiment begins; the first line.
    ExperimentBegin(ExperimentBegins<'a>),
    /// A trial of an experiment begins.
    ExperimentTrialBegin(ExperimentTrialBegins<'a>),
    /// A trial of an experiment is over.
    ExperimentTrialEnd(&'a TrialEnded),
    /// Variants that are measured no more.
    ExperimentSettled(&'a VariantsSettled),
    /// An experiment is over; the last line.
    ExperimentEnd(ExperimentEnds<'a>),
}

/// The first line.
#[derive(Clone, Debug, Serialize)]
pub struct RunBegins<'a> {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// The run folder's name.
    pub run: &'a str,
    /// The command.
    pub kind: RunKind,
    /// Both clocks, read together.
    pub clock: ClockPair,
}

/// How a trial begins.
#[derive(Clone, Debug, Serialize)]
pub struct TrialBegins<'a> {
    /// Its number, from 1.
    pub trial: u32,
    /// What it is for.
    pub purpose: TrialPurpose,
    /// When it began.
    pub begin_mono_ns: MonoNs,
    /// The target, without user information.
    pub url: &'a str,
    /// How requests arrive.
    pub arrival: Arrival,
    /// Connections.
    pub connections_count: u32,
    /// Its phases.
    pub phases: &'a [PhasePlan],
}

impl<'a> TrialBegins<'a> {
    /// That of this trial.
    pub fn of(begin: &'a TrialBegin) -> TrialBegins<'a> {
        TrialBegins {
            trial: begin.trial,
            purpose: begin.purpose,
            begin_mono_ns: begin.begin_mono_ns,
            url: &begin.plan.target.url,
            arrival: begin.plan.arrival,
            connections_count: begin.plan.connections,
            phases: &begin.plan.phases,
        }
    }
}

/// Who used the CPUs.
#[derive(Clone, Debug, Serialize)]
pub struct CpuLine<'a> {
    /// When it was read.
    pub mono_ns: MonoNs,
    /// Who.
    #[serde(flatten)]
    pub uses: &'a CpuUses,
}

/// What is seen.
#[derive(Clone, Debug, Serialize)]
pub struct SeenLine<'a> {
    /// When it was read.
    pub mono_ns: MonoNs,
    /// The limits, the strongest sign first.
    pub seen: &'a [LiveFinding],
}

/// How a trial ended.
#[derive(Clone, Debug, Serialize)]
pub struct TrialEnds<'a> {
    /// Its number.
    pub trial: u32,
    /// When its drain was over.
    pub end_mono_ns: MonoNs,
    /// Why it ended.
    pub ending: &'a TrialEnding,
    /// Requests of the measured phases.
    pub counts: &'a Counts,
    /// Offered rate of the measured phases; `None` in a closed process. Unit: requests per second.
    pub offered_hz: Option<f64>,
    /// Completed requests, valid or not. Unit: requests per second.
    pub achieved_hz: f64,
    /// Completed and valid requests. Unit: requests per second.
    pub goodput_hz: f64,
    /// How far its numbers can be trusted.
    pub verdict: &'a Verdict,
}

impl<'a> TrialEnds<'a> {
    /// That of this trial.
    pub fn of(end: &'a TrialEnd, verdict: &'a Verdict) -> TrialEnds<'a> {
        let measured = &end.summary.measured;
        TrialEnds {
            trial: end.trial,
            end_mono_ns: end.end_mono_ns,
            ending: &end.ending,
            counts: &measured.counts,
            offered_hz: measured.offered_hz,
            achieved_hz: measured.achieved_hz,
            goodput_hz: measured.goodput_hz,
            verdict,
        }
    }
}

/// Lines that were left out.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct DroppedLines {
    /// How many since the last line.
    pub dropped_count: u64,
}

/// The result.
#[derive(Clone, Debug, Serialize)]
pub struct Concluded<'a> {
    /// How far the numbers can be trusted.
    pub verdict: &'a Verdict,
    /// The result in one sentence.
    pub headline: &'a str,
    /// The bottleneck in one sentence.
    pub limit: &'a str,
}

/// How a run ended.
#[derive(Clone, Debug, Serialize)]
pub struct RunEnds<'a> {
    /// The run folder's name.
    pub run: &'a str,
    /// How far it got.
    pub status: RunStatus,
    /// Why it did not get further; `None`: it did.
    pub reason: Option<&'a str>,
    /// When.
    pub end_mono_ns: MonoNs,
    /// Lines that were left out, all in all.
    pub dropped_count: u64,
}

/// The line, without its newline.
pub fn render(line: &RunLine<'_>) -> String {
    // These types have no keys that are not text; a line that cannot be written would say so to a reader.
    serde_json::to_string(line).unwrap_or_else(|_| r#"{"line":"unreadable"}"#.to_owned())
}

/// The conclusions of a run, in the order in which a reader wants them.
pub fn conclusions(input: &ReportInput<'_>) -> Vec<String> {
    let analysis = input.analysis;
    let findings = analysis.findings.iter().map(|finding| render(&RunLine::Finding(finding)));
    let verdict = RunLine::Verdict(Concluded {
        verdict: &analysis.verdict,
        headline: &analysis.headline,
        limit: &analysis.limit,
    });
    findings.chain([render(&verdict)]).collect()
}
