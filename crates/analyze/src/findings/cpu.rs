//! CPU as the bottleneck: all CPUs, or the one CPU that a single thread can use.

use super::run_queue::{CpuWait, DELAYED, WAITED};
use super::{Case, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_in};
use crate::format::{cpus, duration, list, name, percent};
use crate::path::{address_text, path_of};
use crate::readings::{CpuShare, MachineShare, ThreadShare, Window, ratio};
use crate::threshold::{HOUSE, Threshold};
use crate::verdict::{foreign_cpus, generator_cpus};
use std::collections::BTreeMap;
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::column::{self, HOST};
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::plan::Endpoint;

pub(super) const MACHINE_BUSY: Threshold = Threshold::new(
    "busy share of all CPUs",
    0.85,
    "ratio",
    "netdata, CPU utilization alarm (warns at 85%, clears at 75%)",
);
const RUN_DELAY: Threshold = Threshold::new(
    "time that server threads waited for a CPU ÷ time that they were runnable",
    0.20,
    "ratio",
    HOUSE,
);
const PRESSURE: Threshold =
    Threshold::new("share of time in which some task waited for a CPU (PSI)", 0.25, "ratio", HOUSE);
const USER_BOUND: Threshold =
    Threshold::new("user share of busy time, to count as user code", 0.60, "ratio", HOUSE);
const OTHERS: Threshold =
    Threshold::new("CPU of other processes ÷ CPU of the host, to be mentioned", 0.05, "ratio", HOUSE);
pub(super) const OTHERS_MOST: Threshold = Threshold::new(
    "share of other processes in the busy time, from which on they are the cause and not the server",
    0.50,
    "ratio",
    HOUSE,
);
const PART: Threshold =
    Threshold::new("CPU of one of the server's programs, to be mentioned", 0.005, "CPUs", HOUSE);
const SERVER_IDLE: Threshold = Threshold::new(
    "CPU that the server used or waited for ÷ CPU of the host, below which it is not short of CPU",
    0.01,
    "ratio",
    HOUSE,
);
const INTERRUPTS: Threshold =
    Threshold::new("share of CPU time in interrupts that may be work for the server", 0.25, "ratio", HOUSE);
const GENERATOR_PART: Threshold =
    Threshold::new("generator's share of the busy time, to be mentioned first", 0.30, "ratio", HOUSE);

const STARTED_PART: Threshold =
    Threshold::new("share of the CPU time that short-lived processes use, to be named", 0.25, "ratio", HOUSE);

/// C13.
pub(super) const SATURATED: Rule = Rule {
    id: "C13",
    name: "cpu-saturated",
    meaning: "All CPUs are busy, so the server cannot process more requests at a time.",
    thresholds: &[
        MACHINE_BUSY,
        RUN_DELAY,
        PRESSURE,
        USER_BOUND,
        OTHERS,
        OTHERS_MOST,
        PART,
        STARTED_PART,
        SERVER_IDLE,
        INTERRUPTS,
        GENERATOR_PART,
        WAITED,
        DELAYED,
    ],
    place: Place::Server,
    needs: &[column::CPU_IDLE],
    remedy: "reduce CPU per request (profile the server, cache responses), or add CPUs",
    counterfactual: "adding or removing a CPU would not change the capacity",
    examine: Examination::By(examine_saturated),
};

/// How busy all CPUs are, where that is a sign, as times the least amount that is; and the same in a sentence.
pub(super) fn busy_sign(window: &Window<'_>) -> Option<(f64, String)> {
    let machine = window.machine().filter(|machine| machine.busy_ratio >= MACHINE_BUSY.value)?;
    let (names, busy) = (cpu_names(window), percent(machine.busy_ratio));
    Some((
        machine.busy_ratio / MACHINE_BUSY.value,
        format!("The CPUs: {names} are {busy} busy, {}", split(&machine)),
    ))
}

