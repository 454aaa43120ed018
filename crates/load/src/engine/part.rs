//! This process's part of a load that several hosts send together: every n-th thread.
//!
//! ```text
//!   set up ─► Ready ─► (Connect) ─► connected ─► Connected ─► (Begin) ─► Window … Finished … ─► Over
//! ```
//! The orders in parentheses come from the merging host, so that no host connects before all are set up, and all begin at
//! one instant.

use super::back_end::BackEnd;
use super::crew::{Crew, CrewMessage, Order, Post};
use super::job::Job;
use super::{Aside, Control, affinity, handover};
use crate::error::LoadError;
use crate::schedule::Share;
use sysdyno_record::load::TrialEnding;
use sysdyno_record::plan::LoadPlan;
use sysdyno_record::spread::{PartEnd, PartFinish, PartReport};
use sysdyno_record::units::MonoNs;

/// Which part of a load a host has, and which of its machine's CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Number of the host, from 0: thread k of the load is its own if k modulo `hosts` is this.
    pub host: u32,
    /// Number of hosts.
    pub hosts: u32,
    /// Threads of hosts before this one on the same machine, whose CPUs are left to them.
    pub threads_before: u32,
    /// Threads of all hosts on the same machine.
    pub machine_threads: u32,
}

impl Part {
    /// The threads of a plan that this host runs, by their numbers in the load.
    pub fn threads(self, plan: &LoadPlan) -> impl Iterator<Item = u32> {
        (self.host..plan.threads).step_by(self.hosts.max(1) as usize)
    }

    fn posts(self, plan: &LoadPlan) -> Vec<Post> {
        let cpus = affinity::choose(self.machine_threads);
        let cpu = |number: usize| cpus.get(self.threads_before as usize + number).copied().flatten();
        let share = |thread| Share { thread, threads: plan.threads };
        let threads = self.threads(plan).enumerate();
        threads.map(|(number, thread)| Post { share: share(thread), cpu: cpu(number) }).collect()
    }
}

/// What the host that merges orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartOrder {
    /// Make the connections.
    Connect,
    /// Send from this instant on, on this host's clock.
    Begin(MonoNs),
}

/// Runs a part of a load to its end. `order` waits for the next order; `None`: there will be none.
///
/// # Errors
/// A plan that contradicts itself, or a thread that cannot be set up; no request has been sent then.
pub fn run_part(
    plan: &LoadPlan,
    (trial, part): (u32, Part),
    control: &Control,
    order: &mut dyn FnMut() -> Option<PartOrder>,
    report: &mut dyn FnMut(PartReport),
) -> Result<(), LoadError> {
    let posts = part.posts(plan);
    if posts.is_empty() {
        return Err(LoadError::plan("it has fewer threads than hosts"));
    }
    let job = Job::new(plan, control)?;
    if part.host == 0 {
        job.prepare(trial)?;
    }
    let back_end = BackEnd::choose(plan.io, plan.connections.div_ceil(plan.threads) as usize, &job.route)?;
    let _aside = Aside::step(part.machine_threads);
    std::thread::scope(|scope| {
        let crew = Crew::muster(scope, &job, &posts, back_end.kind)?;
        let timer_error = crew.await_all()?;
        let cpus = posts.iter().map(|post| post.cpu).collect();
        report(PartReport::Ready(back_end.gear(cpus, timer_error)));
        let Some(PartOrder::Connect) = order() else { return Err(LoadError::plan("it was canceled")) };
        crew.tell(Order::Connect);
        crew.await_all()?;
        report(PartReport::Connected);
        let Some(PartOrder::Begin(begin)) = order() else {
            return Err(LoadError::plan("it was canceled"));
        };
        crew.tell(Order::Begin(begin));
        hand_over(&crew, report);
        report(PartReport::Over(PartEnd {
            learnt_body: job.learnt_body(),
            hard_stop: match control.ending() {
                TrialEnding::HardStop(text) => Some(text),
                TrialEnding::Complete | TrialEnding::Interrupted => None,
            },
        }));
        Ok(())
    })
}

/// Passes on what the threads measure, until all have ended.
fn hand_over(crew: &Crew, report: &mut dyn FnMut(PartReport)) {
    while let Ok(message) = crew.messages.recv() {
        match message {
            CrewMessage::Window(thread, window) => {
                report(PartReport::Window(Box::new(handover::told(thread, &window))));
                window.tallies.into_iter().for_each(|item| crew.give_back(thread, item.tally));
            }
            CrewMessage::Finished(thread, finish) => report(PartReport::Finished(PartFinish {
                thread,
                gaps: finish.gaps,
                backlog_max: finish.backlog_max,
                spin_ended: finish.spin_ended,
                end_mono_ns: finish.end,
            })),
            CrewMessage::Ready(_) | CrewMessage::Failed(_) => {}
        }
    }
}
