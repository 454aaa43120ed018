//! Probes over time, in the page of a load and in one of their own: for each target a row of points.
//!
//! A point stands for one operation, or, where there are many, for as many neighbors as it takes to stay below a bound: their least,
//! median, and greatest time, and how many were lost.

use super::encode::{Encoded, encode};
use crate::probe::ProbeInput;
use serde::Serialize;
use sysdyno_record::manifest::{ClockPair, Tool};
use sysdyno_record::probe::{ProbeConclusion, ProbeKind, ProbeOutcome, ProbeReply, ProbedTarget};
use sysdyno_record::units::WallNs;

/// Most points of a target that the page is given.
const POINTS_MAX: usize = 2_000;

#[derive(Serialize)]
pub(super) struct ProbePayload<'a> {
    schema: &'static str,
    subject: String,
    started_unix_ns: WallNs,
    clock: ClockPair,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'a Tool>,
    is_interrupted: bool,
    damage: &'a [String],
    probes: &'a ProbeConclusion,
    strips: Vec<ProbeStrip>,
}

/// The operations of one target, in the order in which they were due.
#[derive(Serialize)]
pub(super) struct ProbeStrip {
    name: String,
    kind: ProbeKind,
    /// Operations that a point stands for.
    every: usize,
    mono_ns: Encoded,
    /// Times of those that were answered; nothing where none was.
    low_ns: Encoded,
    p50_ns: Encoded,
    high_ns: Encoded,
    lost: Encoded,
}

/// The data of the page of a probe that ran alone.
pub(super) fn payload<'a>(input: &ProbeInput<'a>) -> ProbePayload<'a> {
    let first = input.replies.iter().map(|reply| reply.intended_mono_ns).min();
    let names: Vec<&str> = input.targets.iter().map(|target| target.name.as_str()).collect();
    ProbePayload {
        schema: "sysdyno.probe-report/1",
        subject: names.join(", "),
        started_unix_ns: first.map_or(input.clock.unix_ns, |first| input.clock.wall(first)),
        clock: input.clock,
        tool: input.tool,
        is_interrupted: input.is_interrupted,
        damage: input.damage,
        probes: input.conclusion,
        strips: strips(input.targets, input.replies),
    }
}

/// The operations of each target over time; empty without any.
pub(super) fn strips(targets: &[ProbedTarget], replies: &[ProbeReply]) -> Vec<ProbeStrip> {
    if replies.is_empty() {
        return Vec::new();
    }
    let numbered = (0u16..).zip(targets);
    numbered
        .map(|(number, target)| strip(target, replies.iter().filter(|reply| reply.target == number)))
        .collect()
}

fn strip<'a>(target: &ProbedTarget, replies: impl Iterator<Item = &'a ProbeReply>) -> ProbeStrip {
    let mut replies: Vec<&ProbeReply> = replies.collect();
    replies.sort_by_key(|reply| reply.intended_mono_ns);
    let every = replies.len().div_ceil(POINTS_MAX).max(1);
    let points: Vec<Point> = replies.chunks(every).map(Point::of).collect();
    let times =
        |of: fn(&Point) -> Option<u64>| encode(points.iter().map(|point| of(point).map(|ns| ns as f64)));
    ProbeStrip {
        name: target.name.clone(),
        kind: target.plan.kind,
        every,
        mono_ns: times(|point| Some(point.mono_ns)),
        low_ns: times(|point| point.times.map(|[low, _, _]| low)),
        p50_ns: times(|point| point.times.map(|[_, p50, _]| p50)),
        high_ns: times(|point| point.times.map(|[_, _, high]| high)),
        lost: times(|point| Some(point.lost)),
    }
}

/// Neighbors taken together.
struct Point {
    mono_ns: u64,
    /// Least, median, and greatest.
    times: Option<[u64; 3]>,
    lost: u64,
}

impl Point {
    fn of(replies: &[&ProbeReply]) -> Point {
        let is_answered = |reply: &&&ProbeReply| reply.outcome == ProbeOutcome::Received;
        let mut times: Vec<u64> =
            replies.iter().filter(is_answered).map(|reply| reply.response_ns()).collect();
        times.sort_unstable();
        let is_lost = |reply: &&&ProbeReply| {
            matches!(reply.outcome, ProbeOutcome::TimedOut | ProbeOutcome::Failed(_) | ProbeOutcome::Unsent)
        };
        let ends = times.first().zip(times.last());
        Point {
            mono_ns: replies.first().map_or(0, |reply| reply.intended_mono_ns.0),
            times: ends.map(|(low, high)| [*low, times[times.len() / 2], *high]),
            lost: replies.iter().filter(is_lost).count() as u64,
        }
    }
}
