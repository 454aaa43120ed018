//! What the user noticed, and how much of it a mechanism can have caused.
//!
//! A counter that moved explains nothing by itself: one retransmitted SYN does not make a tenth of the responses slow, and
//! a busy CPU does not make a server return errors. Each rule states how far its mechanism reaches ([`Reach`]), and the
//! judge compares that with the size of what the user noticed ([`NoticedEffect::explained_by`]). A mechanism that explains
//! less than [`EXPLAINED`] of it is at most *possible*.

use super::{ENGINE, GROWTH, Scene, evidence};
use crate::format::{duration, percent, rate};
use crate::readings::{Window, ratio, sum_known};
use crate::threshold::{HOUSE, Threshold};
use crate::view::{TrialView, WAITING_CLASSES, error_ratio};
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::column::{self, Quantity};
use sysdyno_record::load::{FailureClass, LatencyKind};
use sysdyno_record::plan::Objective;

/// The least part of an effect that its cause accounts for.
pub(super) const EXPLAINED: Threshold = Threshold::new(
    "share of failed or slow requests that a bottleneck must explain, to be more than possible",
    0.5,
    "ratio",
    HOUSE,
);

/// Fewer events than this are chance.
pub(super) const EVENTS: Threshold =
    Threshold::new("events that a bottleneck needs, to be more than possible", 5.0, "count", HOUSE);

pub(super) const FAILED_FIRST: Threshold = Threshold::new(
    "share of failed requests that counts as the effect, however slow the rest are",
    0.01,
    "ratio",
    HOUSE,
);
pub(super) const SLOW_TOO: Threshold = Threshold::new(
    "slow responses for each failed request, at which what explains the slow ones is a cause as well",
    10.0,
    "ratio",
    HOUSE,
);
pub(super) const FEW_FAILED: Threshold =
    Threshold::new("share of failed requests up to which that holds", 0.05, "ratio", HOUSE);
/// Share of failures that counts as an effect if there is no other. Unit: ratio.
const FAILED_AT_ALL: f64 = 0.001;
/// Arrivals completed in step, below which completions fell behind. Unit: ratio.
const IN_STEP: f64 = 0.99;
/// Share of slow responses that counts as an effect if there are too few for a percentile. Unit: ratio.
const SLOW_AT_ALL: f64 = 0.01;
/// The same. Unit: count.
const SLOW_COUNT_MIN: f64 = 3.0;
/// A connect takes this long only if its first packet was lost or dropped. Unit: nanoseconds.
pub(super) const SLOW_CONNECT_NS: u64 = 900_000_000;
/// Slow connects are an effect from this share of all on. Unit: ratio.
const SLOW_CONNECTS: f64 = 0.01;

/// What the user noticed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Requests failed or timed out.
    Failures,
    /// Responses or connects were slow, or fell behind.
    Slow,
}

/// What the user noticed of a trial: an objective missed, arrivals not kept up with, failures, or latency that grew.
#[derive(Clone, Debug)]
pub(super) struct NoticedEffect {
    kind: Kind,
    /// Number of affected requests or connects.
    touched: f64,
    /// By how much the slow ones were too slow, if known. Unit: nanoseconds.
    excess_ns: f64,
    /// What it is, in a clause.
    pub(super) clause: String,
    /// The same, with what it is held against.
    evidence: Evidence,
    /// Of failures: that many more responses were slow.
    slow: Option<Box<NoticedEffect>>,
}

/// How far a mechanism reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Reach {
    /// Failed and timed-out requests that it can have caused.
    pub(super) failures: f64,
    /// What it can have done to slow ones.
    pub(super) slow: Slow,
    /// How often it was seen at all; `None`: it is not counted in events.
    pub(super) events: Option<f64>,
}

/// What a mechanism can have done to slow requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Slow {
    /// A share of what made them slow: all of it where a resource was used up.
    Share(f64),
    /// It delayed this many of them, each by at most this long.
    Delayed { count: f64, most_ns: f64 },
}

impl Default for Slow {
    fn default() -> Slow {
        Slow::Share(0.0)
    }
}

impl Reach {
    /// Of a resource that was used up to this share: requests wait for it, and some of them too long.
    pub(super) fn used_up(view: &TrialView, share: f64) -> Reach {
        let waited = view.failures_of(WAITING_CLASSES).saturating_add(view.counts().timed_out);
        Reach { failures: share * waited as f64, slow: Slow::Share(share), events: None }
    }

    /// The same, of a tier on which others gave up so often: they then answer with an error.
    pub(super) fn given_up(view: &TrialView, share: f64, given_up: f64) -> Reach {
        let used_up = Reach::used_up(view, share);
        let answered = given_up.min(view.failures_of(&[FailureClass::Status]) as f64);
        Reach { failures: used_up.failures + answered, ..used_up }
    }

