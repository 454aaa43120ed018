//! Tests of the rules: what confirms each, what excludes it, and that without readings a rule stays silent.

use super::*;
use crate::corpus::*;
use crate::verdict::check_trial;
use sysdyno_record::analysis::Confidence::{Excluded, Likely, Possible};
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::facts::Fact;
use sysdyno_record::load::{FailureClass, TrialPurpose};
use sysdyno_stats::histogram::LatencyHistogram;

pub(super) const LISTENER: &str = "listener:127.0.0.1:8080";

/// What all rules conclude of a trial beyond the capacity, with a quiet one at a tenth of the load beside it.
pub(super) fn conclude(focus: Specimen) -> Vec<Finding> {
    let base = Specimen::open(200.0, 10.0).edit(|case| case.begin.purpose = TrialPurpose::Bracket).build();
    let focus = focus.edit(|case| {
        case.begin.trial = 2;
        case.begin.purpose = TrialPurpose::Grid;
    });
    let focus = focus.build();
    let trials = [base.view(), focus.view()];
    let verdicts: Vec<Verdict> = trials.iter().map(check_trial).collect();
    let objective = Objective::default();
    examine(&Scene {
        focus: trials[1],
        base: Some(trials[0]),
        trials: &trials,
        verdicts: &verdicts,
        objective: Some(&objective),
        is_connection_limited: false,
    })
}

fn find(id: &str, focus: Specimen) -> Option<Finding> {
    conclude(focus).into_iter().find(|finding| finding.id == id)
}

fn confidence_of(id: &str, focus: Specimen) -> Option<Confidence> {
    find(id, focus).map(|finding| finding.confidence)
}

/// A trial in which the objective was missed.
pub(super) fn slow() -> Specimen {
    Specimen::open(2000.0, 10.0).edit(|case| case.fill(LatencyKind::Response, spread(20_000, 100e6)))
}

/// The server waits, idle, with its connections full of unread requests.
fn pool() -> Specimen {
    let scope = format!("process:{TARGET}");
    slow()
        .cpu(0.05, 0.05, 0.01)
        .server(0.05)
        .gauge("process.threads_count", &scope, 8.0)
        .gauge("process.running_threads_count", &scope, 0.1)
        .gauge("connections.unread_count", LISTENER, 50.0)
        .gauge("listener.queue_count", LISTENER, 0.0)
        .edit(|case| case.set_intervals(|_| (2000.0, 100_000_000, 64)))
}

#[test]
fn confidence_follows_from_the_roles_of_the_evidence_alone() {
    use EvidenceRole::*;
    let case = Specimen::open(200.0, 10.0).build();
    let window = case.view().steady();
    let of = |roles: &[EvidenceRole]| {
        let evidence: Vec<Evidence> =
            roles.iter().map(|role| evidence(*role, &window, "test", String::new())).collect();
        confidence(&evidence)
    };
    assert_eq!(of(&[Mechanism, Confirmer, Effect]), Some(Likely));
    assert_eq!(of(&[Mechanism, Confirmer]), Some(Likely));
    assert_eq!(of(&[Mechanism, Effect]), Some(Possible));
    assert_eq!(of(&[Mechanism, Confirmer, Effect, Against]), Some(Possible));
    assert_eq!(of(&[Against, Confirmer, Effect]), Some(Excluded));
    assert_eq!(of(&[Confirmer, Effect]), None);
    assert_eq!(of(&[]), None);
}

#[test]
fn every_rule_has_its_own_number_and_can_be_argued_with() {
    let mut ids: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), RULES.len());
    for rule in RULES {
        assert!(
            rule.meaning.ends_with('.') && !rule.remedy.is_empty() && !rule.counterfactual.is_empty(),
            "{}",
            rule.id
        );
        assert!(
            rule.thresholds().iter().all(|limit| limit.value.is_finite() && !limit.source.is_empty()),
            "{}",
            rule.id
        );
    }
}

