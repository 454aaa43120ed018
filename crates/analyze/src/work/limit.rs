//! Which resource of the machine was scarcest while work was done: CPUs, what commands waited for, or a disk.
//!
//! The readings cover the whole machine: in a lab all hosts share it, and a command often only asks others to work. A disk
//! that is always busy may still handle more requests in parallel, as SSDs do, so the sentence only states the reading.

use super::waits;
use crate::format::{name, percent};
use crate::readings::{CpuShare, MachineShare, Window, ratio};
use crate::threshold::{HOUSE, Threshold};
use sysdyno_record::column;
use sysdyno_record::series::Series;
use sysdyno_record::units::MonoNs;
use sysdyno_record::work::{CpuSummary, WaitSummary};

const CPUS_BUSY: Threshold = Threshold::new(
    "busy share of all CPUs",
    0.85,
    "ratio",
    "netdata, CPU utilization alarm (warns at 85%, clears at 75%)",
);
const DISK_BUSY: Threshold = Threshold::new("share of time in which a disk was busy", 0.80, "ratio", HOUSE);

/// What was used up in these spans of time, or waited for, in a sentence; `None`: nothing was read.
pub(crate) fn limit(series: &Series, spans: &[[MonoNs; 2]], waits: &[WaitSummary]) -> Option<String> {
    let windows: Vec<Window> = spans.iter().map(|[begin, end]| Window::new(series, *begin, *end)).collect();
    let shares: Vec<(f64, MachineShare)> =
        windows.iter().filter_map(|window| Some((window.seconds(), window.machine()?))).collect();
    let seconds: f64 = shares.iter().map(|(seconds, _)| seconds).sum();
    let mean = |of: fn(&MachineShare) -> f64| {
        ratio(shares.iter().map(|(seconds, share)| seconds * of(share)).sum(), seconds)
    };
    let Some(busy) = mean(|share| share.busy_ratio) else { return waits::told(waits) };
    let count = shares.first().map_or(0, |(_, share)| share.cpus);
    if busy >= CPUS_BUSY.value {
        let (user, system) = (mean(|share| share.user_ratio)?, mean(|share| share.system_ratio)?);
        return Some(format!(
            "The CPUs are the bottleneck: all {count} were {} busy, {} user, {} system",
            percent(busy),
            percent(user),
            percent(system)
        ));
    }
    if let Some(told) = waits::told(waits) {
        return Some(told);
    }
    let disk = busiest_disk(&windows);
    match &disk {
        Some((disk, share)) if *share >= DISK_BUSY.value => {
            Some(format!("A disk is the bottleneck: {} was busy {} of the time", name(disk), percent(*share)))
        }
        Some((disk, share)) => Some(format!(
            "Nothing on the host is saturated: CPUs {} busy, disk {} {} busy",
            percent(busy),
            name(disk),
            percent(*share)
        )),
        None => Some(format!("The CPUs are not the bottleneck: they were {} busy", percent(busy))),
    }
}

/// What each CPU did in these spans of time.
pub(crate) fn cpus(series: &Series, spans: &[[MonoNs; 2]]) -> Vec<CpuSummary> {
    let windows: Vec<Window> = spans.iter().map(|[begin, end]| Window::new(series, *begin, *end)).collect();
    let read: Vec<(f64, Vec<CpuShare>)> =
        windows.iter().map(|window| (window.seconds(), window.cpus())).collect();
    let scopes = windows.first().map_or(Vec::new(), |window| window.scopes(column::CPU_IDLE));
    let mean = |scope: &str, of: fn(&CpuShare) -> f64| {
        let mine = read
            .iter()
            .filter_map(|(seconds, cpus)| Some((*seconds, of(cpus.iter().find(|cpu| cpu.scope == scope)?))));
        let (sum, seconds) =
            mine.fold((0.0, 0.0), |(sum, all), (seconds, share)| (sum + seconds * share, all + seconds));
        ratio(sum, seconds)
    };
    let cpu = |scope: &str| {
        Some(CpuSummary {
            number: scope.trim_start_matches("cpu:").parse().ok()?,
            busy_ratio: mean(scope, |cpu| cpu.busy_ratio)?,
            softirq_ratio: mean(scope, |cpu| cpu.softirq_ratio)?,
        })
    };
    scopes.into_iter().filter_map(cpu).collect()
}

/// The disk that had something to do in most of the time, and in how much.
fn busiest_disk<'a>(windows: &[Window<'a>]) -> Option<(&'a str, f64)> {
    let scopes = windows.first()?.scopes(column::DISK_IO);
    let share = |scope: &'a str| {
        let grown = windows.iter().filter_map(|window| window.growth(column::DISK_IO, scope));
        let (busy, seconds) = grown.fold((0.0, 0.0), |(busy, seconds), growth| {
            (busy + growth.amount / 1e3, seconds + growth.seconds)
        });
        Some((scope.trim_start_matches("disk:"), ratio(busy, seconds)?))
    };
    scopes.into_iter().filter_map(share).max_by(|one, other| one.1.total_cmp(&other.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::SeriesBuilder;
    use sysdyno_record::work::CommandWait;

    /// Ten seconds, of which the CPU was idle and the disk busy for so much of each.
    fn said(idle: f64, disk: f64, waits: &[WaitSummary]) -> Option<String> {
        let grown = |each: f64| (0..=10).map(|second| f64::from(second) * each).collect::<Vec<f64>>();
        let series = SeriesBuilder::new(1.0)
            .column("cpu.idle_us", "cpu:0", &grown(idle * 1e6))
            .column("cpu.user_us", "cpu:0", &grown((1.0 - idle) * 1e6))
            .column("disk.io_ms", "disk:sda", &grown(disk * 1e3))
            .build();
        limit(&series, &[[MonoNs(0), MonoNs(11_000_000_000)]], waits)
    }

    #[test]
    fn what_was_used_up_is_said_and_what_was_not_as_well() {
        let waited = [WaitSummary { wait: CommandWait::JournalSpace, share_ratio: 0.9, time_ns: 9e9 }];
        for (idle, disk, waits, expected) in [
            (0.02, 0.99, &[][..], "The CPUs are the bottleneck: all 1 were 98% busy"),
            (0.02, 0.99, &waited, "The CPUs are the bottleneck: all 1 were 98% busy"),
            (0.5, 0.9, &waited, "It waits for room in the journal: 90% of its time"),
            (0.5, 0.9, &[], "A disk is the bottleneck: sda"),
            (0.5, 0.1, &[], "Nothing on the host is saturated: CPUs 50% busy, disk sda 10%"),
        ] {
            let text = said(idle, disk, waits).expect("is known");
            assert!(text.starts_with(expected), "{text}");
        }
        assert_eq!(limit(&Series::default(), &[[MonoNs(0), MonoNs(1)]], &[]), None);
    }
}
