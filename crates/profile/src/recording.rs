//! A recording: events on all CPUs, read by one thread and summed as they arrive.
//!
//! Records of different CPUs arrive in any order. Each round processes only the records older than the newest record of the
//! round before, sorted by time, as perf does: by then every CPU has delivered everything older.

use crate::ProfileError;
use crate::chain::CallChain;
use crate::event::{self, CopiesSeen, Events};
use crate::naming::{self, Symbols};
use crate::plan::ProfilePlan;
use crate::processes::{Processes, ProfileScope};
use crate::registers::UserState;
use crate::stacks::Stacks;
use crate::switches::{OpenSwitches, SwitchSample, WholeSwitch};
use crate::unwind::Unwinder;
use crate::waits::Waits;
use crate::wire::{self, PerfRecord, PerfWhat};
use std::time::Duration;
use sysdyno_record::profile::{KernelUnseen, Profile, ProfileCost, ProfileCounts, ProfileKind, StackWeight};
use sysdyno_record::units::MonoNs;

/// Rounds after which no process in scope can have a child whose record still waits.
const ROUNDS_GONE: u32 = 2;

/// A recording that runs.
pub struct Recording {
    plan: ProfilePlan,
    events: Events,
    begin: MonoNs,
    /// Whether stacks were copied at switches, as long as that went well.
    copies_at_begin: bool,
    processes: Processes,
    stacks: Stacks,
    waits: Waits,
    unwinder: Unwinder,
    switches: OpenSwitches,
    samples_count: u64,
    /// Of them, off-CPU, those whose stack was not copied.
    uncopied_count: u64,
    lost_count: u64,
    /// Records that wait for older ones, in the order of their times.
    pending: Vec<PerfRecord>,
    newest: MonoNs,
    /// Rounds since all processes in scope have ended.
    rounds_gone: u32,
    bytes: Vec<u8>,
}

impl Recording {
    /// Begins to record at this instant.
    ///
    /// *Cost*: 1 MB of memory per CPU at 99 Hz (16 MB at the highest rate, 10 MB off-CPU), and an interruption of a few microseconds per
    /// sample; off-CPU, also copies of stacks, at most 20 MB per second and CPU.
    ///
    /// # Errors
    /// This user may not, the kernel cannot, or its list of CPUs cannot be read.
    pub fn begin(plan: ProfilePlan, now: MonoNs) -> Result<Recording, ProfileError> {
        let scope = if plan.scope_pids.is_empty() {
            ProfileScope::Host
        } else {
            ProfileScope::Processes(plan.tree_pids.iter().copied().collect())
        };
        let events = Events::open(&plan)?;
        events.start()?;
        let copies_at_begin = events.has_copies();
        Ok(Recording {
            plan,
            events,
            begin: now,
            copies_at_begin,
            processes: Processes::new(scope),
            rounds_gone: 0,
            stacks: Stacks::default(),
            waits: Waits::default(),
            unwinder: Unwinder::default(),
            switches: OpenSwitches::default(),
            samples_count: 0,
            uncopied_count: 0,
            lost_count: 0,
            pending: Vec::new(),
            newest: MonoNs(0),
            bytes: Vec::new(),
        })
    }

    /// Waits at most this long for records, and adds up those that have come.
    pub fn read(&mut self, timeout: Duration) {
        self.events.wait(timeout);
        let until = self.newest;
        self.drain();
        let rest = self.pending.partition_point(|record| record.at <= until);
        let due: Vec<PerfRecord> = self.pending.drain(..rest).collect();
        due.into_iter().for_each(|record| self.take(record));
        self.rounds_gone = if self.processes.are_all_gone() { self.rounds_gone + 1 } else { 0 };
    }

    /// Whether all processes that were asked for have ended.
    pub fn is_over(&self) -> bool {
        self.rounds_gone >= ROUNDS_GONE
    }

    /// Samples in scope that have been taken so far.
    pub fn samples_count(&self) -> u64 {
        self.samples_count
    }

    /// Stops at this instant, and keeps what was recorded until then.
    pub fn stop(mut self, now: MonoNs) -> Stopped {
        self.events.stop();
        self.drain();
        let rest = std::mem::take(&mut self.pending);
        rest.into_iter().for_each(|record| self.take(record));
        self.switches.tids().into_iter().for_each(|tid| self.close_switch(tid));
        self.waits.finish(now, &mut self.stacks);
        Stopped { recording: self, end: now }
    }

    /// Reads all rings, and puts what they hold in the order of time.
    fn drain(&mut self) {
        let pending = &mut self.pending;
        self.events.drain(&mut self.bytes, |bytes| wire::parse(bytes, pending));
        let mut seen = CopiesSeen::default();
        self.events.drain_copies(&mut self.bytes, |bytes| {
            seen.lost_count += wire::parse_copies(bytes, |copy| {
                seen.copied_count += 1;
                pending.push(copy);
            });
        });
        self.events.fit_copies(&self.plan, seen);
        // Stable: records of one CPU at one time stay in their order.
        self.pending.sort_by_key(|record| record.at);
        self.newest = self.pending.last().map_or(self.newest, |last| last.at.max(self.newest));
    }

