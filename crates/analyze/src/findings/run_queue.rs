//! A server that waits for a CPU although CPUs are idle: other tasks run first, or its threads crowd onto a few CPUs.

use super::process::most_throttled;
use super::workers::ALL_WAIT;
use super::{Case, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_in};
use crate::format::{percent, rate};
use crate::path::{called, path_of};
use crate::readings::{ThreadShare, Window, process_scope, ratio, sum_known};
use crate::threshold::{HOUSE, Threshold};
use crate::view::TrialView;
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::column::{self, CGROUP_TARGET};
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::path::PathTier;

pub(super) const WAITED: Threshold = Threshold::new(
    "time that server threads waited for a CPU ÷ time that they were runnable",
    0.5,
    "ratio",
    "house value; two CPUs that are 50% busy by chance come to 0.25 (M/M/2)",
);
const BUSY: Threshold =
    Threshold::new("busy share of all CPUs while threads of the server waited, at most", 0.5, "ratio", HOUSE);
pub(super) const DELAYED: Threshold =
    Threshold::new("share of a request's time that threads waited for a CPU, at least", 0.3, "ratio", HOUSE);
pub(super) const OFTEN: Threshold = Threshold::new(
    "threads of a tier that wait for a CPU, on average, for its unread requests to wait for that",
    0.1,
    "count",
    HOUSE,
);
const PREEMPTED: Threshold =
    Threshold::new("times per second that threads of the server had to give up a CPU", 100.0, "hz", HOUSE);
const PRESSURE: Threshold = Threshold::new(
    "share of time in which some task of the control group waited for a CPU (PSI)",
    0.25,
    "ratio",
    HOUSE,
);
pub(super) const THROTTLED: Threshold =
    Threshold::new("share of quota periods in which the server was throttled, at most", 0.05, "ratio", HOUSE);

/// How long the pieces are at least in which waiting threads and busy CPUs are compared: shorter than a burst of requests, and longer
/// than the steps of the kernel's clock. Unit: seconds. House value.
const PIECE_S: f64 = 0.3;

/// C02.
pub(super) const CROWDED: Rule = Rule {
    id: "C02",
    name: "run-queue-delay",
    meaning: "Threads of the server wait for a CPU longer than they run, although CPUs are idle.",
    thresholds: &[WAITED, BUSY, DELAYED, OFTEN, ALL_WAIT, PREEMPTED, PRESSURE, THROTTLED],
    place: Place::Server,
    needs: &[column::PROCESS_RUN_DELAY],
    remedy: "look for what shares its CPUs: pinned threads, interrupts, real-time tasks, a low weight (CPUWeight=, nice); give \
             the server more CPUs or a higher weight",
    counterfactual: "with a higher weight or other CPUs the tail would be as long",
    examine: Examination::By(examine),
};

fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let view = &scene.focus;
    let window = view.server_steady();
    let machine = window.machine().filter(|machine| machine.cpus > 1)?;
    let targets = view.processes(ProcessRole::Target);
    let wait = CpuWait::of(view, &window)?;
    let busy = wait.busy.unwrap_or(machine.busy_ratio);
    let text = format!(
        "threads of the server that could run waited for a CPU {} of the time, while the CPUs were {} busy",
        percent(wait.share),
        percent(busy)
    );
    let source = "/proc/PID/task/TID/schedstat, /proc/stat";
    let column = column::PROCESS_RUN_DELAY.at(&process_scope(targets.first()?));
    let seen = |role| seen_in(column.clone(), evidence(role, &window, source, text.clone()));
    // Who waits because of a quota, or for want of any CPU, is another rule's.
    if !wait.is_long() || busy > BUSY.value || wait.throttled > THROTTLED.value {
        return excluded(
            "The server does not wait for CPUs that others use",
            vec![seen(EvidenceRole::Against)],
        );
    }
    let mut found = vec![seen(EvidenceRole::Mechanism)];
    found.extend(
        [preempted(view, &window), under_pressure(&window), unread(view, &window)].into_iter().flatten(),
    );
    let title = format!("The server waits for a CPU although CPUs are idle: {text}");
    Some(Case::new(title, found, Reach::used_up(view, wait.delayed)))
}

/// How long threads of the server waited for a CPU, and what the CPUs did meanwhile.
pub(super) struct CpuWait {
    /// Of the time that they could run. Unit: ratio.
    pub(super) share: f64,
    /// Of a request's time. Unit: ratio.
    pub(super) delayed: f64,
    /// How busy all CPUs were while they waited. Unit: ratio. `None`: not known.
    pub(super) busy: Option<f64>,
    /// Of the quota periods of the group that was throttled most. Unit: ratio.
    pub(super) throttled: f64,
}

