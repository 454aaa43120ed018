//! When several hosts generate the load together: does one of them fall behind, and do they all get the same results?
//!
//! All hosts send the same load at the same time, so each host's numbers are compared with those of the other hosts in the
//! same trial. The verdict names a host that falls behind.

use super::check::{Check, Culprit, Examine, Observation};
use crate::format::{counted, duration, list, name, percent};
use crate::readings::ratio;
use crate::threshold::{HOUSE, Threshold};
use crate::view::TrialView;
use sysdyno_record::load::LatencyKind;
use sysdyno_record::plan::KeepAlive;
use sysdyno_record::spread::GeneratorShare;

const LATE_NS: Threshold = Threshold::new(
    "lateness of one host (p99) that one time slice of another process does not explain",
    4e6,
    "ns",
    "above the base slice of the kernel's fair scheduler, about 3 ms",
);
const LATE_GROSS_NS: Threshold =
    Threshold::new("lateness of one host (p99) that makes the run invalid", 1e7, "ns", HOUSE);
const LATE_RATIO: Threshold = Threshold::new(
    "lateness of one host ÷ that of the next latest, to count as falling behind",
    3.0,
    "ratio",
    HOUSE,
);
const FULL: Threshold =
    Threshold::new("CPU of the busiest thread of one host, to be its bottleneck", 0.90, "ratio", HOUSE);
const BEHIND: Threshold = Threshold::new(
    "share of time that connections of one host wait for responses ÷ the lowest share on the other hosts, in \
     a closed loop",
    0.80,
    "ratio",
    HOUSE,
);
const CLOCK_NS: Threshold =
    Threshold::new("uncertainty of a host's clock, to be mentioned", 1e6, "ns", HOUSE);

/// M20.
pub(super) const HOST_BEHIND: Check = Check {
    id: "M20",
    name: "gen-host-behind",
    meaning: "One of the sending hosts fell behind, so the load was not as planned.",
    thresholds: &[LATE_NS, LATE_GROSS_NS, LATE_RATIO, FULL, BEHIND, CLOCK_NS],
    remedy: "check that host's CPU, quota, and link; leave the host out, or send less from it",
    blame: Culprit::Generator,
    concerns: &[],
    examine: Examine::Trial(examine_behind),
};

fn examine_behind(view: &TrialView) -> Option<Observation> {
    let shares = &view.end.summary.generators;
    late(view, shares).or_else(|| full(shares)).or_else(|| slow(view, shares)).or_else(|| unsure(shares))
}

/// A host whose value is the greatest, with that value and the greatest of the others.
struct Greatest<'a> {
    share: &'a GeneratorShare,
    value: f64,
    others: Option<f64>,
}

fn greatest(shares: &[GeneratorShare], value: impl Fn(&GeneratorShare) -> f64) -> Option<Greatest<'_>> {
    let at = (0..shares.len()).max_by(|a, b| value(&shares[*a]).total_cmp(&value(&shares[*b])))?;
    let others = (0..shares.len()).filter(|other| *other != at).map(|other| value(&shares[other]));
    Some(Greatest { share: &shares[at], value: value(&shares[at]), others: others.max_by(f64::total_cmp) })
}

fn late(view: &TrialView, shares: &[GeneratorShare]) -> Option<Observation> {
    let slip = |share: &GeneratorShare| {
        let slip = share.measured.latency.get(&LatencyKind::LoopSlip);
        slip.and_then(|slip| slip.p99.or(slip.max)).unwrap_or(0) as f64
    };
    let latest = greatest(shares, slip).filter(|_| view.is_open())?;
    let others = latest.others?;
    if latest.value < LATE_NS.value || latest.value < LATE_RATIO.value * others {
        return None;
    }
    let text = format!(
        "host {} was late: it sent 1% of its requests {} or more behind schedule (other hosts: {} at most)",
        name(&latest.share.name),
        duration(latest.value),
        duration(others)
    );
    if latest.value >= LATE_GROSS_NS.value { Observation::invalid(text) } else { Observation::suspect(text) }
}

fn full(shares: &[GeneratorShare]) -> Option<Observation> {
    let busiest = greatest(shares, |share| share.generator.busiest_thread_ratio)?;
    let is_alone = busiest.others.is_none_or(|others| others < FULL.value);
    (busiest.value >= FULL.value && is_alone).then(|| {
        let text = format!(
            "the busiest generator thread of host {} used {} of a CPU",
            name(&busiest.share.name),
            percent(busiest.value)
        );
        Observation::suspect(text)
    })?
}

/// In a closed loop a host that is behind leaves its connections without a request, or responses unread. A host from which
/// the server is farther away gets fewer responses, and waits for them all the time.
fn slow(view: &TrialView, shares: &[GeneratorShare]) -> Option<Observation> {
    let is_judged = !view.is_open() && view.plan().keep_alive == KeepAlive::Unlimited;
    let has_failed =
        |share: &GeneratorShare| share.measured.counts.failed + share.measured.counts.timed_out > 0;
    if !is_judged || shares.iter().any(has_failed) {
        return None;
    }
    let slowest = greatest(shares, |share| -waiting_ratio(view, share))?;
    let (own, others) = (-slowest.value, -slowest.others?);
    (own < BEHIND.value * others).then(|| {
        let text = format!(
            "connections of host {} waited for a response {} of the time (other hosts: {} or more)",
            name(&slowest.share.name),
            percent(own),
            percent(others)
        );
        Observation::suspect(text)
    })?
}

