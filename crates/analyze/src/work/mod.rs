//! Summarizes lines of work: how often, how long, at what cost, and whether that can be trusted.
//!
//! Times and costs are those of the successful runs; the number of failures comes first. Preparation, warm-up, and cleanup
//! runs are in no sum.

mod limit;
mod served;
mod waits;

use crate::format;
use crate::verdict::work::{CUT_OFF, FILES_FAILED, NO_RUN_SUCCEEDED, RUNS_FAILED};
use crate::verdict::{Observation, verdict_of};
use limit::{cpus, limit};
use served::served;
use std::collections::BTreeMap;
use sysdyno_record::analysis::{Verdict, VerdictStatus};
use sysdyno_record::load::LatencySummary;
use sysdyno_record::series::Series;
use sysdyno_record::units::MonoNs;
use sysdyno_record::work::{
    CommandRun, CommandSummary, Ending, FileOperation, FileSummary, FileWindow, IoUsage, Spread, Step, Usage,
    WORK_SCHEMA, WorkKind, WorkLine, WorkPlan, WorkSummary,
};
use sysdyno_stats::censored::LowerBounds;
use sysdyno_stats::descriptive::{mean, median, standard_deviation};
use sysdyno_stats::histogram::LatencyHistogram;
use sysdyno_stats::order_statistics::quantile_ranks;
use waits::waits;

/// Level of intervals.
const LEVEL: f64 = 0.95;

/// Concludes.
pub fn conclude(plan: &WorkPlan, lines: &[WorkLine], series: &Series) -> WorkSummary {
    let runs: Vec<&CommandRun> = lines.iter().filter_map(measured).collect();
    let windows: Vec<&FileWindow> = lines.iter().filter_map(files).collect();
    let count = |is: &dyn Fn(&Ending) -> bool| runs.iter().filter(|run| is(&run.ending)).count() as u64;
    let done = rounds(plan, &runs);
    let (served, spans) = (served(plan.counter.as_ref(), &done), spans(&runs, &windows));
    let elapsed_ns = elapsed_ns(&runs, &windows);
    let waits = waits(&done);
    let used = |value: &dyn Fn(&Usage) -> u64| of_rounds(&done, |run| Some(value(&run.usage?)));
    let io = |value: &dyn Fn(&IoUsage) -> u64| of_rounds(&done, |run| Some(value(&run.usage?.io?)));
    let mut summary = WorkSummary {
        schema: WORK_SCHEMA.into(),
        verdict: Verdict { status: VerdictStatus::Valid, reasons: Vec::new() },
        headline: String::new(),
        runs_count: runs.len() as u64,
        ok_count: count(&|ending| *ending == Ending::Exit(0)),
        failed_count: count(&|ending| match ending {
            Ending::Exit(code) => *code != 0,
            Ending::Signal(_) | Ending::NotStarted(_) | Ending::Output(_) => true,
            Ending::TimedOut | Ending::Interrupted => false,
        }),
        timed_out_count: count(&|ending| *ending == Ending::TimedOut),
        interrupted_count: count(&|ending| *ending == Ending::Interrupted),
        elapsed_ns,
        wall_ns: of_rounds(&done, |run| Some(wall_ns(run))),
        user_us: used(&|usage| usage.user_us),
        system_us: used(&|usage| usage.system_us),
        read_bytes: io(&|io| io.read_bytes),
        written_bytes: io(&|io| io.written_bytes),
        io_calls_count: io(&|io| io.read_calls_count.saturating_add(io.write_calls_count)),
        major_faults_count: used(&|usage| usage.major_faults_count),
        minor_faults_count: used(&|usage| usage.minor_faults_count),
        max_rss_bytes: used(&|usage| usage.max_rss_bytes),
        files: file_summaries(&windows, elapsed_ns),
        commands: command_summaries(plan, &runs, series),
        limit: served::limit(served.as_ref(), &runs).or_else(|| limit(series, &spans, &waits)),
        served,
        waits,
        cpus: cpus(series, &spans),
    };
    summary.verdict = verdict(plan, &summary, &runs);
    summary.headline = headline(plan, &summary);
    summary
}

