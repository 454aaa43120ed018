//! What makes a sign, what confirms it, and what it can have done.

use super::super::RULES;
use super::super::tests::{conclude, slow};
use super::*;
use crate::corpus::Specimen;
use crate::findings::{Examination, Rule};
use sysdyno_record::analysis::{Confidence, Finding};
use sysdyno_record::column::{self, CGROUP_TARGET, HOST, NETNS, ScopeKind};
use sysdyno_record::load::FailureClass;
use sysdyno_record::series::ReadingKind;

fn with_signs() -> impl Iterator<Item = (&'static Rule, &'static Signs)> {
    RULES.iter().filter_map(|rule| match rule.examine {
        Examination::Signs(signs) => Some((*rule, signs)),
        Examination::By(_) => None,
    })
}

/// What a level is a part of.
const WHOLE: f64 = 1_000.0;

/// A specimen with this much of a sign, each second.
fn with(specimen: Specimen, sign: &LimitSign, times: f64) -> Specimen {
    let scope = match sign.quantity.scope {
        ScopeKind::Host => HOST,
        ScopeKind::Netns => NETNS,
        ScopeKind::Cpu => "cpu:0",
        ScopeKind::Netdev => "netdev:eth0",
        ScopeKind::Filesystem => "fs:/var",
        ScopeKind::Cgroup => CGROUP_TARGET,
        ScopeKind::Tier => "tier:mariadbd",
        ScopeKind::Disk => "disk:sda",
        ScopeKind::Log => "log:/var/log/app.log",
        ScopeKind::Energy => "energy:package-0",
        ScopeKind::Process => "process:1000",
        _ => unreachable!("no sign is of this kind yet"),
    };
    let least = times * sign.least.value;
    let per_second = match sign.measure {
        SignMeasure::Events | SignMeasure::EventsBeyond(_) => least,
        // 2,000 requests per second.
        SignMeasure::EventsPerRequest => least * 2_000.0,
        SignMeasure::Part(_) => least * WHOLE,
        SignMeasure::Hz | SignMeasure::Mean => least,
        SignMeasure::TimeRatio if sign.quantity.unit == "ms" => least * 1e3,
        SignMeasure::TimeRatio => least * 1e6,
        SignMeasure::Level(_) => least * WHOLE,
        // What is read is the rest.
        SignMeasure::Used(_) => (1.0 - least).max(0.0) * WHOLE,
    };
    let specimen = match sign.measure {
        SignMeasure::Part(whole) => specimen.counter(whole.name, scope, WHOLE),
        SignMeasure::EventsBeyond(other) => specimen.counter(other.name, scope, 0.0),
        SignMeasure::Level(whole) | SignMeasure::Used(whole) => specimen.gauge(whole.name, scope, WHOLE),
        _ => specimen,
    };
    match sign.quantity.kind {
        ReadingKind::Counter => specimen.counter(sign.quantity.name, scope, per_second),
        ReadingKind::Gauge => specimen.gauge(sign.quantity.name, scope, per_second),
    }
}

/// A slow specimen with all that is given.
fn given(signs: &Signs) -> Specimen {
    signs.given.iter().fold(slow(), |specimen, sign| with(specimen, sign, 2.0))
}

fn found(rule: &Rule, specimen: Specimen) -> Option<Finding> {
    conclude(specimen).into_iter().find(|finding| finding.id == rule.id)
}

#[test]
fn each_sign_alone_is_possible_and_nothing_of_it_excludes_it() {
    for (rule, signs) in with_signs() {
        for sign in signs.mechanism {
            let finding = found(rule, with(given(signs), sign, 2.0)).expect("a finding");
            assert_eq!(finding.confidence, Confidence::Possible, "{finding:?}");
            assert!(finding.title.starts_with(signs.title), "{finding:?}");
            let column = finding.evidence[0].column.as_deref();
            assert!(column.is_some_and(|column| column.starts_with(sign.quantity.name)), "{finding:?}");
        }
        let nothing = found(rule, with(given(signs), &signs.mechanism[0], 0.0)).expect("a finding");
        assert_eq!(nothing.confidence, Confidence::Excluded, "{nothing:?}");
        assert_eq!(nothing.title, signs.not);
        for sign in signs.given {
            let without = with(with(given(signs), &signs.mechanism[0], 2.0), sign, 0.0);
            let without = found(rule, without).map(|finding| finding.confidence);
            assert_eq!(without, Some(Confidence::Excluded), "{}", rule.id);
        }
        assert!(
            found(rule, slow()).is_none(),
            "{}: what was not read is neither there nor excluded",
            rule.id
        );
    }
}