#[test]
fn nothing_is_confirmed_about_a_quiet_server_and_much_is_excluded() {
    let findings = conclude(Specimen::open(2000.0, 10.0).gauge("connections.unread_count", LISTENER, 0.0));
    assert!(findings.iter().all(|finding| finding.confidence == Excluded), "{findings:#?}");
    let ids: Vec<&str> = findings.iter().map(|finding| finding.id.as_str()).collect();
    assert_eq!(ids, ["G01", "F08", "A11", "N10", "C04", "F17", "A06", "C13", "N01", "F05", "F04"]);
    assert!(findings.iter().all(|finding| !finding.evidence.is_empty() && finding.remedy.is_none()));
}

#[test]
fn without_readings_only_what_the_engine_saw_is_said() {
    let blind = slow().edit(|case| case.readings = SeriesBuilder::new(1.0));
    let ids: Vec<String> = conclude(blind).into_iter().map(|finding| finding.id).collect();
    assert_eq!(ids, ["G01", "A11", "N10"]);
}

#[test]
fn all_evidence_names_its_source_and_its_seconds() {
    for finding in conclude(pool()) {
        for evidence in &finding.evidence {
            assert!(!evidence.source.is_empty() && !evidence.text.is_empty(), "{finding:?}");
            assert!(evidence.begin_mono_ns < evidence.end_mono_ns, "{finding:?}");
        }
    }
}

#[test]
fn c13_all_cpus_busy() {
    let busy = || slow().cpu(0.5, 0.3, 0.15).server(1.1).generator(0.4);
    let waiting = busy().counter("psi.cpu_some_us", "host", 6e5);
    let finding = find("C13", waiting).expect("a finding");
    assert_eq!(finding.confidence, Likely);
    let title = "The CPUs are the bottleneck: CPUs 0 and 1 are 95% busy, 50% user, 30% system, 15% \
                 interrupts; the server used 1.1 of 2 CPUs, the generator 0.40";
    assert_eq!(finding.title, title);
    assert_eq!(confidence_of("C13", busy()), Some(Possible));
    let unread = slow().edit(|case| case.readings = SeriesBuilder::over_trial(10.0));
    let unread = unread.cpu(0.5, 0.3, 0.15).counter("psi.cpu_some_us", "host", 6e5);
    assert_eq!(confidence_of("C13", unread), Some(Possible), "others may have used them");
    let others = busy().server(0.1).generator(0.1).counter("psi.cpu_some_us", "host", 6e5);
    let others = find("C13", others).expect("a finding");
    assert_eq!(others.confidence, Possible);
    assert!(others.title.ends_with("the generator 0.10, other processes 1.4"), "{}", others.title);
    assert_eq!(confidence_of("C13", slow()), Some(Excluded));
    let idle = busy().server(0.0).generator(1.0).counter("psi.cpu_some_us", "host", 6e5);
    let idle = find("C13", idle).expect("a finding");
    assert_eq!(idle.confidence, Excluded);
    let text = "the CPUs were 95% busy, but the server used or waited for only 0.00 of 2 CPUs";
    assert_eq!(idle.evidence[0].text, text);
    let asleep = busy().server(0.1).generator(0.9).counter("psi.cpu_some_us", "host", 6e5);
    assert_eq!(confidence_of("C13", asleep), Some(Possible), "its thread sleeps nine tenths of the time");
    let failing = busy().counter("psi.cpu_some_us", "host", 6e5).fail(FailureClass::Status, 2_000);
    let failing = find("C13", failing).expect("a finding");
    assert_eq!(failing.confidence, Possible, "a busy CPU makes nobody answer 500");
    assert!(failing.evidence.iter().any(|seen| seen.text == "it explains at most 0% of the failed requests"));
    let few = busy().counter("psi.cpu_some_us", "host", 6e5).fail(FailureClass::Status, 400);
    let few = find("C13", few).expect("a finding");
    assert_eq!(few.confidence, Likely, "for each failed request, many more were slow: {few:?}");
    let greedy = busy().server(0.9).generator(0.9);
    assert!(
        find("C13", greedy)
            .and_then(|finding| finding.remedy)
            .is_some_and(|remedy| remedy.contains("another host"))
    );
}

