//! The cost of operations that a service counted while commands requested them: how many, the CPU time of both sides, and
//! which side was busy.
//!
//! The service's own count is used for all commands, whatever they report themselves. Time and CPU time are those of the
//! whole command, from start to end.

use super::{spread, wall_ns};
use crate::format::{cpus, duration, name, rate};
use crate::readings::ratio;
use crate::threshold::{HOUSE, Threshold};
use sysdyno_record::work::{CommandRun, ServedSummary, ServiceCounter, Spread};

const SIDE_BUSY: Threshold = Threshold::new(
    "CPU time of a command or service ÷ time of its allowed CPUs, to be the bottleneck",
    0.90,
    "ratio",
    HOUSE,
);

/// Commands that were run one after the other, with what they had the service do.
struct Round {
    operations: f64,
    wall_ns: f64,
    /// CPU time. Unit: nanoseconds. `None`: not known.
    cpu_ns: Option<f64>,
    server_cpu_ns: Option<f64>,
}

impl Round {
    /// `None`: of one of them it is not known what the service did.
    fn of(runs: &[&CommandRun]) -> Option<Round> {
        let served = || runs.iter().map(|run| run.served.as_ref());
        let count = |run: &&CommandRun| Some(run.served.as_ref()?.operations_count as f64);
        let used = |run: &&CommandRun| {
            let usage = run.usage.as_ref()?;
            Some(usage.user_us.saturating_add(usage.system_us) as f64 * 1e3)
        };
        Some(Round {
            operations: runs.iter().map(count).sum::<Option<f64>>()?,
            wall_ns: runs.iter().map(|run| wall_ns(run) as f64).sum(),
            cpu_ns: runs.iter().map(used).sum(),
            server_cpu_ns: served().map(|served| Some(served?.cpu_us? as f64 * 1e3)).sum(),
        })
    }
}

/// Over rounds that succeeded; `None`: nothing counts operations, or of a round it is not known how many there were.
pub(crate) fn served(counter: Option<&ServiceCounter>, rounds: &[Vec<&CommandRun>]) -> Option<ServedSummary> {
    let service = counter?.service.clone();
    let rounds: Vec<Round> = rounds.iter().map(|runs| Round::of(runs)).collect::<Option<_>>()?;
    let over = |of: &dyn Fn(&Round) -> Option<f64>| -> Option<Spread> {
        spread(&rounds.iter().map(of).collect::<Option<Vec<f64>>>()?)
    };
    Some(ServedSummary {
        service,
        operations_count: over(&|round| Some(round.operations))?,
        rate_hz: over(&|round| ratio(round.operations * 1e9, round.wall_ns))?,
        cpu_ns: over(&|round| ratio(round.cpu_ns?, round.operations)),
        server_cpu_ns: over(&|round| ratio(round.server_cpu_ns?, round.operations)),
        busy_cpus: over(&|round| ratio(round.cpu_ns?, round.wall_ns)),
        server_busy_cpus: over(&|round| ratio(round.server_cpu_ns?, round.wall_ns)),
    })
}

/// The result in one sentence.
pub(crate) fn headline(summary: &ServedSummary) -> String {
    let (service, hz) = (name(&summary.service), rate(summary.rate_hz.median));
    let each = match (&summary.cpu_ns, &summary.server_cpu_ns) {
        (Some(own), Some(server)) => {
            let [own, server] = [own, server].map(|spread| duration(spread.median));
            format!(", each using {own} of the command's CPU time and {server} of the service's")
        }
        _ => String::new(),
    };
    format!("{service} counted {hz} operations per second{each}")
}

/// One side of the work: how many CPUs it used, and how many it may use.
struct Side {
    busy_cpus: f64,
    allowed: f64,
}

impl Side {
    fn is_limit(&self) -> bool {
        self.busy_cpus >= SIDE_BUSY.value * self.allowed
    }

    fn text(&self) -> String {
        let noun = if self.allowed == 1.0 { "CPU" } else { "CPUs" };
        format!("{} of {} {noun}", cpus(self.busy_cpus), self.allowed)
    }
}