impl CpuWait {
    /// That of a trial; `None`: it has no readings.
    pub(super) fn of(view: &TrialView, window: &Window) -> Option<CpuWait> {
        let targets = view.processes(ProcessRole::Target);
        Some(CpuWait {
            share: window.run_delay_ratio(&targets)?,
            delayed: delayed_part(view, window, window.process_run_delay(&targets)?),
            busy: busy_while_waiting(window, &targets),
            throttled: most_throttled(window).map_or(0.0, |(share, _)| share),
        })
    }

    /// Whether it is long enough to be felt.
    pub(super) fn is_long(&self) -> bool {
        self.share >= WAITED.value && self.delayed >= DELAYED.value
    }
}

/// How busy all CPUs were while threads of the server waited for one: over pieces of the span, each as heavy as its wait. Work that
/// comes in bursts leaves CPUs idle on average, and nobody waits then. `None`: no piece has readings of both.
fn busy_while_waiting(window: &Window, targets: &[&WatchedProcess]) -> Option<f64> {
    let piece = |piece: Window| {
        Some((piece.process_run_delay(targets)? * piece.seconds(), piece.machine()?.busy_ratio))
    };
    let wait = |process: &&&WatchedProcess| {
        window.growth(column::PROCESS_RUN_DELAY, &process_scope(process)).map_or(0.0, |growth| growth.amount)
    };
    let longest = targets.iter().max_by(|one, other| wait(one).total_cmp(&wait(other)))?;
    let pieces = window.pieces(column::PROCESS_RUN_DELAY, &process_scope(longest), PIECE_S);
    let pieces: Vec<(f64, f64)> = pieces.into_iter().filter_map(piece).collect();
    let waited = pieces.iter().map(|(waited, _)| waited).sum();
    ratio(pieces.iter().map(|(waited, busy)| waited * busy).sum(), waited)
}

/// The part of the requests' time that the wait can have taken: that of the thread that waited most, or, where many threads have a
/// request each, the part of these that waited.
fn delayed_part(view: &TrialView, window: &Window, waited: f64) -> f64 {
    let threads = window.threads(&view.processes(ProcessRole::Target));
    let most = threads.iter().filter_map(|thread: &ThreadShare| thread.run_delay_ratio).fold(0.0, f64::max);
    let each = view.in_flight_mean().and_then(|in_flight| ratio(waited, in_flight.max(1.0)));
    let unread = unread_meanwhile(view).map_or(0.0, |(share, _)| share);
    most.max(each.unwrap_or(0.0)).max(unread).min(1.0)
}

/// The share of a request's time that it lies unread at a tier whose threads wait for a CPU longer than they run, and what that
/// tier is called: who waits for a CPU reads nothing meanwhile. Where nearly all that serve wait for something else, nobody is free to.
fn unread_meanwhile(view: &TrialView) -> Option<(f64, String)> {
    let path = path_of(view);
    let mean_ns = view.request_mean_ns()?;
    let of_tier = |tier: &PathTier| {
        let (delay, used) = (tier.run_delay_cpus.filter(|delay| *delay >= OFTEN.value)?, tier.cpus?);
        ratio(delay, delay + used).filter(|share| *share >= WAITED.value)?;
        let is_free = tier.waiting_ratio().is_none_or(|waiting| waiting < ALL_WAIT.value);
        is_free.then_some(())?;
        Some((ratio(tier.requests.as_ref()?.unread_ns, mean_ns)?.min(1.0), called(&path, tier)))
    };
    path.iter().filter_map(of_tier).max_by(|(one, _), (other, _)| one.total_cmp(other))
}

/// That requests lay unread meanwhile.
fn unread(view: &TrialView, window: &Window) -> Option<Evidence> {
    let (share, who) = unread_meanwhile(view).filter(|(share, _)| *share >= DELAYED.value)?;
    let text = format!("requests lay unread at {who} for {} of their time", percent(share));
    Some(evidence(EvidenceRole::Confirmer, window, "sk_data_ready, sock_recv_length", text))
}

/// That threads of the server were taken off a CPU while they could run.
fn preempted(view: &TrialView, window: &Window) -> Option<Evidence> {
    let targets = view.processes(ProcessRole::Target);
    let switches = column::PROCESS_INVOLUNTARY_SWITCHES;
    let hz = sum_known(
        targets.iter().map(|process| window.growth(switches, &process_scope(process))?.per_second()),
    )?;
    let text = format!("its threads had to give up a CPU {} times/s", rate(hz));
    let seen = evidence(EvidenceRole::Confirmer, window, "/proc/PID/task/TID/status", text);
    (hz >= PREEMPTED.value).then(|| seen_in(switches.at(&process_scope(targets[0])), seen))
}

