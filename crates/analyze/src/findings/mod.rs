//! What stops the server: one [`Rule`] per known limit, each an argument that can be contradicted.
//!
//! The rules of evidence are in one place (function `confidence`) and no rule can bend them: a conclusion is *confirmed* only with the
//! counter of its mechanism, an independent signal and an effect on the user's metric; *likely* with the first two; *possible* with
//! the mechanism alone; *excluded* when the counters speak against it. Without any of these there is no finding: what could not
//! be read is neither present nor excluded. Every piece of evidence names its source and its seconds.
//!
//! [`RULES`] is the list of all rules; its order breaks ties between equally certain findings.

mod accept;
mod cpu;
mod generator;
mod interrupts;
mod network;
mod pool;
mod process;
mod retransmit;

#[cfg(test)]
mod tests;

use crate::format::{duration, name, percent, rate};
use crate::readings::{Window, ratio};
use crate::threshold::{HOUSE, Threshold};
use crate::view::TrialView;
use sysdyno_record::analysis::{Confidence, Evidence, EvidenceRole, Finding, Verdict, VerdictStatus};
use sysdyno_record::load::LatencyKind;
use sysdyno_record::plan::Objective;

/// What the rules look at: the trials of a run, and which of them shows the limit.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The trial at or just above the capacity; the only one of `load`.
    pub focus: TrialView<'a>,
    /// The sound trial at the lowest load, to compare with; `None` if there is no other.
    pub base: Option<TrialView<'a>>,
    /// All trials that have ended, in order.
    pub trials: &'a [TrialView<'a>],
    /// Their verdicts, in the same order.
    pub verdicts: &'a [Verdict],
    /// What a rate must meet; `None` for `load`.
    pub objective: Option<&'a Objective>,
    /// Whether the number of connections, not the server, ended the search.
    pub is_connection_limited: bool,
}

/// One known limit.
#[derive(Debug)]
pub struct Rule {
    /// Its number, e.g. `T01`.
    pub id: &'static str,
    /// Its short name, e.g. `accept-overflow`.
    pub name: &'static str,
    /// What it means, in a sentence.
    pub meaning: &'static str,
    /// The limits that it uses.
    pub thresholds: &'static [Threshold],
    /// Where it happens.
    pub(crate) place: Place,
    /// What could be changed, in a sentence.
    pub remedy: &'static str,
    /// What would show that the finding is wrong, in a sentence.
    pub counterfactual: &'static str,
    /// Collects the evidence; `None` if nothing could be seen either way.
    pub(crate) examine: fn(&Scene) -> Option<Case>,
}

/// Where the mechanism of a rule is at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// On the server's host, which is named where there are two.
    Server,
    /// In the generator, or between the hosts.
    Elsewhere,
}

/// What a rule has to say: a conclusion and all that speaks for and against it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Case {
    pub(crate) title: String,
    pub(crate) evidence: Vec<Evidence>,
    /// A remedy that fits better than the rule's.
    pub(crate) remedy: Option<String>,
}

/// All rules, in the order of the reference.
pub static RULES: &[&Rule] = &[
    &generator::GENERATOR_LIMITED,
    &generator::CONNECTION_LIMITED,
    &process::DESCRIPTORS,
    &accept::OVERFLOW,
    &retransmit::SYN_STAIRCASE,
    &network::BANDWIDTH,
    &process::THROTTLED,
    &cpu::SATURATED,
    &interrupts::PILE_UP,
    &cpu::SINGLE_THREAD,
    &pool::POOL_FULL,
];

/// Up to this multiple of the rate that shows the limit, a trial shows what gives out next.
const BEYOND_RATIO: f64 = 2.0;

/// What all rules conclude: most certain first, excluded ones last.
///
/// A rate can miss its objective while nothing is full yet: where requests are few and long, some come at the same time. Then
/// the next trials beyond it say what gives out, as far as that is the server's.
pub fn examine(scene: &Scene) -> Vec<Finding> {
    let mut findings: Vec<Finding> = RULES.iter().filter_map(|rule| rule.conclude(scene)).collect();
    if findings.iter().all(|finding| finding.confidence < Confidence::Likely) {
        let found = examine_beyond(scene);
        findings.retain(|finding| found.iter().all(|other| other.id != finding.id));
        findings.extend(found);
    }
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.confidence));
    findings
}

/// What is certain of the server at the lowest rate beyond the one that shows the limit at which anything is.
fn examine_beyond(scene: &Scene) -> Vec<Finding> {
    let offered = |view: &TrialView| view.measured().offered_hz;
    let Some(limit_hz) = offered(&scene.focus) else { return Vec::new() };
    let is_sound =
        |at: usize| scene.verdicts.get(at).is_none_or(|verdict| verdict.status < VerdictStatus::Invalid);
    let rates = scene.trials.iter().enumerate().filter_map(|(at, view)| Some((at, offered(view)?)));
    let is_near = |rate_hz: f64| rate_hz > limit_hz && rate_hz <= BEYOND_RATIO * limit_hz;
    let mut beyond: Vec<(usize, f64)> =
        rates.filter(|(at, rate_hz)| is_near(*rate_hz) && is_sound(*at)).collect();
    beyond.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    let certain = |(at, rate_hz): (usize, f64)| {
        let there = Scene { focus: scene.trials[at], ..*scene };
        let rules = RULES.iter().filter(|rule| rule.place == Place::Server);
        let found = rules.filter_map(|rule| rule.conclude(&there));
        let found = found.filter(|finding| finding.confidence >= Confidence::Likely);
        let found: Vec<Finding> = found
            .map(|finding| Finding {
                title: format!("At {} req/s, beyond the capacity: {}", rate(rate_hz), finding.title),
                ..finding
            })
            .collect();
        (!found.is_empty()).then_some(found)
    };
    beyond.into_iter().find_map(certain).unwrap_or_default()
}