#[test]
fn n01_one_cpu_receives_the_packets() {
    let cpu = |specimen: Specimen, scope: &str, softirq: f64, idle: f64| {
        specimen
            .counter("cpu.softirq_us", scope, softirq * 1e6)
            .counter("cpu.system_us", scope, (1.0 - softirq - idle) * 1e6)
            .counter("cpu.idle_us", scope, idle * 1e6)
    };
    let of = |softirq: [f64; 2], idle: [f64; 2]| {
        cpu(cpu(slow().cpu(0.0, 0.0, 0.0), "cpu:0", softirq[0], idle[0]), "cpu:1", softirq[1], idle[1])
    };
    let packets = |specimen: Specimen, first: f64, second: f64| {
        specimen.counter("softnet.processed_count", "cpu:0", first).counter(
            "softnet.processed_count",
            "cpu:1",
            second,
        )
    };
    let piled = || of([0.53, 0.15], [0.02, 0.32]);
    let finding = find("N01", packets(piled(), 9000.0, 1000.0)).expect("a finding");
    assert_eq!(finding.confidence, Likely);
    assert_eq!(
        finding.title,
        "Receive work on one CPU is the bottleneck: CPU 0 was 98% busy (53% in interrupts); the other CPUs \
         were 68% busy"
    );
    assert_eq!(confidence_of("N01", piled()), Some(Possible), "the packets were not counted");
    assert_eq!(confidence_of("N01", packets(piled(), 5000.0, 5000.0)), Some(Possible), "they were spread");
    let own = packets(piled(), 9000.0, 1000.0).server(0.98);
    assert_eq!(confidence_of("N01", own), Some(Possible), "its thread sends them itself");
    let refused = packets(piled(), 9000.0, 1000.0).fail(FailureClass::EofBeforeHead, 5_000);
    assert_eq!(confidence_of("N01", refused), Some(Possible), "the server closes its connections");
    let received = packets(piled(), 9000.0, 1000.0)
        .gauge("connections.unread_count", LISTENER, 50.0)
        .edit(|case| case.set_intervals(|_| (2000.0, 100_000_000, 64)));
    assert_eq!(confidence_of("N01", received), Some(Possible), "the requests have been received");
    for (why, spread) in [
        ("no CPU has time left", of([0.53, 0.15], [0.02, 0.1])),
        ("it has time left itself", of([0.53, 0.15], [0.2, 0.5])),
        ("it does something else", of([0.2, 0.05], [0.02, 0.5])),
        ("the other one does as much of it", of([0.3, 0.25], [0.02, 0.32])),
    ] {
        assert_eq!(confidence_of("N01", spread), Some(Excluded), "{why}");
    }
}

#[test]
fn f05_one_busy_thread() {
    let finding = find("F05", slow().server(0.98).cpu(0.4, 0.15, 0.05)).expect("a finding");
    assert_eq!(finding.confidence, Likely);
    assert!(finding.title.contains("nginx (process 1000)"), "{}", finding.title);
    let column = finding.evidence[0].column.as_deref();
    assert_eq!(column, Some(format!("thread.cpu_us@thread:{TARGET}/{TARGET}").as_str()));
    let saturated = slow().server(0.98).cpu(0.6, 0.3, 0.08);
    assert_eq!(confidence_of("F05", saturated), Some(Possible));
    let two = slow().server(0.98).counter("thread.cpu_us", &format!("thread:{TARGET}/1005"), 0.9e6);
    assert_eq!(confidence_of("F05", two), Some(Excluded));
    assert_eq!(confidence_of("F05", slow().server(0.5)), Some(Excluded));
    let running = |share| {
        slow().server(0.6).gauge("process.running_threads_count", &format!("process:{TARGET}"), share)
    };
    let robbed = find("F05", running(1.0)).expect("a finding");
    assert_eq!(robbed.confidence, Likely);
    let text = "and was running or ready to run in 100% of the samples";
    assert!(robbed.evidence[0].text.contains(text), "{robbed:?}");
    assert_eq!(confidence_of("F05", running(0.6)), Some(Excluded));
}