/// Which side was busy, in a sentence; `None`: it is not known of both.
pub(crate) fn limit(summary: Option<&ServedSummary>, runs: &[&CommandRun]) -> Option<String> {
    let summary = summary?;
    let own = runs.iter().filter_map(|run| run.usage?.cpus_count).max()?;
    let servers = runs.iter().filter_map(|run| Some(run.served.as_ref()?.cpus.len())).max()?;
    let side = |busy: Option<Spread>, allowed: f64| {
        let busy_cpus = busy?.median;
        (allowed > 0.0).then_some(Side { busy_cpus, allowed })
    };
    let command = side(summary.busy_cpus, f64::from(own))?;
    let server = side(summary.server_busy_cpus, servers as f64)?;
    let who = match (command.is_limit(), server.is_limit()) {
        (true, true) => "Both are the bottleneck",
        (true, false) => "The command is the bottleneck",
        (false, true) => "The service is the bottleneck",
        (false, false) => "Neither is the bottleneck",
    };
    let (own, service, its) = (command.text(), name(&summary.service), server.text());
    Some(format!("{who}: the command used {own}, and {service} used {its}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use sysdyno_record::units::MonoNs;
    use sysdyno_record::work::{Ending, Served, Step, Usage};

    /// A second, of which the command used so much of its CPU and the service so much of its two.
    fn run(operations_count: u64, busy: f64, server_busy: f64) -> CommandRun {
        let usage = Usage { user_us: (busy * 1e6) as u64, cpus_count: Some(1), ..Usage::default() };
        let cpu_us = Some((server_busy * 1e6) as u64);
        CommandRun {
            number: 1,
            worker: 0,
            name: None,
            step: Step::Run,
            begin_mono_ns: MonoNs(1),
            end_mono_ns: MonoNs(1_000_000_001),
            ending: Ending::Exit(0),
            usage: Some(usage),
            served: Some(Served { operations_count, cpu_us, cpus: vec![0, 3] }),
            waits: BTreeMap::new(),
        }
    }

    fn counter() -> ServiceCounter {
        ServiceCounter { service: "web".into(), metric: "requests".into() }
    }

    #[test]
    fn what_a_service_has_counted_is_divided_by_time_and_cost() {
        let (one, two) = (run(1000, 0.5, 0.25), run(3000, 0.5, 0.75));
        let both = served(Some(&counter()), &[vec![&one, &two]]).expect("is known");
        assert_eq!((both.operations_count.median, both.rate_hz.median), (4000.0, 2000.0));
        assert_eq!(both.cpu_ns.map(|cpu| cpu.median), Some(250_000.0));
        assert_eq!(both.server_cpu_ns.map(|cpu| cpu.median), Some(250_000.0));
        assert_eq!(both.server_busy_cpus.map(|busy| busy.median), Some(0.5));
        assert_eq!(
            headline(&both),
            "web counted 2,000 operations per second, each using 250 µs of the command's CPU time and 250 µs \
             of the service's"
        );
        let silent = CommandRun { served: None, ..run(1, 0.5, 0.5) };
        assert_eq!(served(Some(&counter()), &[vec![&silent]]), None);
        assert_eq!(served(None, &[vec![&one]]), None);
        let nothing = run(0, 0.5, 0.5);
        let nothing = served(Some(&counter()), &[vec![&nothing]]).expect("is known");
        assert_eq!((nothing.rate_hz.median, nothing.cpu_ns), (0.0, None));
    }

    #[test]
    fn who_was_busy_is_said() {
        let said = |busy: f64, server_busy: f64| {
            let run = run(1000, busy, server_busy);
            limit(served(Some(&counter()), &[vec![&run]]).as_ref(), &[&run]).expect("is known")
        };
        assert_eq!(
            said(0.99, 1.0),
            "The command is the bottleneck: the command used 0.99 of 1 CPU, and web used 1.0 of 2 CPUs"
        );
        assert!(said(0.5, 1.9).starts_with("The service is the bottleneck: "));
        assert!(said(0.95, 1.9).starts_with("Both are the bottleneck: "));
        assert!(said(0.5, 1.0).starts_with("Neither is the bottleneck: "));
    }
}
