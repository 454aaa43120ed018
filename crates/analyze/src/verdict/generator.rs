//! Did the trial measure the generator instead of the server? CPU, connections, ports, descriptors, lateness, and the cost
//! of sampling.

use super::check::{Check, Concern, Culprit, Examine, Observation};
use super::cpu::{SERVER_SATURATED, is_saturated_by_server, is_server_saturated};
use super::timing::standstill_seconds;
use crate::format::{counted, cpus, duration, percent, rate, whole};
use crate::readings::{Window, ratio};
use crate::threshold::{HOUSE, Threshold};
use crate::view::{TrialView, error_ratio};
use sysdyno_record::column::{self, CGROUP_GENERATOR, CGROUP_TARGET, HOST, NETNS};
use sysdyno_record::event::ProcessRole;
use sysdyno_record::load::{FailureClass, LatencyKind, TrialPurpose};

const THREAD_FULL: Threshold = Threshold::new(
    "CPU of the busiest generator thread, to be the bottleneck",
    0.90,
    "ratio",
    "house value: a paced loop at 90% has no room for a burst",
);
const THREAD_BUSY: Threshold =
    Threshold::new("CPU of the busiest generator thread, to be mentioned", 0.70, "ratio", HOUSE);
const QUOTA_USED: Threshold =
    Threshold::new("CPU of the generator ÷ its CPU quota", 0.95, "ratio", "netdata, cgroup CPU limit alarm");
const THROTTLED: Threshold = Threshold::new(
    "share of quota periods in which the generator was throttled",
    0.05,
    "ratio",
    "cpu.stat nr_throttled ÷ nr_periods, house value",
);
const STARVED: Threshold = Threshold::new(
    "share of time in which a generator thread ran or waited for a CPU while other CPUs were idle",
    0.95,
    "ratio",
    HOUSE,
);
/// With less idle CPU than this, waiting for a CPU needs no quota as its explanation.
const IDLE_MIN: f64 = 0.20;

/// Whether a generator thread that uses so much of a CPU may be what limits the rate.
pub(crate) fn is_generator_full(busy_ratio: f64) -> bool {
    busy_ratio >= THREAD_FULL.value
}

/// M01.
pub(crate) const CPU_BOUND: Check = Check {
    id: "M01",
    name: "gen-cpu-bound",
    meaning: "The load generator ran out of CPU, so the rate is only a lower bound for the server.",
    thresholds: &[THREAD_FULL, THREAD_BUSY, QUOTA_USED, THROTTLED, STARVED, SERVER_SATURATED],
    remedy: "give the generator more threads or CPUs, lift its quota, or send from another host",
    blame: Culprit::Generator,
    concerns: &[],
    examine: Examine::Trial(examine_cpu),
};

fn examine_cpu(view: &TrialView) -> Option<Observation> {
    // Where nothing was answered, there is no rate that anyone could have limited.
    if view.counts().ok == 0 {
        return None;
    }
    let window = view.steady();
    let saturated = is_server_saturated(view);
    let at_least = at_least(view);
    if let Some(quota) = quota_at_limit(view, &window) {
        let text = format!("{}{at_least}", quota.text);
        return if quota.is_shared { Observation::suspect(text) } else { Observation::invalid(text) };
    }
    if let Some(text) = starved_text(view, &window) {
        return Observation::invalid(format!("{text}{at_least}"));
    }
    let busiest = view.end.summary.generator.busiest_thread_ratio;
    let busy = format!("the generator's busiest thread used {} of a CPU", percent(busiest));
    if busiest >= THREAD_FULL.value {
        return match saturated {
            Some(true) => Observation::suspect(format!(
                "{busy}, and the server had no CPU left either, so either could be the bottleneck{at_least}"
            )),
            Some(false) => Observation::invalid(format!("{busy}, while the server had CPU left{at_least}")),
            None => Observation::invalid(format!("{busy}, and the server's CPU use is unknown{at_least}")),
        };
    }
    if busiest < THREAD_BUSY.value {
        return None;
    }
    if view.is_open() || saturated == Some(true) {
        return Observation::remark(busy);
    }
    Observation::suspect(format!("{busy}; in a closed loop, this adds to every service time"))
}