fn under_pressure(window: &Window) -> Option<Evidence> {
    let share = window.growth(column::CGROUP_PSI_CPU, CGROUP_TARGET)?.per_second()? / 1e6;
    let text = format!("some task of its group waited for a CPU {} of the time", percent(share));
    let seen = evidence(EvidenceRole::Confirmer, window, "cpu.pressure", text);
    (share >= PRESSURE.value).then(|| seen_in(column::CGROUP_PSI_CPU.at(CGROUP_TARGET), seen))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{conclude, slow};
    use super::*;
    use crate::corpus::{SeriesBuilder, Specimen, TARGET};
    use sysdyno_record::analysis::Confidence;
    use sysdyno_record::units::MonoNs;

    fn waiting(delay: f64) -> Specimen {
        let case = slow().cpu(0.3, 0.1, 0.05).server(0.4);
        let case = case.counter("process.run_delay_us", &format!("process:{TARGET}"), delay * 1e6);
        case.counter("thread.run_delay_us", &format!("thread:{TARGET}/{TARGET}"), delay * 1e6)
    }

    fn preempted(case: Specimen) -> Specimen {
        case.counter("process.involuntary_switches_count", &format!("process:{TARGET}"), 500.0)
    }

    fn confidence(case: Specimen) -> Option<Confidence> {
        conclude(case).into_iter().find(|finding| finding.id == "C02").map(|finding| finding.confidence)
    }

    #[test]
    fn a_wait_for_cpus_beside_idle_ones_is_somebody_elses_doing() {
        assert!(confidence(preempted(waiting(0.6))) >= Some(Confidence::Likely));
        assert_eq!(confidence(waiting(0.6)), Some(Confidence::Possible));
        let pressed = waiting(0.6).counter("cgroup.psi_cpu_some_us", CGROUP_TARGET, 6e5);
        assert!(confidence(pressed) >= Some(Confidence::Likely));
    }

    #[test]
    fn who_waits_in_bursts_waits_for_busy_cpus() {
        // A second of work for both CPUs and a second of none, in turn; threads wait in the former.
        let rows: Vec<f64> = (0..=80).map(f64::from).collect();
        let worked = |row: &f64| (row / 20.0).floor() + (row % 20.0 / 10.0).min(1.0);
        let column = |per_second: f64| rows.iter().map(|row| worked(row) * per_second).collect::<Vec<_>>();
        let idle: Vec<f64> = rows.iter().map(|row| (row / 10.0 - worked(row)) * 1e6).collect();
        let mut series = SeriesBuilder::new(0.1).column("process.run_delay_us", "process:7", &column(2e6));
        for cpu in ["cpu:0", "cpu:1"] {
            series = series.column("cpu.user_us", cpu, &column(1e6)).column("cpu.idle_us", cpu, &idle);
            for state in ["nice", "system", "iowait", "irq", "softirq", "steal"] {
                series = series.column(&format!("cpu.{state}_us"), cpu, &vec![0.0; rows.len()]);
            }
        }
        let series = series.build();
        let window = Window::new(&series, MonoNs(0), MonoNs(8_000_000_000));
        let server = WatchedProcess::new(7, 1, "x", ProcessRole::Target);
        let busy = busy_while_waiting(&window, &[&server]).expect("has readings");
        // A piece may be partly in one second and partly in the next.
        assert!(busy > 0.9, "{busy}");
        assert!(window.machine().is_some_and(|machine| (machine.busy_ratio - 0.5).abs() < 0.02));
    }

    #[test]
    fn what_lies_unread_while_all_workers_sleep_does_not_wait_for_a_cpu() {
        let sleeping = |count: f64| {
            let case = slow().cpu(0.1, 0.05, 0.01).server(0.1);
            let ns = case.view().request_mean_ns().expect("was filled");
            let case = case
                .counter("process.run_delay_us", &format!("process:{TARGET}"), 0.2e6)
                .requests("tier:target", [0.5 * ns, 0.5 * ns]);
            let case = case.gauge("waits.threads_count", "tier:target", 16.0);
            preempted(case.gauge("waits.timer_count", "tier:target", count))
        };
        assert!(confidence(sleeping(2.0)) >= Some(Confidence::Likely));
        assert_eq!(confidence(sleeping(15.8)), Some(Confidence::Excluded));
    }

    #[test]
    fn busy_cpus_a_quota_or_a_short_wait_are_not() {
        assert_eq!(confidence(preempted(waiting(0.2))), Some(Confidence::Excluded));
        let busy = preempted(waiting(0.6)).cpu(0.6, 0.2, 0.05);
        assert_eq!(confidence(busy), Some(Confidence::Excluded));
        let throttled = preempted(waiting(0.6)).counter("cgroup.periods_count", CGROUP_TARGET, 10.0);
        let throttled = throttled.counter("cgroup.throttled_count", CGROUP_TARGET, 5.0);
        assert_eq!(confidence(throttled), Some(Confidence::Excluded));
        let tier = "cgroup:tier:127.0.0.1:9000";
        let behind = preempted(waiting(0.6)).counter("cgroup.periods_count", tier, 10.0);
        let behind = behind.counter("cgroup.throttled_count", tier, 5.0);
        assert_eq!(confidence(behind), Some(Confidence::Excluded), "a tier behind it has the quota");
        assert_eq!(confidence(slow()), None, "nobody looked");
    }
}
