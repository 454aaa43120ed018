//! What the page is given: the record, without what it does not show and in a form that stays small.
//!
//! Nothing is computed. Long logs are thinned by leaving out rows evenly, and the page says so.

use super::encode::{Encoded, encode};
use crate::input::{CapacityClaim, ReportInput, capacity_claim};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use sysdyno_record::analysis::Capacity;
use sysdyno_record::event::{Event, EventKind};
use sysdyno_record::facts::HostFacts;
use sysdyno_record::load::{Blame, Counts, FailureClass, Interval, PhaseSummary, TrialEnding, TrialPurpose};
use sysdyno_record::manifest::Manifest;
use sysdyno_record::plan::{Arrival, PhaseKind, Plan};
use sysdyno_record::series::{Column, Series};
use sysdyno_record::spread::GeneratorShare;
use sysdyno_record::store::Trial;
use sysdyno_record::units::MonoNs;

/// Most rows of the series that the page is given.
const SERIES_ROWS_MAX: usize = 2_000;

/// Most values of moving columns that the page is given; on hosts with many CPUs there are fewer rows.
const SERIES_VALUES_MAX: usize = 1_500_000;

/// Most intervals that the page is given.
const INTERVALS_MAX: usize = 4_000;

/// Most marks of each kind, phases and others, that the page is given.
const EVENTS_MAX: usize = 4_000;

/// What the names of facts of the generator's host begin with, where the server has one of its own.
const GENERATOR: &str = "generator's host: ";

#[derive(Serialize)]
pub(super) struct Payload<'a> {
    schema: &'static str,
    folder: String,
    manifest: &'a Manifest,
    is_incomplete: bool,
    damage: &'a [String],
    plan: Option<&'a Plan>,
    facts: Option<Cow<'a, HostFacts>>,
    analysis: Value,
    capacity: Claim<'a>,
    failures: Vec<FailureRow>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    generators: &'a [GeneratorShare],
    trials: Vec<TrialRow<'a>>,
    intervals: Intervals,
    series: SeriesTable<'a>,
    events: Vec<&'a Event>,
}

/// What may be said about capacity.
#[derive(Serialize)]
#[serde(tag = "claim", rename_all = "snake_case")]
enum Claim<'a> {
    Estimate { capacity: &'a Capacity },
    AtLeast { capacity: &'a Capacity },
    Withheld { method: &'a str, objective: &'a str, ending: &'static str },
    NotSought,
}

/// A failure class with its meaning, so that the page needs no list of its own.
#[derive(Serialize)]
struct FailureRow {
    class: FailureClass,
    count: u64,
    meaning: String,
    is_generator: bool,
}

#[derive(Serialize)]
struct TrialRow<'a> {
    trial: u32,
    purpose: TrialPurpose,
    arrival: Arrival,
    connections: u32,
    begin_mono_ns: MonoNs,
    end_mono_ns: Option<MonoNs>,
    ending: Option<&'a TrialEnding>,
    measured: Option<&'a PhaseSummary>,
    total: Option<&'a Counts>,
}

/// Intervals by column.
#[derive(Serialize)]
struct Intervals {
    every: usize,
    trial: Vec<u32>,
    phase: Vec<PhaseKind>,
    begin_mono_ns: Encoded,
    end_mono_ns: Encoded,
    scheduled: Vec<u64>,
    ok: Vec<u64>,
    failed: Vec<u64>,
    timed_out: Vec<u64>,
    in_flight: Vec<u64>,
    received_bytes: Vec<u64>,
    thread_cpu_ns: Vec<Vec<u64>>,
    p50_ns: Vec<Option<u64>>,
    p99_ns: Vec<Option<u64>>,
}

#[derive(Serialize)]
struct SeriesTable<'a> {
    /// Every which row is here.
    every: usize,
    rows: usize,
    begin_mono_ns: Encoded,
    end_mono_ns: Encoded,
    columns: Vec<SeriesColumn<'a>>,
}

