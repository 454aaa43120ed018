//! Tests of the checks: each one fires on its fault, does not fire on a look-alike, and a clean trial is VALID.

use super::*;
use crate::corpus::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use sysdyno_record::analysis::VerdictStatus::{self, Invalid, Suspect, Valid};
use sysdyno_record::event::{Event, EventKind, ProcessRole, WatchedProcess};
use sysdyno_record::facts::Fact;
use sysdyno_record::load::{FailureClass, GapSample, LatencyKind, TrialEnding, TrialPurpose};
use sysdyno_record::plan::{Arrival, Endpoint, KeepAlive, PhaseEnd, PhaseKind, PhasePlan};
use sysdyno_record::probe::ProbeKind;
use sysdyno_record::units::SpanNs;
use sysdyno_stats::histogram::LatencyHistogram;

/// What a check says about a trial.
fn status_of(id: &str, case: Specimen) -> Option<VerdictStatus> {
    let case = case.build();
    let verdict = check_trial(&case.view());
    verdict.reasons.iter().find(|reason| reason.id == id).map(|reason| reason.status)
}

fn text_of(id: &str, case: Specimen) -> String {
    let case = case.build();
    let verdict = check_trial(&case.view());
    verdict
        .reasons
        .iter()
        .find(|reason| reason.id == id)
        .map(|reason| reason.text.clone())
        .unwrap_or_default()
}

fn open() -> Specimen {
    Specimen::open(2000.0, 10.0)
}

fn closed() -> Specimen {
    Specimen::closed(64, 20_000.0, 10.0)
}

#[test]
fn a_clean_run_on_a_shared_host_is_valid_with_remarks() {
    for case in [open(), closed()] {
        let case = case.build();
        let verdict = check_trial(&case.view());
        assert_eq!(verdict.status, Valid, "{:?}", verdict.reasons);
        let ids: Vec<&str> = verdict.reasons.iter().map(|reason| reason.id.as_str()).collect();
        assert!(ids.contains(&"M15") && ids.contains(&"M22"), "{ids:?}");
    }
}

#[test]
fn every_check_has_its_own_number_and_says_what_it_means() {
    let mut ids: Vec<&str> = CHECKS.iter().map(|check| check.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), CHECKS.len());
    for check in CHECKS {
        assert!(
            check.meaning.ends_with('.') && !check.remedy.is_empty() && !check.name.is_empty(),
            "{}",
            check.id
        );
        assert!(
            check.thresholds.iter().all(|limit| limit.value.is_finite() && !limit.source.is_empty()),
            "{}",
            check.id
        );
    }
}

#[test]
fn m01_a_full_generator_thread_with_an_idle_server_is_a_lower_bound() {
    let case = closed().generator(0.96);
    assert_eq!(status_of("M01", case.clone()), Some(Invalid));
    assert!(text_of("M01", case).contains("at least 20,000 req/s"));
    assert_eq!(status_of("M01", closed().generator(0.75)), Some(Suspect));
    assert_eq!(status_of("M01", open().generator(0.75)), Some(Valid));
    assert_eq!(status_of("M01", closed().generator(0.5)), None);
}

#[test]
fn m01_when_both_are_full_nobody_is_blamed() {
    let case = closed().generator(0.95).server(0.95).cpu(0.5, 0.4, 0.08);
    assert_eq!(status_of("M01", case.clone()), Some(Suspect));
    assert!(text_of("M01", case).contains("either could be the bottleneck"));
}

#[test]
fn m01_a_quota_of_a_fifth_of_a_cpu_is_seen() {
    let quota = |used: f64, stopped: f64| {
        closed()
            .generator(used)
            .gauge("cgroup.quota_ratio", "cgroup:generator", 0.2)
            .counter("cgroup.periods_count", "cgroup:generator", 10.0)
            .counter("cgroup.throttled_count", "cgroup:generator", stopped)
    };
    let case = quota(0.199, 9.8);
    assert_eq!(status_of("M01", case.clone()), Some(Invalid));
    let text = text_of("M01", case);
    assert!(
        text.contains("0.20 of its quota of 0.20 CPUs") && text.contains("98%") && text.contains("at least"),
        "{text}"
    );
    assert_eq!(status_of("M01", quota(0.1, 0.0)), None);
    let unread = closed().generator(0.02).counter("cgroup.periods_count", "cgroup:generator", 10.0).counter(
        "cgroup.throttled_count",
        "cgroup:generator",
        9.8,
    );
    assert_eq!(status_of("M01", unread.clone()), Some(Invalid), "the counters alone tell it");
    let text = text_of("M01", unread);
    assert!(text.contains("0.02 CPUs of a quota and was throttled in 98%"), "{text}");
    let shared = quota(0.19, 9.0).counter("cgroup.periods_count", "cgroup:target", 10.0).counter(
        "cgroup.throttled_count",
        "cgroup:target",
        9.0,
    );
    assert_eq!(status_of("M01", shared), Some(Suspect));
}

