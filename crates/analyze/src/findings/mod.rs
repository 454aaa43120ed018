//! Finds the bottleneck: one [`Rule`] per known bottleneck, each an argument that can be contradicted.
//!
//! The rules of evidence are in one place (function `confidence`), and no rule can bend them: a conclusion is *likely* only
//! with the counter of its mechanism and an independent signal; *possible* with the mechanism alone; *excluded* when the
//! counters contradict it. Without any of these there is no finding: if a reading is missing, the bottleneck is neither
//! present nor excluded. Counters only correlate, so no finding is *confirmed*: only an experiment can do that. Every piece
//! of evidence names its source and its seconds.
//!
//! What the user noticed is determined in one place, too ([`effect`]): a mechanism that cannot account for at least half of
//! it is at most possible, however often its counter moved.
//!
//! [`RULES`] lists all rules; its order breaks ties between equally certain findings. Rules whose readings show the
//! bottleneck directly are data ([`Signs`]).

mod accept;
mod affinity;
mod backend;
mod black_hole;
mod bursts;
mod capped;
mod cpu;
mod crowded_out;
mod delayed_ack;
mod disks;
mod edges;
mod effect;
mod error_pages;
mod garbage;
mod gateway;
mod generator;
mod gives_up;
mod handshakes;
mod held;
mod interrupts;
mod ip_path;
mod left_behind;
mod limits;
mod live;
mod logs;
mod loss;
mod lost_answers;
mod memory;
mod memory_stalls;
mod neighbors;
mod network;
mod one_worker;
mod packet_cost;
mod partial;
mod peer;
mod pool;
mod process;
mod proved;
mod receive;
mod refused;
mod restarts;
mod retransmit;
mod round_trip;
mod run_queue;
mod segments;
mod send_buffer;
mod signs;
mod sockets;
mod stalls;
mod stopped;
mod tables;
mod taken_up;
mod tier_connect;
mod tier_link;
mod turns;
mod two_speeds;
mod unchecked;
mod unread;
mod waits;
mod workers;

#[cfg(test)]
mod tests;

pub(crate) use proved::with_proofs;

use crate::format::{counted, duration, name, percent, rate};
use crate::readings::Window;
use crate::threshold::{HOUSE, Threshold};
use crate::view::TrialView;
pub(crate) use effect::Reach;
use effect::{EVENTS, EXPLAINED, NoticedEffect};
pub(crate) use live::{SeenSign, seen_in_span, seen_now};
pub(crate) use signs::Signs;
use sysdyno_record::analysis::{Confidence, Evidence, EvidenceRole, Finding, Verdict, VerdictStatus};
use sysdyno_record::column::Quantity;
use sysdyno_record::load::LatencyKind;
use sysdyno_record::plan::Objective;
pub(crate) use unchecked::unchecked;
pub(crate) use waits::what;

/// The input of the rules: the trials of a run, and the one that shows the bottleneck.
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
    /// The objective that a rate must meet; `None` for `load`.
    pub objective: Option<&'a Objective>,
    /// Whether the number of connections, not the server, ended the search.
    pub is_connection_limited: bool,
}

/// One known bottleneck.
#[derive(Debug)]
pub struct Rule {
    /// Its number, e.g. `T01`.
    pub id: &'static str,
    /// Its short name, e.g. `accept-overflow`.
    pub name: &'static str,
    /// What it means, in a sentence.
    pub meaning: &'static str,
    /// The thresholds that it uses besides those of its signs.
    pub(crate) thresholds: &'static [Threshold],
    /// Where it happens.
    pub(crate) place: Place,
    /// Columns of the server's host that the rule needs to reach any conclusion.
    pub(crate) needs: &'static [Quantity],
    /// The remedy, in a sentence.
    pub remedy: &'static str,
    /// An observation that would prove the finding wrong, in a sentence.
    pub counterfactual: &'static str,
    /// How its evidence is collected.
    pub(crate) examine: Examination,
}

