//! Conclusions about a host that was watched without a load: how much of each resource was used, by whom, and what was at its limit.
//!
//! Nobody knows whether requests suffered, so that a finding is at most possible, and there is no bottleneck. Signs are looked for in
//! ten samples at a time, as on the live screen, so that a bad minute is found in a quiet hour.

use crate::examined::watched;
use crate::findings::{SeenSign, seen_in_span};
use crate::format::{self, percent};
use crate::readings::{Window, process_scope, ratio};
use crate::verdict::run::INCOMPLETE;
use crate::verdict::{Observation, verdict_of};
use std::collections::BTreeMap;
use sysdyno_record::analysis::{Analysis, Confidence, Evidence, EvidenceRole, Finding, Verdict};
use sysdyno_record::column::{self, HOST, Quantity};
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::plan::WatchPlan;
use sysdyno_record::series::Series;
use sysdyno_record::units::MonoNs;
use sysdyno_record::view::RunView;
use sysdyno_record::watched::{HostSummary, ResourceLevel, WatchedCpu, WatchedResource};

/// Samples that are looked at together.
const SPAN_ROWS: usize = 10;

/// Most spans of a record; of a longer one they have more samples.
const SPANS_MAX: usize = 500;

/// Spans of a finding that are told.
const EVIDENCE_MAX: usize = 8;

/// Processes that are told.
const PROCESSES_MAX: usize = 32;

/// All that follows from the record.
pub(crate) fn analyze(run: &RunView<'_>, plan: &WatchPlan) -> Analysis {
    let series = run.server_series();
    let spans = spans(series);
    let (Some(first), Some(last)) = (series.windows().first(), series.windows().last()) else {
        return nothing(verdict(0));
    };
    if spans.is_empty() {
        return nothing(verdict(series.windows().len()));
    }
    let whole = [first[0], last[1]];
    let processes = watched(run.events);
    let summary = HostSummary {
        host: plan.host.clone(),
        samples_count: series.samples_counts().iter().map(|count| u64::from(*count)).sum(),
        seconds: last[1].seconds_since(first[1]),
        levels: WatchedResource::ALL
            .into_iter()
            .filter_map(|one| level(series, one, whole, &spans))
            .collect(),
        processes: cpus(series, &processes, whole, &spans),
    };
    let findings = findings(series, &processes, &spans);
    Analysis {
        verdict: verdict(series.windows().len()),
        headline: headline(&summary),
        limit: match findings.first() {
            None => "Nothing was at its limit".to_owned(),
            Some(finding) => finding.title.clone(),
        },
        findings,
        watched: Some(summary),
        ..Analysis::default()
    }
}

fn verdict(rows: usize) -> Verdict {
    let missing = || Observation::invalid(format!("{rows} of at least 2 samples were recorded"));
    let reasons = if rows < 2 { INCOMPLETE.raise(missing()) } else { None };
    verdict_of(reasons.into_iter().collect())
}

fn nothing(verdict: Verdict) -> Analysis {
    Analysis {
        verdict,
        headline: "Nothing was recorded".to_owned(),
        limit: "Nothing can be said about limits: too few samples were recorded".to_owned(),
        ..Analysis::default()
    }
}

/// Stretches of samples that follow each other; a counter grows from the last sample of one to the last of the next.
fn spans(series: &Series) -> Vec<[MonoNs; 2]> {
    let windows = series.windows();
    let steps = windows.len().saturating_sub(1);
    let rows = SPAN_ROWS.max(steps.div_ceil(SPANS_MAX));
    let span = |begin: usize| [windows[begin][0], windows[(begin + rows).min(steps)][1]];
    (0..steps).step_by(rows).map(span).collect()
}

