//! A host that sends a part of a load: its means of sending, and its share of the trial so far.

use super::tally::{OperationTally, Tally};
use sysdyno_record::load::{Counts, LearntBody};
use sysdyno_record::plan::LoadPlan;
use sysdyno_record::remote::ClockOffset;
use sysdyno_record::spread::PartReady;

/// A host that sends a part of the load, set up and connected.
#[derive(Clone, Debug)]
pub struct SpreadHost {
    /// As it was typed.
    pub name: String,
    /// The offset of its clock from this host's.
    pub clock: ClockOffset,
    /// What it sends with.
    pub ready: PartReady,
}

/// What one host has had of a trial so far.
#[derive(Clone, Debug)]
pub(super) struct HostSum {
    pub host: SpreadHost,
    pub measured: Tally,
    /// Requests by phase.
    phases: Vec<Counts>,
    /// The same of each operation of a mix.
    operations: Vec<Vec<Counts>>,
    pub learnt_body: Option<LearntBody>,
    pub lost: Option<String>,
}

impl HostSum {
    pub(super) fn new(host: SpreadHost, plan: &LoadPlan) -> HostSum {
        HostSum {
            host,
            measured: Tally::default(),
            phases: vec![Counts::default(); plan.phases.len() + 1],
            operations: vec![Vec::new(); plan.phases.len() + 1],
            learnt_body: None,
            lost: None,
        }
    }

    pub(super) fn add(&mut self, phase: u32, is_measured: bool, tally: &Tally) {
        self.phases[phase as usize].add(&tally.counts);
        let operations = &mut self.operations[phase as usize];
        operations.resize(operations.len().max(tally.operations.len()), Counts::default());
        operations.iter_mut().zip(&tally.operations).for_each(|(sum, tally)| sum.add(&tally.counts));
        if is_measured {
            self.measured.merge(tally);
        }
    }

    /// The whole trial.
    pub(super) fn total(&self) -> Counts {
        self.phases.iter().fold(Counts::default(), |mut sum, counts| {
            sum.add(counts);
            sum
        })
    }

    /// Requests of a phase without an outcome, as the outcome that they have now.
    pub(super) fn open(&self, phase: u32) -> Tally {
        let operation = |counts| OperationTally::of(open(counts));
        Tally {
            counts: open(&self.phases[phase as usize]),
            operations: self.operations[phase as usize].iter().map(operation).collect(),
            ..Tally::default()
        }
    }
}

fn open(counts: &Counts) -> Counts {
    let known = counts.ok + counts.failed + counts.timed_out + counts.in_flight;
    Counts {
        in_flight: counts.sent - known,
        unsent: counts.scheduled - counts.sent - counts.unsent,
        ..Counts::default()
    }
}
