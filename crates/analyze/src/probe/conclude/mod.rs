//! All targets of a probe together: who lost what, and who saw the same window.

use super::ProbeTally;
use super::losses::{Losses, OwnWindow, joined};
use crate::format::{counted, list, name, percent, whole};
use crate::view::TrialView;
use std::ops::Range;
use sysdyno_record::probe::{
    LossWindow, PROBE_SCHEMA, ProbeConclusion, ProbeReply, ProbeSummary, ProbedSummary, ProbedTarget,
    WindowShare, WindowSight,
};
use sysdyno_record::units::MonoNs;
use sysdyno_stats::proportion::wilson;

/// Windows that a conclusion lists.
const WINDOWS_MAX: usize = 500;

/// Targets that a sentence names.
const NAMED_MAX: usize = 4;

/// A target that lost nothing would have done so by chance more rarely than this. Unit: probability.
const BY_CHANCE: f64 = 0.05;

/// Level of the interval of a share of lost probes.
const LEVEL: f64 = 0.95;

/// Sums over the operations of several targets.
#[derive(Clone, Debug)]
pub struct ProbesTally {
    targets: Vec<ProbedTarget>,
    tallies: Vec<(ProbeTally, Losses)>,
}

impl ProbesTally {
    /// Of these targets, which replies number in their order.
    pub fn new(targets: Vec<ProbedTarget>) -> ProbesTally {
        let tallies = targets.iter().map(|_| (ProbeTally::default(), Losses::default())).collect();
        ProbesTally { targets, tallies }
    }

    /// Of what was to be sent in the measured phases of a trial.
    pub fn of_measured(view: &TrialView) -> ProbesTally {
        let measured = view.measured();
        let span = measured.begin_mono_ns..measured.end_mono_ns;
        let mut tally = ProbesTally::new(view.plan().probed());
        let is_of_trial =
            |reply: &&ProbeReply| reply.trial == view.begin.trial && span.contains(&reply.intended_mono_ns);
        view.probe.iter().filter(is_of_trial).for_each(|reply| tally.add(reply));
        tally
    }

    /// Adds one operation; one of a target that is not in the plan is left out.
    pub fn add(&mut self, reply: &ProbeReply) {
        if let Some((tally, losses)) = self.tallies.get_mut(usize::from(reply.target)) {
            tally.add(reply);
            losses.add(reply);
        }
    }

    /// The targets.
    pub fn targets(&self) -> &[ProbedTarget] {
        &self.targets
    }

    /// The numbers of each target so far, in the order of the plan.
    pub fn summaries(&self) -> Vec<ProbeSummary> {
        let each = self.targets.iter().zip(&self.tallies);
        each.map(|(target, (tally, _))| tally.summary(&target.plan)).collect()
    }

    /// What all of them have to tell so far.
    pub fn conclusion(&self) -> ProbeConclusion {
        let own: Vec<Vec<OwnWindow>> = self
            .targets
            .iter()
            .zip(&self.tallies)
            .map(|(target, (_, losses))| losses.windows(target.plan.interval))
            .collect();
        let summaries = self.summaries().into_iter().zip(&self.targets).zip(&own);
        let targets: Vec<ProbedSummary> = summaries
            .map(|((summary, target), windows)| ProbedSummary {
                name: target.name.clone(),
                url: target.target.url.clone(),
                summary,
                windows_count: windows.len() as u64,
            })
            .collect();
        let spans = joined(own.into_iter().flatten());
        let windows_count = spans.len() as u64;
        let windows: Vec<LossWindow> = spans.iter().take(WINDOWS_MAX).map(|span| self.window(span)).collect();
        ProbeConclusion {
            schema: PROBE_SCHEMA.to_owned(),
            headline: headline(&targets, &windows, windows_count),
            targets,
            windows,
            windows_count,
        }
    }

