//! No sentence contradicts itself, or the numbers of its run: a sweep over records that a run can have written.

use super::claims::{contradictions, sentences};
use super::*;
use proptest::prelude::*;
use sysdyno_record::plan::KeepAlive;
use sysdyno_stats::histogram::LatencyHistogram;

const LISTENER: &str = "listener:127.0.0.1:8080";

/// How long every one of these trials lasts. Unit: seconds.
const SECONDS: f64 = 10.0;

/// Times around a usual one, some of which are longer by a factor.
#[derive(Clone, Copy, Debug)]
struct Times {
    usual_ns: f64,
    slow_ratio: f64,
    slow_times: f64,
}

impl Times {
    fn mean_ns(self) -> f64 {
        self.usual_ns * (1.0 + self.slow_ratio * (self.slow_times - 1.0))
    }

    fn histogram(self, count: u64) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::new();
        let slow = (count as f64 * self.slow_ratio) as u64;
        histogram.record_many(self.usual_ns as u64, count - slow);
        histogram.record_many((self.usual_ns * self.slow_times) as u64, slow);
        histogram
    }
}

fn times() -> impl Strategy<Value = Times> {
    (3e6..5e7, 0.0..0.95, 1.0..40.0).prop_map(|(usual_ns, slow_ratio, slow_times)| Times {
        usual_ns,
        slow_ratio,
        slow_times,
    })
}

/// A share that is often nothing.
fn some_share() -> impl Strategy<Value = f64> {
    prop_oneof![2 => Just(0.0), 1 => 0.0..0.02, 1 => 0.0..0.99]
}

prop_compose! {
    /// A closed or open loop whose rate, time and connections belong together.
    fn load()(
        is_open in any::<bool>(),
        connections in 1u32..100,
        times in times(),
        busy in 0.92..1.0_f64,
        wait_ns in prop_oneof![Just(1e3), 1e3..3e9],
    ) -> Specimen {
        let rate_hz = busy * f64::from(connections) * 1e9 / times.mean_ns();
        let count = (rate_hz * SECONDS) as u64;
        let mut case = if is_open {
            Specimen::open(rate_hz, SECONDS)
        } else {
            Specimen::closed(connections, rate_hz, SECONDS)
        };
        case.begin.plan.connections = connections;
        case.fill(LatencyKind::Service, times.histogram(count));
        if is_open {
            let waited = |times: Times| Times { usual_ns: times.usual_ns + wait_ns, slow_times: 1.0, ..times };
            case.fill(LatencyKind::Response, waited(times).histogram(count));
            let slip = Times { usual_ns: wait_ns, slow_ratio: 0.0, slow_times: 1.0 };
            case.fill(LatencyKind::PoolSlip, slip.histogram(count));
            case.fill(LatencyKind::Slip, slip.histogram(count));
        }
        case
    }
}

#[derive(Clone, Debug)]
struct Trouble {
    failed: f64,
    class: FailureClass,
    timed_out: f64,
    /// The last interval's rate, median and requests in flight, as a factor of the first one's.
    drift: f64,
    still_seconds: usize,
    opened: u64,
}

fn trouble() -> impl Strategy<Value = Trouble> {
    let class = (0..FailureClass::COUNT).prop_map(|at| FailureClass::ALL[at]);
    let drift = prop_oneof![Just(1.0), 0.001..1.0, 1.0..50.0];
    let still = prop_oneof![3 => Just(0), 1 => 1usize..6];
    (some_share(), class, some_share(), drift, still, 0u64..40_000).prop_map(
        |(failed, class, timed_out, drift, still_seconds, opened)| Trouble {
            failed,
            class,
            timed_out: timed_out * (1.0 - failed),
            drift,
            still_seconds,
            opened,
        },
    )
}