#[test]
fn a_full_pool_is_not_what_one_thread_makes_the_others_wait_for() {
    let working = |cpus: f64| {
        let other = format!("thread:{TARGET}/1005");
        let thread = format!("thread:{TARGET}/{TARGET}");
        let case =
            pool().counter("thread.cpu_us", &other, 0.02e6).counter("thread.cpu_us", &thread, cpus * 1e6);
        confidence_of("F04", case)
    };
    assert_eq!(working(0.1), Some(Likely));
    assert_eq!(working(0.6), Some(Possible));
}

#[test]
fn who_shares_the_cpus_about_evenly_has_two_remedies() {
    let remedy = |server: f64| {
        let case =
            slow().cpu(0.5, 0.3, 0.15).server(server).generator(0.1).counter("psi.cpu_some_us", "host", 6e5);
        find("C13", case).and_then(|finding| finding.remedy).expect("something can be changed")
    };
    assert!(
        remedy(0.8).starts_with("stop the other processes") && remedy(0.8).contains("reduce CPU per request")
    );
    assert!(!remedy(0.1).contains("reduce CPU per request"), "{}", remedy(0.1));
}

#[test]
fn a_requests_time_begins_when_there_is_a_connection_for_it() {
    let mean_ms = |slip_ns: f64| {
        let case = slow().edit(|case| case.fill(LatencyKind::PoolSlip, spread(20_000, slip_ns)));
        case.view().request_mean_ns().expect("was filled") / 1e6
    };
    let felt_ms = mean_ms(1.0);
    assert!((felt_ms - 113.0).abs() < 1.0, "{felt_ms}");
    assert!((mean_ms(50e6) - felt_ms / 2.0).abs() < 1.0, "{}", mean_ms(50e6));
    let service_ms = slow().view().summary(LatencyKind::Service).mean.expect("was filled") / 1e6;
    assert!(
        (mean_ms(200e6) - service_ms).abs() < 0.01,
        "no less than what was sent took: {}",
        mean_ms(200e6)
    );
}

#[test]
fn f05_a_thread_that_is_nearly_full_with_requests_that_queue_for_it() {
    let nearly = |unread: f64| {
        let case = slow().server(0.88).cpu(0.4, 0.1, 0.02);
        let view = case.view();
        let mean_ns = view.request_mean_ns().expect("was filled");
        case.requests("tier:target", [unread * mean_ns, 0.2 * mean_ns])
    };
    assert_eq!(confidence_of("F05", nearly(0.7)), Some(Likely));
    assert_eq!(confidence_of("F05", nearly(0.1)), Some(Excluded), "nothing queues");
}