#[test]
fn m01_a_quota_that_cannot_be_seen_shows_as_waiting_beside_idle_cpus() {
    let delayed = |delay: f64| {
        closed().generator(0.2).counter(
            "thread.run_delay_us",
            &format!("thread:{GENERATOR}/{GENERATOR}"),
            delay * 1e6,
        )
    };
    assert_eq!(status_of("M01", delayed(0.78)), Some(Invalid));
    assert_eq!(status_of("M01", delayed(0.3)), None);
}

#[test]
fn m02_waiting_for_connections_of_an_idle_server() {
    let waiting = || open().edit(|case| case.fill(LatencyKind::PoolSlip, spread(20_000, 20e6)));
    assert_eq!(status_of("M02", waiting()), Some(Suspect));
    assert_eq!(status_of("M02", open()), None);
    let queueing = waiting().gauge("connections.unread_count", "listener:127.0.0.1:8080", 40.0);
    assert_eq!(status_of("M02", queueing), Some(Valid));
    let search = waiting().edit(|case| case.begin.purpose = TrialPurpose::Grid);
    assert_eq!(status_of("M02", search), Some(Valid));
    let one = Specimen::closed(1, 50.0, 40.0).cpu(0.05, 0.05, 0.0);
    assert_eq!(status_of("M02", one.clone()), Some(Valid));
    assert!(text_of("M02", one).contains("1 connection in a closed loop"));
}

#[test]
fn m02_says_no_less_than_was_carried_and_nothing_of_a_server_that_fails_or_stands_still() {
    // Half of the responses take nine times as long: the mean is five times the median.
    let skewed = || {
        let mut histogram = LatencyHistogram::new();
        (0..1000).for_each(|_| histogram.record(4_000_000));
        (0..999).for_each(|_| histogram.record(36_000_000));
        Specimen::closed(4, 199.9, 10.0).cpu(0.05, 0.05, 0.0).edit(|case| {
            case.fill(LatencyKind::Service, histogram);
            case.end.summary.measured.goodput_hz = 199.9;
        })
    };
    let text = text_of("M02", skewed());
    assert!(text.contains("can carry at most 200 req/s at a mean service time of 20.0 ms"), "{text}");
    assert_eq!(status_of("M02", skewed().fail(FailureClass::Status, 100)), None, "it is not the connections");
    let still = |case: Specimen| {
        case.edit(|case| {
            case.set_intervals(|second| (if (3..5).contains(&second) { 0.0 } else { 1000.0 }, 1_000_000, 4))
        })
    };
    assert_eq!(status_of("M02", still(skewed())), None);
    let waiting = open().edit(|case| case.fill(LatencyKind::PoolSlip, spread(20_000, 20e6)));
    let stopped = still(waiting).build();
    let verdict = check_trial(&stopped.view());
    let reason =
        verdict.reasons.iter().find(|reason| reason.id == "M02").expect("connections were waited for");
    assert!(
        reason.text.ends_with("the server did not answer at all for 2.0 s of that time"),
        "{}",
        reason.text
    );
    assert!(reason.status == Valid && !reason.remedy.contains("--connections"), "{reason:?}");
}

#[test]
fn m04_failures_above_a_thousandth_are_no_throughput() {
    assert_eq!(status_of("M04", open().fail(FailureClass::Status, 21)), Some(Invalid));
    assert_eq!(status_of("M04", open().fail(FailureClass::Status, 20)), Some(Valid));
    assert_eq!(status_of("M04", open().time_out(30)), Some(Invalid));
    assert_eq!(status_of("M04", open()), None);
    assert_eq!(status_of("M04", open().fail(FailureClass::LocalPorts, 500)), None);
    let missing = open().fail(FailureClass::Status, 20_000).edit(|case| {
        case.end.summary.measured.statuses = [(404, 20_000)].into();
    });
    assert_eq!(text_of("M04", missing), "100% of the requests failed: 20,000 status (404)");
}

