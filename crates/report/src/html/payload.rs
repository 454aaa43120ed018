//! The data of the page: the record, without the parts that the page does not show, in a compact form.
//!
//! Nothing is computed. Adjacent entries of long logs are condensed in the same way as in the folder itself, so that
//! outliers stay visible, and the page says so; the resolution depends on the size of the page.

use super::encode::{Encoded, encode};
use super::heat::{Heat, heat};
use super::probe::{ProbeStrip, strips};
use crate::input::{CapacityClaim, ReportInput, capacity_claim};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use sysdyno_record::analysis::Capacity;
use sysdyno_record::condense::{IntervalCell, thinned};
use sysdyno_record::event::{Event, EventKind};
use sysdyno_record::facts::HostFacts;
use sysdyno_record::load::{
    Blame, CondensedInterval, Counts, Extremes, FailureClass, Interval, LatencySet, PhaseSummary,
    TrialEnding, TrialPurpose,
};
use sysdyno_record::manifest::Manifest;
use sysdyno_record::plan::{Arrival, PhaseKind, Plan};
use sysdyno_record::profile::Profile;
use sysdyno_record::series::{Column, ReadingKind, Series};
use sysdyno_record::spread::GeneratorShare;
use sysdyno_record::store::Trial;
use sysdyno_record::units::MonoNs;

/// Most rows of the series that the page is given, and the fewest that it is brought down to.
const SERIES_ROWS: [usize; 2] = [60, 2_000];

/// What the readings may take in the page; of hosts with many columns there are fewer rows.
const SERIES_BYTES_MAX: usize = 1_700_000;

/// Most intervals that the page is given.
const INTERVALS_MAX: usize = 2_000;

/// Most marks of each kind, phases and others, that the page is given.
const EVENTS_MAX: usize = 4_000;

/// What the names of facts of the generator's host begin with, where the server has one of its own.
const GENERATOR: &str = "generator's host: ";

#[derive(Serialize)]
pub(super) struct RunPayload<'a> {
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
    #[serde(skip_serializing_if = "Option::is_none")]
    heat: Option<Heat>,
    series: Box<RawValue>,
    events: Vec<&'a Event>,
    /// What outsiders saw over time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    probes: Vec<ProbeStrip>,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<&'a Profile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile_low: Option<&'a Profile>,
}

/// What may be said about capacity.
#[derive(Serialize)]
#[serde(tag = "claim", rename_all = "snake_case")]
enum Claim<'a> {
    Estimate { capacity: &'a Capacity },
    AtLeast { capacity: &'a Capacity },
    Bounds { capacity: &'a Capacity },
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
    /// Failed requests by class, of classes that there are.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    failures: BTreeMap<FailureClass, Encoded>,
    in_flight: Vec<u64>,
    /// Users in a session; not there in a load without users.
    #[serde(skip_serializing_if = "Option::is_none")]
    users: Option<Vec<Option<u64>>>,
    received_bytes: Vec<u64>,
    thread_cpu_ns: Vec<Vec<u64>>,
    p50_ns: Vec<Option<u64>>,
    p99_ns: Vec<Option<u64>>,
    /// What the intervals were like that stand for several; not there where none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    extremes: Option<BTreeMap<&'static str, Bounds>>,
}

/// The least and the greatest of each row, `null` where the row has no other than its own.
#[derive(Serialize)]
struct Bounds {
    low: Encoded,
    high: Encoded,
}

#[derive(Serialize)]
struct SeriesTable<'a> {
    /// How many rows of the folder a row stands for.
    every: usize,
    rows: usize,
    /// Most samples that a row stands for, those included that the folder had condensed.
    samples_max: u32,
    begin_mono_ns: Encoded,
    end_mono_ns: Encoded,
    columns: Vec<SeriesColumn<'a>>,
}

#[derive(Serialize)]
struct SeriesColumn<'a> {
    #[serde(flatten)]
    column: &'a Column,
    values: Encoded,
    /// Of rows that stand for several samples: rates of a counter, readings of a gauge.
    #[serde(skip_serializing_if = "Option::is_none")]
    bounds: Option<Bounds>,
}

pub(super) fn payload<'a>(input: &ReportInput<'a>) -> RunPayload<'a> {
    RunPayload {
        schema: "sysdyno.report/1",
        folder: input.folder.path.to_string_lossy().into_owned(),
        manifest: input.folder.manifest,
        is_incomplete: input.folder.is_incomplete,
        damage: input.folder.damage,
        plan: input.run.plan,
        facts: facts(input),
        analysis: conclusions(input),
        capacity: claim(input),
        failures: failures(input),
        generators: input.shares(),
        trials: input.run.trials.iter().map(trial).collect(),
        intervals: intervals(input.run.intervals),
        heat: heat(&input.run),
        series: series(input.run.server_series()),
        events: events(input.run.events),
        probes: input.run.load().map_or_else(Vec::new, |load| strips(&load.probed(), input.run.probe)),
        profile: input.profile,
        profile_low: input.profile_low,
    }
}

