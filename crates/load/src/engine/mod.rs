//! A trial: starts the threads, merges their windows, and asserts that no request vanished.
//!
//! ```text
//!   thread 1 ─┐ windows (1 s or less)          ┌─► sink: one Interval per window and phase
//!   thread 2 ─┼──────────────────► merge ──────┤
//!   thread n ─┘ ◄── empty tallies ──           └─► TrialSummary
//! ```
//! The threads share the compiled plan, read-only, and hand over whole tallies by message; the merging thread sleeps
//! in between. If several hosts send together (`part`, `spread`), the threads of all hosts are the threads of the
//! trial, and their windows arrive over the network. Hard stops that need the sum over all threads are decided here.

mod affinity;
mod answers;
mod back_end;
mod churn;
mod connection;
mod control;
mod crew;
mod deadline;
mod gaps;
mod handover;
mod host;
mod job;
mod merge;
mod pace;
mod part;
mod preload;
mod spin;
mod spread;
mod summary;
mod tally;
mod worker;

pub use affinity::Aside;
pub use control::Control;
pub use host::SpreadHost;
pub use part::{Part, PartOrder, run_part};
pub use spread::{Generators, Said, spread};

use crate::clock;
use crate::error::LoadError;
use crate::schedule::Share;
use back_end::BackEnd;
use crew::{Crew, Order, Post};
use job::Job;
use merge::Merge;
use std::time::Duration;
use sysdyno_record::load::{Interval, LatencySet, TrialEnding, TrialSummary};
use sysdyno_record::plan::{LoadPlan, PhaseKind};
use sysdyno_record::units::MonoNs;

/// How long the drain of a stopped trial lasts at most.
const STOP_GRACE: Duration = Duration::from_secs(2);

/// From the last connection to the first request. Unit: nanoseconds.
const BEGIN_DELAY_NS: u64 = 2_000_000;

/// Receives what a trial measures while it runs.
pub trait Sink {
    /// A phase began.
    fn phase(&mut self, begin: MonoNs, phase: PhaseKind, rate_hz: Option<f64>);

    /// An interval of a phase is complete over all threads.
    fn interval(&mut self, interval: Interval, latency: &LatencySet);
}

/// The result of a trial.
#[derive(Clone, Debug)]
pub struct LoadOutcome {
    /// The numbers.
    pub summary: TrialSummary,
    /// Why it ended.
    pub ending: TrialEnding,
    /// When its drain was over.
    pub end: MonoNs,
    /// Histograms of the measured phases.
    pub latency: LatencySet,
}

/// The CPUs that so many generator threads would be pinned to on this host; `None` for one that stays free to move.
pub fn generator_cpus(threads: u32) -> Vec<Option<u32>> {
    affinity::choose(threads)
}

/// Runs the load of one trial to its end.
///
/// # Errors
/// A plan that contradicts itself, or a thread that cannot be set up; no request has been sent then.
///
/// # Panics
/// If a request vanished: scheduled ≠ sent + unsent, or sent ≠ ok + failed + timed out + in flight.
pub fn run(
    plan: &LoadPlan,
    trial: u32,
    control: &Control,
    sink: &mut dyn Sink,
) -> Result<LoadOutcome, LoadError> {
    let job = Job::new(plan, control)?;
    job.prepare(trial)?;
    let back_end = BackEnd::choose(plan.io, plan.connections.div_ceil(plan.threads) as usize, &job.route)?;
    let cpus = affinity::choose(plan.threads);
    let _aside = Aside::step(plan.threads);
    let post = |(thread, cpu): (u32, &Option<u32>)| Post {
        share: Share { thread, threads: plan.threads },
        cpu: *cpu,
    };
    let posts: Vec<Post> = (0..).zip(&cpus).map(post).collect();
    std::thread::scope(|scope| {
        let crew = Crew::muster(scope, &job, &posts, back_end.kind)?;
        let timer_error = crew.await_all()?;
        // No connection is made before every thread has the descriptors that it needs for itself.
        crew.tell(Order::Connect);
        crew.await_all()?;
        crew.tell(Order::Begin(MonoNs(clock::now().0 + BEGIN_DELAY_NS)));
        let gear = back_end.gear(cpus, timer_error);
        let mut merge = Merge::new(&job, trial, gear, Vec::new());
        while let Ok(message) = crew.messages.recv() {
            merge.take(message, &|thread, spare| crew.give_back(thread, spare), sink);
        }
        Ok(merge.finish(job.learnt_body(), sink))
    })
}

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use tests::{closed_port as tests_closed_port, plan_of as tests_plan};