fn measured(line: &WorkLine) -> Option<&CommandRun> {
    match line {
        WorkLine::Command(run) if run.step == Step::Run => Some(run),
        WorkLine::Command(_) | WorkLine::Files(_) => None,
    }
}

fn files(line: &WorkLine) -> Option<&FileWindow> {
    match line {
        WorkLine::Command(_) => None,
        WorkLine::Files(window) => Some(window),
    }
}

pub(crate) fn wall_ns(run: &CommandRun) -> u64 {
    run.end_mono_ns.since(run.begin_mono_ns)
}

/// Rounds in which every command succeeded.
fn rounds<'a>(plan: &WorkPlan, runs: &[&'a CommandRun]) -> Vec<Vec<&'a CommandRun>> {
    let WorkKind::Command(command) = &plan.kind else { return Vec::new() };
    let mut rounds: BTreeMap<u64, Vec<&CommandRun>> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.ending == Ending::Exit(0)) {
        rounds.entry(run.number).or_default().push(run);
    }
    let count = command.round().count();
    rounds.into_values().filter(|round| round.len() == count).collect()
}

/// A number of each round, summed over its commands; `None`: it is not known of one.
fn of_rounds(rounds: &[Vec<&CommandRun>], value: impl Fn(&CommandRun) -> Option<u64>) -> Option<Spread> {
    let sum =
        |round: &Vec<&CommandRun>| -> Option<f64> { round.iter().map(|run| Some(value(run)? as f64)).sum() };
    spread(&rounds.iter().map(sum).collect::<Option<Vec<f64>>>()?)
}

/// Commands by name, where there are several.
fn command_summaries(plan: &WorkPlan, runs: &[&CommandRun], series: &Series) -> Vec<CommandSummary> {
    let WorkKind::Command(command) = &plan.kind else { return Vec::new() };
    let one = |name: &String| {
        let mine: Vec<&CommandRun> =
            runs.iter().copied().filter(|run| run.name.as_ref() == Some(name)).collect();
        let done = mine.iter().filter(|run| run.ending == Ending::Exit(0));
        let done: Vec<Vec<&CommandRun>> = done.map(|run| vec![*run]).collect();
        let served = served(plan.counter.as_ref(), &done);
        let waits = waits(&done);
        let limit = || limit(series, &spans(&mine, &[]), &waits);
        CommandSummary {
            name: name.clone(),
            ok_count: done.len() as u64,
            wall_ns: of_rounds(&done, |run| Some(wall_ns(run))),
            limit: served::limit(served.as_ref(), &mine).or_else(limit),
            served,
            waits,
        }
    };
    let names = command.round().filter_map(|command| command.name.as_ref());
    if command.then.is_empty() { Vec::new() } else { names.map(one).collect() }
}

fn spans(runs: &[&CommandRun], windows: &[&FileWindow]) -> Vec<[MonoNs; 2]> {
    let runs = runs.iter().map(|run| [run.begin_mono_ns, run.end_mono_ns]);
    let windows = windows.iter().map(|window| [window.begin_mono_ns, window.end_mono_ns]);
    runs.chain(windows).collect()
}

fn elapsed_ns(runs: &[&CommandRun], windows: &[&FileWindow]) -> u64 {
    let all = spans(runs, windows);
    let first = all.iter().map(|span| span[0]).min().unwrap_or_default();
    all.iter().map(|span| span[1]).max().unwrap_or_default().since(first)
}

pub(crate) fn spread(values: &[f64]) -> Option<Spread> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = |rank: u64| sorted.get(usize::try_from(rank).ok()?.checked_sub(1)?).copied();
    let interval = quantile_ranks(sorted.len() as u64, 0.5, LEVEL)
        .and_then(|ranks| Some([at(ranks.low)?, at(ranks.high)?]));
    Some(Spread {
        count: sorted.len() as u64,
        min: *sorted.first()?,
        median: median(values)?,
        median_interval: interval,
        mean: mean(values)?,
        deviation: standard_deviation(values),
        max: *sorted.last()?,
    })
}