/// What a rate that the generator set still says. In a search the rate that met the objective says it instead.
fn at_least(view: &TrialView) -> String {
    match view.begin.purpose {
        TrialPurpose::Single | TrialPurpose::Sweep => {
            format!(": the server can carry at least {} req/s", rate(view.goodput_hz()))
        }
        _ => String::new(),
    }
}

/// The generator's CPU quota was its limit.
struct QuotaLimit {
    text: String,
    /// The server is subject to the same quota.
    is_shared: bool,
}

fn quota_at_limit(view: &TrialView, window: &Window) -> Option<QuotaLimit> {
    let scope = CGROUP_GENERATOR;
    // Quotas are read once a second: of a host that is held up that much there may be no reading, but still the counters.
    let quota = window.level(column::CGROUP_QUOTA, scope).map(|level| level.last);
    let used = window.process_cpus(&view.processes(ProcessRole::Generator));
    let used = used.or_else(|| ratio(view.end.summary.generator.cpu_seconds, view.seconds()))?;
    let stopped = throttled_share(window, scope).unwrap_or(0.0);
    let is_used_up =
        quota.and_then(|quota| ratio(used, quota)).is_some_and(|share| share >= QUOTA_USED.value);
    if !is_used_up && stopped < THROTTLED.value {
        return None;
    }
    let is_shared = stopped > 0.0 && throttled_share(window, CGROUP_TARGET) == Some(stopped);
    let with = if is_shared { " (shared with the server)" } else { "" };
    let of_quota = match quota {
        Some(quota) => format!("{} of its quota of {} CPUs", cpus(used), cpus(quota)),
        None => format!("{} CPUs of a quota", cpus(used)),
    };
    let text = format!(
        "the generator used {of_quota}{with} and was throttled in {} of the periods",
        percent(stopped)
    );
    Some(QuotaLimit { text, is_shared })
}

/// Share of the quota periods in which a cgroup was stopped.
pub(crate) fn throttled_share(window: &Window, scope: &str) -> Option<f64> {
    // Where there are too few readings in the span, those beside it do.
    let grown = |counter| {
        let within = window.growth(counter, scope).map(|growth| growth.amount);
        within.or_else(|| window.occurrences(counter, scope))
    };
    ratio(grown(column::CGROUP_THROTTLED)?, grown(column::CGROUP_PERIODS)?)
}

/// A generator thread waited for a CPU while CPUs were idle: a quota above what can be seen, or a crowded CPU.
fn starved_text(view: &TrialView, window: &Window) -> Option<String> {
    let idle = 1.0 - window.machine()?.busy_ratio;
    let threads = window.threads(&view.processes(ProcessRole::Generator));
    let thread = threads.iter().max_by(|a, b| a.wanted_ratio().total_cmp(&b.wanted_ratio()))?;
    let is_starved =
        thread.wanted_ratio() >= STARVED.value && thread.busy_ratio < THREAD_FULL.value && idle >= IDLE_MIN;
    is_starved.then(|| {
        format!(
            "a generator thread ran {} of the time and waited for a CPU for {} of it, while the host was {} \
             idle",
            percent(thread.busy_ratio),
            percent(thread.run_delay_ratio.unwrap_or(0.0)),
            percent(idle)
        )
    })
}

const LATE_NS: Threshold =
    Threshold::new("p99 of the wait for a free connection, to make 1% of the sends late", 1e6, "ns", HOUSE);
const UNSENT: Threshold =
    Threshold::new("share of scheduled requests that were never sent", 0.01, "ratio", HOUSE);
const MACHINE_IDLE: Threshold =
    Threshold::new("idle share of the host at which CPU is not the bottleneck", 0.30, "ratio", HOUSE);

const FAILED: Threshold = Threshold::new(
    "share of failed requests above which the number of connections cannot explain the rate",
    0.01,
    "ratio",
    HOUSE,
);