/// The facts of the server's host; behind them those of the generator's, marked, where that is another one.
fn facts<'a>(input: &ReportInput<'a>) -> Option<Cow<'a, HostFacts>> {
    let Some(server) = input.run.server else { return input.run.facts.map(Cow::Borrowed) };
    let mut facts = server.host.facts.clone();
    let generator = input.run.facts.into_iter().flat_map(|facts| &facts.facts);
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
        CapacityClaim::Bounds(capacity, _) => Claim::Bounds { capacity },
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

fn instants(instants: impl Iterator<Item = MonoNs>) -> Encoded {
    encode(instants.map(|instant| Some(instant.0 as f64)))
}

fn intervals(all: &[Interval]) -> Intervals {
    let every = all.len().div_ceil(INTERVALS_MAX).max(1);
    let kept: Vec<Interval> = all.chunks(every).map(joined).collect();
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
        failures: failures_over_time(&kept),
        in_flight: kept.iter().map(|interval| interval.in_flight_at_end).collect(),
        users: kept
            .iter()
            .any(|interval| interval.users_at_end.is_some())
            .then(|| kept.iter().map(|interval| interval.users_at_end).collect()),
        received_bytes: kept.iter().map(|interval| interval.received_bytes).collect(),
        thread_cpu_ns: kept.iter().map(|interval| interval.thread_cpu_ns.clone()).collect(),
        p50_ns: kept.iter().map(|interval| interval.p50_ns).collect(),
        p99_ns: kept.iter().map(|interval| interval.p99_ns).collect(),
        extremes: extremes(&kept),
    }
}

fn failures_over_time(kept: &[Interval]) -> BTreeMap<FailureClass, Encoded> {
    let classes: BTreeSet<FailureClass> =
        kept.iter().flat_map(|interval| interval.failures.keys().copied()).collect();
    let of = |class| kept.iter().map(move |interval| interval.failures.get(&class).copied().unwrap_or(0));
    let rows = classes.into_iter().map(|class| (class, encode(of(class).map(|count| Some(count as f64)))));
    rows.collect()
}

/// Neighboring intervals in one, as far as they are of one phase: those of another are left out. Percentiles cannot be added
/// up: they are those of the interval in the middle, between the extremes of all.
fn joined(neighbors: &[Interval]) -> Interval {
    let (middle, mut cell) = (&neighbors[neighbors.len() / 2], IntervalCell::default());
    let nothing = LatencySet::default();
    for interval in neighbors {
        if cell.takes(interval) {
            cell.add(interval, &nothing);
        }
    }
    let joined = cell.take(|_, _| ()).map_or_else(|| middle.clone(), |(interval, ())| interval);
    Interval { p50_ns: middle.p50_ns, p99_ns: middle.p99_ns, ..joined }
}

type ExtremesOf = fn(&CondensedInterval) -> Option<Extremes>;

/// What charts show of an interval, by the name that it has in the page.
const EXTREMES: [(&str, ExtremesOf); 8] = [
    ("scheduled", |condensed| condensed.scheduled_hz),
    ("completed", |condensed| condensed.completed_hz),
    ("errors", |condensed| condensed.errors_hz),
    ("in_flight", |condensed| condensed.in_flight_at_end),
    ("users", |condensed| condensed.users_at_end),
    ("cpu_ns", |condensed| condensed.cpu_ns_per_second),
    ("p50_ns", |condensed| condensed.p50_ns),
    ("p99_ns", |condensed| condensed.p99_ns),
];

fn extremes(kept: &[Interval]) -> Option<BTreeMap<&'static str, Bounds>> {
    let bounds = |of: ExtremesOf| {
        let all = kept.iter().map(move |interval| interval.condensed.as_ref().and_then(of));
        bounds(all.map(|extremes| extremes.map(|extremes| [extremes.low, extremes.high])))
    };
    let is_any = kept.iter().any(|interval| interval.condensed.is_some());
    is_any.then(|| EXTREMES.into_iter().filter_map(|(name, of)| Some((name, bounds(of)?))).collect())
}

