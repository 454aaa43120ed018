//! Was the host in order: nobody else on it, no CPU time taken away, and the same server throughout?

use super::check::{Check, Concern, Culprit, Examine, Observation};
use super::cpu::{foreign_cpus, generator_cpus, own_busy_ratio};
use crate::format::{cpus, list, name, percent};
use crate::readings::{Window, process_scope, ratio, started_at};
use crate::threshold::{HOUSE, Threshold};
use crate::view::TrialView;
use sysdyno_record::column;
use sysdyno_record::event::{ProcessRole, WatchedProcess};

const FOREIGN_CPU: Threshold = Threshold::new("CPU of other processes, to be mentioned", 0.05, "CPUs", HOUSE);
const FOREIGN_SHARE: Threshold =
    Threshold::new("CPU of other processes ÷ CPU of the host", 0.05, "ratio", HOUSE);

/// M11.
pub(crate) const FOREIGN_LOAD: Check = Check {
    id: "M11",
    name: "foreign-load",
    meaning: "Other processes competed for the CPUs.",
    thresholds: &[FOREIGN_CPU, FOREIGN_SHARE],
    remedy: "stop them; or, if they work for the server without a connection to it that could be seen, add \
             them with --watch-pid",
    blame: Culprit::Environment,
    concerns: &[Concern::OthersCpu],
    examine: Examine::Trial(examine_foreign),
};

/// The greatest of the processes that are no part of the measurement: `'mysqld' (process 71) of mariadb.service 0.80 CPUs`. Empty: none
/// was noticed.
pub(crate) fn named_others(view: &TrialView, window: &Window) -> String {
    let foreign = foreign_cpus(view, window).unwrap_or(0.0);
    named(&view.processes(ProcessRole::Foreign), foreign, window)
}

fn examine_foreign(view: &TrialView) -> Option<Observation> {
    let window = view.server_steady();
    let server = foreign_cpus(view, &window)
        .and_then(|foreign| Foreign::of(foreign, &window, "the machine", named_others(view, &window)));
    let generator = beside_generator(view);
    let worst = server.into_iter().chain(generator).max_by(|a, b| a.share.total_cmp(&b.share))?;
    let Foreign { cpus: foreign, share, .. } = worst;
    let colon = if worst.who.is_empty() { "" } else { ": " };
    let text = format!(
        "other processes used {} CPUs, {} of {}{colon}{}",
        cpus(foreign.max(0.0)),
        percent(share),
        worst.machine,
        worst.who
    );
    if share > FOREIGN_SHARE.value {
        return Observation::suspect(text);
    }
    if foreign > FOREIGN_CPU.value { Observation::remark(text) } else { None }
}

/// What others used of one machine.
struct Foreign {
    cpus: f64,
    share: f64,
    machine: &'static str,
    /// The greatest of them by name; empty: none was noticed.
    who: String,
}

impl Foreign {
    fn of(foreign: f64, window: &Window, machine: &'static str, who: String) -> Option<Foreign> {
        let share = ratio(foreign, window.machine()?.cpus as f64)?;
        Some(Foreign { cpus: foreign, share, machine, who })
    }
}

/// A process that used less than this part of what all others did is not named. Unit: ratio.
const NAMED_RATIO: f64 = 0.1;

/// A process that was there for less than this part of the time has its seconds told. Unit: ratio.
const ALL_THE_TIME_RATIO: f64 = 0.8;

/// Processes of one name, in one unit, with what they used themselves or in programs that they started.
struct Users<'a> {
    cpus: f64,
    processes: Vec<&'a WatchedProcess>,
    is_started: bool,
}

impl<'a> Users<'a> {
    fn add(all: &mut Vec<Users<'a>>, cpus: f64, process: &'a WatchedProcess, is_started: bool) {
        let is_alike = |users: &&mut Users| {
            let first = users.processes[0];
            users.is_started == is_started
                && (&first.command, &first.unit) == (&process.command, &process.unit)
        };
        match all.iter_mut().find(is_alike) {
            Some(users) => {
                users.cpus += cpus;
                users.processes.push(process);
            }
            None => all.push(Users { cpus, processes: vec![process], is_started }),
        }
    }

    fn text(&self, window: &Window) -> String {
        let first = self.processes[0];
        let unit = first.unit.as_ref().map_or(String::new(), |unit| format!(" of {}", name(unit)));
        let by = if self.is_started { " in programs that it starts" } else { "" };
        let (command, used) = (name(&first.command), cpus(self.cpus));
        match self.processes.len() {
            1 => format!("'{command}' (process {}){unit} {used} CPUs{by}{}", first.pid, self.when(window)),
            count => format!(
                "{count} processes '{command}'{unit} {used} CPUs{}",
                by.replace("it starts", "they start")
            ),
        }
    }