/// How the evidence of a rule is collected.
#[derive(Debug)]
pub(crate) enum Examination {
    /// By the rule's own function; `None` if the readings allow no conclusion.
    By(for<'a> fn(&Scene<'a>) -> Option<Case<'a>>),
    /// By readings that show the bottleneck directly.
    Signs(&'static Signs),
}

/// Where the mechanism of a rule is at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// On the server's host, which is named if there are two hosts.
    Server,
    /// In the generator, or between the hosts.
    Elsewhere,
}

/// A rule's conclusion, with all evidence for and against it except the effect, which the judge adds.
#[derive(Clone, Debug)]
pub(crate) struct Case<'a> {
    pub(crate) title: String,
    pub(crate) evidence: Vec<Evidence>,
    /// A remedy that fits better than the rule's.
    pub(crate) remedy: Option<String>,
    /// How far the mechanism reaches in the trial that shows it.
    pub(crate) reach: Reach,
    /// The trial that shows the mechanism, if it is not the focus.
    pub(crate) shown_by: Option<TrialView<'a>>,
}

impl<'a> Case<'a> {
    /// A case of the focus.
    pub(crate) fn new(title: String, evidence: Vec<Evidence>, reach: Reach) -> Case<'a> {
        Case { title, evidence, remedy: None, reach, shown_by: None }
    }
}

/// All rules, in the order of the reference.
pub static RULES: &[&Rule] = &[
    &generator::GENERATOR_LIMITED,
    &generator::CONNECTION_LIMITED,
    &process::DESCRIPTORS,
    &limits::FILES,
    &limits::SPACE,
    &limits::TASKS,
    &tables::TASKS,
    &memory::OOM,
    &restarts::RULE,
    &logs::SERVER,
    &error_pages::SAID,
    &left_behind::RULE,
    &accept::OVERFLOW,
    &sockets::SYN_QUEUE_FULL,
    &tables::CONNECTIONS,
    &tables::NEIGHBORS,
    &receive::LINK_DOWN,
    &retransmit::SYN_STAIRCASE,
    &refused::RATE_LIMITED,
    &gateway::BAD_GATEWAY,
    &capped::CAPPED,
    &black_hole::RULE,
    &receive::BACKLOG_DROPS,
    &receive::FLOW_LIMIT,
    &ip_path::SQUEEZED,
    &network::BANDWIDTH,
    &receive::QUEUE_DROPS,
    &receive::LINK_ERRORS,
    &ip_path::INTERFACE_DROPS,
    &ip_path::REVERSE_PATH,
    &ip_path::REASSEMBLY,
    &segments::CHECKSUMS,
    &loss::LOSS,
    &ip_path::REORDERING,
    &segments::OLD_TIMESTAMPS,
    &segments::PORTS_REUSED,
    &receive::UDP_BUFFER,
    &sockets::TCP_MEMORY,
    &sockets::RECEIVE_BUFFER,
    &segments::RECEIVE_QUEUE,
    &segments::SOCKET_BACKLOG,
    &sockets::TIME_WAIT_FULL,
    &sockets::ORPHANS,
    &process::THROTTLED,
    &affinity::NARROW,
    &logs::KERNEL,
    &stopped::RULE,
    &limits::MEMORY,
    &memory_stalls::HIGH,
    &memory::SWAPPING,
    &memory_stalls::CACHE_DROPPED,
    &memory::THRASHING,
    &memory::RECLAIM,
    &memory_stalls::COMPACTION,
    &limits::DIRTY,
    &disks::FLUSHES,
    &disks::SATURATED,
    &garbage::RULE,
    &bursts::WRITES,
    &bursts::NEIGHBORS,
    &bursts::OWN_CPU,
    &waits::DISK,
    &turns::RULE,
    &waits::LOCK,
    &limits::LOG_FLOOD,
    &run_queue::CROWDED,
    &crowded_out::RULE,
    &handshakes::HANDSHAKES,
    &cpu::SATURATED,
    &packet_cost::RULE,
    &interrupts::PILE_UP,
    &cpu::SINGLE_THREAD,
    &sockets::DELAYED_ACK,
    &send_buffer::RULE,
    &pool::POOL_FULL,
    &one_worker::RULE,
    &waits::SLEEP,
    &waits::PROCESS,
    &backend::RULE,
    &gives_up::RULE,
    &lost_answers::RULE,
    &tier_connect::RULE,
    &tier_link::RULE,
    &partial::RULE,
    &held::RULE,
    &unread::RULE,
    &round_trip::RULE,
    &two_speeds::TWO_SPEEDS,
    &stalls::STALLED,
];

