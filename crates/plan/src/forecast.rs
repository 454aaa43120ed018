//! Describes what a plan will do, in sentences that a careful user reads before the first request.

use sysdyno_analyze::search::Search;
use sysdyno_analyze::{RESPONSES_FOR_P99, counted};
use sysdyno_record::plan::{LoadPlan, PhaseEnd, PhaseKind, RunPlan};
use sysdyno_record::squeeze::SqueezePlan;
use sysdyno_record::tryout::{TryPlan, TryWorkload};
use sysdyno_record::units::SpanNs;
use sysdyno_record::work::{CacheChoice, WorkKind, WorkPlan};

/// Phases of a ramp that are listed.
const MAX_LISTED_COUNT: usize = 10;

/// The most that a load can send.
pub fn load(plan: &LoadPlan) -> String {
    let seconds: f64 = plan
        .phases
        .iter()
        .map(|phase| match phase.end {
            PhaseEnd::After(span) => span.seconds(),
            PhaseEnd::Requests(_) => 0.0,
        })
        .sum();
    let open: Option<f64> = plan
        .phases
        .iter()
        .map(|phase| match (phase.end, phase.rate_hz) {
            (PhaseEnd::After(span), Some(rate_hz)) => Some(rate_hz * span.seconds()),
            (PhaseEnd::Requests(count), _) => Some(count as f64),
            (PhaseEnd::After(_), None) => None,
        })
        .sum();
    let requests = match &plan.workload.session {
        Some(session) if session.users > 0 => format!("the requests of {} users", session.users),
        Some(session) => {
            format!("the requests of {} sessions per second", session.sessions_hz.unwrap_or(0.0))
        }
        None => open.map_or("as many requests as the server answers".into(), |count| {
            format!("about {}", counted(count, "request"))
        }),
    };
    let time = if seconds > 0.0 { format!(" in {seconds:.0} s") } else { String::new() };
    let connections = counted(plan.connections.into(), "connection");
    format!("{requests}{time} over {connections} to {}", plan.target.url)
}

/// Fewer requests are a look, and nobody expects percentiles of them.
const LOOK_COUNT: f64 = 50.0;

/// That a load at one rate is too short for a p99; `None`: it is long enough, or nobody knows.
pub fn few_samples(plan: &LoadPlan) -> Option<String> {
    let mut measured = plan.phases.iter().filter(|phase| phase.kind == PhaseKind::Steady);
    let (Some(phase), None) = (measured.next(), measured.next()) else { return None };
    let (PhaseEnd::After(span), Some(rate_hz)) = (phase.end, phase.rate_hz) else { return None };
    let count = rate_hz * span.seconds();
    let is_short = plan.workload.session.is_none() && (LOOK_COUNT..RESPONSES_FOR_P99).contains(&count);
    is_short.then(|| {
        format!(
            "about {} will be measured, and a p99 needs {}: use -d {:.0}s",
            counted(count.round(), "request"),
            counted(RESPONSES_FOR_P99, "response"),
            (RESPONSES_FOR_P99 / rate_hz).ceil()
        )
    })
}

/// What a ramp does, phase by phase; nothing of a load that is none.
pub fn ramp(plan: &LoadPlan) -> Vec<String> {
    let mut at_s = 0.0;
    let mut lines = Vec::new();
    for (number, phase) in (0..).zip(&plan.phases) {
        let PhaseEnd::After(span) = phase.end else { continue };
        let begin_s = at_s;
        at_s += span.seconds();
        let slope = plan.workload.slopes.iter().find(|slope| slope.phase == number);
        let points = || plan.workload.clients.iter();
        let what = match (slope, phase.rate_hz) {
            (Some(slope), _) => format!("{}/s to {}/s", slope.begin_hz, slope.end_hz),
            (None, Some(rate_hz)) => format!("{rate_hz}/s"),
            (None, None) => {
                let before = points().rfind(|point| point.at.seconds() <= begin_s + 1e-9);
                let after = points().find(|point| point.at.seconds() >= at_s - 1e-9);
                let [begin, end] = [before, after].map(|point| point.map_or(0, |point| point.clients));
                if begin == end { format!("{end} clients") } else { format!("{begin} to {end} clients") }
            }
        };
        lines.push(format!("  {begin_s:>6.1} to {at_s:.1} s  {what}"));
    }
    if plan.workload.slopes.is_empty() && plan.workload.clients.is_empty() {
        return Vec::new();
    }
    let left = lines.len().saturating_sub(MAX_LISTED_COUNT);
    lines.truncate(MAX_LISTED_COUNT);
    lines.extend((left > 0).then(|| format!("  and {left} more phases")));
    lines
}

