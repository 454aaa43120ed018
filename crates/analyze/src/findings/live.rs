//! Bottlenecks that readings show on a watched host while we send no load: the mechanisms of rules, without an effect on
//! requests. Seeing one does not mean that anybody waits for it.

use super::cpu::{SATURATED, busy_sign};
use super::pool::{POOL_FULL, queue_sign};
use super::{Examination, RULES, Rule};
use crate::format::counted;
use crate::readings::Window;
use crate::view::TrialView;
use sysdyno_record::column::{self, NETNS};
use sysdyno_record::event::WatchedProcess;
use sysdyno_record::facts::HostFacts;
use sysdyno_record::live::LiveFinding;
use sysdyno_record::load::{
    LatencySet, PhaseSummary, TrialBegin, TrialEnd, TrialEnding, TrialPurpose, TrialSummary,
};
use sysdyno_record::plan::{Endpoint, LoadPlan, Target};
use sysdyno_record::series::Series;
use sysdyno_record::units::MonoNs;

/// A limit that readings show.
#[derive(Clone, Debug)]
pub(crate) struct SeenSign {
    /// The rule that it is of.
    pub(crate) rule: &'static Rule,
    /// How many times the least amount that is a sign.
    pub(crate) excess: f64,
    /// What was seen, in a sentence. Names in it are made safe.
    pub(crate) title: String,
}

/// What is seen in a span of the readings of the host, the strongest sign first.
pub(crate) fn seen_now(series: &Series, watched: &[WatchedProcess], span: [MonoNs; 2]) -> Vec<LiveFinding> {
    let finding = |SeenSign { rule, title, .. }: SeenSign| LiveFinding {
        id: rule.id,
        name: rule.name,
        title,
        meaning: rule.meaning,
        remedy: rule.remedy,
    };
    seen_in_span(series, watched, span).into_iter().map(finding).collect()
}

/// The same, with how strong each sign is.
pub(crate) fn seen_in_span(
    series: &Series,
    watched: &[WatchedProcess],
    [begin_mono_ns, end_mono_ns]: [MonoNs; 2],
) -> Vec<SeenSign> {
    let endpoint = Endpoint::Unix("".into());
    let target = Target { url: String::new(), endpoint, host: String::new(), path: String::new() };
    let plan = LoadPlan::plain(target);
    let begin = TrialBegin { trial: 1, purpose: TrialPurpose::Single, begin_mono_ns, plan };
    let measured = PhaseSummary { begin_mono_ns, end_mono_ns, ..PhaseSummary::default() };
    let summary = TrialSummary { measured, ..TrialSummary::default() };
    let end = TrialEnd { trial: 1, end_mono_ns, ending: TrialEnding::Complete, summary };
    let (facts, latency) = (HostFacts::default(), LatencySet::default());
    let view = TrialView {
        begin: &begin,
        end: &end,
        intervals: &[],
        series,
        facts: &facts,
        server: None,
        watched,
        latency: &latency,
        events: &[],
        probe: &[],
    };
    let window = view.server_steady();
    let mut seen: Vec<SeenSign> = overflow(&window).into_iter().collect();
    // Their rules look for whom the CPUs are busy, and how many requests there are.
    seen.extend(busy_sign(&window).and_then(|sign| of_rule(&SATURATED, sign)));
    seen.extend(queue_sign(&view).and_then(|sign| of_rule(&POOL_FULL, sign)));
    seen.extend(RULES.iter().filter_map(|rule| sign_of(rule, &view)));
    seen.sort_by(|one, other| other.excess.total_cmp(&one.excess));
    seen
}

fn sign_of(rule: &'static Rule, view: &TrialView) -> Option<SeenSign> {
    let Examination::Signs(signs) = rule.examine else { return None };
    let (excess, title) = signs.seen(view)?;
    Some(SeenSign { rule, excess, title })
}

fn of_rule(rule: &Rule, (excess, title): (f64, String)) -> Option<SeenSign> {
    let rule: &'static Rule = RULES.iter().find(|known| known.id == rule.id)?;
    Some(SeenSign { rule, excess, title })
}

/// Accept queues that overflow: their rule compares trials, of which there are none.
fn overflow(window: &Window) -> Option<SeenSign> {
    let rule: &'static Rule = RULES.iter().find(|rule| rule.needs == [column::LISTEN_OVERFLOWS])?;
    let growth = window.growth(column::LISTEN_OVERFLOWS, NETNS)?;
    let dropped = counted(growth.amount, "connection");
    let title = format!("An accept queue overflowed: {dropped} dropped in {:.0} s", growth.seconds);
    (growth.amount > 0.0).then_some(SeenSign { rule, excess: growth.amount, title })
}