fn file_summaries(windows: &[&FileWindow], elapsed_ns: u64) -> Vec<FileSummary> {
    let kinds = FileOperation::ALL.into_iter().map(|operation| {
        let mine = windows.iter().filter(|window| window.operation == operation);
        let mut latency = LatencyHistogram::default();
        let mut failures: BTreeMap<String, u64> = BTreeMap::new();
        let mut ok_count = 0u64;
        for window in mine {
            ok_count = ok_count.saturating_add(window.ok_count);
            for (name, count) in &window.failures {
                let sum = failures.entry(name.clone()).or_default();
                *sum = sum.saturating_add(*count);
            }
            window.steps.iter().for_each(|[value_ns, count]| latency.record_many(*value_ns, *count));
        }
        let rate_hz = if elapsed_ns > 0 { ok_count as f64 * 1e9 / elapsed_ns as f64 } else { 0.0 };
        FileSummary {
            operation,
            ok_count,
            failures,
            rate_hz,
            latency: LatencySummary::of(&latency, LowerBounds::NONE),
        }
    });
    kinds.filter(|kind| kind.ok_count > 0 || !kind.failures.is_empty()).collect()
}

fn verdict(plan: &WorkPlan, summary: &WorkSummary, runs: &[&CommandRun]) -> Verdict {
    let bad_count = summary.failed_count + summary.timed_out_count;
    let is_command = matches!(plan.kind, WorkKind::Command(_));
    let runs = if is_command && summary.ok_count == 0 {
        NO_RUN_SUCCEEDED.raise(Observation::invalid(format!("no run succeeded: {}", ways(runs))))
    } else if bad_count > 0 {
        let text = format!("{bad_count} of {} runs failed: {}", summary.runs_count, ways(runs));
        RUNS_FAILED.raise(Observation::suspect(text))
    } else {
        None
    };
    let (ok, failed) = summary.files.iter().fold((0u64, 0u64), |(ok, failed), kind| {
        (ok + kind.ok_count, failed + kind.failures.values().sum::<u64>())
    });
    let files = if !is_command && ok == 0 {
        FILES_FAILED.raise(Observation::invalid("no file operation succeeded".to_owned()))
    } else if failed > 0 {
        let text = format!("{failed} of {} file operations failed", ok + failed);
        FILES_FAILED.raise(Observation::suspect(text))
    } else {
        None
    };
    let cut_off = (summary.interrupted_count > 0).then(|| {
        let text =
            format!("{} runs were cut off and are not counted in the times", summary.interrupted_count);
        CUT_OFF.raise(Observation::remark(text))
    });
    verdict_of([runs, files, cut_off.flatten()].into_iter().flatten().collect())
}