#[test]
fn f04_workers_that_wait_while_requests_lie_unread() {
    let finding = find("F04", pool()).expect("a finding");
    assert_eq!(finding.confidence, Likely);
    let title = "nginx: all workers are busy; 50 requests unread in the server's sockets, 64 in flight";
    assert_eq!(finding.title, title);
    assert_eq!(confidence_of("F04", pool().gauge("connections.unread_count", LISTENER, 0.0)), Some(Excluded));
    assert_eq!(confidence_of("F04", pool().cpu(0.5, 0.4, 0.0)), Some(Likely), "others took the CPU");
    assert_eq!(confidence_of("F04", pool().cpu(0.1, 0.1, 0.6)), Some(Excluded));
    assert_eq!(confidence_of("F04", pool().server(0.97)), Some(Excluded));
    let starved =
        pool().server(0.5).counter("thread.run_delay_us", &format!("thread:{TARGET}/{TARGET}"), 0.48e6);
    assert_eq!(confidence_of("F04", starved), Some(Excluded));
    let in_line = |threads: f64| {
        let scope = format!("process:{TARGET}");
        pool().gauge("process.threads_count", &scope, threads).counter("process.run_delay_us", &scope, 0.8e6)
    };
    assert_eq!(confidence_of("F04", in_line(2.0)), Some(Excluded), "others have the CPUs");
    assert_eq!(confidence_of("F04", in_line(8.0)), Some(Likely), "most threads ask for no CPU");
    let full = in_line(8.0).cpu(0.6, 0.37, 0.0);
    assert_eq!(confidence_of("F04", full), Some(Excluded), "others have the CPUs, and none is free");
    let crowded = |delay: f64| {
        let scope = format!("process:{TARGET}");
        let server = pool().server(0.4).gauge("process.threads_count", &scope, 2.0);
        server.counter("process.run_delay_us", &scope, delay * 1e6)
    };
    assert_eq!(confidence_of("F04", crowded(0.25).cpu(0.6, 0.37, 0.0)), Some(Excluded), "all share the CPUs");
    assert_eq!(confidence_of("F04", crowded(0.25).cpu(0.4, 0.2, 0.0)), Some(Likely), "CPUs are idle");
    assert_eq!(confidence_of("F04", crowded(0.05).cpu(0.6, 0.37, 0.0)), Some(Likely), "nobody waits for one");
    let queue = |length: f64| {
        let queue = pool().gauge("connections.unread_count", LISTENER, 0.0);
        queue.gauge("listener.queue_count", LISTENER, length)
    };
    assert_eq!(confidence_of("F04", queue(50.0)), Some(Likely));
    assert_eq!(confidence_of("F04", queue(5.0)), Some(Possible), "59 of 64 requests wait elsewhere");
    let stopped = pool().edit(|case| {
        case.fill(LatencyKind::Service, spread(20_000, 1e6));
        case.set_intervals(|second| (if (3..6).contains(&second) { 0.0 } else { 2000.0 }, 1_000_000, 64));
    });
    let finding = find("F04", stopped).expect("a finding");
    assert_eq!(finding.confidence, Possible, "nobody answered: {finding:?}");
    let bursts = pool().gauge("connections.unread_count", LISTENER, 0.0).edit(|case| {
        let values = (0..100).map(|row| Some(if row % 10 == 0 { 120.0 } else { 0.0 })).collect();
        case.readings = case.readings.clone().set("listener.queue_count", LISTENER, values);
    });
    assert_eq!(confidence_of("F04", bursts), Some(Excluded), "a queue that comes and goes");
}

#[test]
fn f04_names_the_tier_that_waits_for_nobody_else() {
    let queue = |address: &str| format!("listener:{address}");
    let [front, back] = ["127.0.0.1:9000", "127.0.0.1:3306"];
    let tiers = || {
        let case =
            with_tier(pool().gauge("connections.unread_count", LISTENER, 0.0), "php-fpm", front, 1, TARGET);
        with_tier(case, "mariadbd", back, 2, TARGET + 100)
    };
    let one = tiers().gauge("listener.queue_count", &queue(front), 50.0);
    let finding = find("F04", one).expect("a finding");
    assert!(finding.title.starts_with("php-fpm: all workers are busy"), "{}", finding.title);
    let both = tiers().gauge("listener.queue_count", &queue(front), 20.0);
    let finding = find("F04", both.gauge("listener.queue_count", &queue(back), 30.0)).expect("a finding");
    assert!(finding.title.starts_with("mariadbd: all workers are busy"), "{}", finding.title);
    // A worker may leave the end of a request unread until it has answered.
    let busy = tiers().gauge("connections.unread_count", &queue(front), 64.0);
    assert_eq!(confidence_of("F04", busy), Some(Excluded));
}

#[test]
fn f04_a_queue_that_was_gone_when_it_was_read_is_seen_at_a_higher_rate() {
    let gone = pool().gauge("connections.unread_count", LISTENER, 0.0).build();
    let beyond =
        |trial: Specimen| trial.edit(|case| case.end.summary.measured.offered_hz = Some(2500.0)).build();
    let conclude = |beyond: &Specimen| {
        let trials = [gone.view(), beyond.view()];
        let objective = Objective::default();
        let scene = Scene {
            focus: trials[0],
            base: None,
            trials: &trials,
            verdicts: &[],
            objective: Some(&objective),
            is_connection_limited: false,
        };
        examine(&scene).into_iter().find(|finding| finding.id == "F04").expect("a finding")
    };
    let finding = conclude(&beyond(pool()));
    assert_eq!(finding.confidence, Likely);
    let effect = finding.evidence.iter().find(|evidence| evidence.role == EvidenceRole::Effect);
    assert!(effect.is_some_and(|effect| effect.text.contains("2,500 req/s")), "{finding:?}");
    assert_eq!(conclude(&beyond(pool().cpu(0.1, 0.1, 0.6))).confidence, Excluded);
}

