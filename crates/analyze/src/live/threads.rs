//! What the threads of the busiest processes did in the last looks at them.
//!
//! A look is an instant. How long a thread ran, and how long it waited for a CPU, is known exactly from the kernel's counters; for
//! the rest of its time, the looks at it are a sample. Where not all threads of a process are looked at each time, those that are
//! stand for all.

use crate::path::address_text;
use crate::readings::ratio;
use std::collections::{HashMap, VecDeque};
use sysdyno_record::live::{ProcessThreads, ThreadFrame, ThreadLook, ThreadWait, WaitFrame};

/// Looks that an answer rests on.
const LOOKS: usize = 10;

/// Maximum number of threads in a frame.
const THREADS_MAX: usize = 64;

/// Threads that are kept of a process: those beyond are forgotten, the oldest first.
const KEPT_MAX: usize = 512;

/// What less than this share of a process's threads does is left out.
const LEAST_RATIO: f64 = 0.005;

/// What a thread that sleeps waits for: what, and who is asked.
type Asleep = (ThreadWait, Option<String>);

/// The last looks at the busiest processes. It does not grow with time.
#[derive(Clone, Debug, Default)]
pub(super) struct ThreadLog {
    processes: HashMap<u32, OfProcess>,
    looks_count: u64,
}

#[derive(Clone, Debug)]
struct OfProcess {
    start_ticks: u64,
    threads_count: u32,
    looks: VecDeque<OfLook>,
    threads: HashMap<u32, OfThread>,
    throttled: Option<[f64; 2]>,
    /// Number of the last look.
    seen: u64,
}

/// What a process came to in one look. Unit: threads.
#[derive(Clone, Debug, Default)]
struct OfLook {
    ready: Option<f64>,
    throttled: Option<f64>,
    asleep: Vec<Asleep>,
}

#[derive(Clone, Debug)]
struct OfThread {
    name: String,
    /// When it was looked at last, and what the counters said. Unit: seconds.
    last: Option<[f64; 3]>,
    /// Shares of the time on a CPU, and ready for one, before the last look; `None`: not known.
    shares: Option<[f64; 2]>,
    asleep: VecDeque<Asleep>,
    seen: u64,
}

impl ThreadLog {
    /// Takes a look; `at_seconds` is when.
    pub(super) fn take(&mut self, looked: Vec<ProcessThreads>, at_seconds: f64) {
        self.looks_count += 1;
        let number = self.looks_count;
        for process in looked {
            let known = self.processes.get(&process.pid);
            if known.is_some_and(|known| known.start_ticks != process.start_ticks) {
                self.processes.remove(&process.pid);
            }
            let known = self.processes.entry(process.pid).or_insert_with(|| OfProcess::new(&process));
            known.take(process, at_seconds, number);
        }
        self.processes.retain(|_, process| number - process.seen < LOOKS as u64);
    }

    /// What the threads of a process did, which used so many CPUs; empty: it was not looked at.
    pub(super) fn waits(
        &self,
        (pid, cpus): (u32, f64),
        name: &dyn Fn(&str) -> Option<String>,
    ) -> Vec<WaitFrame> {
        self.processes.get(&pid).map_or_else(Vec::new, |process| process.waits(cpus, name))
    }

    /// Threads by CPU, the busiest first; `command` is the name of a process.
    pub(super) fn busiest(
        &self,
        command: &dyn Fn(u32) -> Option<String>,
        name: &dyn Fn(&str) -> Option<String>,
    ) -> Vec<ThreadFrame> {
        let mut frames = Vec::new();
        for (pid, process) in self.processes.iter().filter(|(_, process)| process.seen == self.looks_count) {
            let Some(command) = command(*pid) else { continue };
            let frame = |(tid, thread): (&u32, &OfThread)| thread.frame(&command, [*pid, *tid], name);
            frames.extend(process.threads.iter().filter_map(frame));
        }
        frames.sort_by(|one, other| {
            let busy = |frame: &ThreadFrame| frame.cpu_ratio + frame.ready_ratio;
            busy(other).total_cmp(&busy(one)).then(one.tid.cmp(&other.tid))
        });
        frames.truncate(THREADS_MAX);
        frames
    }
}

impl OfProcess {
    fn new(process: &ProcessThreads) -> OfProcess {
        OfProcess {
            start_ticks: process.start_ticks,
            threads_count: process.threads_count,
            looks: VecDeque::new(),
            threads: HashMap::new(),
            throttled: None,
            seen: 0,
        }
    }

