//! The plan of a tryout, with every default filled in; written and hashed before the first trial.

use super::Metric;
use crate::change::SettingChange;
use crate::command::CommandSpec;
use crate::plan::{LoadPlan, RunPlan, Target};
use crate::squeeze::{Contrast, SqueezeAction};
use crate::units::SpanNs;
use crate::work::CommandWork;
use serde::{Deserialize, Serialize};

/// A tryout, before it begins; the content of `plan.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TryPlan {
    /// What a trial does.
    pub workload: TryWorkload,
    /// The command that is timed under every variant, with what runs before and after it; `None`: a load is sent, or each
    /// variant has a command of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Box<CommandWork>>,
    /// What is compared: the first is A, as it is; the others are put against it.
    pub variants: Vec<Variant>,
    /// The comparisons of a squeeze, in this order; empty: those that follow from the variants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contrasts: Vec<Contrast>,
    /// The one metric that decides.
    pub metric: Metric,
    /// The smallest effect that matters, as a ratio of A (or a difference, by the metric's scale): 0.03 for 3%.
    pub effect_ratio: f64,
    /// What must not get worse.
    pub guardrails: Vec<GuardrailPlan>,
    /// Seed of the order of trials and of their loads.
    pub seed: u64,
    /// How many pairs are measured.
    pub pairs: PairCaps,
    /// No block of trials is begun that would end after this time.
    pub budget: SpanNs,
    /// Length of the measured window of a trial; for commands 0.
    pub window: SpanNs,
    /// Warm-up before each window; `None`: the pilot settles it.
    pub warmup: Option<SpanNs>,
    /// How much is offered in a trial.
    pub rate: RatePlan,
    /// What the environment may do to a pair that counts.
    pub limits: EnvironmentLimits,
    /// Whether A and B are the same on purpose, to learn what this host can resolve.
    pub is_calibration: bool,
    /// Whether the change stays if the verdict is better and no guardrail objects.
    pub keeps_better: bool,
    /// Processes to watch besides the generator; empty means those that serve the target's endpoint.
    pub watch_pids: Vec<u32>,
    /// Samples of the kernel per second.
    pub sampling_hz: f64,
}

/// What a trial does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TryWorkload {
    /// Sends a load; its phases are settled by the pilot.
    Load(Box<LoadPlan>),
    /// Looks for the capacity.
    Capacity(Box<RunPlan>),
    /// Runs the command of the plan, or of its variant.
    Commands,
}

/// One of the things that are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// What it is called: `A`, `B`, `B1`.
    pub name: String,
    /// What is done before its trials.
    pub action: Action,
}

/// What makes a variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Nothing: the host as it is.
    AsItIs,
    /// These settings are changed for its trials and undone after them.
    Settings(Vec<SettingChange>),
    /// Its load goes to this server.
    Target(Box<Target>),
    /// This command is what is timed.
    Command(CommandSpec),
    /// This command brings the server into the variant, before each of its trials that follows another variant.
    Prepare(CommandSpec),
    /// A little of a resource is taken away for its trials.
    Squeeze(Box<SqueezeAction>),
}

impl Action {
    /// Settings that are changed for trials of the variant, and undone after them.
    pub fn settings(&self) -> &[SettingChange] {
        match self {
            Action::Settings(changes) => changes,
            Action::Squeeze(squeeze) => &squeeze.settings,
            Action::AsItIs | Action::Target(_) | Action::Command(_) | Action::Prepare(_) => &[],
        }
    }
}

/// A metric that must not get worse.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GuardrailPlan {
    /// The metric.
    pub metric: Metric,
    /// By how much it may, as a ratio of A or a difference, by the metric's scale.
    pub margin: f64,
}

/// How many pairs are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairCaps {
    /// Fewest that a verdict is given of.
    pub min_count: u32,
    /// Most of one comparison.
    pub max_count: u32,
}

/// What the environment may do to a pair that counts; 1 is whatever it likes.
///
/// Trouble that does not know the arm of a trial makes an interval wider and not wrong, so a limit may be lifted where
/// there is no quieter host.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnvironmentLimits {
    /// Time that the hypervisor takes, of all CPU time.
    pub steal_ratio: f64,
    /// The same, between the two trials of a pair.
    pub steal_difference_ratio: f64,
    /// CPU time of others, of all CPU time.
    pub foreign_ratio: f64,
    /// The same, between the two trials of a pair.
    pub foreign_difference_ratio: f64,
}

impl EnvironmentLimits {
    /// Those of a quiet host. House values.
    pub const QUIET: EnvironmentLimits = EnvironmentLimits {
        steal_ratio: 0.02,
        steal_difference_ratio: 0.01,
        foreign_ratio: 0.05,
        foreign_difference_ratio: 0.02,
    };

    /// None: pairs count whatever others do on the host.
    pub const NOISY: EnvironmentLimits = EnvironmentLimits {
        steal_ratio: 1.0,
        steal_difference_ratio: 1.0,
        foreign_ratio: 1.0,
        foreign_difference_ratio: 1.0,
    };
}

/// How much is offered in a trial.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RatePlan {
    /// This share of what a closed-loop pilot finds, an open load.
    ShareOfPilot(f64),
    /// This rate, an open load. Unit: requests per second.
    Fixed(f64),
    /// Closed: as much as the connections take.
    Closed,
    /// Not a load, or one that looks for its own rates.
    NotApplicable,
}

impl TryPlan {
    /// The load that its trials have in common; `None`: they run commands.
    pub fn load(&self) -> Option<&LoadPlan> {
        match &self.workload {
            TryWorkload::Load(load) => Some(load),
            TryWorkload::Capacity(run) => Some(&run.load),
            TryWorkload::Commands => None,
        }
    }
}