/// The thresholds that the judge uses with every rule.
pub const OF_ALL: &[Threshold] =
    &[effect::EXPLAINED, effect::FAILED_FIRST, effect::SLOW_TOO, effect::FEW_FAILED, effect::EVENTS];

/// Whether a line of a log is known whose meaning begins like this.
#[cfg(test)]
pub(crate) fn is_known_cause(begin: &str) -> bool {
    use logs::known::{OF_KERNEL, OF_SERVERS};
    OF_SERVERS.iter().chain(OF_KERNEL).any(|known| known.cause.starts_with(begin))
}

/// Up to this multiple of the rate that shows the bottleneck, a trial shows what gives out next.
const BEYOND_RATIO: f64 = 2.0;

/// The conclusions of all rules: most certain first, then those that the user noticed; excluded ones last.
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
    logs::confirm(&mut findings);
    logs::settle(&mut findings);
    // Requests lie unread behind whatever else stops the server.
    let is_unread =
        |finding: &Finding| finding.id == unread::RULE.id && finding.confidence > Confidence::Excluded;
    let is_other = |finding: &Finding| finding.confidence >= Confidence::Likely && !is_unread(finding);
    if findings.iter().any(is_other) {
        findings.retain(|finding| !is_unread(finding));
    }
    // What has a rule of its own says more about a server that is well than a counter that stood still.
    let is_counter_at_rest = |finding: &Finding| {
        finding.confidence == Confidence::Excluded
            && RULES.iter().any(|rule| rule.id == finding.id && matches!(rule.examine, Examination::Signs(_)))
    };
    findings.sort_by_key(|finding| {
        (std::cmp::Reverse((finding.confidence, has_effect(finding))), is_counter_at_rest(finding))
    });
    findings
}

/// Whether it accounts for something that the user noticed: such findings come before those that are equally certain.
fn has_effect(finding: &Finding) -> bool {
    finding.evidence.iter().any(|evidence| evidence.role == EvidenceRole::Effect)
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

/// Rules of disks, which may have other users.
const DISK_RULES: &[&str] = &["D02", "D03", "D09"];

impl Rule {
    /// The limits that it uses.
    pub fn thresholds(&self) -> Vec<&'static Threshold> {
        let of_signs = match self.examine {
            Examination::By(_) => None,
            Examination::Signs(signs) => Some(signs.thresholds()),
        };
        self.thresholds.iter().chain(of_signs.into_iter().flatten()).collect()
    }

    /// What it reads of the server's host, the most important first; a rule may look at more.
    pub fn readings(&self) -> Vec<Quantity> {
        match self.examine {
            Examination::By(_) => self.needs.to_vec(),
            Examination::Signs(signs) => signs.quantities().collect(),
        }
    }

    fn conclude(&self, scene: &Scene) -> Option<Finding> {
        let mut case = match self.examine {
            Examination::By(examine) => examine(scene),
            Examination::Signs(signs) => signs.examine(scene),
        }?;
        let explained_ratio = weigh(&mut case, scene);
        let confidence = confidence(&case.evidence)?;
        if confidence > Confidence::Excluded && DISK_RULES.contains(&self.id) {
            neighbors::tell(&mut case, self.remedy, &scene.focus);
        }
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
            explained_ratio,
        })
    }
}

/// What users noticed of the trial that shows the bottleneck, in a clause; `None`: nothing.
pub(crate) fn noticed(scene: &Scene) -> Option<String> {
    NoticedEffect::of(scene).map(|effect| effect.clause)
}