/// M02.
pub(crate) const CONCURRENCY_BOUND: Check = Check {
    id: "M02",
    name: "gen-concurrency-bound",
    meaning: "All connections were busy, so their number may have limited the rate instead of the server.",
    thresholds: &[LATE_NS, UNSENT, MACHINE_IDLE, FAILED],
    remedy: "raise --connections; if the rate rises, the connections were the bottleneck",
    blame: Culprit::Server,
    concerns: &[],
    examine: Examine::Trial(examine_connections),
};

fn examine_connections(view: &TrialView) -> Option<Observation> {
    let window = view.server_steady();
    let is_idle = window.machine().is_some_and(|machine| 1.0 - machine.busy_ratio >= MACHINE_IDLE.value);
    let is_saturated = is_server_saturated(view) == Some(true);
    if !view.is_open() {
        let is_free = view.end.summary.generator.busiest_thread_ratio < THREAD_BUSY.value;
        return if is_idle && is_free && !is_saturated { examine_closed(view) } else { None };
    }
    let connections = counted(f64::from(view.plan().connections), "connection");
    let pool = view.summary(LatencyKind::PoolSlip);
    let wait = pool.p99.or(pool.max).unwrap_or(0) as f64;
    let unsent = ratio(view.counts().unsent as f64, view.counts().scheduled as f64).unwrap_or(0.0);
    if wait < LATE_NS.value && unsent <= UNSENT.value {
        return None;
    }
    let never = if unsent > 0.0 { format!("; {} were never sent", percent(unsent)) } else { String::new() };
    let text = format!(
        "requests queued for a free connection: p99 {} (pool of {connections}){never}",
        duration(wait)
    );
    let still = standstill_seconds(view);
    if still > 0.0 {
        let text = format!("{text}; the server did not answer at all for {still:.1} s of that time");
        let remedy = "find out what stalled the server: more connections would only wait as well";
        return Observation::remark(text).map(|observation| observation.with_remedy(remedy));
    }
    let is_search = view.begin.purpose != TrialPurpose::Single;
    if is_search || is_saturated || server_queues(&window) {
        return Observation::remark(format!("{text}; the response time includes this wait"));
    }
    Observation::suspect(text)
}

/// What so many connections of a closed loop can carry at most, by Little's law. Where requests fail or none is answered for
/// a while, the connections were not what limited the rate.
fn examine_closed(view: &TrialView) -> Option<Observation> {
    let is_sound = error_ratio(view.counts()) <= FAILED.value && standstill_seconds(view) == 0.0;
    let mean_ns = view.summary(LatencyKind::Service).mean.filter(|mean_ns| is_sound && *mean_ns >= 1.0)?;
    // Requests that began before the window and ended in it may have made it a little more.
    let most_hz = (view.plan().lanes() as f64 * 1e9 / mean_ns).max(view.goodput_hz());
    Observation::remark(format!(
        "{} in a closed loop can carry at most {} req/s at a mean service time of {}; the host was not busy",
        counted(f64::from(view.plan().connections), "connection"),
        rate(most_hz),
        duration(mean_ns)
    ))
}

/// Whether requests wait inside the server's sockets.
fn server_queues(window: &Window) -> bool {
    [column::CONNECTIONS_UNREAD, column::LISTENER_QUEUE].into_iter().any(|gauge| {
        window
            .scopes(gauge)
            .iter()
            .any(|scope| window.level(gauge, scope).is_some_and(|level| level.mean >= 1.0))
    })
}

const PORTS_USED: Threshold = Threshold::new(
    "sockets in TIME_WAIT ÷ ports of net.ipv4.ip_local_port_range",
    0.90,
    "ratio",
    "house value; the kernel's limit is per address pair",
);

const PORTS_NEEDED: Threshold = Threshold::new(
    "connections opened by the load ÷ sockets in TIME_WAIT, below which the load did not cause them",
    0.10,
    "ratio",
    "house value",
);