/// A resource in a span, of each object that there is several of.
fn read(window: &Window<'_>, resource: WatchedResource) -> Vec<(Option<String>, f64)> {
    let of_cpus = |of: fn(&crate::readings::CpuShare) -> f64| {
        window.cpus().iter().map(|cpu| (Some(cpu.number().to_owned()), of(cpu))).collect()
    };
    let share = |time: Quantity| {
        let growth = window.growth(time, HOST).and_then(|growth| growth.per_second());
        growth.map(|us| (None, us / 1e6)).into_iter().collect()
    };
    let rates = |counter: Quantity, unit: f64| {
        let rate = |scope: &str| {
            let rate = window.growth(counter, scope)?.per_second()?;
            Some((Some(scope[counter.scope.prefix().len()..].to_owned()), rate / unit))
        };
        window.scopes(counter).into_iter().filter_map(rate).collect()
    };
    match resource {
        WatchedResource::Cpus => window.machine().map(|all| (None, all.busy_ratio)).into_iter().collect(),
        WatchedResource::Cpu => of_cpus(|cpu| cpu.busy_ratio),
        WatchedResource::Softirq => of_cpus(|cpu| cpu.softirq_ratio),
        WatchedResource::CpuPressure => share(column::PSI_CPU_SOME),
        WatchedResource::Memory => {
            let level = window.level(column::MEMORY_AVAILABLE, HOST);
            level.map(|level| (None, level.mean)).into_iter().collect()
        }
        WatchedResource::MemoryPressure => share(column::PSI_MEMORY_SOME),
        WatchedResource::Disk => rates(column::DISK_IO, 1e3),
        WatchedResource::IoPressure => share(column::PSI_IO_SOME),
        WatchedResource::Received => rates(column::NETDEV_RX_BYTES, 1.0),
        WatchedResource::Sent => rates(column::NETDEV_TX_BYTES, 1.0),
    }
}

/// The object of a resource that was worst in some span, and how much of it was used; `None`: nothing was read.
fn level(
    series: &Series,
    resource: WatchedResource,
    whole: [MonoNs; 2],
    spans: &[[MonoNs; 2]],
) -> Option<ResourceLevel> {
    let read_in = |[begin, end]: [MonoNs; 2]| read(&Window::new(series, begin, end), resource);
    let each = spans.iter().flat_map(|span| read_in(*span).into_iter().map(move |read| (*span, read)));
    // Of memory that is left, the least is the worst.
    let badness = |value: f64| if resource == WatchedResource::Memory { -value } else { value };
    let known = each.filter(|(_, (_, value))| value.is_finite());
    let (span, (object, worst)) =
        known.max_by(|(_, (_, one)), (_, (_, other))| badness(*one).total_cmp(&badness(*other)))?;
    let mean = read_in(whole).into_iter().find(|(other, _)| *other == object)?.1;
    Some(ResourceLevel { resource, object, mean, worst, begin_mono_ns: span[0], end_mono_ns: span[1] })
}

/// Processes by the CPU that they used.
fn cpus(
    series: &Series,
    processes: &[WatchedProcess],
    whole: [MonoNs; 2],
    spans: &[[MonoNs; 2]],
) -> Vec<WatchedCpu> {
    let used = |scope: &str, [begin, end]: [MonoNs; 2]| {
        let growth = Window::new(series, begin, end).growth(column::PROCESS_CPU, scope)?;
        growth.per_second().map(|us| us / 1e6)
    };
    let others = processes.iter().filter(|process| process.role != ProcessRole::Generator);
    let of = |process: &WatchedProcess| {
        let scope = process_scope(process);
        let mean_cpus = used(&scope, whole)?;
        let worst_cpus = spans.iter().filter_map(|span| used(&scope, *span)).fold(mean_cpus, f64::max);
        Some(WatchedCpu {
            pid: process.pid,
            command: process.command.clone(),
            role: process.role,
            mean_cpus,
            worst_cpus,
        })
    };
    let mut found: Vec<WatchedCpu> = others.filter_map(of).collect();
    found.sort_by(|one, other| other.mean_cpus.total_cmp(&one.mean_cpus).then(one.pid.cmp(&other.pid)));
    found.truncate(PROCESSES_MAX);
    found
}

