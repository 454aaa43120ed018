//! Bottlenecks that readings show on a watched host while we send no load: the mechanisms of rules, without an effect on
//! requests. Seeing one does not mean that anybody waits for it.

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

/// What is seen in a span of the readings of the host, the strongest sign first.
pub(crate) fn seen_now(
    series: &Series,
    watched: &[WatchedProcess],
    [begin_mono_ns, end_mono_ns]: [MonoNs; 2],
) -> Vec<LiveFinding> {
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
    let mut seen: Vec<(f64, LiveFinding)> = overflow(&view.server_steady()).into_iter().collect();
    seen.extend(RULES.iter().filter_map(|rule| sign_of(rule, &view)));
    seen.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    seen.into_iter().map(|(_, finding)| finding).collect()
}

fn sign_of(rule: &'static Rule, view: &TrialView) -> Option<(f64, LiveFinding)> {
    let Examination::Signs(signs) = rule.examine else { return None };
    let (excess, title) = signs.seen(view)?;
    Some((excess, finding(rule, title)))
}

fn finding(rule: &'static Rule, title: String) -> LiveFinding {
    LiveFinding { id: rule.id, name: rule.name, title, meaning: rule.meaning, remedy: rule.remedy }
}

/// Accept queues that overflow: their rule compares trials, of which there are none.
fn overflow(window: &Window) -> Option<(f64, LiveFinding)> {
    let rule = RULES.iter().find(|rule| rule.needs == [column::LISTEN_OVERFLOWS])?;
    let growth = window.growth(column::LISTEN_OVERFLOWS, NETNS)?;
    let dropped = counted(growth.amount, "connection");
    let title = format!("An accept queue overflowed: {dropped} dropped in {:.0} s", growth.seconds);
    (growth.amount > 0.0).then(|| (growth.amount, finding(rule, title)))
}