/// In which ways runs did not succeed, most frequent first.
fn ways(runs: &[&CommandRun]) -> String {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for run in runs {
        let way = match &run.ending {
            Ending::Exit(0) | Ending::Interrupted => continue,
            Ending::Exit(code) => format!("exit code {code}"),
            Ending::Signal(signal) => format!("signal {signal}"),
            Ending::TimedOut => "timed out".to_owned(),
            Ending::NotStarted(cause) | Ending::Output(cause) => cause.clone(),
        };
        *counts.entry(way).or_default() += 1;
    }
    let mut counts: Vec<(String, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let ways: Vec<String> = counts.iter().take(3).map(|(way, count)| format!("{way} ({count})")).collect();
    if ways.is_empty() { "none finished".to_owned() } else { ways.join(", ") }
}

fn headline(plan: &WorkPlan, summary: &WorkSummary) -> String {
    let ms = format::duration;
    match &plan.kind {
        WorkKind::Command(command) => {
            let names: Vec<String> = command.round().filter_map(|command| command.name.clone()).collect();
            let (name, verb) = match names.len() {
                0 | 1 => (format!("'{}'", command.run.text.chars().take(60).collect::<String>()), "takes"),
                _ => (format::list(&names), "take"),
            };
            let Some(wall) = &summary.wall_ns else { return format!("{name} failed") };
            if let Some(served) = &summary.served {
                return served::headline(served);
            }
            let runs = if wall.count == 1 { "1 run".to_owned() } else { format!("{} runs", wall.count) };
            let interval = wall
                .median_interval
                .map_or_else(String::new, |[low, high]| format!(" (95% interval {}–{})", ms(low), ms(high)));
            format!("{name} {verb} {}{interval}, median of {runs}", ms(wall.median))
        }
        WorkKind::Files(_) => {
            let placed = summary.files.iter().find(|kind| kind.operation == FileOperation::Rename);
            let rate = placed.map_or(0.0, |kind| kind.rate_hz);
            format!(
                "{rate:.0} files per second created, locked, synced, renamed, and removed by {} workers",
                plan.workers
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::command::CommandSpec;
    use sysdyno_record::plan::PhaseEnd;
    use sysdyno_record::units::SpanNs;
    use sysdyno_record::work::{CacheChoice, CommandWork, FileWork};

    fn plan(kind: WorkKind) -> WorkPlan {
        let timeout = SpanNs::from_secs(60);
        let end = PhaseEnd::Requests(9);
        WorkPlan { kind, workers: 2, end, timeout, cache: CacheChoice::AsIs, remounts: false, counter: None }
    }

    fn command() -> WorkPlan {
        let run = CommandSpec { text: "svn update wc".into(), words: vec!["svn".into()] };
        plan(WorkKind::Command(Box::new(CommandWork {
            name: None,
            run,
            prepare: None,
            clean: None,
            expect_output: Vec::new(),
            reject_output: Vec::new(),
            then: Vec::new(),
        })))
    }

    fn run(number: u64, ms: u64, ending: Ending) -> WorkLine {
        let io = Some(IoUsage {
            read_bytes: 4096,
            read_calls_count: 3,
            write_calls_count: 4,
            ..IoUsage::default()
        });
        WorkLine::Command(Box::new(CommandRun {
            number,
            worker: 0,
            name: None,
            step: Step::Run,
            begin_mono_ns: MonoNs(number * 1_000_000_000),
            end_mono_ns: MonoNs(number * 1_000_000_000 + ms * 1_000_000),
            ending,
            usage: Some(Usage { user_us: ms * 10, io, ..Usage::default() }),
            served: None,
            waits: BTreeMap::new(),
        }))
    }

    #[test]
    fn times_are_of_the_runs_that_succeeded_and_the_others_are_told_first() {
        let mut lines: Vec<WorkLine> =
            (1..=7).map(|number| run(number, 100 + number, Ending::Exit(0))).collect();
        lines.push(run(8, 5, Ending::Exit(3)));
        lines.push(run(9, 60_000, Ending::TimedOut));
        let summary = conclude(&command(), &lines, &Series::default());
        assert_eq!(
            [summary.runs_count, summary.ok_count, summary.failed_count, summary.timed_out_count],
            [9, 7, 1, 1]
        );
        let wall = summary.wall_ns.expect("seven succeeded");
        assert_eq!((wall.min, wall.median, wall.max), (101e6, 104e6, 107e6));
        assert_eq!(wall.median_interval, Some([101e6, 107e6]), "P(min ≤ median ≤ max) of seven is 98.4%");
        assert_eq!(summary.io_calls_count.expect("known").median, 7.0);
        assert_eq!(summary.verdict.status, VerdictStatus::Suspect);
        assert!(summary.verdict.reasons[0].text.starts_with("2 of 9 runs failed"), "{summary:?}");
        assert!(
            summary.headline.contains("svn update wc") && summary.headline.contains("7 runs"),
            "{}",
            summary.headline
        );
    }

    #[test]
    fn the_time_of_a_round_is_that_of_all_its_commands_and_each_is_told_by_itself() {
        let mut work = command();
        if let WorkKind::Command(command) = &mut work.kind {
            command.name = Some("write".into());
            command.then = vec![CommandWork { name: Some("read".into()), ..(**command).clone() }];
        }
        let named = |number, ms, name: &str, ending| match run(number, ms, ending) {
            WorkLine::Command(run) => {
                WorkLine::Command(Box::new(CommandRun { name: Some(name.into()), ..*run }))
            }
            WorkLine::Files(_) => panic!("it is a command"),
        };
        let lines = [
            named(1, 100, "write", Ending::Exit(0)),
            named(1, 50, "read", Ending::Exit(0)),
            named(2, 300, "write", Ending::Exit(0)),
            named(2, 10, "read", Ending::Exit(1)),
        ];
        let summary = conclude(&work, &lines, &Series::default());
        assert_eq!(summary.wall_ns.map(|wall| (wall.count, wall.median)), Some((1, 150e6)));
        let each: Vec<_> = summary
            .commands
            .iter()
            .map(|one| (one.name.as_str(), one.ok_count, one.wall_ns.map(|wall| wall.median)))
            .collect();
        assert_eq!(each, [("write", 2, Some(200e6)), ("read", 1, Some(50e6))]);
        assert_eq!(summary.limit, None, "nothing was read");
    }

    #[test]
    fn what_never_succeeded_has_no_time() {
        let lines = [run(1, 5, Ending::Exit(127)), run(2, 5, Ending::NotStarted("no such file".into()))];
        let summary = conclude(&command(), &lines, &Series::default());
        assert_eq!((summary.wall_ns, summary.user_us), (None, None));
        assert_eq!(summary.verdict.status, VerdictStatus::Invalid);
        let nothing = conclude(&command(), &[], &Series::default());
        assert_eq!((nothing.verdict.status, nothing.elapsed_ns), (VerdictStatus::Invalid, 0));
    }

    #[test]
    fn a_usage_that_one_run_lacks_is_not_known() {
        let mut lines = [run(1, 5, Ending::Exit(0)), run(2, 5, Ending::Exit(0))];
        if let WorkLine::Command(run) = &mut lines[1] {
            run.usage = run.usage.map(|usage| Usage { io: None, ..usage });
        }
        let summary = conclude(&command(), &lines, &Series::default());
        assert!(summary.user_us.is_some() && summary.read_bytes.is_none());
        assert_eq!(summary.wall_ns.expect("both").median_interval, None, "two are too few");
    }

    #[test]
    fn file_operations_of_all_workers_are_added() {
        let window = |second: u64, failures: &[(&str, u64)]| {
            WorkLine::Files(FileWindow {
                begin_mono_ns: MonoNs(second * 1_000_000_000),
                end_mono_ns: MonoNs((second + 1) * 1_000_000_000),
                operation: FileOperation::Rename,
                ok_count: 100,
                failures: failures.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect(),
                steps: vec![[1_000, 60], [2_000, 40]],
            })
        };
        let work = FileWork { folder: "d".into(), files_count: 5, file_bytes: 9 };
        let lines = [window(0, &[]), window(0, &[("ENOSPC", 2)]), window(1, &[("ENOSPC", 1)])];
        let summary = conclude(&plan(WorkKind::Files(work)), &lines, &Series::default());
        let [renames] = &summary.files[..] else { panic!("{summary:?}") };
        assert_eq!((renames.ok_count, renames.rate_hz), (300, 150.0));
        assert_eq!(renames.failures, [("ENOSPC".to_owned(), 3)].into());
        assert_eq!((renames.latency.count, renames.latency.p50), (300, Some(1_000)));
        assert_eq!(summary.verdict.status, VerdictStatus::Suspect);
    }
}