fn examine_saturated<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let window = scene.focus.server_steady();
    let machine = window.machine()?;
    let busiest = busiest(&window)?;
    let column = column::CPU_IDLE.at(&busiest.scope);
    if machine.busy_ratio < MACHINE_BUSY.value {
        if let Some(case) = in_bursts(scene, &window, &machine) {
            return Some(case);
        }
        let text = format!("the CPUs were {} busy", percent(machine.busy_ratio));
        let against = seen_in(column, evidence(EvidenceRole::Against, &window, "/proc/stat", text));
        return excluded("The CPUs are not the bottleneck", vec![against]);
    }
    if let Some(against) = idle_server(scene, &window, &machine) {
        return excluded("The CPUs were busy, but not with this server", vec![seen_in(column, against)]);
    }
    let text = format!(
        "{} of the time of {} was used: {}",
        percent(machine.busy_ratio),
        cpu_names(&window),
        split(&machine)
    );
    let mut found = vec![seen_in(column, evidence(EvidenceRole::Mechanism, &window, "/proc/stat", text))];
    found.extend(waiting(scene, &window));
    let targets = scene.focus.processes(ProcessRole::Target);
    let (server, generator) = (window.cpus_with_started(&targets), generator_cpus(&scene.focus, &window));
    let server = server.map(|used| (used, parts(&targets, &window)));
    let who = match (&server, generator) {
        (Some((server, parts)), Some(generator)) => {
            format!(
                "; the server used {} of {} CPUs{parts}, the generator {}",
                cpus(*server),
                machine.cpus,
                cpus(generator)
            )
        }
        (Some((server, parts)), None) => {
            format!("; the server used {} of {} CPUs{parts}", cpus(*server), machine.cpus)
        }
        _ => String::new(),
    };
    let others =
        foreign_cpus(&scene.focus, &window).filter(|others| *others > OTHERS.value * machine.cpus as f64);
    let who = others.map_or(who.clone(), |others| format!("{who}, other processes {}", cpus(others)));
    let title = format!(
        "The CPUs are the bottleneck: {} are {} busy, {}{who}",
        cpu_names(&window),
        percent(machine.busy_ratio),
        split(&machine)
    );
    let busy = machine.busy_ratio * machine.cpus as f64;
    let part = generator.and_then(|generator| ratio(generator, busy)).unwrap_or(0.0);
    let others = others.and_then(|others| ratio(others, busy)).filter(|share| *share >= GENERATOR_PART.value);
    let stop = others.map(stop_others);
    if let Some(share) = others.filter(|share| *share >= OTHERS_MOST.value) {
        let text = format!("{} of the CPU time went to other processes", percent(share));
        found.push(evidence(EvidenceRole::Against, &window, "/proc/stat, /proc/PID/stat", text));
    }
    if server.is_none() {
        let text = "the CPU time of the server's own processes could not be read".to_owned();
        found.push(evidence(EvidenceRole::Against, &window, "/proc/PID/stat", text));
    }
    let reach = Reach::used_up(&scene.focus, wanted_part(scene, &window));
    let remedy = stop.or_else(|| keep(&targets, &window, busy)).or_else(|| remedy(&machine, part));
    Some(Case { remedy, ..Case::new(title, found, reach) })
}

/// What to change where other processes used this share of the CPU time. If it is less than half, the server may lack CPUs even
/// without them.
fn stop_others(share: f64) -> String {
    let stop = format!(
        "stop the other processes, which used {} of the CPU time; or, if they are part of the service, add them with --watch-pid",
        percent(share)
    );
    if share < OTHERS_MOST.value { format!("{stop}; and {}", SATURATED.remedy) } else { stop }
}

/// What to change where a program of the server starts others again and again, and these take much of the CPU time.
fn keep(targets: &[&WatchedProcess], window: &Window, busy: f64) -> Option<String> {
    let all = targets.iter().map(|process| (window.steadily_started_cpus(process, targets), process));
    let (used, process) = all.max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    let is_much = ratio(used, busy).is_some_and(|share| share >= STARTED_PART.value);
    let who = name(&process.command);
    is_much.then(|| {
        format!(
            "{who} starts short-lived processes, which used {} CPUs: keep connections open (a pool) or processes running (FastCGI); \
             otherwise, {}",
            cpus(used),
            SATURATED.remedy
        )
    })
}