#[test]
fn m05_wrong_content_is_another_workload() {
    for class in [FailureClass::WrongBody, FailureClass::WrongLength, FailureClass::BodyTruncated] {
        assert_eq!(status_of("M05", open().fail(class, 1)), Some(Invalid), "{class:?}");
    }
    assert_eq!(status_of("M05", open().fail(FailureClass::Status, 100)), None);
}

#[test]
fn m06_a_stall_in_a_closed_loop() {
    let stall = |count: u64, length_ns: u64| {
        closed().edit(move |case| {
            let mut histogram = spread(200_000, 2e6);
            (0..count).for_each(|_| histogram.record(length_ns));
            case.fill(LatencyKind::Service, histogram);
        })
    };
    assert_eq!(status_of("M06", stall(64, 500_000_000)), Some(Suspect));
    assert_eq!(status_of("M06", stall(1, 500_000_000)), Some(Valid));
    assert_eq!(status_of("M06", closed()), None);
    assert_eq!(status_of("M06", open()), None);
}

#[test]
fn m07_and_m08_limits_of_the_generators_host() {
    assert_eq!(status_of("M07", open().fail(FailureClass::LocalPorts, 1)), Some(Invalid));
    let waiting = |count: f64, opened: u64| {
        open()
            .edit(move |case| {
                case.end.summary.measured.connections_opened = opened;
                let range = Fact::Text("50000\t50100".into());
                case.facts.facts.insert("sysctl.net.ipv4.ip_local_port_range".into(), range);
            })
            .gauge("sockstat.tcp_tw_count", "netns:target", count)
    };
    assert_eq!(status_of("M07", waiting(95.0, 50)), Some(Suspect));
    assert_eq!(status_of("M07", waiting(20.0, 50)), None);
    assert_eq!(status_of("M07", waiting(95.0, 5)), None, "others have used them");
    assert_eq!(status_of("M08", open().fail(FailureClass::LocalFdLimit, 1)), Some(Invalid));
    let descriptors = |used: f64| {
        let scope = format!("process:{GENERATOR}");
        open().gauge("process.fds_count", &scope, used).gauge("process.fds_limit_count", &scope, 1024.0)
    };
    assert_eq!(status_of("M08", descriptors(1000.0)), Some(Suspect));
    assert_eq!(status_of("M08", descriptors(100.0)), None);
    assert_eq!(status_of("V09", open().fail(FailureClass::LocalBuffers, 100)), Some(Invalid));
    assert_eq!(status_of("V09", open()), None);
}

#[test]
fn m09_connections_that_are_not_kept() {
    let opened = |count: u64| open().edit(move |case| case.end.summary.measured.connections_opened = count);
    assert_eq!(status_of("M09", opened(2_000)), Some(Suspect));
    assert_eq!(status_of("M09", opened(64)), None);
    let planned = opened(20_000).edit(|case| case.begin.plan.keep_alive = KeepAlive::Requests(1));
    assert_eq!(status_of("M09", planned), None);
    for class in [FailureClass::TlsHandshake, FailureClass::TlsIssuer, FailureClass::EofBeforeHead] {
        assert_eq!(status_of("M09", opened(2_000).fail(class, 2_000)), None, "{class:?} ended them");
    }
    assert_eq!(status_of("M09", opened(2_000).time_out(2_000)), None);
    assert_eq!(
        status_of("M09", opened(2_000).fail(FailureClass::Status, 2_000)),
        Some(Suspect),
        "they go on"
    );
}