    /// ` from 3 s to 5 s`; empty: all the time.
    fn when(&self, window: &Window) -> String {
        let process = self.processes[0];
        let column = if self.is_started { column::PROCESS_REAPED } else { column::PROCESS_CPU };
        let when = window.growth(column, &process_scope(process)).map(|growth| growth.between);
        // One that was there before it was noticed did what it did then as well.
        let when = when.map(|[from, to]| [from.min(started_at(process).max(window.begin)), to]);
        let when = when.filter(|[from, to]| to.seconds_since(*from) < ALL_THE_TIME_RATIO * window.seconds());
        when.map_or(String::new(), |at| {
            let [from, to] = at.map(|at| at.seconds_since(window.begin));
            format!(" from {from:.0} s to {to:.0} s")
        })
    }
}

/// `'mysqld' (process 71) of mariadb.service 0.80 CPUs, 'gzip' (process 80) 0.31 CPUs from 3 s to 5 s, 4 processes 'xz' 0.20 CPUs,
/// 'make' (process 90) 0.20 CPUs in programs that it starts`.
fn named(processes: &[&WatchedProcess], foreign_cpus: f64, window: &Window) -> String {
    let mut users = Vec::new();
    for process in processes {
        if let Some(used) = window.process_cpus(&[process]) {
            Users::add(&mut users, used, process, false);
        }
        let started = window.started_cpus(process, processes);
        if started > 0.0 {
            Users::add(&mut users, started, process, true);
        }
    }
    users.retain(|users| users.cpus > NAMED_RATIO * foreign_cpus);
    users.sort_by(|one, other| other.cpus.total_cmp(&one.cpus));
    users.iter().take(3).map(|users| users.text(window)).collect::<Vec<_>>().join(", ")
}

/// What others used of the generator's machine, where that is not the server's.
fn beside_generator(view: &TrialView) -> Option<Foreign> {
    let window = view.steady();
    let machine = window.machine().filter(|_| !view.shares_machine())?;
    let own = window.process_cpus(&view.processes(ProcessRole::Generator));
    let own = own.or_else(|| ratio(view.end.summary.generator.cpu_seconds, view.seconds()))?;
    let busy = (machine.user_ratio + machine.system_ratio) * machine.cpus as f64;
    Foreign::of(busy - own, &window, "the generator's machine", String::new())
}

const STEAL_NOTICED: Threshold = Threshold::new("steal time, to be mentioned", 0.005, "ratio", HOUSE);
const STEAL_SUSPECT: Threshold = Threshold::new("steal time", 0.02, "ratio", HOUSE);
const STEAL_INVALID: Threshold = Threshold::new(
    "steal time at which other guests distort the measurement",
    0.10,
    "ratio",
    "netdata, steal alarm",
);

/// M12.
pub(super) const STEAL: Check = Check {
    id: "M12",
    name: "steal",
    meaning: "The hypervisor gave CPU time to other guests (steal).",
    thresholds: &[STEAL_NOTICED, STEAL_SUSPECT, STEAL_INVALID],
    remedy: "use a host with dedicated CPUs, or repeat at a quieter time",
    blame: Culprit::Environment,
    concerns: &[Concern::OthersCpu, Concern::Noise],
    examine: Examine::Trial(examine_steal),
};

fn examine_steal(view: &TrialView) -> Option<Observation> {
    let stolen = [view.steady(), view.server_steady()].into_iter().filter_map(|window| window.machine());
    let share = stolen.map(|machine| machine.steal_ratio).max_by(f64::total_cmp)?;
    let text = format!("the hypervisor stole {} of the CPU time", percent(share));
    match share {
        share if share > STEAL_INVALID.value => Observation::invalid(text),
        share if share > STEAL_SUSPECT.value => Observation::suspect(text),
        share if share > STEAL_NOTICED.value => Observation::remark(text),
        _ => None,
    }
}

const SHARED_BUSY: Threshold =
    Threshold::new("load of the shared CPUs by generator, server, and interrupts", 0.70, "ratio", HOUSE);
const MASTER_CPU: Threshold = Threshold::new(
    "CPU of a server process that only supervises its workers, so its CPU affinity does not matter",
    0.01,
    "CPUs",
    HOUSE,
);

/// M15.
pub(super) const CO_LOCATED: Check = Check {
    id: "M15",
    name: "co-located",
    meaning: "Load generator and server ran on the same host and competed for its CPUs.",
    thresholds: &[SHARED_BUSY, MASTER_CPU],
    remedy: "send from another host, or pin each to its own CPUs",
    blame: Culprit::Environment,
    concerns: &[Concern::SharedHost],
    examine: Examine::Trial(examine_co_located),
};

fn examine_co_located(view: &TrialView) -> Option<Observation> {
    let window = view.server_steady();
    let targets = window.process_cpus(&view.processes(ProcessRole::Target));
    if !view.shares_machine() || (targets.is_none() && view.server.is_none() && !view.is_loopback()) {
        return None;
    }
    let generator = generator_cpus(view, &window);
    let shares: Vec<String> = [("the server", targets), ("the generator", generator)]
        .into_iter()
        .filter_map(|(who, used)| used.map(|used| format!("{who} used {} CPUs", cpus(used))))
        .collect();
    let together = if shares.is_empty() { String::new() } else { format!(": {}", list(&shares)) };
    let Some(machine) = window.machine() else {
        return Observation::remark(format!("generator and server share the host{together}"));
    };
    let text = format!(
        "generator and server share {} CPUs, which were {} busy{together}",
        machine.cpus,
        percent(machine.busy_ratio)
    );
    if are_apart(view, &window) {
        return Observation::remark(format!("{text}, each on separate CPUs"));
    }
    if own_busy_ratio(view, &window).is_some_and(|busy| busy > SHARED_BUSY.value) {
        return Observation::suspect(format!("{text}; the rate is what both can do together"));
    }
    Observation::remark(text)
}