/// CPUs that have idle time on average, and none while the server waits for them.
fn in_bursts<'a>(scene: &Scene<'a>, window: &Window<'_>, machine: &MachineShare) -> Option<Case<'a>> {
    let view = &scene.focus;
    let wait = CpuWait::of(view, window).filter(|wait| wait.is_long() && wait.throttled <= 0.0)?;
    let busy = wait.busy.filter(|busy| *busy >= MACHINE_BUSY.value)?;
    let text = format!(
        "the CPUs were {} busy while threads of the server waited for one ({} on average), which these did for {} of the \
         time that they could run",
        percent(busy),
        percent(machine.busy_ratio),
        percent(wait.share)
    );
    let source = "/proc/PID/task/TID/schedstat, /proc/stat";
    let column = column::CPU_IDLE.at(&busiest(window)?.scope);
    let mut found = vec![seen_in(column, evidence(EvidenceRole::Mechanism, window, source, text.clone()))];
    found.extend(waiting(scene, window));
    let targets = view.processes(ProcessRole::Target);
    let used = window.process_cpus(&targets)?;
    let used = format!("the server used {} of {} CPUs{}", cpus(used), machine.cpus, parts(&targets, window));
    let title = format!("The CPUs are the bottleneck, in bursts: {text}; {used}");
    Some(Case::new(title, found, Reach::used_up(view, wait.delayed)))
}

/// A server that neither used CPU nor waited for it is not limited by it, unless interrupts worked for it.
fn idle_server(scene: &Scene, window: &Window, machine: &MachineShare) -> Option<Evidence> {
    let targets = scene.focus.processes(ProcessRole::Target);
    let wanted = window.process_cpus(&targets)? + window.process_run_delay(&targets).unwrap_or(0.0);
    let is_idle = ratio(wanted, machine.cpus as f64)? < SERVER_IDLE.value;
    let text = format!(
        "the CPUs were {} busy, but the server used or waited for only {} of {} CPUs",
        percent(machine.busy_ratio),
        cpus(wanted),
        machine.cpus
    );
    let source = "/proc/stat, /proc/PID/stat, /proc/PID/task/TID/schedstat";
    (is_idle && machine.softirq_ratio < INTERRUPTS.value)
        .then(|| evidence(EvidenceRole::Against, window, source, text))
}

/// The part of the requests' time that CPUs can have taken: that in which the server's busiest thread ran or waited for a CPU, or,
/// where many threads have a request each, the part of these that did.
fn wanted_part(scene: &Scene, window: &Window) -> f64 {
    let targets = scene.focus.processes(ProcessRole::Target);
    let threads = window.threads(&targets);
    let busiest = threads.iter().map(ThreadShare::wanted_ratio).fold(0.0, f64::max);
    let Some(used) = window.process_cpus(&targets) else { return 1.0 };
    let wanted = used + window.process_run_delay(&targets).unwrap_or(0.0);
    let each = scene.focus.in_flight_mean().and_then(|in_flight| ratio(wanted, in_flight.max(1.0)));
    busiest.max(each.unwrap_or(0.0)).min(1.0)
}

fn remedy(machine: &MachineShare, generator_part: f64) -> Option<String> {
    if generator_part >= GENERATOR_PART.value {
        return Some(format!(
            "send the load from another host: the generator used {} of the CPU time",
            percent(generator_part)
        ));
    }
    let user = ratio(machine.user_ratio, machine.busy_ratio)?;
    (user < USER_BOUND.value).then(|| {
        "most of the CPU time is in the kernel: keep connections alive, use fewer and larger writes, spread \
         the network interrupts, or add CPUs"
            .to_owned()
    })
}