fn with_trouble(case: Specimen, trouble: &Trouble) -> Specimen {
    let count = case.end.summary.measured.counts.ok as f64;
    let (failed, timed_out) = ((count * trouble.failed) as u64, (count * trouble.timed_out) as u64);
    let case = if failed > 0 { case.fail(trouble.class, failed) } else { case };
    let case = if timed_out > 0 { case.time_out(timed_out) } else { case };
    let (drift, still) = (trouble.drift, trouble.still_seconds);
    let opened = trouble.opened;
    case.edit(|case| {
        case.end.summary.measured.connections_opened = opened;
        let ok = case.end.summary.measured.counts.ok as f64;
        case.end.summary.measured.goodput_hz = ok / SECONDS;
        let p50 =
            case.end.summary.measured.latency.values().find_map(|summary| summary.p50).unwrap_or(1_000_000);
        let step = |second: usize| 1.0 + (drift - 1.0) * second as f64 / (SECONDS - 1.0);
        case.set_intervals(|second| {
            let rate = if second < still { 0.0 } else { ok / SECONDS * step(second) };
            (rate, (p50 as f64 * step(second)) as u64, 1 + (20.0 * step(second)) as u64)
        });
    })
}

#[derive(Clone, Debug)]
struct Machine {
    user: f64,
    system: f64,
    softirq: f64,
    server: f64,
    generator: f64,
    delay: f64,
    pressure: f64,
}

fn machine() -> impl Strategy<Value = Machine> {
    (0.0..1.0_f64, 0.0..1.0, 0.0..1.0, 0.0..1.0_f64, 0.0..1.0_f64, 0.0..1.0, 0.0..1.0).prop_map(
        |(busy, user, softirq, server, generator, delay, pressure): (f64, f64, f64, f64, f64, f64, f64)| {
            let work = busy * (1.0 - 0.8 * softirq);
            let (user, system) = (work * user, work * (1.0 - user));
            // Two CPUs, and nobody uses more than there is.
            let of_server = (2.0 * work * server).min(1.0);
            let generator = ((2.0 * work - of_server) * generator).min(1.0);
            Machine { user, system, softirq: busy - work, server: of_server, generator, delay, pressure }
        },
    )
}

fn on_machine(case: Specimen, machine: &Machine) -> Specimen {
    let scope = format!("process:{TARGET}");
    let thread = format!("thread:{TARGET}/{TARGET}");
    let delay = machine.delay * (1.0 - machine.server).max(0.0);
    case.cpu(machine.user, machine.system, machine.softirq)
        .server(machine.server)
        .generator(machine.generator)
        .counter("process.run_delay_us", &scope, delay * 1e6)
        .counter("thread.run_delay_us", &thread, delay * 1e6)
        .gauge("process.running_threads_count", &scope, machine.server.round())
        .counter("psi.cpu_some_us", "host", machine.pressure * 1e6)
}

#[derive(Clone, Debug)]
struct Kernel {
    unread: f64,
    queue: f64,
    limit: f64,
    overflows: f64,
    syns: f64,
    slow_connects: u64,
    fds: f64,
    link: f64,
    throttled: f64,
    time_wait: f64,
}

fn kernel() -> impl Strategy<Value = Kernel> {
    (
        (0.0..20.0, 0.0..20.0, 1.0..20.0, prop_oneof![Just(0.0), 0.0..50.0]),
        (prop_oneof![Just(0.0), 0.1..50.0], 0u64..30, 0.0..1.0, 0.0..1.0, 0.0..1.0, 0.0..60_000.0),
    )
        .prop_map(
            |((unread, queue, limit, overflows), (syns, slow_connects, fds, link, throttled, time_wait))| {
                let (unread, queue, limit, time_wait) =
                    (f64::round(unread), f64::round(queue), f64::round(limit), f64::round(time_wait));
                Kernel {
                    unread,
                    queue,
                    limit,
                    overflows,
                    syns,
                    slow_connects,
                    fds,
                    link,
                    throttled,
                    time_wait,
                }
            },
        )
}