#[test]
fn what_gives_out_beyond_the_capacity_is_named_where_nothing_is_full_at_it() {
    let at_it = slow().build();
    let full = |rate_hz: f64| {
        let full = slow().cpu(0.6, 0.3, 0.08).server(1.8).counter("psi.cpu_some_us", "host", 6e5);
        full.edit(|case| case.end.summary.measured.offered_hz = Some(rate_hz)).build()
    };
    let first_of = |beyond: &Specimen, status: VerdictStatus| {
        let trials = [at_it.view(), beyond.view()];
        let sound = |status| Verdict { status, reasons: Vec::new() };
        let objective = Objective::default();
        let scene = Scene {
            focus: trials[0],
            base: None,
            trials: &trials,
            verdicts: &[sound(VerdictStatus::Valid), sound(status)],
            objective: Some(&objective),
            is_connection_limited: false,
        };
        examine(&scene).into_iter().next().filter(|finding| finding.confidence >= Likely)
    };
    let finding = first_of(&full(3000.0), VerdictStatus::Valid).expect("a finding");
    let title = "At 3,000 req/s, beyond the capacity: The CPUs are the bottleneck";
    assert!(finding.id == "C13" && finding.title.starts_with(title), "{}", finding.title);
    assert_eq!(first_of(&full(3000.0), VerdictStatus::Invalid), None, "a trial that is not to be believed");
    assert_eq!(first_of(&full(5000.0), VerdictStatus::Valid), None, "too far away");
}

/// A trial in which so many of 20,000 requests took a second longer, since the packet that begins their connection was sent again.
fn repeated(count: u64, seconds: &[f64]) -> Specimen {
    Specimen::open(2000.0, 10.0).edit(|case| {
        let (mut responses, mut connects) = (spread(20_000 - count, 1e6), LatencyHistogram::new());
        connects.record_many(200_000, 20_000 - count);
        for number in 0..count {
            let waited = (seconds[number as usize % seconds.len()] * 1e9) as u64;
            connects.record(waited);
            responses.record(waited + 1_000_000);
        }
        case.fill(LatencyKind::Response, responses);
        case.fill(LatencyKind::Connect, connects);
        case.end.summary.measured.connections_opened = 20_000;
    })
}

#[test]
fn t01_a_full_accept_queue_names_its_listener() {
    let full = |case: Specimen, overflows: f64, length: f64| {
        case.counter("TcpExt.ListenOverflows", "netns:target", overflows)
            .counter("TcpExt.ListenDrops", "netns:target", overflows)
            .gauge("listener.queue_count", LISTENER, length)
            .gauge("listener.limit_count", LISTENER, 5.0)
    };
    let finding = find("T01", full(repeated(400, &[1.02]), 40.0, 6.0)).expect("a finding");
    assert_eq!(finding.confidence, Likely);
    let place = "of 127.0.0.1:8080 (backlog 5, peak length 6)";
    assert!(finding.title.contains(place) && finding.title.contains("dropped"), "{}", finding.title);
    assert_eq!(finding.explained_ratio, Some(1.0));
    let failing = || Specimen::open(2000.0, 10.0).fail(FailureClass::ConnectTimeout, 400);
    assert_eq!(confidence_of("T01", full(failing(), 40.0, 6.0)), Some(Likely));
    assert_eq!(confidence_of("T01", full(Specimen::open(2000.0, 10.0), 10.0, 6.0)), Some(Excluded));
    assert_eq!(confidence_of("T01", full(repeated(400, &[1.02]), 40.0, 2.0)), Some(Possible));
    assert_eq!(confidence_of("T01", full(slow(), 0.0, 2.0)), Some(Excluded));
    assert_eq!(confidence_of("T01", slow()), None);
}