/// Programs of a server that has several: ` (php-fpm 1.4, mariadbd 0.21)`, the busiest first.
fn parts(targets: &[&WatchedProcess], window: &Window) -> String {
    let mut programs: BTreeMap<&str, Vec<&WatchedProcess>> = BTreeMap::new();
    for process in targets {
        programs.entry(process.command.as_str()).or_default().push(process);
    }
    if programs.len() < 2 {
        return String::new();
    }
    let used = programs.into_iter().filter_map(|(program, processes)| {
        let started: f64 = processes.iter().map(|one| window.steadily_started_cpus(one, targets)).sum();
        let used = Some(window.process_cpus(&processes)? + started).filter(|used| *used >= PART.value)?;
        Some((program, used))
    });
    let mut used: Vec<(&str, f64)> = used.collect();
    used.sort_by(|a, b| b.1.total_cmp(&a.1));
    let parts: Vec<String> =
        used.iter().map(|(program, used)| format!("{} {}", name(program), cpus(*used))).collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

fn busiest(window: &Window) -> Option<CpuShare> {
    window.cpus().into_iter().max_by(|a, b| a.busy_ratio.total_cmp(&b.busy_ratio))
}

/// `CPUs 0 and 1`; beyond eight of them, their number.
fn cpu_names(window: &Window) -> String {
    let numbers: Vec<String> = window.cpus().iter().map(|cpu| name(cpu.number())).collect();
    match numbers.as_slice() {
        [one] => format!("CPU {one}"),
        few if few.len() <= 8 => format!("CPUs {}", list(few)),
        many => format!("all {} CPUs", many.len()),
    }
}

fn split(machine: &MachineShare) -> String {
    let parts = [
        (machine.user_ratio, "user"),
        (machine.system_ratio, "system"),
        (machine.softirq_ratio, "interrupts"),
        (machine.steal_ratio, "stolen"),
    ];
    let named = parts
        .iter()
        .filter(|(share, _)| *share >= 0.005)
        .map(|(share, what)| format!("{} {what}", percent(*share)));
    named.collect::<Vec<_>>().join(", ")
}

/// Tasks that waited for a CPU: of the server, of the host, by the scheduler's count.
fn waiting(scene: &Scene, window: &Window) -> Vec<Evidence> {
    let confirm = |source: &str, text: String| evidence(EvidenceRole::Confirmer, window, source, text);
    let targets = scene.focus.processes(ProcessRole::Target);
    let delay = window.run_delay_ratio(&targets).filter(|share| *share >= RUN_DELAY.value);
    let pressure = window
        .growth(column::PSI_CPU_SOME, HOST)
        .and_then(|growth| growth.per_second())
        .map(|rate| rate / 1e6);
    let pressure = pressure.filter(|share| *share >= PRESSURE.value);
    let count = window.cpus().len() as f64;
    let running = window.level(column::KERNEL_RUNNING, HOST).filter(|level| level.mean > count);
    let delay = delay.map(|share| {
        confirm(
            "/proc/PID/task/TID/schedstat",
            format!("server threads that could run waited for a CPU {} of the time", percent(share)),
        )
    });
    let pressure = pressure.map(|share| {
        seen_in(
            "psi.cpu_some_us@host".to_owned(),
            confirm(
                "/proc/pressure/cpu",
                format!("some task waited for a CPU {} of the time", percent(share)),
            ),
        )
    });
    let running = running.map(|level| {
        seen_in(
            "kernel.running_count@host".to_owned(),
            confirm(
                "/proc/stat procs_running",
                format!("{:.1} runnable tasks on {} CPUs", level.mean, window.cpus().len()),
            ),
        )
    });
    [delay, pressure, running].into_iter().flatten().collect()
}

const THREAD_FULL: Threshold =
    Threshold::new("CPU that the busiest server thread used or waited for", 0.95, "ratio of a CPU", HOUSE);
/// A thread that was seen awake for so much longer than it ran or waited was robbed of its CPU. Unit: ratio.
const STOLEN: f64 = 0.05;
const SIBLINGS_IDLE: Threshold =
    Threshold::new("the same for every other thread of its tier, at most", 0.20, "ratio of a CPU", HOUSE);
const THREAD_QUEUED: Threshold = Threshold::new(
    "the same as the first, if most of a request's time passes at its tier, unread",
    0.80,
    "ratio of a CPU",
    "Kleinrock, Queueing Systems I: M/M/1 at 0.8 waits 4 service times",
);
const AT_TIER: Threshold =
    Threshold::new("share of a request's time at the tier of that thread", 0.5, "ratio", HOUSE);

/// F05.
pub(super) const SINGLE_THREAD: Rule = Rule {
    id: "F05",
    name: "single-thread",
    meaning: "A single server thread does all the work and saturates its CPU, while other CPUs are idle.",
    thresholds: &[THREAD_FULL, THREAD_QUEUED, AT_TIER, SIBLINGS_IDLE, MACHINE_BUSY],
    place: Place::Server,
    needs: &[column::PROCESS_CPU],
    remedy: "run one worker per CPU (several processes or SO_REUSEPORT), or move work out of that thread",
    counterfactual: "a second worker would not raise the rate",
    examine: Examination::By(examine_single_thread),
};

/// That requests spend most of their time at a tier, and at least as much of it unread as read: they queue for its thread.
fn queue_at(scene: &Scene, tier: Option<&Endpoint>) -> Option<String> {
    let view = &scene.focus;
    let path = path_of(view);
    let address = tier.map(address_text);
    let tier = path.iter().find(|tier| tier.address == address)?;
    let requests = tier.requests.as_ref()?;
    let mean_ns = view.request_mean_ns()?;
    let share = ratio(requests.unread_ns + requests.inside_ns, mean_ns)?;
    let text = format!(
        "of a request's {}, {} pass at {} unread, and {} read",
        duration(mean_ns),
        duration(requests.unread_ns),
        name(&tier.name),
        duration(requests.inside_ns)
    );
    (share >= AT_TIER.value && requests.unread_ns >= requests.inside_ns).then_some(text)
}

/// That a second thread would have had a CPU, or would not.
pub(super) fn left_for_another(window: &Window) -> Option<Evidence> {
    let busy_ratio = window.machine()?.busy_ratio;
    let (role, text) = match busy_ratio < MACHINE_BUSY.value {
        true => (EvidenceRole::Confirmer, format!("the host was {} idle", percent(1.0 - busy_ratio))),
        false => {
            let busy = percent(busy_ratio);
            (EvidenceRole::Against, format!("no CPU was left for a second thread: the host was {busy} busy"))
        }
    };
    Some(evidence(role, window, "/proc/stat", text))
}

fn examine_single_thread<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let window = scene.focus.server_steady();
    let processes = scene.focus.processes(ProcessRole::Target);
    let threads = window.threads(&processes);
    let first = threads.first()?;
    let tier_of = |thread: &ThreadShare| {
        let process = processes.iter().find(|process| process.pid == thread.pid);
        process.and_then(|process| process.tier.as_ref()).map(|tier| &tier.address)
    };
    let queue = queue_at(scene, tier_of(first));
    let source = "/proc/PID/task/TID/schedstat";
    let seen = |role: EvidenceRole, text: String| {
        seen_in(first.column.clone(), evidence(role, &window, source, text))
    };
    let siblings = threads[1..].iter().filter(|thread| tier_of(thread) == tier_of(first));
    let next = siblings.map(ThreadShare::wanted_ratio).fold(0.0, f64::max);
    let against = |text: String| {
        excluded("No single thread is the bottleneck", vec![seen(EvidenceRole::Against, text)])
    };
    let least = if queue.is_some() { THREAD_QUEUED.value } else { THREAD_FULL.value };
    if first.wanted_ratio() < least {
        return against(format!("the busiest server thread used {} of a CPU", percent(first.busy_ratio)));
    }
    if next > SIBLINGS_IDLE.value {
        return against(format!("the next busiest server thread used {} of a CPU", percent(next)));
    }
    let who = format!("{} (process {})", name(&first.command), first.pid);
    let delay = first.run_delay_ratio.filter(|delay| *delay >= 0.005);
    let mut waited =
        delay.map_or(String::new(), |delay| format!(" and waited for it {} of the time", percent(delay)));
    if let Some(awake) = first.awake_ratio.filter(|awake| *awake >= first.counted_ratio() + STOLEN) {
        waited.push_str(&format!(", and was running or ready to run in {} of the samples", percent(awake)));
    }
    let text = format!(
        "one thread of {who} used {} of a CPU{waited}; the next busiest used {}",
        percent(first.busy_ratio),
        percent(next)
    );
    let mut found = vec![seen(EvidenceRole::Mechanism, text)];
    found.extend(left_for_another(&window));
    found.extend(
        queue.map(|text| evidence(EvidenceRole::Confirmer, &window, "sk_data_ready, sock_recv_length", text)),
    );
    let title = format!(
        "A single thread is the bottleneck: {who} has one busy thread, at {} of a CPU",
        percent(first.busy_ratio)
    );
    Some(Case::new(title, found, Reach::used_up(&scene.focus, 1.0)))
}