#[test]
fn m10_a_system_that_changes_while_it_is_measured() {
    let growing = |growth: f64| {
        open().edit(move |case| {
            case.set_intervals(|second| (2000.0, (1e6 * (1.0 + growth * second as f64)) as u64, 2))
        })
    };
    assert_eq!(status_of("M10", growing(0.3)), Some(Invalid));
    assert_eq!(status_of("M10", growing(0.04)), Some(Suspect));
    assert_eq!(status_of("M10", growing(0.0)), None);
    let noise = open()
        .edit(|case| case.set_intervals(|second| (2000.0, 1_000_000 + 200_000 * (second as u64 % 3), 2)));
    assert_eq!(status_of("M10", noise), None);
    let step = closed()
        .edit(|case| case.set_intervals(|second| (if second < 5 { 20_000.0 } else { 17_000.0 }, 1, 64)));
    assert_eq!(status_of("M10", step), Some(Suspect));
    let backlog = open().edit(|case| case.set_intervals(|second| (2000.0, 1_000_000, 40 * second as u64)));
    assert_eq!(status_of("M10", backlog), Some(Suspect));
    let search = growing(0.3).edit(|case| case.begin.purpose = TrialPurpose::Grid);
    assert_eq!(status_of("M10", search), Some(Valid));
    let overload = || growing(0.3).edit(|case| case.end.summary.measured.achieved_hz *= 0.8);
    assert_eq!(status_of("M10", overload()), Some(Suspect), "what is beyond the capacity waits ever longer");
    let beyond = overload().edit(|case| case.begin.purpose = TrialPurpose::Grid);
    assert_eq!(status_of("M10", beyond), Some(Valid), "a search goes beyond it on purpose");
    // The levels of the first and of the last two seconds.
    let rises = "the median latency rose from 1.15 ms to 3.55 ms over the window";
    assert_eq!(text_of("M10", growing(0.3)), rises);
    let falling = closed()
        .edit(|case| case.set_intervals(|second| (20_000.0 * (1.0 - second as f64 / 9.0).powi(2), 1, 64)));
    let falls = "the rate fell from 17,900 to 124 req/s over the window";
    assert_eq!(text_of("M10", falling), falls, "a line through it ends below zero");
}

#[test]
fn m11_somebody_else_on_the_host() {
    assert_eq!(status_of("M11", open().cpu(0.4, 0.3, 0.05)), Some(Suspect));
    assert_eq!(status_of("M11", open().cpu(0.12, 0.115, 0.05)), Some(Valid));
    assert_eq!(status_of("M11", open()), None);
    let named = open().cpu(0.4, 0.3, 0.05).counter("process.cpu_us", "process:77", 0.5e6).edit(|case| {
        let busy = WatchedProcess::new(77, 1, "gzip", ProcessRole::Foreign);
        case.watched.push(WatchedProcess { unit: Some("backup.service".into()), ..busy });
    });
    assert!(text_of("M11", named).ends_with(": 'gzip' (process 77) of backup.service 0.50 CPUs"));
    // A shell starts a program again and again, and one of them lived long enough to be watched.
    let started = open()
        .cpu(0.4, 0.3, 0.05)
        .counter("process.cpu_us", "process:77", 0.01e6)
        .counter("process.reaped_us", "process:77", 0.5e6)
        .counter("process.cpu_us", "process:78", 0.2e6)
        .counter("process.reaped_us", "process:78", 0.0)
        .edit(|case| {
            let shell = WatchedProcess::new(77, 1, "sh", ProcessRole::Foreign);
            let program = WatchedProcess::new(78, 1, "gzip", ProcessRole::Foreign);
            case.watched.extend([shell, WatchedProcess { parent_pid: Some(77), ..program }]);
        });
    let named = ": 'sh' (process 77) 0.30 CPUs in programs that it starts, 'gzip' (process 78) 0.20 CPUs";
    assert!(text_of("M11", started.clone()).ends_with(named), "{}", text_of("M11", started));
    let unseen = |until: f64| {
        let case = with_tier(open().cpu(0.4, 0.1, 0.05), "php", "127.0.0.1:9000", 1, TARGET);
        case.edit(|case| {
            let php = case.watched.last().expect("was added").clone();
            let scope = format!("process:{}", php.pid);
            let readings = case.readings.clone();
            case.readings = readings.counter_from(BEGIN + until, "process.cpu_us", &scope, 0.75e6);
            case.events.push(Event { mono_ns: at(BEGIN + until), event: EventKind::Watched(php) });
        })
    };
    for until in [1.0, 5.0] {
        assert_eq!(
            status_of("M11", unseen(until)),
            None,
            "a tier that was found after {until} s is not foreign"
        );
    }
    let unknown = open().cpu(0.4, 0.4, 0.0).edit(|case| case.watched.clear());
    assert_eq!(status_of("M11", unknown), None);
}