/// Share of the time in which a connection of a host waited for a response: requests × service time by Little's law.
fn waiting_ratio(view: &TrialView, share: &GeneratorShare) -> f64 {
    let waited_ns = |kind: LatencyKind| {
        let latency = share.measured.latency.get(&kind)?;
        Some(latency.mean? * latency.count as f64)
    };
    let waited_ns: f64 = [LatencyKind::Service, LatencyKind::Connect].into_iter().filter_map(waited_ns).sum();
    ratio(waited_ns / 1e9, view.seconds() * share.connections as f64).unwrap_or(0.0)
}

fn unsure(shares: &[GeneratorShare]) -> Option<Observation> {
    let least = greatest(shares, |share| share.clock.uncertainty_ns as f64)?;
    if least.value < CLOCK_NS.value {
        return None;
    }
    Observation::remark(format!(
        "the clock of host {} is only known to within {}; it may have started that much earlier or later",
        name(&least.share.name),
        duration(least.value)
    ))
}

/// M21.
pub(super) const HOSTS_DIFFER: Check = Check {
    id: "M21",
    name: "gen-hosts-differ",
    meaning: "The sending hosts received different response bodies for the same request.",
    thresholds: &[],
    remedy: "check that all hosts reach the same server; --any-body accepts bodies that differ",
    blame: Culprit::Server,
    concerns: &[],
    examine: Examine::Trial(examine_bodies),
};

fn examine_bodies(view: &TrialView) -> Option<Observation> {
    let shares = &view.end.summary.generators;
    let learnt = |share: &GeneratorShare| Some((name(&share.name), share.learnt_body?));
    let all: Vec<_> = shares.iter().filter_map(learnt).collect();
    let (_, first) = all.first().filter(|_| view.plan().validators.same_body)?;
    if all.iter().all(|(_, body)| body == first) {
        return None;
    }
    let each = all.iter().map(|(host, body)| {
        format!("{} with checksum {:08x} at {host}", counted(body.body_bytes as f64, "byte"), body.crc32)
    });
    Observation::suspect(format!("the hosts received different bodies: {}", list(&each.collect::<Vec<_>>())))
}

#[cfg(test)]
mod tests {
    use crate::corpus::{Specimen, shared};
    use crate::verdict::check_trial;
    use sysdyno_record::analysis::VerdictStatus::{self, Invalid, Suspect, Valid};
    use sysdyno_record::load::{LatencyKind, LatencySummary, LearntBody};
    use sysdyno_record::spread::GeneratorShare;

    type Edit = fn(&mut GeneratorShare);

    /// What is said of a trial of two hosts, the second of which was edited.
    fn said(id: &str, case: Specimen, edit: Edit) -> Option<(VerdictStatus, String)> {
        let case = shared(case, &["netns:a", "ann@b"], edit).build();
        let reasons = check_trial(&case.view()).reasons;
        reasons.into_iter().find(|reason| reason.id == id).map(|reason| (reason.status, reason.text))
    }

    fn open() -> Specimen {
        Specimen::open(2000.0, 10.0)
    }

    fn slip(share: &mut GeneratorShare, p99: u64) {
        let slip = LatencySummary { p99: Some(p99), count: 10_000, ..LatencySummary::default() };
        share.measured.latency.insert(LatencyKind::LoopSlip, slip);
    }

    fn service(share: &mut GeneratorShare) -> &mut LatencySummary {
        share.measured.latency.get_mut(&LatencyKind::Service).expect("was measured")
    }

    #[test]
    fn hosts_that_do_the_same_are_not_mentioned() {
        assert_eq!(said("M20", open(), |_| {}), None);
        assert_eq!(said("M21", open(), |_| {}), None);
        assert_eq!(said("M20", Specimen::closed(64, 20_000.0, 10.0), |_| {}), None);
    }

    #[test]
    fn a_host_that_is_late_is_named() {
        let (status, text) = said("M20", open(), |share| slip(share, 50_000_000)).expect("is told");
        assert_eq!(status, Invalid);
        assert!(text.starts_with("host ann@b was late") && text.contains("50"), "{text}");
        let (status, _) = said("M20", open(), |share| slip(share, 5_000_000)).expect("is told");
        assert_eq!(status, Suspect);
        assert_eq!(said("M20", open(), |share| slip(share, 900_000)), None);
    }

    #[test]
    fn a_host_without_cpu_or_behind_in_a_closed_loop_is_named() {
        let full: Edit = |share| share.generator.busiest_thread_ratio = 0.97;
        assert_eq!(said("M20", open(), full).map(|(status, _)| status), Some(Suspect));
        let closed = || Specimen::closed(64, 20_000.0, 10.0);
        let slow: Edit = |share| service(share).count /= 3;
        let (_, text) = said("M20", closed(), slow).expect("is told");
        assert!(text.starts_with("connections of host ann@b waited "), "{text}");
        assert_eq!(said("M20", open(), slow), None, "an open load has a schedule");
        let far: Edit = |share| {
            let service = service(share);
            service.mean = service.mean.map(|mean| 3.0 * mean);
            service.count /= 3;
        };
        assert_eq!(said("M20", closed(), far), None, "a host that is farther away is not behind");
    }

    #[test]
    fn a_clock_that_is_not_sure_is_a_remark_and_bodies_that_differ_are_suspect() {
        let unsure: Edit = |share| share.clock.uncertainty_ns = 3_000_000;
        assert_eq!(said("M20", open(), unsure).map(|(status, _)| status), Some(Valid));
        let differs: Edit = |share| share.learnt_body = Some(LearntBody { crc32: 2, body_bytes: 5 });
        assert_eq!(said("M21", open(), differs), None, "bodies may differ");
        let compared = open().edit(|case| case.begin.plan.validators.same_body = true);
        let (status, text) = said("M21", compared, differs).expect("is told");
        assert!(status == Suspect && text.contains("ann@b"), "{text}");
    }
}