/// M07.
pub(super) const PORTS: Check = Check {
    id: "M07",
    name: "gen-ports-exhausted",
    meaning: "The generator's host ran out of local ports; these failures are not the server's fault.",
    thresholds: &[PORTS_USED, PORTS_NEEDED],
    remedy: "keep connections alive, widen net.ipv4.ip_local_port_range, or send from more addresses \
             (--source)",
    blame: Culprit::Generator,
    concerns: &[],
    examine: Examine::Trial(examine_ports),
};

fn examine_ports(view: &TrialView) -> Option<Observation> {
    let refused = view.failures_of(&[FailureClass::LocalPorts]);
    if refused > 0 {
        return Observation::invalid(format!(
            "{} failed for lack of a local port (EADDRNOTAVAIL)",
            counted(refused as f64, "connection")
        ));
    }
    let range = view.facts.text("sysctl.net.ipv4.ip_local_port_range")?;
    let mut ends = range.split_whitespace().map(str::parse::<f64>);
    let (first, last) = (ends.next()?.ok()?, ends.next()?.ok()?);
    let waiting = view.whole().level(column::SOCKSTAT_TCP_TW, NETNS)?.max;
    ratio(waiting, last - first + 1.0).filter(|share| view.is_loopback() && *share >= PORTS_USED.value)?;
    // A load that keeps its connections needs no ports, however many others have used.
    ratio(view.measured().connections_opened as f64, waiting).filter(|own| *own >= PORTS_NEEDED.value)?;
    Observation::suspect(format!(
        "{} sockets were in TIME_WAIT; the host has {} local ports",
        whole(waiting),
        whole(last - first + 1.0)
    ))
}

const DESCRIPTORS_USED: Threshold = Threshold::new(
    "open descriptors of the generator ÷ its limit",
    0.95,
    "ratio",
    "netdata, file descriptor alarm",
);

/// M08.
pub(super) const DESCRIPTORS: Check = Check {
    id: "M08",
    name: "gen-fd-limit",
    meaning: "The generator ran out of file descriptors; these failures are not the server's fault.",
    thresholds: &[DESCRIPTORS_USED],
    remedy: "raise the limit with 'ulimit -n', or use fewer connections",
    blame: Culprit::Generator,
    concerns: &[],
    examine: Examine::Trial(examine_descriptors),
};

fn examine_descriptors(view: &TrialView) -> Option<Observation> {
    let refused = view.failures_of(&[FailureClass::LocalFdLimit]);
    if refused > 0 {
        return Observation::invalid(format!(
            "{} failed for lack of a file descriptor (EMFILE)",
            counted(refused as f64, "connection")
        ));
    }
    let window = view.whole();
    let process = *view.processes(ProcessRole::Generator).first()?;
    let scope = crate::readings::process_scope(process);
    let (used, limit) =
        (window.level(column::PROCESS_FDS, &scope)?, window.level(column::PROCESS_FDS_LIMIT, &scope)?);
    ratio(used.max, limit.last).filter(|share| *share >= DESCRIPTORS_USED.value)?;
    Observation::suspect(format!(
        "the generator used {} of its {} file descriptors",
        whole(used.max),
        whole(limit.last)
    ))
}

const LOCAL_SHARE: Threshold =
    Threshold::new("share of requests that failed on this host", 0.001, "ratio", HOUSE);

/// V09.
pub(super) const LOCAL_ERRORS: Check = Check {
    id: "V09",
    name: "gen-socket-errors",
    meaning: "Socket calls failed on the generator's own host.",
    thresholds: &[LOCAL_SHARE],
    remedy: "check the host's memory and network limits; send less, or from another host",
    blame: Culprit::Generator,
    concerns: &[],
    examine: Examine::Trial(examine_local_errors),
};

fn examine_local_errors(view: &TrialView) -> Option<Observation> {
    let failed = view.failures_of(&[FailureClass::LocalBuffers, FailureClass::LocalOther]);
    let share = ratio(failed as f64, view.counts().sent as f64).filter(|share| *share > 0.0)?;
    let text = format!(
        "{} failed in a socket call on this host ({})",
        counted(failed as f64, "request"),
        percent(share)
    );
    if share > LOCAL_SHARE.value { Observation::invalid(text) } else { Observation::suspect(text) }
}