#[test]
fn m12_time_that_the_hypervisor_took() {
    let stolen = |share: f64| {
        let case = open().counter("cpu.steal_us", "cpu:0", share * 1e6);
        case.counter("cpu.steal_us", "cpu:1", share * 1e6)
    };
    assert_eq!(status_of("M12", stolen(0.3)), Some(Invalid));
    assert_eq!(status_of("M12", stolen(0.05)), Some(Suspect));
    assert_eq!(status_of("M12", stolen(0.01)), Some(Valid));
    assert_eq!(status_of("M12", open()), None);
}

#[test]
fn m14_watching_that_costs() {
    assert_eq!(status_of("M14", open().counter("self.cpu_us", "host", 8e4)), Some(Suspect));
    assert_eq!(status_of("M14", open().counter("self.cpu_us", "host", 3e4)), Some(Valid));
    assert_eq!(status_of("M14", open().counter("self.cpu_us", "host", 5e3)), None);
}

#[test]
fn m15_sharing_cpus_is_never_invalid_by_itself() {
    assert_eq!(status_of("M15", open().cpu(0.5, 0.4, 0.1).server(1.2).generator(0.5)), Some(Suspect));
    assert_eq!(status_of("M15", open().cpu(0.5, 0.4, 0.1)), Some(Valid), "others took the CPU: M11 says so");
    assert_eq!(status_of("M15", open()), Some(Valid));
    let pinned = |cpus: &'static [u32]| {
        open().cpu(0.5, 0.4, 0.1).server(1.2).generator(0.5).edit(move |case| {
            case.end.summary.generator.cpus = vec![Some(1)];
            case.watched.iter_mut().for_each(|process| process.cpus = Some(cpus.to_vec()));
        })
    };
    assert_eq!(status_of("M15", pinned(&[0])), Some(Valid), "each has its own");
    assert_eq!(status_of("M15", pinned(&[0, 1])), Some(Suspect));
    let remote = open().edit(|case| {
        case.begin.plan.target.endpoint = Endpoint::Tcp("10.0.0.2:80".parse().expect("an address"));
        case.watched.retain(|process| process.role == ProcessRole::Generator);
    });
    assert_eq!(status_of("M15", remote.clone()), None);
    assert_eq!(status_of("M22", remote), None);
}

#[test]
fn m19_a_server_that_is_not_the_same_any_more() {
    let dead = open().edit(|case| {
        case.readings = case.readings.clone().dying("process.cpu_us", &format!("process:{TARGET}"), 1e5);
    });
    assert_eq!(status_of("M19", dead), Some(Invalid));
    let helper = |cpus: f64| {
        let helper = WatchedProcess::new(1001, 99, "nginx", ProcessRole::Target);
        open().server(0.4).gauge("process.threads_count", "process:1001", 1.0).edit(move |case| {
            case.watched.push(helper);
            case.readings = case.readings.clone().dying("process.cpu_us", "process:1001", cpus * 1e6);
        })
    };
    assert_eq!(status_of("M19", helper(0.0)), Some(Valid), "it did nothing, and nobody missed it");
    assert_eq!(status_of("M19", helper(0.2)), Some(Suspect));
    let started = helper(0.2).edit(|case| {
        let event = EventKind::Watched(WatchedProcess::new(1001, 99, "sh", ProcessRole::Target));
        case.events.push(Event { mono_ns: at(BEGIN + WARMUP + 3.0), event });
    });
    assert_eq!(
        status_of("M19", started.clone()),
        Some(Valid),
        "a program for some requests has come and gone"
    );
    let nobody = started.edit(|case| {
        case.readings = case.readings.clone().dying("process.cpu_us", &format!("process:{TARGET}"), 1e5);
    });
    assert_eq!(status_of("M19", nobody), Some(Invalid), "nobody is left, those that came later included");
    let other = WatchedProcess::new(TARGET, 99, "nginx", ProcessRole::Target);
    let replaced = open().edit(|case| case.watched.push(other.clone()));
    assert_eq!(status_of("M19", replaced), Some(Invalid));
    let worker = WatchedProcess { pid: 1001, ..other };
    let grown = open().edit(|case| {
        case.watched.push(worker.clone());
        case.events.push(Event { mono_ns: at(BEGIN + WARMUP + 3.0), event: EventKind::Watched(worker) });
    });
    assert_eq!(status_of("M19", grown), Some(Valid));
    assert_eq!(status_of("M19", open()), None);
}

