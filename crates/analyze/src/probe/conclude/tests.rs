//! Loss windows of several targets, and what is concluded from who saw them.

use super::*;
use sysdyno_record::plan::{Endpoint, Target};
use sysdyno_record::probe::{ProbeKind, ProbeOutcome, ProbePlan};
use sysdyno_record::units::SpanNs;

const EVERY_MS: u64 = 100;

fn targets(names: &[&str]) -> Vec<ProbedTarget> {
    let target = |name: &&str| ProbedTarget {
        name: (*name).to_owned(),
        target: Target {
            url: "10.0.0.1".into(),
            endpoint: Endpoint::Tcp("10.0.0.1:0".parse().expect("an address")),
            host: "10.0.0.1".into(),
            path: "/".into(),
        },
        plan: ProbePlan {
            kind: ProbeKind::Icmp,
            interval: SpanNs::from_millis(EVERY_MS),
            timeout: SpanNs::from_secs(2),
        },
    };
    names.iter().map(target).collect()
}

/// So many operations of each target, of which those that are named were lost.
fn concluded(names: &[&str], count: u64, is_lost: impl Fn(&str, u64) -> bool) -> ProbeConclusion {
    let mut tally = ProbesTally::new(targets(names));
    for (target, name) in (0u16..).zip(names) {
        for sequence in 1..=count {
            let at = MonoNs(sequence * EVERY_MS * 1_000_000 + u64::from(target) * 1_000_000);
            let lost = is_lost(name, sequence);
            tally.add(&ProbeReply {
                trial: 0,
                target,
                sequence,
                intended_mono_ns: at,
                sent_mono_ns: Some(at),
                end_mono_ns: at,
                outcome: if lost { ProbeOutcome::TimedOut } else { ProbeOutcome::Received },
                connect_ns: None,
                status: None,
            });
        }
    }
    tally.conclusion()
}

#[test]
fn a_window_says_who_saw_it_and_who_did_not() {
    let found =
        concluded(&["a", "b", "c"], 100, |name, sequence| name != "a" && (20..50).contains(&sequence));
    assert_eq!(
        found.headline,
        "b lost 30 of 100 probes (30%) and c lost 30 of 100 probes (30%) in 1 window that a did not see"
    );
    let [window] = found.windows.as_slice() else { panic!("{:?}", found.windows) };
    assert_eq!((window.begin_mono_ns.0 / 1_000_000, window.span_ns() / 1_000_000), (2_001, 3_001));
    let shares: Vec<_> = window.targets.iter().map(|share| (share.lost_count, share.sight)).collect();
    assert_eq!(shares, [(0, WindowSight::Clear), (30, WindowSight::Lost), (30, WindowSight::Lost)]);
    assert_eq!(found.targets.iter().map(|target| target.windows_count).collect::<Vec<_>>(), [0, 1, 1]);
}

#[test]
fn a_single_lost_probe_proves_nothing_about_another_target() {
    let found = concluded(&["a", "b"], 100, |name, sequence| name == "b" && sequence == 40);
    assert_eq!(found.windows[0].targets[0].sight, WindowSight::TooFew, "{:?}", found.windows);
    assert_eq!(found.headline, "b lost 1 of 100 probes (1.0%) in 1 window");
}

#[test]
fn windows_apart_are_counted_and_listed_up_to_a_bound() {
    let found = concluded(&["a"], 20_000, |_, sequence| sequence % 20 == 0);
    assert_eq!((found.windows_count, found.windows.len()), (1_000, WINDOWS_MAX));
    assert_eq!(found.headline, "1,000 of 20,000 probes (5.0%) lost in 1,000 windows");
}

#[test]
fn without_a_loss_there_is_no_window() {
    let found = concluded(&["a", "b"], 50, |_, _| false);
    assert_eq!(
        (found.windows_count, found.headline.as_str()),
        (0, "None of 100 probes to 2 targets was lost")
    );
    assert_eq!(concluded(&["a"], 50, |_, _| false).headline, "None of 50 probes was lost");
    assert_eq!(concluded(&["a"], 0, |_, _| false).headline, "No probe ended");
}

#[test]
fn a_reply_of_no_target_is_left_out() {
    let mut tally = ProbesTally::new(targets(&["a"]));
    let at = MonoNs(1);
    tally.add(&ProbeReply {
        trial: 0,
        target: 7,
        sequence: 1,
        intended_mono_ns: at,
        sent_mono_ns: Some(at),
        end_mono_ns: at,
        outcome: ProbeOutcome::TimedOut,
        connect_ns: None,
        status: None,
    });
    assert_eq!(tally.conclusion().headline, "No probe ended");
}