/// `None`: no row has any.
fn bounds(rows: impl Iterator<Item = Option<[f64; 2]>> + Clone) -> Option<Bounds> {
    let side = |side: usize| encode(rows.clone().map(|row| row.map(|row| shown(row[side]))));
    rows.clone().any(|row| row.is_some()).then(|| Bounds { low: side(0), high: side(1) })
}

/// What a chart can show of a number.
fn shown(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// The series in as many rows as the page has room for, as JSON.
fn series(series: &Series) -> Box<RawValue> {
    let mut rows_max = SERIES_ROWS[1];
    loop {
        let thin = thinned(series, rows_max);
        let every = if thin.is_some() { series.windows().len().div_ceil(rows_max) } else { 1 };
        let shown = thin.as_ref().unwrap_or(series);
        let json = to_raw_value(&table(shown, every)).expect("string keys and no custom serialisers");
        let rows = shown.windows().len();
        if json.get().len() <= SERIES_BYTES_MAX || rows <= SERIES_ROWS[0] {
            return json;
        }
        let fitting = rows as f64 * SERIES_BYTES_MAX as f64 / json.get().len() as f64 * 0.95;
        rows_max = (fitting as usize).clamp(SERIES_ROWS[0], rows - 1);
    }
}

fn table(series: &Series, every: usize) -> SeriesTable<'_> {
    let windows = series.windows();
    SeriesTable {
        every,
        rows: windows.len(),
        samples_max: series.samples_counts().iter().copied().max().unwrap_or(1),
        begin_mono_ns: instants(windows.iter().map(|window| window[0])),
        end_mono_ns: instants(windows.iter().map(|window| window[1])),
        columns: (0..series.columns().len()).map(|position| column(series, position)).collect(),
    }
}

fn column(series: &Series, position: usize) -> SeriesColumn<'_> {
    let rows = 0..series.windows().len();
    let column = &series.columns()[position];
    let bounds = match column.kind {
        ReadingKind::Counter => {
            bounds(rows.map(|row| series.rate_range(position, row).map(|range| [range.low, range.high])))
        }
        ReadingKind::Gauge => {
            bounds(rows.map(|row| series.gauge_spread(position, row).map(|spread| [spread.low, spread.high])))
        }
    };
    SeriesColumn { column, values: encode(series.values_at(position).iter().copied()), bounds }
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
    use sysdyno_record::series::{Row, SeriesLine};

    fn column_of(kind: ReadingKind, number: usize) -> Column {
        Column {
            name: format!("a{number}_count"),
            scope: "host".into(),
            unit: "count".into(),
            kind,
            unavailable: None,
        }
    }

    /// A series of so many columns and rows, with a peak in the middle.
    fn long(kind: ReadingKind, columns: usize, rows: u64) -> Series {
        let mut long = Series::default();
        long.push(SeriesLine::header((0..columns).map(|number| column_of(kind, number)).collect()));
        for row in 0..rows {
            let at = MonoNs(row * 100_000_000);
            let value = if row == rows / 2 { 1e6 } else { (row * 7_919 % 1_009) as f64 };
            long.push(SeriesLine::Row(Row::sample(at, at, vec![Some(value); columns])));
        }
        long
    }

    #[test]
    fn a_long_series_is_condensed_and_keeps_what_stood_out() {
        let long = long(ReadingKind::Gauge, 1, 5_000);
        let table: Value = serde_json::from_str(series(&long).get()).expect("is JSON");
        assert_eq!(
            (&table["every"], &table["rows"], &table["samples_max"]),
            (&3.into(), &1_667.into(), &3.into())
        );
        let highs = table["columns"][0]["bounds"]["high"]["deltas"].as_array().expect("whole numbers");
        let mut high = 0;
        let greatest = highs.iter().filter_map(Value::as_i64).map(|delta| {
            high += delta;
            high
        });
        assert_eq!(greatest.max(), Some(1_000_000));
    }

    #[test]
    fn a_host_with_many_columns_does_not_make_a_larger_page() {
        for kind in [ReadingKind::Gauge, ReadingKind::Counter] {
            let json = series(&long(kind, 400, 3_000));
            assert!(json.get().len() <= SERIES_BYTES_MAX, "{}", json.get().len());
            assert!(json.get().len() > SERIES_BYTES_MAX / 2, "{}", json.get().len());
        }
    }

    #[test]
    fn a_short_series_is_shown_as_it_is() {
        let table: Value =
            serde_json::from_str(series(&long(ReadingKind::Gauge, 2, 50)).get()).expect("is JSON");
        assert_eq!(
            (&table["every"], &table["rows"], &table["samples_max"]),
            (&1.into(), &50.into(), &1.into())
        );
        assert!(table["columns"][0].get("bounds").is_none());
    }
}