impl Rule {
    fn conclude(&self, scene: &Scene) -> Option<Finding> {
        let mut case = (self.examine)(scene)?;
        let confidence = confidence(&case.evidence)?;
        case.evidence.sort_by_key(|evidence| evidence.role as u8);
        let remedy = case.remedy.unwrap_or_else(|| self.remedy.to_owned());
        Some(Finding {
            id: self.id.to_owned(),
            name: self.name.to_owned(),
            host: self.host(scene),
            confidence,
            title: case.title,
            evidence: case.evidence,
            remedy: (confidence > Confidence::Excluded).then_some(remedy),
            counterfactual: self.counterfactual.to_owned(),
        })
    }
}

impl Rule {
    /// The name of the host that a finding is about, where there are two.
    fn host(&self, scene: &Scene) -> Option<String> {
        let server = scene.focus.server.filter(|_| self.place == Place::Server)?;
        Some(name(&server.host.name))
    }
}

/// How certain a conclusion is that rests on this evidence; `None` if there is none.
///
/// A contradiction keeps a mechanism from being more than possible.
pub(crate) fn confidence(evidence: &[Evidence]) -> Option<Confidence> {
    let has = |role: EvidenceRole| evidence.iter().any(|evidence| evidence.role == role);
    match (has(EvidenceRole::Mechanism), has(EvidenceRole::Against)) {
        (false, true) => Some(Confidence::Excluded),
        (false, false) => None,
        (true, true) => Some(Confidence::Possible),
        (true, false) => Some(match (has(EvidenceRole::Confirmer), has(EvidenceRole::Effect)) {
            (true, true) => Confidence::Confirmed,
            (true, false) => Confidence::Likely,
            (false, _) => Confidence::Possible,
        }),
    }
}

/// One signal, seen in these seconds.
pub(crate) fn evidence(role: EvidenceRole, window: &Window, source: &str, text: String) -> Evidence {
    Evidence {
        role,
        text,
        source: source.to_owned(),
        column: None,
        begin_mono_ns: window.begin,
        end_mono_ns: window.end,
    }
}

/// The same, with the column that shows it.
pub(crate) fn seen_in(column: String, evidence: Evidence) -> Evidence {
    Evidence { column: Some(column), ..evidence }
}

/// The same of the generator's host: without a column where the server has a host of its own, whose columns are meant then.
pub(crate) fn seen_by_generator(view: &TrialView, column: &str, evidence: Evidence) -> Evidence {
    Evidence { column: view.server.is_none().then(|| column.to_owned()), ..evidence }
}

/// A case that only says why not.
pub(crate) fn excluded(title: &str, against: Vec<Evidence>) -> Option<Case> {
    (!against.is_empty()).then(|| Case { title: title.to_owned(), evidence: against, remedy: None })
}

const GROWTH: Threshold = Threshold::new(
    "p99 under load ÷ p99 at the lowest load, from which on a user notices",
    2.0,
    "ratio",
    HOUSE,
);
const ENGINE: &str = "load engine";

/// What the user noticed in the focus: an objective missed, arrivals not kept up with, failures, or latency that grew.
pub(crate) fn user_effect(scene: &Scene) -> Option<Evidence> {
    let view = &scene.focus;
    let window = view.steady();
    let effect = |text: String| Some(evidence(EvidenceRole::Effect, &window, ENGINE, text));
    let felt = view.summary(view.felt_kind());
    let at = view.measured().offered_hz.map_or(String::new(), |hz| format!(" at {} req/s", rate(hz)));
    if let (Some(objective), Some(p99)) = (scene.objective.filter(|_| view.is_open()), felt.p99)
        && p99 > objective.limit.0
    {
        let limit = duration(objective.limit.0 as f64);
        return effect(format!(
            "p99 of response time was {}{at}; the limit is {limit}",
            duration(p99 as f64)
        ));
    }
    let failed = crate::view::error_ratio(view.counts());
    if failed > 0.001 {
        return effect(format!("{} of the requests failed or timed out{at}", percent(failed)));
    }
    if let Some(achieved) = view.achieved_ratio().filter(|achieved| view.is_open() && *achieved < 0.99) {
        return effect(format!("{} of the offered requests were completed in step{at}", percent(achieved)));
    }
    let base = scene.base?;
    let (before, now) = (base.summary(base.felt_kind()).p99? as f64, felt.p99? as f64);
    ratio(now, before).filter(|growth| *growth >= GROWTH.value)?;
    effect(format!("p99 grew from {} at the lowest load to {}{at}", duration(before), duration(now)))
}

/// 99th percentile of a kind of latency in the focus, or the greatest value of a small sample. Unit: nanoseconds.
pub(crate) fn tail_ns(view: &TrialView, kind: LatencyKind) -> Option<f64> {
    let summary = view.summary(kind);
    summary.p99.or(summary.max).map(|ns| ns as f64)
}