    fn take(&mut self, process: ProcessThreads, at_seconds: f64, number: u64) {
        self.threads_count = process.threads_count;
        self.seen = number;
        let mut look = OfLook::default();
        let mut ready = Vec::new();
        for thread in process.looks {
            if let Some(asleep) = asleep(&thread) {
                look.asleep.push(asleep);
            }
            let tid = thread.tid;
            let known = self.threads.entry(tid).or_insert_with(|| OfThread::new(&thread));
            known.take(thread, at_seconds, number);
            ready.extend(known.shares.map(|[_, ready]| ready));
        }
        // What was looked at stands for all.
        look.ready =
            ratio(ready.iter().sum(), ready.len() as f64).map(|mean| mean * f64::from(self.threads_count));
        let now = process.throttled_us.map(|throttled_us| [at_seconds, throttled_us as f64 / 1e6]);
        let before = std::mem::replace(&mut self.throttled, now);
        look.throttled =
            before.zip(now).and_then(|(before, now)| ratio(now[1] - before[1], now[0] - before[0]));
        push(&mut self.looks, look);
        // Those that are not looked at in many turns have ended, or are too many.
        let turns = u64::from(self.threads_count) + LOOKS as u64;
        self.threads.retain(|_, thread| number - thread.seen < turns);
        while self.threads.len() > KEPT_MAX {
            let oldest = self.threads.iter().min_by_key(|(_, thread)| thread.seen).map(|(tid, _)| *tid);
            oldest.and_then(|tid| self.threads.remove(&tid));
        }
    }

    fn waits(&self, cpus: f64, name: &dyn Fn(&str) -> Option<String>) -> Vec<WaitFrame> {
        let threads = f64::from(self.threads_count);
        let mean = |of: fn(&OfLook) -> Option<f64>| {
            let known: Vec<f64> = self.looks.iter().filter_map(of).collect();
            ratio(known.iter().sum(), known.len() as f64).unwrap_or(0.0).max(0.0)
        };
        let running = cpus.min(threads);
        let waiting = mean(|look| look.ready).min(threads - running);
        // Of the time that threads wait for a CPU, the part in which they may not have one.
        let throttled = mean(|look| look.throttled).min(waiting);
        let sleeping = threads - running - waiting;
        let seen: Vec<&Asleep> = self.looks.iter().flat_map(|look| &look.asleep).collect();
        let mut counts: Vec<(&'static str, Option<String>, f64)> = vec![
            ("running", None, running),
            ("runnable", None, waiting - throttled),
            ("throttled", None, throttled),
        ];
        for ((what, on), share) in shares(&seen, name) {
            counts.push((what, on, share * sleeping));
        }
        frames(counts, threads)
    }
}

impl OfThread {
    fn new(look: &ThreadLook) -> OfThread {
        OfThread { name: look.name.clone(), last: None, shares: None, asleep: VecDeque::new(), seen: 0 }
    }

    fn take(&mut self, look: ThreadLook, at_seconds: f64, number: u64) {
        self.asleep.extend(asleep(&look));
        while self.asleep.len() > LOOKS {
            self.asleep.pop_front();
        }
        (self.name, self.seen) = (look.name, number);
        let now = look.cpu_ns.zip(look.run_delay_ns);
        let now = now.map(|(cpu_ns, ready_ns)| [at_seconds, cpu_ns as f64 / 1e9, ready_ns as f64 / 1e9]);
        let before = std::mem::replace(&mut self.last, now);
        self.shares = before.zip(now).and_then(|(before, now)| {
            let share = |of: usize| ratio((now[of] - before[of]).max(0.0), now[0] - before[0]);
            Some([share(1)?.min(1.0), share(2)?.min(1.0)])
        });
    }

    /// `None`: it has not been looked at twice.
    fn frame(
        &self,
        command: &str,
        [pid, tid]: [u32; 2],
        name: &dyn Fn(&str) -> Option<String>,
    ) -> Option<ThreadFrame> {
        let [cpu_ratio, ready_ratio] = self.shares?;
        let asleep: Vec<&Asleep> = self.asleep.iter().collect();
        let sleeping = (1.0 - cpu_ratio - ready_ratio).max(0.0);
        let mut counts = vec![("running", None, cpu_ratio), ("runnable", None, ready_ratio)];
        counts.extend(
            shares(&asleep, name).into_iter().map(|((what, on), share)| (what, on, share * sleeping)),
        );
        let waits = frames(counts, 1.0);
        Some(ThreadFrame {
            pid,
            command: command.to_owned(),
            tid,
            name: self.name.clone(),
            cpu_ratio,
            ready_ratio,
            waits,
        })
    }
}

/// What a thread waits for; `None`: it is on a CPU or ready.
fn asleep(look: &ThreadLook) -> Option<Asleep> {
    let asked = look.asked.as_ref().map(address_text);
    (look.wait != ThreadWait::Running).then_some((look.wait, asked))
}