#[derive(Serialize)]
struct SeriesColumn<'a> {
    #[serde(flatten)]
    column: &'a Column,
    values: Encoded,
}

pub(super) fn payload<'a>(input: &ReportInput<'a>) -> Payload<'a> {
    Payload {
        schema: "sysdyno.report/1",
        folder: input.folder.to_string_lossy().into_owned(),
        manifest: input.manifest,
        is_incomplete: input.is_incomplete,
        damage: input.damage,
        plan: input.plan,
        facts: facts(input),
        analysis: conclusions(input),
        capacity: claim(input),
        failures: failures(input),
        generators: input.shares(),
        trials: input.trials.iter().map(trial).collect(),
        intervals: intervals(input.intervals),
        series: series(input.series),
        events: events(input.events),
    }
}

/// The facts of the server's host; behind them those of the generator's, marked, where that is another one.
fn facts<'a>(input: &ReportInput<'a>) -> Option<Cow<'a, HostFacts>> {
    let Some(server) = input.server else { return input.facts.map(Cow::Borrowed) };
    let mut facts = server.facts.clone();
    let generator = input.facts.into_iter().flat_map(|facts| &facts.facts);
    facts.facts.extend(generator.map(|(name, fact)| (format!("{GENERATOR}{name}"), fact.clone())));
    Some(Cow::Owned(facts))
}

/// The analysis, findings behind the name of their host, without the capacity, which [`claim`] holds, and without the sample of arrival gaps.
fn conclusions(input: &ReportInput<'_>) -> Value {
    let mut analysis = serde_json::to_value(input.analysis).expect("string keys and no custom serialisers");
    if let Some(fields) = analysis.as_object_mut() {
        fields.remove("capacity");
    }
    for finding in analysis["findings"].as_array_mut().into_iter().flatten() {
        if let (Some(host), Some(title)) = (finding["host"].as_str(), finding["title"].as_str()) {
            finding["title"] = Value::from(format!("On {host}: {title}"));
        }
    }
    if let Some(generator) = analysis["generator"].as_object_mut() {
        generator.remove("gap_sample_ns");
        generator.remove("arrival_gaps");
    }
    analysis
}

fn claim<'a>(input: &ReportInput<'a>) -> Claim<'a> {
    match capacity_claim(input.analysis) {
        CapacityClaim::Estimate(capacity, _) => Claim::Estimate { capacity },
        CapacityClaim::AtLeast(capacity, _) => Claim::AtLeast { capacity },
        CapacityClaim::Withheld(capacity) => Claim::Withheld {
            method: &capacity.method,
            objective: &capacity.objective,
            ending: crate::terminal::ending(capacity.ended_by),
        },
        CapacityClaim::NotSought => Claim::NotSought,
    }
}

/// Classes with a count, most frequent first.
fn failures(input: &ReportInput<'_>) -> Vec<FailureRow> {
    let mut rows: Vec<_> = input
        .analysis
        .failures
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(class, count)| FailureRow {
            class: *class,
            count: *count,
            meaning: input.failure_sentence(*class),
            is_generator: class.blame() == Blame::Generator,
        })
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.count));
    rows
}

fn trial(trial: &Trial) -> TrialRow<'_> {
    let (begin, end) = (&trial.begin, trial.end.as_ref());
    TrialRow {
        trial: begin.trial,
        purpose: begin.purpose,
        arrival: begin.plan.arrival,
        connections: begin.plan.connections,
        begin_mono_ns: begin.begin_mono_ns,
        end_mono_ns: end.map(|end| end.end_mono_ns),
        ending: end.map(|end| &end.ending),
        measured: end.map(|end| &end.summary.measured),
        total: end.map(|end| &end.summary.total),
    }
}

/// Every which of `length` rows is kept so that at most `rows_max` are.
fn thinning(length: usize, rows_max: usize) -> usize {
    length.div_ceil(rows_max.max(1)).max(1)
}

fn instants(instants: impl Iterator<Item = MonoNs>) -> Encoded {
    encode(instants.map(|instant| Some(instant.0 as f64)))
}