/// Adds the effect on the user's metric to a case whose mechanism is there, and what speaks against it if it explains too little
/// of that; returns the part of the effect that it accounts for.
fn weigh(case: &mut Case, scene: &Scene) -> Option<f64> {
    let has = |role: EvidenceRole| case.evidence.iter().any(|evidence| evidence.role == role);
    if !has(EvidenceRole::Mechanism) {
        return None;
    }
    let focus = case.shown_by.unwrap_or(scene.focus);
    let window = focus.steady();
    let against = |text: String| evidence(EvidenceRole::Against, &window, ENGINE, text);
    let few = case.reach.events.filter(|events| *events < EVENTS.value);
    let few =
        few.map(|events| against(format!("it was seen only {}", counted(events.round().max(1.0), "time"))));
    let effect = NoticedEffect::of(&Scene { focus, ..*scene });
    if effect.is_none() && (focus.is_open() || case.reach.is_nothing(&focus) && is_answered(&focus)) {
        return unnoticed(case, &focus);
    }
    let explained = effect.as_ref().map(|effect| effect.explained_by(&case.reach));
    // Each request of a closed loop waits for the one before it: what makes up little of its time limits nothing.
    let of_time = if effect.is_none() { case.reach.share_of_time(&focus) } else { None };
    let noun = effect.as_ref().map_or("a request's time", NoticedEffect::noun);
    let too_little = explained.or(of_time).filter(|explained| *explained < EXPLAINED.value);
    let too_little =
        too_little.map(|explained| against(format!("it explains at most {} of {noun}", percent(explained))));
    case.evidence.extend(effect.into_iter().flat_map(NoticedEffect::evidence));
    case.evidence.extend(few.into_iter().chain(too_little));
    explained
}

/// Whether each request of the trial got its answer, the last ones included: one that still waits for its connection is in no
/// time that was measured.
fn is_answered(view: &TrialView) -> bool {
    let total = &view.end.summary.total;
    total.failed + total.timed_out + total.in_flight == 0
}

/// A mechanism that nobody noticed is no bottleneck: the case is excluded. A closed loop notices whatever makes it slower,
/// but not what it never met: counters are of everything that uses the host.
fn unnoticed(case: &mut Case, focus: &TrialView) -> Option<f64> {
    let tail =
        tail_ns(focus, focus.felt_kind()).map_or(String::new(), |ns| format!(" (p99 {})", duration(ns)));
    let text = match focus.is_open() {
        true => format!("all requests were answered in time{tail}"),
        false => format!("no request waited for it{tail}"),
    };
    let found = std::mem::take(&mut case.evidence);
    case.evidence.push(evidence(EvidenceRole::Against, &focus.steady(), ENGINE, text));
    case.evidence.extend(found.into_iter().map(|seen| Evidence { role: EvidenceRole::Against, ..seen }));
    case.title = format!("No effect on requests: {}", case.title);
    None
}

impl Rule {
    /// The name of the host that a finding is about, if there are two.
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
        (true, false) if has(EvidenceRole::Confirmer) => Some(Confidence::Likely),
        (true, false) => Some(Confidence::Possible),
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

/// A case that only contradicts its rule.
pub(crate) fn excluded<'a>(title: &str, against: Vec<Evidence>) -> Option<Case<'a>> {
    (!against.is_empty()).then(|| Case::new(title.to_owned(), against, Reach::default()))
}

const GROWTH: Threshold =
    Threshold::new("p99 under load ÷ p99 at the lowest load, for users to notice", 2.0, "ratio", HOUSE);
const ENGINE: &str = "load engine";

/// 99th percentile of a kind of latency in the focus, or the greatest value of a small sample. Unit: nanoseconds.
pub(crate) fn tail_ns(view: &TrialView, kind: LatencyKind) -> Option<f64> {
    let summary = view.summary(kind);
    summary.p99.or(summary.max).map(|ns| ns as f64)
}