/// Whether no process of the server that did anything may run where a generator thread is pinned; a master that only
/// minds its workers may.
fn are_apart(view: &TrialView, window: &Window) -> bool {
    let pinned: Option<Vec<u32>> = view.end.summary.generator.cpus.iter().copied().collect();
    let Some(pinned) = pinned.filter(|cpus| !cpus.is_empty()) else { return false };
    let is_idle = |process: &WatchedProcess| {
        window.process_cpus(&[process]).is_some_and(|used| used < MASTER_CPU.value)
    };
    let targets = view.processes(ProcessRole::Target);
    let mut workers = targets.into_iter().filter(|process| !is_idle(process)).peekable();
    workers.peek().is_some()
        && workers.all(|process| {
            process.cpus.as_ref().is_some_and(|cpus| cpus.iter().all(|cpu| !pinned.contains(cpu)))
        })
}

/// M19.
pub(super) const TARGET_CHANGED: Check = Check {
    id: "M19",
    name: "target-changed",
    meaning: "The server was restarted or replaced during the measurement.",
    thresholds: &[MASTER_CPU],
    remedy: "find out what restarted it (a reload, a crash, a worker's request limit) and measure again",
    blame: Culprit::Environment,
    concerns: &[],
    examine: Examine::Trial(examine_target),
};

fn examine_target(view: &TrialView) -> Option<Observation> {
    let window = view.server_whole();
    // What the server asks has workers that come and go.
    let mut targets = view.processes(ProcessRole::Target);
    targets.retain(|process| process.tier.is_none());
    if let Some(replaced) = targets.iter().find(|process| is_replaced(process, &targets)) {
        return Observation::invalid(format!(
            "process {} '{}' exited, and its PID was reused",
            replaced.pid,
            name(&replaced.command)
        ));
    }
    let is_known =
        |process: &&&WatchedProcess| window.level(column::PROCESS_THREADS, &process_scope(process)).is_some();
    let known = targets.iter().filter(is_known).count();
    let is_none_left = view.leavers().iter().filter(|process| process.tier.is_none()).count() >= known.max(1);
    let newcomers: Vec<&WatchedProcess> = view.newcomers().filter(|process| process.tier.is_none()).collect();
    let residents =
        targets.iter().filter(|process| newcomers.iter().all(|new| new.pid != process.pid)).count();
    let gone = view.lost();
    if !gone.is_empty() {
        let names: Vec<String> = gone
            .iter()
            .take(3)
            .map(|process| format!("{} '{}'", process.pid, name(&process.command)))
            .collect();
        let text = format!("{} of {residents} server processes exited: {}", gone.len(), list(&names));
        if is_none_left {
            return Observation::invalid(text);
        }
        // nginx reads its cache once, in a process that ends after a minute.
        let is_helper = |process: &&WatchedProcess| {
            window.process_cpus(&[process]).is_some_and(|used| used < MASTER_CPU.value)
        };
        let counts = view.counts();
        if gone.iter().all(is_helper) && counts.failed + counts.timed_out == 0 {
            return Observation::remark(format!("{text}, which had no requests"));
        }
        return Observation::suspect(text);
    }
    let first = newcomers.iter().take(3);
    let newcomers: Vec<String> =
        first.map(|process| format!("process {} '{}'", process.pid, name(&process.command))).collect();
    if newcomers.is_empty() {
        None
    } else {
        Observation::remark(format!("the server started {}", list(&newcomers)))
    }
}

fn is_replaced(process: &WatchedProcess, targets: &[&WatchedProcess]) -> bool {
    targets.iter().any(|other| other.pid == process.pid && other.start_ticks != process.start_ticks)
}

/// M22.
pub(super) const PATH_HIDES_NIC: Check = Check {
    id: "M22",
    name: "path-hides-nic",
    meaning: "The requests did not pass through a network card, so the run says nothing about the network.",
    thresholds: &[],
    remedy: "send from another host to include the network",
    blame: Culprit::Server,
    concerns: &[],
    examine: Examine::Trial(examine_path),
};

fn examine_path(view: &TrialView) -> Option<Observation> {
    let way = match &view.plan().target.endpoint {
        sysdyno_record::plan::Endpoint::Unix(_) => "a Unix socket",
        sysdyno_record::plan::Endpoint::Tcp(_) => "the loopback interface",
    };
    let way = match view.server {
        Some(server) if server.host.is_same_machine => "a link within one machine",
        Some(_) => return None,
        None if view.is_loopback() => way,
        None => return None,
    };
    Observation::remark(format!(
        "requests went over {way}: no network card, interrupt, or physical link was \
                                 involved"
    ))
}