#[test]
fn what_confirms_it_makes_it_likely_if_it_explains_what_was_noticed() {
    for (rule, signs) in with_signs() {
        let Some(sign) = signs.mechanism.first() else { continue };
        for confirmer in signs.confirmers {
            // So many that each slow request can have met one.
            let both = with(with(given(signs), sign, 1e4), confirmer, 2.0);
            let both = both.fail(FailureClass::Reset, 0);
            let finding = found(rule, both).expect("a finding");
            let seen = finding.evidence.iter().filter(|seen| seen.role == EvidenceRole::Confirmer);
            assert_eq!(seen.count(), 1, "{finding:?}");
            let is_enough = finding.explained_ratio.is_some_and(|part| part >= 0.5);
            assert_eq!(finding.confidence > Confidence::Possible, is_enough, "{finding:?}");
        }
    }
}

#[test]
fn few_packets_do_not_explain_many_slow_requests() {
    let rule = RULES.iter().find(|rule| rule.id == "N04").expect("there is one");
    let few = slow().counter("softnet.dropped_count", "cpu:1", 1.0).counter("Tcp.RetransSegs", NETNS, 10.0);
    let finding = found(rule, few).expect("a finding");
    assert_eq!(finding.confidence, Confidence::Possible, "{finding:?}");
    assert!(finding.title.contains("most on CPU 1"), "{}", finding.title);
    assert!(finding.explained_ratio.is_some_and(|part| part < 0.5), "{finding:?}");
}

#[test]
fn a_neighbour_that_moved_the_hosts_counters_accuses_nobody() {
    let (rule, signs) = with_signs().find(|(rule, _)| rule.id == "E05").expect("there is one");
    let read_again = with(given(signs), &signs.mechanism[0], 3.0);
    let quiet = with(read_again, &signs.confirmers[0], 0.0);
    let finding = found(rule, quiet).expect("a finding");
    assert_eq!(finding.confidence, Confidence::Excluded, "{finding:?}");
    assert!(finding.title.ends_with("but not because of this server"), "{finding:?}");
}

#[test]
fn a_part_of_the_packets_names_its_device_and_counts_in_packets() {
    let rule = RULES.iter().find(|rule| rule.id == "N06").expect("there is one");
    let drops = |hz: f64| {
        let case = slow().counter("netdev.rx_packets_count", "netdev:eth0", 10_000.0);
        case.counter("netdev.rx_dropped_count", "netdev:eth0", hz).counter("Tcp.RetransSegs", NETNS, hz)
    };
    let finding = found(rule, drops(5_000.0)).expect("a finding");
    assert!(finding.confidence >= Confidence::Likely, "{finding:?}");
    assert!(finding.title.ends_with("50% of what eth0 received"), "{}", finding.title);
    let few = found(rule, drops(250.0)).expect("a finding");
    assert!(few.explained_ratio.is_some_and(|part| part < 0.5), "{few:?}");
    assert_eq!(found(rule, drops(100.0)).map(|finding| finding.confidence), Some(Confidence::Excluded));
}

#[test]
fn what_a_neighbor_does_confirms_nothing_of_the_server() {
    let sign = &super::super::memory::OWN_FAULTS;
    let read = |scope: &str| {
        let case = slow().counter(sign.quantity.name, scope, 1e4).build();
        sign.read(&case.view()).is_some_and(|reading| reading.is_sign())
    };
    assert!(read("process:1000") && !read("process:2000") && !read("process:3000"));
}

#[test]
fn connections_of_somebody_else_do_not_limit_a_closed_loop_that_opened_its_own_in_time() {
    let rule = RULES.iter().find(|rule| rule.id == "T03").expect("there is one");
    let flooded = |specimen: Specimen| {
        let flooded = specimen.counter(column::SYN_QUEUE_COOKIES.name, NETNS, 60.0);
        let flooded = flooded.counter(column::TCP_SYN_RETRANS.name, NETNS, 60.0);
        found(rule, flooded).expect("a finding")
    };
    let waiting =
        flooded(Specimen::closed(1, 2_000.0, 20.0).edit(|case| case.end.summary.total.timed_out = 1));
    assert!(waiting.confidence > Confidence::Excluded, "one still waits for its connection: {waiting:?}");
    let finding = flooded(Specimen::closed(1, 2_000.0, 20.0));
    assert_eq!(finding.confidence, Confidence::Excluded, "{finding:?}");
    assert!(finding.title.starts_with("No effect on requests"), "{finding:?}");
    assert!(finding.evidence[0].text.starts_with("no request waited for it"), "{finding:?}");
}