fn with_kernel(case: Specimen, kernel: &Kernel) -> Specimen {
    let scope = format!("process:{TARGET}");
    let slow_connects = kernel.slow_connects;
    case.gauge("connections.unread_count", LISTENER, kernel.unread)
        .gauge("listener.queue_count", LISTENER, kernel.queue.min(kernel.limit + 1.0))
        .gauge("listener.limit_count", LISTENER, kernel.limit)
        .counter("TcpExt.ListenOverflows", "netns:target", kernel.overflows)
        .counter("TcpExt.ListenDrops", "netns:target", kernel.overflows)
        .counter("TcpExt.TCPSynRetrans", "netns:target", kernel.syns)
        .gauge("process.fds_count", &scope, (1024.0 * kernel.fds).round())
        .gauge("process.fds_limit_count", &scope, 1024.0)
        .gauge("netdev.speed_mbps", "netdev:eth0", 1000.0)
        .counter("netdev.tx_bytes", "netdev:eth0", kernel.link * 125e6)
        .counter("cgroup.periods_count", "cgroup:target", 10.0)
        .counter("cgroup.throttled_count", "cgroup:target", 10.0 * kernel.throttled)
        .gauge("cgroup.quota_ratio", "cgroup:target", 1.5)
        .gauge("sockstat.tcp_tw_count", "netns:target", kernel.time_wait)
        .edit(|case| {
            let range = sysdyno_record::facts::Fact::Text("32768\t60999".into());
            case.facts.facts.insert("sysctl.net.ipv4.ip_local_port_range".into(), range);
            let mut connects = LatencyHistogram::new();
            connects.record_many(200_000, 200);
            connects.record_many(1_020_000_000, slow_connects);
            case.fill(LatencyKind::Connect, connects);
        })
}

#[track_caller]
fn assert_consistent(analysis: &Analysis) {
    let wrong = contradictions(analysis);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_sentence_about_a_load_contradicts_its_numbers(
        load in load(),
        trouble in trouble(),
        machine in machine(),
        kernel in kernel(),
        is_kept in any::<bool>(),
    ) {
        let case = with_kernel(on_machine(with_trouble(load, &trouble), &machine), &kernel);
        let case = case.edit(|case| {
            case.begin.plan.keep_alive = if is_kept { KeepAlive::Unlimited } else { KeepAlive::Requests(1) };
        });
        assert_consistent(&analyze_load(case));
    }
}

#[test]
fn no_sentence_about_a_search_contradicts_its_numbers() {
    let models = [
        Model::Queue { capacity_hz: 5_000.0, floor_ns: 10e6 },
        Model::Cliff { capacity_hz: 700.0 },
        Model::Refuses { capacity_hz: 900.0 },
        Model::NotFound { capacity_hz: 900.0 },
        Model::Dead,
        Model::Connections { service_ns: 20e6 },
    ];
    for model in models {
        for (noise, generator_hz) in [(0.0, None), (0.2, None), (0.1, Some(600.0))] {
            let world = World { noise, generator_hz, ..World::quiet(model) };
            assert_consistent(&analyze_run(&world));
        }
    }
}

#[test]
fn a_reader_of_sentences_notices_what_contradicts() {
    let sound = analyze_load(Specimen::open(2000.0, 10.0));
    assert!(sentences(&sound).len() > 10);
    for text in [
        "the rate changed by -112% over the window",
        "64 connections in a closed loop can carry at most 203 req/s at a mean service time of 1 ms",
        "the server carries at least 9,000 req/s",
        "the median latency rose from 12.0 ms to 1.00 ms over the window",
        "36,155 sockets were in TIME_WAIT, 128% of the 28,232 local ports",
        "the server used 2.7 of 2 CPUs",
        "nginx carries 900 req/s (95% interval 1,000–1,100)",
        "nginx completed 10 requests, response time p50 3 ms, p99 2 ms",
        "p99 of response time was 12.0 ms; the objective's limit is 50.0 ms",
    ] {
        let limit = text.to_owned();
        assert_eq!(contradictions(&Analysis { limit, ..sound.clone() }).len(), 1, "{text}");
    }
}