#[test]
fn t01_drops_that_no_request_met_are_those_of_another_server() {
    let elsewhere = |case: Specimen| {
        case.counter("TcpExt.ListenOverflows", "netns:target", 49.0)
            .counter("TcpExt.TCPSynRetrans", "netns:target", 33.0)
            .gauge("listener.queue_count", LISTENER, 0.0)
            .gauge("listener.limit_count", LISTENER, 511.0)
    };
    let finding = find("T01", elsewhere(Specimen::open(2000.0, 10.0))).expect("a finding");
    assert_eq!(finding.confidence, Excluded);
    assert!(finding.evidence[0].text.starts_with("that host dropped 603 connections"), "{finding:?}");
    assert!(confidence_of("T01", elsewhere(repeated(400, &[1.02]))) > Some(Excluded));
    let refused = Specimen::open(2000.0, 10.0).fail(FailureClass::ConnectTimeout, 400);
    assert!(confidence_of("T01", elsewhere(refused)) > Some(Excluded));
}

#[test]
fn t01_a_few_drops_do_not_make_every_response_slow() {
    let few = slow()
        .counter("TcpExt.ListenOverflows", "netns:target", 10.0)
        .gauge("listener.queue_count", LISTENER, 6.0)
        .gauge("listener.limit_count", LISTENER, 5.0);
    let finding = find("T01", few).expect("a finding");
    assert_eq!(finding.confidence, Possible);
    assert!(finding.explained_ratio.is_some_and(|part| part < 0.01), "{finding:?}");
    let against = finding.evidence.last().map(|evidence| evidence.text.as_str());
    assert!(against.is_some_and(|text| text.ends_with(" of the slow requests")), "{against:?}");
}

#[test]
fn t04_connects_at_the_ticks_of_the_timer() {
    let staircase = |count: u64, seconds: &[f64]| {
        repeated(count, seconds).counter("TcpExt.TCPSynRetrans", "netns:target", count as f64 / 8.0)
    };
    let finding = find("T04", staircase(500, &[1.01, 1.02, 3.05, 3.06, 7.1])).expect("a finding");
    assert_eq!(finding.confidence, Likely);
    assert!(finding.title.contains("500 connects took 1 s, 3 s, and 7 s"), "{}", finding.title);
    assert_eq!(confidence_of("T04", staircase(500, &[1.6, 2.6, 6.1, 6.2])), Some(Possible));
    let old = staircase(300, &[2.02, 2.03, 4.02]).edit(|case| {
        case.facts.facts.insert("kernel.release".into(), Fact::Text("5.15.0-91-generic".into()));
    });
    assert_eq!(confidence_of("T04", old), Some(Possible));
    let none = slow().counter("TcpExt.TCPSynRetrans", "netns:target", 0.0);
    assert_eq!(confidence_of("T04", none), Some(Excluded));
}

#[test]
fn t04_one_syn_proves_nothing_whatever_it_delayed() {
    let one = repeated(1, &[1.01]).counter("TcpExt.TCPSynRetrans", "netns:target", 0.1);
    let one = one.edit(|case| case.fill(LatencyKind::Response, spread(20_000, 100e6)));
    let finding = find("T04", one).expect("a finding");
    assert_eq!(finding.confidence, Possible);
    assert!(
        finding.evidence.iter().any(|evidence| evidence.text == "it was seen only 1 time"),
        "{finding:?}"
    );
}

#[test]
fn t04_is_no_matter_of_syns_where_all_segments_are_lost() {
    let lossy = |others: f64| {
        repeated(600, &[1.01])
            .counter("TcpExt.TCPSynRetrans", "netns:target", 75.0)
            .counter("Tcp.RetransSegs", "netns:target", 75.0 + others)
            .counter("Tcp.OutSegs", "netns:target", 8000.0)
    };
    assert_eq!(confidence_of("T04", lossy(4.0)), Some(Likely));
    let finding = find("T04", lossy(240.0)).expect("a finding");
    assert_eq!(finding.confidence, Possible);
    let title =
        "Packets are lost in the network: 3.0% of TCP segments were retransmitted, and SYN packets too";
    assert_eq!(finding.title, title);
    assert!(finding.remedy.is_some_and(|remedy| remedy.starts_with("find the loss")));
}