const LAG_OF_MEDIAN: Threshold =
    Threshold::new("generator lateness (p99) ÷ median response time, to be mentioned", 0.10, "ratio", HOUSE);
const LAG_OF_TAIL: Threshold =
    Threshold::new("generator lateness (p99) ÷ p99 response time", 0.10, "ratio", HOUSE);
const LAG_IS_TAIL: Threshold = Threshold::new(
    "generator lateness (p99) ÷ p99 response time, to dominate the tail",
    0.50,
    "ratio",
    HOUSE,
);
const LAG_NOTICED_NS: Threshold = Threshold::new("lateness, to be mentioned", 1e5, "ns", HOUSE);
const LAG_SLICE_NS: Threshold = Threshold::new(
    "lateness that one time slice of another process does not explain",
    4e6,
    "ns",
    "above the base slice of the kernel's fair scheduler, about 3 ms",
);
const LAG_GROSS_NS: Threshold = Threshold::new("lateness that makes the run invalid", 1e7, "ns", HOUSE);

/// V06.
pub(crate) const LAG: Check = Check {
    id: "V06",
    name: "gen-lag",
    meaning: "The generator sent requests late, which adds to every response time.",
    thresholds: &[LAG_OF_MEDIAN, LAG_OF_TAIL, LAG_IS_TAIL, LAG_NOTICED_NS, LAG_SLICE_NS, LAG_GROSS_NS],
    remedy: "lower the rate, add generator threads, or send from another host",
    blame: Culprit::Generator,
    concerns: &[Concern::Noise],
    examine: Examine::Trial(examine_lag),
};

fn examine_lag(view: &TrialView) -> Option<Observation> {
    let slip = view.summary(LatencyKind::LoopSlip);
    let response = view.summary(LatencyKind::Response);
    let lag = slip.p99.or(slip.max).filter(|_| view.is_open())? as f64;
    let of = |latency: Option<u64>| latency.and_then(|latency| ratio(lag, latency as f64)).unwrap_or(0.0);
    let (of_median, of_tail) = (of(response.p50), of(response.p99.or(response.max)));
    let text = format!(
        "the generator sent 1% of the requests {} or more behind schedule, which is {} of the p99 response \
         time",
        duration(lag),
        percent(of_tail)
    );
    if lag >= LAG_GROSS_NS.value && of_tail >= LAG_IS_TAIL.value {
        let is_excused = view.shares_machine() && is_saturated_by_server(view);
        return if is_excused { Observation::suspect(text) } else { Observation::invalid(text) };
    }
    if lag >= LAG_SLICE_NS.value && of_tail >= LAG_OF_TAIL.value {
        return Observation::suspect(text);
    }
    if lag >= LAG_NOTICED_NS.value && of_median >= LAG_OF_MEDIAN.value {
        Observation::remark(text)
    } else {
        None
    }
}

const OBSERVER_CPU: Threshold =
    Threshold::new("CPU of the sampler thread, to be mentioned", 0.02, "ratio of a CPU", HOUSE);
const OBSERVER_HEAVY: Threshold = Threshold::new("CPU of the sampler thread", 0.05, "ratio of a CPU", HOUSE);

/// M14.
pub(super) const OBSERVER: Check = Check {
    id: "M14",
    name: "observer-effect",
    meaning: "Reading kernel counters used noticeable CPU.",
    thresholds: &[OBSERVER_CPU, OBSERVER_HEAVY],
    remedy: "lower the sampling rate, or watch fewer processes",
    blame: Culprit::Environment,
    concerns: &[Concern::SharedHost],
    examine: Examine::Trial(examine_observer),
};

fn examine_observer(view: &TrialView) -> Option<Observation> {
    let share = view.steady().growth(column::SELF_CPU, HOST)?.per_second()? / 1e6;
    let text = format!("sampling took {} of a CPU", percent(share));
    if share > OBSERVER_HEAVY.value {
        return Observation::suspect(text);
    }
    if share > OBSERVER_CPU.value { Observation::remark(text) } else { None }
}
