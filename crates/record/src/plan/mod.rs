//! Plans: the load plan of a trial and the plan of a whole run, with every default filled in.
//!
//! Plans are pure values. They hold everything needed to send the same load again, seed included, and nothing that depends
//! on its outcome.

mod arrival;
mod load;
mod objective;
mod request;
mod run;
mod target;
mod watch;

pub use arrival::{Arrival, Deadlines, HardStops, KeepAlive, PhaseEnd, PhaseKind, PhasePlan};
pub use load::{IoChoice, LoadPlan, SpinChoice, StampChoice};
pub use objective::Objective;
pub use request::{ExpectedHeader, HeaderField, RequestSpec, Validators};
pub use run::{ProvePlan, RunPlan, SearchMethod, SearchPlan};
pub use target::{Endpoint, NAME_SERVICE_PORT, Target};
pub use watch::WatchPlan;

use crate::probe::ProbesPlan;
use crate::squeeze::SqueezePlan;
use crate::tryout::TryPlan;
use crate::work::WorkPlan;
use serde::{Deserialize, Serialize};

/// What one invocation will do; the content of `plan.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "there is one of them in a run")]
pub enum Plan {
    /// `sysdyno run` and `demo`: look for the capacity.
    Run(RunPlan),
    /// `sysdyno load`: one load.
    Load(LoadPlan),
    /// `sysdyno try`: one thing against another.
    #[serde(rename = "experiment")]
    Try(Box<TryPlan>),
    /// `sysdyno squeeze`: how much each resource matters.
    Squeeze(Box<SqueezePlan>),
    /// `sysdyno load --command` and `--files`: work on this host.
    Work(WorkPlan),
    /// `sysdyno watch --record`: a host, without a load.
    Watch(WatchPlan),
    /// `sysdyno probe --record`: single operations without a load.
    Probe(ProbesPlan),
}

impl Plan {
    /// The load that is common to all trials; `None`: they run commands, or there is no load.
    pub fn load(&self) -> Option<&LoadPlan> {
        match self {
            Plan::Run(run) => Some(&run.load),
            Plan::Load(load) => Some(load),
            Plan::Try(tryout) => tryout.load(),
            Plan::Squeeze(squeeze) => squeeze.tryout.load(),
            Plan::Work(_) | Plan::Probe(_) | Plan::Watch(_) => None,
        }
    }

    /// The checks of the result, as typed.
    pub fn fail_if(&self) -> &[String] {
        match self {
            Plan::Run(run) => &run.fail_if,
            Plan::Load(load) => &load.fail_if,
            Plan::Try(_) | Plan::Squeeze(_) | Plan::Work(_) | Plan::Probe(_) | Plan::Watch(_) => &[],
        }
    }
}