    /// Of packets that were lost or dropped so often while connections were made.
    pub(super) fn of_connects(view: &TrialView, dropped: f64, slow_connects: f64) -> Reach {
        let classes =
            [FailureClass::ConnectTimeout, FailureClass::ConnectReset, FailureClass::ConnectRefused];
        let failed = view.failures_of(&classes).saturating_add(view.counts().timed_out) as f64;
        // All requests of a connection wait until it is there.
        let each = ratio(view.counts().sent as f64, view.measured().connections_opened as f64);
        let each = each.unwrap_or(1.0).max(1.0);
        let count = (slow_connects * each).min(dropped * each);
        let slow = Slow::Delayed { count, most_ns: f64::INFINITY };
        Reach { failures: failed.min(dropped * each), slow, events: Some(dropped) }
    }

    /// The part of a request's time that it accounts for at most; `None`: it says which requests it delayed, or none was timed.
    pub(super) fn share_of_time(&self, view: &TrialView) -> Option<f64> {
        let is_timed = view.latency.get(view.felt_kind()).count() > 0;
        match self.slow {
            Slow::Share(share) if is_timed => Some(share),
            Slow::Share(_) | Slow::Delayed { .. } => None,
        }
    }

    /// Whether it touched no request of this trial, as far as its times are known.
    pub(super) fn is_nothing(&self, view: &TrialView) -> bool {
        let is_timed = view.latency.get(view.felt_kind()).count() > 0;
        let delayed = match self.slow {
            Slow::Share(share) => share,
            Slow::Delayed { count, .. } => count,
        };
        is_timed && self.failures <= 0.0 && delayed <= 0.0
    }
}

impl NoticedEffect {
    fn new(view: &TrialView, kind: Kind, touched: f64, clause: String) -> NoticedEffect {
        let evidence = seen(view, clause.clone());
        NoticedEffect { kind, touched, excess_ns: 0.0, clause, evidence, slow: None }
    }

    /// What the user noticed of the focus; `None`: nothing, or there is nothing to compare with.
    pub(super) fn of(scene: &Scene) -> Option<NoticedEffect> {
        let view = &scene.focus;
        let failed = error_ratio(view.counts());
        failures(scene, FAILED_FIRST.value, failed)
            .map(|effect| effect.with_slow(missed(scene).filter(|_| failed <= FEW_FAILED.value)))
            .or_else(|| missed(scene))
            .or_else(|| failures(scene, FAILED_AT_ALL, failed))
            .or_else(|| behind(scene))
            .or_else(|| grown(scene))
            .or_else(|| connects(scene))
    }

    /// The same, with what was slow besides if that were many more.
    fn with_slow(self, slow: Option<NoticedEffect>) -> NoticedEffect {
        let slow = slow.filter(|slow| slow.touched >= SLOW_TOO.value * self.touched);
        NoticedEffect { slow: slow.map(Box::new), ..self }
    }

    /// What the user noticed.
    pub(super) fn evidence(self) -> impl Iterator<Item = Evidence> {
        std::iter::once(self.evidence).chain(self.slow.map(|slow| slow.evidence))
    }

    /// The part of the effect that a mechanism with this reach accounts for at most, 0 to 1.
    pub(super) fn explained_by(&self, reach: &Reach) -> f64 {
        let of_slow = self.slow.as_ref().map_or(0.0, |slow| slow.explained_by(reach));
        let part = match (self.kind, reach.slow) {
            (Kind::Failures, _) => ratio(reach.failures, self.touched),
            (Kind::Slow, Slow::Share(share)) => Some(share),
            (Kind::Slow, Slow::Delayed { count, most_ns }) => {
                let amount = if self.excess_ns > 0.0 { most_ns / self.excess_ns } else { 1.0 };
                ratio(count, self.touched).map(|touched| touched.min(1.0) * amount.min(1.0))
            }
        };
        part.unwrap_or(0.0).clamp(0.0, 1.0).max(of_slow)
    }

    /// The affected objects, as a noun.
    pub(super) fn noun(&self) -> &'static str {
        match self.kind {
            Kind::Failures => "the failed requests",
            Kind::Slow => "the slow requests",
        }
    }
}

fn seen(view: &TrialView, text: String) -> Evidence {
    evidence(EvidenceRole::Effect, &view.steady(), ENGINE, text)
}

/// ` at 2,000 req/s`, of an open process.
fn at_rate(view: &TrialView) -> String {
    view.measured().offered_hz.map_or(String::new(), |hz| format!(" at {} req/s", rate(hz)))
}

fn failures(scene: &Scene, above: f64, failed_ratio: f64) -> Option<NoticedEffect> {
    let view = &scene.focus;
    let counts = view.counts();
    let text = format!("{} of the requests failed or timed out{}", percent(failed_ratio), at_rate(view));
    let touched = counts.failed as f64 + counts.timed_out as f64;
    (failed_ratio > above).then(|| NoticedEffect::new(view, Kind::Failures, touched, text))
}