/// What a search will do.
pub fn search(plan: &RunPlan) -> String {
    let left: SpanNs = Search::new(plan).remaining();
    let ceiling = plan
        .search
        .max_rate_hz
        .map_or("its capacity".into(), |rate| format!("{rate:.0} requests per second"));
    let at_most =
        plan.search.limit.map_or(String::new(), |limit| format!(", at most {:.0} s", limit.seconds()));
    format!(
        "searching for the capacity of {} over {} connections, up to {ceiling}; takes about {:.0} s{at_most}",
        plan.load.target.url,
        plan.load.connections,
        left.seconds()
    )
}

/// What a trial of changes will do.
pub fn tryout(plan: &TryPlan) -> String {
    let band = format!("{:.3}", plan.effect_ratio * 100.0);
    let band = band.trim_end_matches('0').trim_end_matches('.');
    let what = match &plan.workload {
        TryWorkload::Load(load) => format!("{} over {} connections", load.target.url, load.connections),
        TryWorkload::Capacity(run) => format!("{}, up to its capacity and beyond", run.load.target.url),
        TryWorkload::Commands => match &plan.command {
            Some(command) => format!("'{}'", command.run.text),
            None => "two commands".to_owned(),
        },
    };
    let pairs = match (plan.pairs.min_count, plan.pairs.max_count) {
        (min, max) if min == max => format!("{min}"),
        (min, max) => format!("{min} to {max}"),
    };
    format!(
        "comparing {} on {what}: {pairs} pairs, smallest effect that matters {band}%, at most {}",
        plan.metric.title(),
        plan.budget
    )
}

/// What a squeeze will do.
pub fn squeeze(plan: &SqueezePlan) -> String {
    let depths = plan.depths.iter().map(|depth| format!("{:.0}%", depth * 100.0)).collect::<Vec<_>>();
    let TryPlan { pairs, budget, .. } = &plan.tryout;
    let load = plan.tryout.load();
    let what = load
        .map_or(String::new(), |load| format!("{} over {} connections", load.target.url, load.connections));
    let pairs = match (pairs.min_count, pairs.max_count) {
        (least, most) if least == most => most.to_string(),
        (least, most) => format!("{least} to {most}"),
    };
    format!(
        "squeezing each resource of {what} by {}: {pairs} pairs for each, at most {budget}",
        depths.join(" and ")
    )
}

/// What work will do.
pub fn work(plan: &WorkPlan) -> String {
    let end = match plan.end {
        PhaseEnd::After(span) => format!("for {span}"),
        PhaseEnd::Requests(1) => "once".to_owned(),
        PhaseEnd::Requests(count) => format!("{count} times"),
    };
    let workers = if plan.workers == 1 { String::new() } else { format!(" by {} workers", plan.workers) };
    match &plan.kind {
        WorkKind::Command(command) => {
            let cache = if plan.cache == CacheChoice::Cold {
                "; drops the page cache of the whole host before each run"
            } else {
                ""
            };
            format!("runs '{}' {end}{workers}{cache}", command.run.text)
        }
        WorkKind::Files(files) => format!(
            "creates and removes files of {} bytes in '{}' {end}{workers}, and removes all of them at the \
             end",
            files.file_bytes,
            files.folder.display()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use sysdyno_record::plan::{Endpoint, PhasePlan, Target};

    fn open(rate_hz: f64, seconds: u64) -> LoadPlan {
        let endpoint = Endpoint::Unix(PathBuf::from("/s"));
        let target = Target { url: "http://h/".into(), endpoint, host: "h".into(), path: "/".into() };
        let mut plan = LoadPlan::plain(target);
        let end = PhaseEnd::After(SpanNs::from_secs(seconds));
        plan.phases = vec![PhasePlan { kind: PhaseKind::Steady, rate_hz: Some(rate_hz), end }];
        plan
    }

    #[test]
    fn a_load_that_is_too_short_for_a_p99_says_how_long_it_would_have_to_be() {
        let said = few_samples(&open(60.0, 12)).expect("is too short");
        assert!(
            said.starts_with("about 720 requests will be measured")
                && said.ends_with("a p99 needs 1,000 responses: use -d 17s"),
            "{said}"
        );
        assert_eq!(few_samples(&open(100.0, 10)), None);
        assert_eq!(few_samples(&open(1.0, 10)), None, "a look");
    }
}