#[test]
fn v01_counts_that_do_not_add_up() {
    assert_eq!(status_of("V01", open().edit(|case| case.end.summary.measured.counts.ok -= 1)), Some(Invalid));
    assert_eq!(status_of("V01", open().edit(|case| case.end.summary.total.unsent = u64::MAX)), Some(Invalid));
    assert_eq!(status_of("V01", open()), None);
}

#[test]
fn v05_a_rate_that_is_not_achieved() {
    let short =
        |achieved: f64| open().edit(move |case| case.end.summary.measured.achieved_hz = 2000.0 * achieved);
    assert_eq!(status_of("V05", short(0.8)), Some(Suspect));
    assert_eq!(status_of("V05", short(0.993)), Some(Valid));
    assert_eq!(status_of("V05", short(1.0)), None);
    let asleep = open().edit(|case| {
        let counts = &mut case.end.summary.measured.counts;
        (counts.scheduled, counts.sent, counts.written, counts.ok) = (15_000, 15_000, 15_000, 15_000);
    });
    assert_eq!(status_of("V05", asleep), Some(Invalid));
}

#[test]
fn v06_a_generator_that_is_late() {
    let late = |median_ns: f64, response_ns: f64| {
        open().edit(move |case| {
            case.fill(LatencyKind::LoopSlip, spread(20_000, median_ns));
            case.fill(LatencyKind::Response, spread(20_000, response_ns));
        })
    };
    assert_eq!(status_of("V06", late(20e6, 21e6)), Some(Invalid));
    assert_eq!(status_of("V06", late(3e6, 10e6)), Some(Suspect));
    assert_eq!(status_of("V06", late(0.1e6, 1e6)), Some(Valid));
    assert_eq!(status_of("V06", open()), None);
    let busy = || late(20e6, 21e6).cpu(0.6, 0.3, 0.08);
    assert_eq!(status_of("V06", busy().server(1.2).generator(0.4)), Some(Suspect));
    assert_eq!(status_of("V06", busy().server(0.2).generator(0.2)), Some(Invalid), "others took the CPU");
}

#[test]
fn v07_littles_law() {
    let slower = |factor: f64| {
        closed().edit(move |case| case.fill(LatencyKind::Service, spread(200_000, factor * 2.1e6)))
    };
    assert_eq!(status_of("V07", slower(1.5)), Some(Invalid));
    assert_eq!(status_of("V07", slower(0.5)), Some(Suspect));
    assert_eq!(status_of("V07", closed()), None);
    let short =
        Specimen::closed(1, 500.0, 0.02).edit(|case| case.fill(LatencyKind::Service, spread(10, 0.9e6)));
    assert_eq!(status_of("V07", short), None, "ten requests are over before the threads have started");
}

#[test]
fn v08_samples_that_are_too_few() {
    assert_eq!(status_of("V08", Specimen::open(50.0, 10.0)), Some(Suspect));
    assert_eq!(status_of("V08", Specimen::open(500.0, 10.0)), Some(Valid));
    assert_eq!(status_of("V08", open()), None);
    let none = open().edit(|case| {
        case.end.summary.measured.latency.clear();
        case.end.summary.measured.counts = Default::default();
    });
    assert_eq!(status_of("V08", none), Some(Invalid));
}

/// A trial of two steps, 500 and 4,000 requests a second over two threads, with these gaps of so many arrivals each.
fn stepped(arrivals_count: u32, mut gap_ns: impl FnMut(f64) -> u64) -> Specimen {
    let step = |rate_hz: f64| PhasePlan {
        kind: PhaseKind::Step,
        rate_hz: Some(rate_hz),
        end: PhaseEnd::After(SpanNs::from_secs(10)),
    };
    let mut sample = |phase_index: u32, mean_ns: f64| GapSample {
        phase_index,
        arrivals_count,
        gaps_ns: (0..250).map(|_| gap_ns(mean_ns)).collect(),
    };
    let arrival_gaps = vec![sample(0, 4e6), sample(1, 5e5), sample(0, 4e6), sample(1, 5e5)];
    open().edit(move |case| {
        case.begin.plan.phases = vec![step(500.0), step(4000.0)];
        case.end.summary.generator.threads = 2;
        case.end.summary.generator.arrival_gaps = arrival_gaps;
    })
}