/// What was at its limit, that which was seen for the longest time first.
fn findings(series: &Series, processes: &[WatchedProcess], spans: &[[MonoNs; 2]]) -> Vec<Finding> {
    let mut seen: BTreeMap<&'static str, Vec<([MonoNs; 2], SeenSign)>> = BTreeMap::new();
    for span in spans {
        for sign in seen_in_span(series, processes, *span) {
            seen.entry(sign.rule.id).or_default().push((*span, sign));
        }
    }
    let mut found: Vec<Vec<([MonoNs; 2], SeenSign)>> = seen.into_values().collect();
    found.sort_by_key(|times| std::cmp::Reverse(times.len()));
    found.into_iter().filter_map(|times| finding(times, spans)).collect()
}

fn finding(mut times: Vec<([MonoNs; 2], SeenSign)>, spans: &[[MonoNs; 2]]) -> Option<Finding> {
    let seconds = |[begin, end]: [MonoNs; 2]| end.seconds_since(begin);
    let seen_seconds: f64 = times.iter().map(|(span, _)| seconds(*span)).sum();
    let all_seconds: f64 = spans.iter().map(|span| seconds(*span)).sum();
    times.sort_by(|(_, one), (_, other)| other.excess.total_cmp(&one.excess));
    let strongest = &times.first()?.1;
    let rule = strongest.rule;
    let share = ratio(seen_seconds, all_seconds).map_or(String::new(), |share| {
        let how = if times.len() == 1 { "" } else { ", at most" };
        format!(" (seen in {} of the time{how})", percent(share))
    });
    let source =
        rule.needs.first().map_or_else(String::new, |needed| format!("{}: {}", needed.file, needed.field));
    let evidence = times.iter().take(EVIDENCE_MAX).map(|(span, sign)| Evidence {
        role: EvidenceRole::Mechanism,
        text: sign.title.clone(),
        source: source.clone(),
        column: None,
        begin_mono_ns: span[0],
        end_mono_ns: span[1],
    });
    Some(Finding {
        id: rule.id.to_owned(),
        name: rule.name.to_owned(),
        host: None,
        confidence: Confidence::Possible,
        title: format!("{}{share}", strongest.title),
        evidence: evidence.collect(),
        remedy: Some(rule.remedy.to_owned()),
        counterfactual: rule.counterfactual.to_owned(),
        explained_ratio: None,
    })
}

