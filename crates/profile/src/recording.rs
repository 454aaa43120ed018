//! A recording: events on all CPUs, read by one thread and summed as they arrive.
//!
//! Records of different CPUs arrive in any order. Each round processes only the records older than the newest record of the
//! round before, sorted by time, as perf does: by then every CPU has delivered everything older.

use crate::ProfileError;
use crate::chain::CallChain;
use crate::event::{self, Events};
use crate::naming;
use crate::plan::ProfilePlan;
use crate::processes::{Processes, ProfileScope};
use crate::registers::UserState;
use crate::stacks::Stacks;
use crate::unwind::Unwinder;
use crate::waits::Waits;
use crate::wire::{self, PerfRecord, PerfWhat};
use std::time::Duration;
use sysdyno_record::profile::{KernelUnseen, Profile, ProfileCost, ProfileCounts, ProfileKind};
use sysdyno_record::units::MonoNs;

/// Rounds after which no process in scope can have a child whose record still waits.
const ROUNDS_GONE: u32 = 2;

/// A recording that runs.
pub struct Recording {
    plan: ProfilePlan,
    events: Events,
    begin: MonoNs,
    processes: Processes,
    stacks: Stacks,
    waits: Waits,
    unwinder: Unwinder,
    samples_count: u64,
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
    /// *Cost*: 1 MB of memory per CPU at 99 Hz (16 MB at the highest rate, 8 MB off-CPU), and an interruption of a few microseconds per
    /// sample.
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
        Ok(Recording {
            plan,
            events,
            begin: now,
            processes: Processes::new(scope),
            rounds_gone: 0,
            stacks: Stacks::default(),
            waits: Waits::default(),
            unwinder: Unwinder::default(),
            samples_count: 0,
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
        self.waits.finish(now, &mut self.stacks);
        Stopped { recording: self, end: now }
    }

    /// Reads all rings, and puts what they hold in the order of time.
    fn drain(&mut self) {
        let pending = &mut self.pending;
        self.events.drain(&mut self.bytes, |bytes| wire::parse(bytes, pending));
        // Stable: records of one CPU at one time stay in their order.
        self.pending.sort_by_key(|record| record.at);
        self.newest = self.pending.last().map_or(self.newest, |last| last.at.max(self.newest));
    }

    fn take(&mut self, record: PerfRecord) {
        let PerfRecord { at, pid, tid, what } = record;
        match what {
            PerfWhat::Sample { chain, user } if self.processes.is_in_scope(pid) => {
                self.sample((at, pid, tid), &chain, user.as_ref())
            }
            PerfWhat::Sample { .. } => {}
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
            PerfWhat::SwitchedOut { is_preempted: true } => self.waits.preempted(tid),
            PerfWhat::SwitchedOut { is_preempted: false } => {}
            PerfWhat::SwitchedIn => self.waits.end(tid, at, &mut self.stacks),
            PerfWhat::Lost { count } => self.lost_count += count,
        }
    }

    fn sample(&mut self, of: (MonoNs, u32, u32), chain: &[u64], user: Option<&UserState>) {
        let (at, pid, tid) = of;
        let mut chain = CallChain::of_words(chain);
        if let Some(user) = user {
            self.unwinder.complete(&mut chain, pid, user, &mut self.processes);
        }
        let stack = self.stacks.stack(pid, &chain, &mut self.processes);
        match self.plan.kind {
            ProfileKind::OnCpu => {
                self.stacks.add(stack, 1_000_000_000 / u64::from(self.plan.rate_hz.max(1)));
            }
            ProfileKind::OffCpu => self.waits.begin(tid, at, stack),
        }
        self.samples_count += 1;
    }
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
    /// *Cost*: reads the symbols of the kernel and of each file that occurs, once.
    pub fn named(self) -> Profile {
        let Stopped { recording, end } = self;
        let is_on_cpu = recording.plan.kind == ProfileKind::OnCpu;
        let counts = ProfileCounts {
            samples_count: recording.samples_count.saturating_sub(recording.stacks.beyond_bound_count),
            lost_count: recording.lost_count + recording.waits.unpaired_count,
            beyond_bound_count: recording.stacks.beyond_bound_count,
            ..ProfileCounts::default()
        };
        let kernel_unseen = recording.kernel_unseen();
        let named = naming::name(recording.stacks, &recording.processes.objects, recording.plan.kind);
        Profile {
            host: None,
            kind: recording.plan.kind,
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