/// Sums of so many exponential gaps.
fn poisson(random: &mut Xoshiro256PlusPlus, arrivals: u32, mean_ns: f64) -> u64 {
    let gap = |_| -(1.0 - random.random::<f64>()).ln() * mean_ns;
    (0..arrivals).map(gap).sum::<f64>().round() as u64
}

#[test]
fn v24_one_sound_poisson_run_in_a_hundred_is_remarked_and_none_is_suspect() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(24);
    for arrivals in [1, 12] {
        let runs = 500;
        let fits = (0..runs).map(|_| {
            let case = stepped(arrivals, |mean_ns| poisson(&mut random, arrivals, mean_ns)).build();
            arrival_fit(&case.view()).expect("enough gaps")
        });
        let fits: Vec<_> = fits.collect();
        let failed = fits.iter().filter(|fit| !fit.is_met).count();
        // Five are expected; more than 14 have a chance of 1 in 4,000.
        assert!((1..=14).contains(&failed), "{failed} of {runs} at {arrivals}");
        assert!(fits.iter().all(|fit| fit.statistic < 10.0 && fit.gaps_count == 1000));
    }
}

#[test]
fn v24_what_is_not_a_poisson_process_of_that_rate_is_suspect() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(25);
    let mut suspect = |what: &str, gap_ns: &mut dyn FnMut(&mut Xoshiro256PlusPlus, f64) -> u64| {
        let case = stepped(1, |mean_ns| gap_ns(&mut random, mean_ns));
        assert_eq!(status_of("V24", case.clone()), Some(Suspect), "{what}");
        assert!(text_of("V24", case).contains("above 3.878"), "{what}");
    };
    suspect("constant gaps", &mut |_, mean_ns| mean_ns as u64);
    suspect("ticks of 1 ms", &mut |random, mean_ns| poisson(random, 1, mean_ns) / 1_000_000 * 1_000_000);
    suspect("bursts", &mut |random, mean_ns| match random.random_ratio(1, 3) {
        true => 200,
        false => poisson(random, 1, 1.5 * mean_ns),
    });
    suspect("a quarter too slow a rate", &mut |random, mean_ns| poisson(random, 1, 1.3 * mean_ns));
    suspect("one rate for all phases", &mut |random, _| poisson(random, 1, 1e6));
}

#[test]
fn v24_lateness_that_the_timer_is_known_to_have_is_no_fault() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(26);
    // A fortieth of the shorter mean gap, up or down.
    let case = stepped(1, |mean_ns| {
        let late_ns = (random.random::<f64>() - 0.5) * 25_000.0;
        (poisson(&mut random, 1, mean_ns) as f64 + late_ns).max(0.0) as u64
    });
    assert_ne!(status_of("V24", case), Some(Suspect));
}

#[test]
fn v24_constant_arrivals_keep_their_period() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(27);
    let constant = |case: Specimen| case.edit(|case| case.begin.plan.arrival = Arrival::Constant);
    assert_eq!(status_of("V24", constant(stepped(1, |mean_ns| mean_ns as u64))), None);
    assert_eq!(status_of("V24", constant(stepped(4, |mean_ns| 4 * mean_ns as u64 + 15_000))), None);
    let wrong = constant(stepped(1, |mean_ns| poisson(&mut random, 1, mean_ns)));
    assert_eq!(status_of("V24", wrong), Some(Suspect));
    assert_eq!(status_of("V24", constant(stepped(1, |mean_ns| (1.2 * mean_ns) as u64))), Some(Suspect));
    let few = open().edit(|case| {
        case.end.summary.generator.arrival_gaps =
            vec![GapSample { phase_index: 1, arrivals_count: 1, gaps_ns: vec![7; 50] }];
    });
    assert_eq!(status_of("V24", few), None, "fifty gaps show no shape");
}

#[test]
fn v30_and_v31_ends_before_the_end() {
    let ended = |ending: TrialEnding| open().edit(move |case| case.end.ending = ending);
    assert_eq!(status_of("V30", ended(TrialEnding::Interrupted)), Some(Suspect));
    assert_eq!(status_of("V31", ended(TrialEnding::HardStop("99% failed".into()))), Some(Invalid));
    assert_eq!(status_of("V30", open()).or(status_of("V31", open())), None);
}