fn headline(summary: &HostSummary) -> String {
    let host = summary.host.as_deref().map_or_else(|| "This host".to_owned(), format::name);
    let time = format::duration(summary.seconds * 1e9);
    let busy = summary.levels.iter().find(|level| level.resource == WatchedResource::Cpus);
    match busy {
        // Of so few, the busiest ten are all.
        Some(cpus) if summary.samples_count <= SPAN_ROWS as u64 => {
            format!("{host} was watched for {time}: CPUs {} busy", percent(cpus.mean))
        }
        Some(cpus) => format!(
            "{host} was watched for {time}: CPUs {} busy, {} in the busiest ten samples",
            percent(cpus.mean),
            percent(cpus.worst)
        ),
        None => format!("{host} was watched for {time}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::SeriesBuilder;
    use sysdyno_record::event::{Event, EventKind};
    use sysdyno_record::plan::Plan;
    use sysdyno_record::units::SpanNs;

    /// A minute: half of the CPU is busy, all of it in the seconds from 20 to 40, in which packets are dropped; memory falls.
    fn series() -> Series {
        let is_bad = |second: usize| (20..40).contains(&second);
        let grown = |good: f64, bad: f64| {
            let mut sum = 0.0;
            let step = |second: usize| {
                sum += if is_bad(second) { bad } else { good };
                sum
            };
            (0..=60).map(step).collect::<Vec<f64>>()
        };
        SeriesBuilder::new(1.0)
            .column("cpu.idle_us", "cpu:0", &grown(750_000.0, 0.0))
            .column("cpu.user_us", "cpu:0", &grown(250_000.0, 1_000_000.0))
            .column("softnet.dropped_count", "cpu:0", &grown(0.0, 50.0))
            .column(
                "memory.available_bytes",
                "host",
                &(0..=60).map(|at| 1e9 - f64::from(at)).collect::<Vec<_>>(),
            )
            .column("process.cpu_us", "process:7", &grown(100_000.0, 900_000.0))
            .build()
    }

    fn plan() -> WatchPlan {
        WatchPlan { interval: SpanNs::from_secs(1), host: Some("web1".into()), target: None, count: None }
    }

    fn analyzed(series: &Series, events: &[Event]) -> Analysis {
        let plan = Plan::Watch(plan());
        let (latency, latency_windows) = (BTreeMap::new(), BTreeMap::new());
        crate::analyze(&RunView {
            plan: Some(&plan),
            facts: None,
            server: None,
            trials: &[],
            intervals: &[],
            series,
            events,
            probe: &[],
            latency: &latency,
            latency_windows: &latency_windows,
        })
    }

    #[test]
    fn a_bad_minute_is_found_with_its_seconds_and_nobody_is_said_to_have_suffered() {
        let hog = WatchedProcess::new(7, 1, "hog", ProcessRole::Foreign);
        let event = Event { mono_ns: MonoNs(0), event: EventKind::Watched(hog) };
        let analysis = analyzed(&series(), &[event]);
        assert!(
            analysis.headline.starts_with("web1 was watched for 60.0 s: CPUs 50% busy, 100%"),
            "{}",
            analysis.headline
        );
        let found: Vec<&str> = analysis.findings.iter().map(|finding| finding.id.as_str()).collect();
        assert_eq!(found, ["N04", "C13"]);
        assert!(analysis.findings[1].title.starts_with("The CPUs: "), "{}", analysis.findings[1].title);
        let finding = &analysis.findings[0];
        assert_eq!(analysis.limit, finding.title);
        assert_eq!(finding.confidence, Confidence::Possible);
        assert!(finding.title.ends_with("of the time, at most)"), "{}", finding.title);
        let begins: Vec<u64> =
            finding.evidence.iter().map(|one| one.begin_mono_ns.0 / 1_000_000_000).collect();
        assert!(begins.iter().all(|second| (10..40).contains(second)), "{begins:?}");
        let summary = analysis.watched.expect("is summed up");
        let level =
            |resource| summary.levels.iter().find(|level| level.resource == resource).expect("was read");
        assert!((level(WatchedResource::Cpus).mean - 0.5).abs() < 0.02);
        assert!(level(WatchedResource::Cpus).worst > 0.99);
        assert!(level(WatchedResource::Memory).worst < level(WatchedResource::Memory).mean);
        assert_eq!(level(WatchedResource::Cpu).object.as_deref(), Some("0"));
        assert!((summary.processes[0].worst_cpus - 0.9).abs() < 0.01, "{:?}", summary.processes);
    }

    #[test]
    fn what_was_not_read_has_no_level_and_a_single_sample_no_conclusion() {
        let calm = SeriesBuilder::new(1.0).column("cpu.idle_us", "cpu:0", &[0.0, 1e6, 2e6]).build();
        let analysis = analyzed(&calm, &[]);
        assert!(analysis.headline.ends_with(" busy"), "{}", analysis.headline);
        assert_eq!(analysis.limit, "Nothing was at its limit");
        let summary = analysis.watched.expect("is summed up");
        assert!(summary.levels.iter().all(|level| level.resource != WatchedResource::Memory));
        let single = SeriesBuilder::new(1.0).column("cpu.idle_us", "cpu:0", &[0.0]).build();
        let analysis = analyzed(&single, &[]);
        assert_eq!(analysis.verdict.reasons[0].id, "V32");
        assert!(analysis.watched.is_none());
    }
}