    fn window(&self, span: &Range<MonoNs>) -> LossWindow {
        let within = span.start.0..span.end.0;
        let counts: Vec<[u64; 2]> = self
            .targets
            .iter()
            .zip(&self.tallies)
            .map(|(target, (_, losses))| {
                [losses.ended_in(&within, target.plan.interval), losses.lost_in(&within)]
            })
            .collect();
        // At least so large a share was lost, as far as a few probes can tell.
        let shares = counts.iter().filter_map(|[sent, lost]| wilson(*lost, *sent, LEVEL));
        let worst = shares.map(|share| share.low).fold(0.0, f64::max);
        LossWindow {
            begin_mono_ns: span.start,
            end_mono_ns: span.end,
            targets: counts.into_iter().map(|[sent, lost]| share(sent, lost, worst)).collect(),
        }
    }
}

/// What a target saw of a window in which the worst one lost at least this share of its probes.
fn share(sent_count: u64, lost_count: u64, worst_ratio: f64) -> WindowShare {
    let by_chance = (1.0 - worst_ratio).powf(sent_count as f64);
    let sight = match lost_count {
        1.. => WindowSight::Lost,
        0 if sent_count > 0 && by_chance < BY_CHANCE => WindowSight::Clear,
        0 => WindowSight::TooFew,
    };
    WindowShare { sent_count, lost_count, sight }
}

/// Who lost how many, and whether the others saw it.
fn headline(targets: &[ProbedSummary], windows: &[LossWindow], windows_count: u64) -> String {
    let ended = |summary: &ProbeSummary| {
        let all = summary.sent_count.saturating_add(summary.unsent_count);
        all.saturating_sub(summary.in_flight_count)
    };
    let lossy: Vec<&ProbedSummary> =
        targets.iter().filter(|target| target.summary.lost_count() > 0).collect();
    let all: u64 = targets.iter().map(|target| ended(&target.summary)).sum();
    if all == 0 {
        return "No probe ended".to_owned();
    }
    if lossy.is_empty() {
        return match targets.len() {
            1 => format!("None of {} was lost", counted(all as f64, "probe")),
            count => format!("None of {} to {count} targets was lost", counted(all as f64, "probe")),
        };
    }
    let each = |target: &&ProbedSummary| {
        let summary = &target.summary;
        let share = summary.lost_ratio.map_or(String::new(), |ratio| format!(" ({})", percent(ratio)));
        let counts = format!(
            "{} of {} probes{share}",
            whole(summary.lost_count() as f64),
            whole(ended(summary) as f64)
        );
        if targets.len() == 1 { counts } else { format!("{} lost {counts}", name(&target.name)) }
    };
    let mut text = named(lossy.iter().map(each).collect());
    if targets.len() == 1 {
        text.push_str(" lost");
    }
    if windows_count > 0 {
        text.push_str(&format!(" in {}", counted(windows_count as f64, "window")));
    }
    let is_clear = |place: &usize| {
        let saw = |window: &LossWindow| window.targets.get(*place).map(|share| share.sight);
        !windows.is_empty() && windows.iter().all(|window| saw(window) == Some(WindowSight::Clear))
    };
    let places = (0..targets.len()).filter(|place| targets[*place].summary.lost_count() == 0);
    let clear: Vec<String> = places.filter(is_clear).map(|place| name(&targets[place].name)).collect();
    if !clear.is_empty() {
        text.push_str(&format!(" that {} did not see", named(clear)));
    }
    text
}

/// The first few of a list: `a, b, c, d, and 3 more`.
fn named(mut texts: Vec<String>) -> String {
    let more = texts.len().saturating_sub(NAMED_MAX);
    texts.truncate(NAMED_MAX);
    texts.extend((more > 0).then(|| format!("{more} more")));
    list(&texts)
}

/// All that was probed beside a trial, over its measured phases; `None`: nothing was.
pub(crate) fn conclusion_of(view: &TrialView) -> Option<ProbeConclusion> {
    let tally = ProbesTally::of_measured(view);
    (!tally.targets.is_empty()).then(|| tally.conclusion())
}

#[cfg(test)]
mod tests;