fn intervals(all: &[Interval]) -> Intervals {
    let every = thinning(all.len(), INTERVALS_MAX);
    let kept: Vec<&Interval> = all.iter().step_by(every).collect();
    let counts = |count: fn(&Counts) -> u64| kept.iter().map(|interval| count(&interval.counts)).collect();
    Intervals {
        every,
        trial: kept.iter().map(|interval| interval.trial).collect(),
        phase: kept.iter().map(|interval| interval.phase).collect(),
        begin_mono_ns: instants(kept.iter().map(|interval| interval.begin_mono_ns)),
        end_mono_ns: instants(kept.iter().map(|interval| interval.end_mono_ns)),
        scheduled: counts(|counts| counts.scheduled),
        ok: counts(|counts| counts.ok),
        failed: counts(|counts| counts.failed),
        timed_out: counts(|counts| counts.timed_out),
        in_flight: kept.iter().map(|interval| interval.in_flight_at_end).collect(),
        received_bytes: kept.iter().map(|interval| interval.received_bytes).collect(),
        thread_cpu_ns: kept.iter().map(|interval| interval.thread_cpu_ns.clone()).collect(),
        p50_ns: kept.iter().map(|interval| interval.p50_ns).collect(),
        p99_ns: kept.iter().map(|interval| interval.p99_ns).collect(),
    }
}

fn series(series: &Series) -> SeriesTable<'_> {
    let windows = series.windows();
    let positions = 0..series.columns().len();
    let is_moving = |position: &usize| series.values_at(*position).windows(2).any(|pair| pair[0] != pair[1]);
    let moving_count = positions.clone().filter(is_moving).count();
    let rows_max = SERIES_ROWS_MAX.min(SERIES_VALUES_MAX / moving_count.max(1)).max(100);
    let every = thinning(windows.len(), rows_max);
    let column = |position: usize| SeriesColumn {
        column: &series.columns()[position],
        values: encode(series.values_at(position).iter().step_by(every).copied()),
    };
    SeriesTable {
        every,
        rows: windows.iter().step_by(every).count(),
        begin_mono_ns: instants(windows.iter().step_by(every).map(|window| window[0])),
        end_mono_ns: instants(windows.iter().step_by(every).map(|window| window[1])),
        columns: positions.map(column).collect(),
    }
}

/// The first marks of each kind; phases do not push out warnings, nor these them.
fn events(all: &[Event]) -> Vec<&Event> {
    let is_phase =
        |event: &&Event| matches!(event.event, EventKind::PhaseBegin { .. } | EventKind::PhaseEnd { .. });
    let phases = all.iter().filter(is_phase).take(EVENTS_MAX);
    let others = all.iter().filter(|event| !is_phase(event)).take(EVENTS_MAX);
    let mut kept: Vec<&Event> = phases.chain(others).collect();
    kept.sort_by_key(|event| event.mono_ns);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::series::{ReadingKind, Row, SeriesLine};

    #[test]
    fn a_long_series_is_thinned_evenly() {
        let column = Column {
            name: "a_count".into(),
            scope: "host".into(),
            unit: "count".into(),
            kind: ReadingKind::Counter,
            unavailable: None,
        };
        let mut long = Series::default();
        long.push(SeriesLine::header(vec![column]));
        for row in 0..5_000 {
            let at = MonoNs(row * 1_000);
            long.push(SeriesLine::Row(Row {
                begin_mono_ns: at,
                end_mono_ns: at,
                values: vec![Some(row as f64)],
            }));
        }
        let table = series(&long);
        assert_eq!((table.every, table.rows), (3, 1_667));
        let Encoded::Deltas(deltas) = &table.columns[0].values else { panic!("whole numbers") };
        assert_eq!(deltas[..4], [Some(0), Some(3), Some(3), Some(3)]);
        assert_eq!(thinning(0, 2_000), 1);
        assert_eq!(thinning(2_000, 2_000), 1);
        assert_eq!(thinning(2_001, 2_000), 2);
    }
}