#[test]
fn n10_a_full_link() {
    let link = |bytes: f64| {
        slow()
            .gauge("netdev.speed_mbps", "netdev:eth0", 1000.0)
            .counter("netdev.tx_bytes", "netdev:eth0", bytes)
            .counter("netdev.rx_bytes", "netdev:eth0", bytes / 50.0)
    };
    let finding = find("N10", link(118e6)).expect("a finding");
    assert_eq!(finding.confidence, Likely);
    assert_eq!(finding.title, "The network link is saturated: eth0 sent at 94% of its 1,000 Mbit/s");
    assert_eq!(confidence_of("N10", link(50e6)), Some(Excluded));
    assert_eq!(confidence_of("N10", slow()), Some(Excluded));
}

#[test]
fn f01_descriptors_used_up() {
    let scope = format!("process:{TARGET}");
    let open = |count: f64| {
        slow()
            .gauge("process.fds_count", &scope, count)
            .gauge("process.fds_limit_count", &scope, 1024.0)
            .gauge("listener.queue_count", LISTENER, 30.0)
            .fail(FailureClass::ConnectTimeout, 400)
    };
    let finding = find("F01", open(1020.0)).expect("a finding");
    assert_eq!(finding.confidence, Likely);
    assert!(finding.title.contains("1,020 of its 1,024"), "{}", finding.title);
    assert_eq!(confidence_of("F01", open(100.0)), Some(Excluded));
    let lowered = find("F01", open(1030.0)).expect("a finding");
    assert!(
        lowered.title.contains("had 1,030 file descriptors open, with a limit of 1,024"),
        "{}",
        lowered.title
    );
}

#[test]
fn c03_a_server_under_a_quota() {
    let stopped = |count: f64| {
        slow()
            .counter("cgroup.periods_count", "cgroup:target", 10.0)
            .counter("cgroup.throttled_count", "cgroup:target", count)
            .gauge("cgroup.quota_ratio", "cgroup:target", 0.2)
    };
    assert_eq!(confidence_of("C03", stopped(9.0)), Some(Likely));
    assert_eq!(confidence_of("C03", stopped(0.1)), Some(Excluded));
    assert_eq!(confidence_of("C03", slow()), None);
}

#[test]
fn g01_and_g02_the_generator_itself() {
    let finding = find("G01", slow().generator(0.97)).expect("a finding");
    assert_eq!(finding.confidence, Likely);
    assert!(finding.title.starts_with("The generator is the bottleneck"), "{}", finding.title);
    assert_eq!(confidence_of("G01", slow()), Some(Excluded));
    assert_eq!(confidence_of("G02", slow()), None);
    let failing = slow().generator(0.97).fail(FailureClass::Status, 10_000);
    assert_eq!(confidence_of("G01", failing), Some(Possible), "half of the answers were errors");
    let (base, focus) = (
        Specimen::open(200.0, 10.0).build(),
        slow().edit(|case| {
            case.fill(LatencyKind::PoolSlip, spread(20_000, 90e6));
        }),
    );
    let focus = focus.build();
    let trials = [base.view(), focus.view()];
    let scene = Scene {
        focus: trials[1],
        base: Some(trials[0]),
        trials: &trials,
        verdicts: &[],
        objective: None,
        is_connection_limited: true,
    };
    let finding = examine(&scene).into_iter().find(|finding| finding.id == "G02").expect("a finding");
    assert_eq!(finding.confidence, Likely);
}

#[test]
fn names_from_the_host_are_bounded_and_printable() {
    let command = format!("evil\u{1b}]0;{}", "x".repeat(500));
    let hostile = slow().server(0.98).cpu(0.4, 0.15, 0.05).edit(|case| {
        case.watched = vec![WatchedProcess::new(TARGET, 7, command, ProcessRole::Target)];
    });
    let finding = find("F05", hostile).expect("a finding");
    assert!(finding.title.len() < 300 && !finding.title.contains('\u{1b}'), "{}", finding.title);
}