/// The share of each kind of wait, under the name of who is asked.
fn shares(
    seen: &[&Asleep],
    name: &dyn Fn(&str) -> Option<String>,
) -> Vec<((&'static str, Option<String>), f64)> {
    let mut counts: Vec<((&'static str, Option<String>), f64)> = Vec::new();
    for (wait, asked) in seen {
        let key = match asked {
            Some(address) => ("asking", Some(name(address).unwrap_or_else(|| address.clone()))),
            None => (wait.name(), None),
        };
        match counts.iter_mut().find(|(known, _)| *known == key) {
            Some((_, count)) => *count += 1.0,
            None => counts.push((key, 1.0)),
        }
    }
    let all = seen.len().max(1) as f64;
    counts.iter_mut().for_each(|(_, count)| *count /= all);
    counts
}

/// Counts of threads, the most first, the idle last.
fn frames(counts: Vec<(&'static str, Option<String>, f64)>, threads: f64) -> Vec<WaitFrame> {
    let mut frames: Vec<WaitFrame> = counts
        .into_iter()
        .filter(|(_, _, count)| *count >= LEAST_RATIO * threads)
        .map(|(what, on, threads_count)| WaitFrame { what, on, threads_count })
        .collect();
    frames.sort_by(|one, other| {
        let is_idle = |frame: &WaitFrame| frame.what == "idle";
        is_idle(one).cmp(&is_idle(other)).then(other.threads_count.total_cmp(&one.threads_count))
    });
    frames
}

fn push(looks: &mut VecDeque<OfLook>, look: OfLook) {
    if looks.len() == LOOKS {
        looks.pop_front();
    }
    looks.push_back(look);
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::plan::Endpoint;

    fn look(tid: u32, seconds: [f64; 2], wait: ThreadWait) -> ThreadLook {
        let ns = |seconds: f64| Some((seconds * 1e9) as u64);
        let [cpu_ns, run_delay_ns] = seconds.map(ns);
        ThreadLook { tid, name: format!("t{tid}"), cpu_ns, run_delay_ns, wait, asked: None }
    }

    fn process(threads_count: u32, throttled_us: Option<u64>, looks: Vec<ThreadLook>) -> Vec<ProcessThreads> {
        vec![ProcessThreads { pid: 7, start_ticks: 1, threads_count, throttled_us, looks }]
    }

    fn told(log: &ThreadLog, cpus: f64) -> Vec<String> {
        let name = |address: &str| (address == "127.0.0.1:3306").then(|| "mariadbd".to_owned());
        let frames = log.waits((7, cpus), &name);
        let on = |frame: &WaitFrame| frame.on.as_ref().map_or(String::new(), |on| format!(" {on}"));
        frames.iter().map(|frame| format!("{}{} {:.2}", frame.what, on(frame), frame.threads_count)).collect()
    }

    #[test]
    fn counters_tell_who_ran_and_looks_share_the_rest() {
        let mut log = ThreadLog::default();
        let asking = |tid, seconds| ThreadLook {
            asked: Some(Endpoint::Tcp(([127, 0, 0, 1], 3306).into())),
            ..look(tid, seconds, ThreadWait::Network)
        };
        log.take(
            process(2, None, vec![look(1, [0.0, 0.0], ThreadWait::Running), asking(2, [0.0, 0.0])]),
            10.0,
        );
        log.take(process(2, None, vec![look(1, [0.6, 0.2], ThreadWait::Lock), asking(2, [0.0, 0.0])]), 11.0);
        // Of two threads, 0.6 ran and 0.2 were ready; of three looks at sleepers, two were at the database.
        assert_eq!(told(&log, 0.6), ["asking mariadbd 0.80", "running 0.60", "lock 0.40", "runnable 0.20"]);
        let threads = log.busiest(&|_| Some("php".into()), &|_| None);
        assert_eq!((threads.len(), threads[0].tid, threads[0].cpu_ratio), (2, 1, 0.6));
        assert_eq!(threads[1].waits[0].on.as_deref(), Some("127.0.0.1:3306"));
    }

    #[test]
    fn those_that_are_looked_at_stand_for_all_and_the_idle_come_last() {
        let mut log = ThreadLog::default();
        let four = |number: u32| {
            let one = |at| {
                let wait = if at == 0 { ThreadWait::Disk } else { ThreadWait::Idle };
                look(number * 4 + at, [0.0, 0.0], wait)
            };
            (0..4).map(one).collect::<Vec<_>>()
        };
        (0..10).for_each(|number| log.take(process(40, None, four(number)), f64::from(number)));
        assert_eq!(told(&log, 0.0), ["disk 10.00", "idle 30.00"]);
    }

    #[test]
    fn who_waits_for_a_cpu_of_a_throttled_group_is_throttled() {
        let mut log = ThreadLog::default();
        let looked = |seconds| vec![look(1, seconds, ThreadWait::Running)];
        log.take(process(1, Some(0), looked([0.0, 0.0])), 1.0);
        log.take(process(1, Some(600_000), looked([0.25, 0.75])), 2.0);
        assert_eq!(told(&log, 0.25), ["throttled 0.60", "running 0.25", "runnable 0.15"]);
    }

    #[test]
    fn what_is_not_busy_any_more_is_forgotten_and_another_process_of_the_same_number_is_new() {
        let mut log = ThreadLog::default();
        log.take(process(1, None, vec![look(1, [0.0, 0.0], ThreadWait::Lock)]), 1.0);
        let other = ProcessThreads {
            start_ticks: 2,
            ..process(1, None, vec![look(1, [0.0, 0.0], ThreadWait::Timer)]).remove(0)
        };
        log.take(vec![other], 2.0);
        assert_eq!(told(&log, 0.0), ["timer 1.00"]);
        (0..10).for_each(|number| log.take(vec![], 3.0 + f64::from(number)));
        assert!(told(&log, 0.0).is_empty() && log.processes.is_empty());
    }
}