    fn take(&mut self, record: PerfRecord) {
        let PerfRecord { at, pid, tid, what } = record;
        match what {
            PerfWhat::Sample { period, chain, user } if self.processes.is_in_scope(pid) => {
                self.sample(SampleOf { at, pid, tid, period }, &chain, user.as_ref())
            }
            PerfWhat::StackCopy(user) if self.processes.is_in_scope(pid) => {
                let walked = self.unwinder.walk(pid, &user, &mut self.processes);
                self.switches.copied(tid, walked);
            }
            PerfWhat::Sample { .. } | PerfWhat::StackCopy(_) => {}
            PerfWhat::Mapped(mapping) => self.processes.mapped(pid, &mapping),
            PerfWhat::Named { name, is_exec } if pid == tid => self.processes.named(pid, &name, is_exec),
            PerfWhat::Named { .. } => {}
            PerfWhat::Forked { parent_pid } => {
                self.waits.born(tid);
                self.processes.forked(pid, parent_pid);
            }
            PerfWhat::Ended => {
                self.waits.gone(tid);
                self.processes.ended(pid, tid);
            }
            PerfWhat::SwitchedOut { is_preempted } => {
                self.close_switch(tid);
                if is_preempted {
                    self.waits.preempted(tid);
                }
            }
            PerfWhat::SwitchedIn => {
                self.close_switch(tid);
                self.waits.end(tid, at, &mut self.stacks);
            }
            PerfWhat::Lost { count } => self.lost_count += count,
        }
    }

    fn sample(&mut self, of: SampleOf, chain: &[u64], user: Option<&UserState>) {
        let SampleOf { at, pid, tid, period } = of;
        let mut chain = CallChain::of_words(chain);
        if self.plan.kind == ProfileKind::OffCpu {
            return self.switches.sampled(tid, SwitchSample { at, pid, chain });
        }
        if let Some(user) = user {
            self.unwinder.complete(&mut chain, pid, user, &mut self.processes);
        }
        let stack = self.stacks.stack(pid, &chain, &mut self.processes);
        self.stacks.add(stack, period);
        self.samples_count += 1;
    }

    /// The thread no longer runs: its wait has the stack that has come by now.
    fn close_switch(&mut self, tid: u32) {
        let Some(WholeSwitch { sample, is_uncopied }) = self.switches.close(tid) else { return };
        let stack = self.stacks.stack(sample.pid, &sample.chain, &mut self.processes);
        self.waits.begin(tid, sample.at, stack);
        self.samples_count += 1;
        self.uncopied_count += u64::from(is_uncopied);
    }
}

/// Who was sampled, when, and how many events or nanoseconds after the last time.
struct SampleOf {
    at: MonoNs,
    pid: u32,
    tid: u32,
    period: u64,
}

impl Recording {
    fn kernel_unseen(&self) -> Option<KernelUnseen> {
        (!self.events.sees_kernel).then(|| KernelUnseen {
            perf_event_paranoid: event::paranoid(),
            processes_cpu_ns: self.events.threads_cpu_ns(),
        })
    }
}

/// A recording that has ended, whose functions have no names yet.
pub struct Stopped {
    recording: Recording,
    end: MonoNs,
}

impl Stopped {
    /// Names the functions, and drops every address.
    ///
    /// *Cost*: reads the symbols of each file that occurs, once.
    pub fn named(self, symbols: &Symbols) -> Profile {
        let Stopped { recording, end } = self;
        let is_on_cpu = recording.plan.kind == ProfileKind::OnCpu;
        let counts = ProfileCounts {
            samples_count: recording.samples_count.saturating_sub(recording.stacks.beyond_bound_count),
            lost_count: recording.lost_count
                + recording.waits.unpaired_count
                + recording.switches.dropped_count,
            beyond_bound_count: recording.stacks.beyond_bound_count,
            uncopied_stacks_count: recording.copies_at_begin.then_some(recording.uncopied_count),
            ..ProfileCounts::default()
        };
        let kernel_unseen = recording.kernel_unseen();
        let event = recording.events.event;
        let weigh = match event.filter(|event| event.is_hardware()) {
            Some(_) => StackWeight::Events,
            None => StackWeight::Time,
        };
        let objects = &recording.processes.objects;
        let named = naming::name(recording.stacks, symbols, objects, recording.plan.kind, weigh);
        Profile {
            host: None,
            kind: recording.plan.kind,
            event,
            scope_pids: recording.plan.scope_pids,
            begin_mono_ns: recording.begin,
            end_mono_ns: end,
            rate_hz: is_on_cpu.then_some(recording.plan.rate_hz),
            cpus_count: recording.events.cpus_count(),
            kernel_unseen,
            unseen_pids: recording.events.denied_pids.iter().copied().collect(),
            counts: ProfileCounts {
                frames_count: named.frames_count,
                resolved_frames_count: named.resolved_frames_count,
                user_stacks_count: named.user_stacks_count,
                cut_stacks_count: named.cut_stacks_count,
                ..counts
            },
            requests_count: None,
            cost: ProfileCost::default(),
            processes: named.processes,
            frames: named.frames,
            stacks: named.stacks,
        }
    }
}