#[test]
fn a_load_that_was_given_up_is_not_held_against_its_plan() {
    let given_up = |ending: TrialEnding| {
        open().edit(move |case| {
            case.end.ending = ending;
            let measured = &mut case.end.summary.measured;
            measured.counts.scheduled /= 10;
        })
    };
    assert_eq!(status_of("V05", given_up(TrialEnding::Complete)), Some(Invalid));
    let stopped = || given_up(TrialEnding::HardStop("99% failed".into()));
    assert_eq!(status_of("V05", stopped()), None);
    assert!(text_of("V31", stopped()).contains("99% failed; after that, only a few probes were sent"));
}

/// Answers of a probe, one after the other, spread a little around so many milliseconds.
fn answers(count: usize, milliseconds: f64) -> Vec<Option<f64>> {
    (0..count).map(|index| Some(milliseconds * 1e-3 * (0.9 + 0.2 * index as f64 / count as f64))).collect()
}

#[test]
fn v40_an_outsider_who_waits_longer_or_shorter_than_the_load_says_is_a_reason() {
    let probed = |milliseconds: f64| open().probed(ProbeKind::Http, &answers(90, milliseconds));
    assert_eq!(status_of("V40", probed(12.0)), Some(Suspect));
    let text = text_of("V40", probed(12.0));
    assert!(
        text.starts_with("median latency: probe 12.0 ms (11.7 ms–")
            && text.contains("load 1.04 ms (1.03 ms–1.05 ms)"),
        "{text}"
    );
    let mut slow = probed(1.0);
    slow.fill(LatencyKind::Response, spread(20_000, 20e6));
    assert_eq!(status_of("V40", slow), Some(Suspect));
}

#[test]
fn v40_an_outsider_who_waits_as_long_is_none() {
    assert_eq!(status_of("V40", open()), None, "there is no probe");
    for milliseconds in [0.3, 1.0, 2.0] {
        let case = open().probed(ProbeKind::Http, &answers(90, milliseconds));
        assert_eq!(status_of("V40", case), None, "{milliseconds} ms");
    }
    for kind in [ProbeKind::Tcp, ProbeKind::Icmp] {
        assert_eq!(status_of("V40", open().probed(kind, &answers(90, 12.0))), None, "another operation");
    }
    assert_eq!(status_of("V40", closed().probed(ProbeKind::Http, &answers(90, 12.0))), None, "closed");
}

#[test]
fn v40_too_few_replies_are_not_compared_and_that_is_said() {
    let case = open().probed(ProbeKind::Http, &answers(19, 12.0));
    assert_eq!(status_of("V40", case.clone()), Some(Valid));
    assert!(text_of("V40", case).contains("19 operations in the measured phases, 20 needed"));
    assert_eq!(status_of("V40", open().probed(ProbeKind::Http, &answers(20, 12.0))), Some(Suspect));
}

#[test]
fn v40_what_an_outsider_loses_alone_is_a_reason() {
    let with_lost = |count: usize| {
        let mut all = answers(90, 1.0);
        (0..count).for_each(|index| all[9 * index] = None);
        open().probed(ProbeKind::Http, &all)
    };
    assert_eq!(status_of("V40", with_lost(1)), None, "one of ninety may be chance");
    assert_eq!(status_of("V40", with_lost(8)), Some(Suspect));
    assert!(text_of("V40", with_lost(8)).contains("8 of 90 operations by the probe were lost"));
    assert_eq!(
        status_of("V40", with_lost(8).fail(FailureClass::Reset, 2_000)),
        None,
        "the load lost as much"
    );
}

#[test]
fn advice_fits_the_failures() {
    let remedy = |class: FailureClass| {
        let verdict = check_trial(&open().fail(class, 500).build().view());
        let reason = verdict.reasons.iter().find(|reason| reason.id == "M04").expect("fires").clone();
        reason.remedy
    };
    assert!(remedy(FailureClass::ConnectRefused).contains("listens on 127.0.0.1:"), "names the address");
    for class in [FailureClass::TlsIssuer, FailureClass::TlsCertificate] {
        let text = remedy(class);
        assert!(text.contains("--tls-ca FILE") && text.contains("--insecure"), "{text}");
    }
    assert!(remedy(FailureClass::Status).contains("--expect-status"));
    assert!(remedy(FailureClass::Reset).contains("check the failures by class"), "what is not known better");
}