/// Responses that took longer than this.
pub(super) fn slower_than(view: &TrialView, limit_ns: f64) -> f64 {
    let histogram = view.latency.get(view.felt_kind()).as_hdr();
    histogram.count_between((limit_ns as u64).saturating_add(1), u64::MAX) as f64
}

fn missed(scene: &Scene) -> Option<NoticedEffect> {
    let view = &scene.focus;
    if !view.is_open() {
        return None;
    }
    let limit = scene.objective.map_or(Objective::default().limit.0, |objective| objective.limit.0);
    let p99 = view.summary(view.felt_kind()).p99;
    if p99.is_none() {
        return missed_by_few(view, limit as f64);
    }
    let p99 = p99.filter(|p99| *p99 > limit)?;
    let whose = if scene.objective.is_some() { "the objective's" } else { "without an objective, the" };
    let clause = format!("p99 of response time was {}{}", duration(p99 as f64), at_rate(view));
    let text = format!("{clause}; {whose} limit is {}", duration(limit as f64));
    let effect = slow(view, limit as f64, (p99 - limit) as f64, clause);
    Some(NoticedEffect { evidence: seen(view, text), ..effect })
}

/// Of few requests no 99th percentile is known; how many of them were slow is.
fn missed_by_few(view: &TrialView, limit_ns: f64) -> Option<NoticedEffect> {
    let touched = slower_than(view, limit_ns);
    let share = ratio(touched, view.latency.get(view.felt_kind()).count() as f64)
        .filter(|share| *share > SLOW_AT_ALL && touched >= SLOW_COUNT_MIN)?;
    let text = format!("{} of the responses took longer than {}", percent(share), duration(limit_ns));
    Some(slow(view, limit_ns, 0.0, text))
}

fn slow(view: &TrialView, limit_ns: f64, excess_ns: f64, clause: String) -> NoticedEffect {
    // A record without histograms says no more than that one response in a hundred was slow.
    let least = 0.01 * view.counts().ok as f64;
    let touched = slower_than(view, limit_ns).max(least);
    NoticedEffect { excess_ns, ..NoticedEffect::new(view, Kind::Slow, touched, clause) }
}

fn behind(scene: &Scene) -> Option<NoticedEffect> {
    let view = &scene.focus;
    let achieved = view.achieved_ratio().filter(|achieved| view.is_open() && *achieved < IN_STEP)?;
    let text =
        format!("{} of the offered requests were completed on schedule{}", percent(achieved), at_rate(view));
    let touched = (1.0 - achieved) * view.counts().scheduled as f64;
    Some(NoticedEffect::new(view, Kind::Slow, touched, text))
}

fn grown(scene: &Scene) -> Option<NoticedEffect> {
    let (view, base) = (&scene.focus, scene.base.as_ref()?);
    let before = base.summary(base.felt_kind()).p99? as f64;
    let now = view.summary(view.felt_kind()).p99? as f64;
    ratio(now, before).filter(|growth| *growth >= GROWTH.value)?;
    let text = format!(
        "p99 grew from {} at the lowest load to {}{}",
        duration(before),
        duration(now),
        at_rate(view)
    );
    Some(slow(view, before * GROWTH.value, now - before, text))
}

/// Connects that only a repeated packet explains: what an open process feels in its response time, and a closed one nowhere else.
fn connects(scene: &Scene) -> Option<NoticedEffect> {
    let view = &scene.focus;
    let all = view.latency.get(LatencyKind::Connect).count() as f64;
    let touched = slow_connects(view);
    let share = ratio(touched, all).filter(|share| *share >= SLOW_CONNECTS && touched >= EVENTS.value)?;
    let text = format!("{} of connects took 0.9 s or more", percent(share));
    Some(NoticedEffect::new(view, Kind::Slow, touched, text))
}

/// Connects, and requests that wait for them, that took so long that a packet must have been repeated.
pub(super) fn slow_connects(view: &TrialView) -> f64 {
    view.latency.get(LatencyKind::Connect).as_hdr().count_between(SLOW_CONNECT_NS, u64::MAX) as f64
}

/// The part of the requests on their way that the server's host has received already, and its programs have not; `None`: it is
/// not known.
pub(super) fn waiting_in_sockets(view: &TrialView, window: &Window) -> Option<f64> {
    let is_first = |scope: &&str| view.listening_at(scope).iter().all(|process| process.tier.is_none());
    let mean = |gauge: Quantity| {
        let mut scopes = window.scopes(gauge);
        scopes.retain(|scope| gauge == column::LISTENER_QUEUE || is_first(scope));
        sum_known(scopes.into_iter().map(|scope| window.level(gauge, scope).map(|level| level.mean)))
    };
    let unread = mean(column::CONNECTIONS_UNREAD);
    let queued = mean(column::LISTENER_QUEUE);
    let waiting = sum_known([unread, queued].into_iter())?;
    ratio(waiting, view.in_flight_mean()?).map(|share| share.clamp(0.0, 1.0))
}
