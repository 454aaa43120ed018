//! An experiment: variants, each a combination of one level of every factor, measured in blocks.
//!
//! Source: the format is `docs/reference/formats/experiment.md`. Each trial is a run in its own folder; this records only
//! which trials there are, in which order, and under which settings.

use crate::change::SettingChange;
use crate::command::CommandSpec;
use crate::manifest::RunStatus;
use crate::plan::Plan;
use crate::units::SpanNs;
use serde::{Deserialize, Serialize};

/// Schema of an experiment.
pub const EXPERIMENT_SCHEMA: &str = "sysdyno.matrix/1";

/// What is compared, and how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExperimentPlan {
    /// [`EXPERIMENT_SCHEMA`].
    pub schema: String,
    /// Its name: letters, digits, `-` and `_`.
    pub name: String,
    /// What is compared; the first is what the others are seen from.
    pub variants: Vec<ExperimentVariant>,
    /// How often every variant is measured.
    pub blocks: u32,
    /// Whether a variant is measured only until its difference is decided; then [`ExperimentPlan::blocks`] is the most.
    #[serde(default)]
    pub until_decided: bool,
    /// Whether the load of each variant is sent once more after its first trial, for a profile.
    #[serde(default)]
    pub is_profiled: bool,
    /// Of the order of trials.
    pub seed: u64,
    /// No trial is begun that would end later; `None`: it takes as long as it takes.
    pub budget: Option<SpanNs>,
    /// The metric that decides; `None`: the first that the runs have.
    pub metric: Option<String>,
    /// The smallest effect that matters, as a ratio of the first variant; `None`: that of each metric.
    pub effect_ratio: Option<f64>,
    /// Whether runs count whatever others do on the host; the interval gets wider instead.
    pub is_noisy: bool,
    /// Where the file lay. Untrusted.
    pub source: String,
    /// The lab that is put up for it; `None`: its servers are there already.
    #[serde(default)]
    pub lab: Option<RecordedLab>,
}

/// A lab that is brought up for an experiment, and torn down after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedLab {
    /// The lab as its file says it. Untrusted.
    pub text: String,
    /// The folder beside which sources of its files lie. Untrusted.
    pub beside: String,
    /// The host that sends the load. Untrusted.
    pub generator: String,
    /// Services that are started anew before each trial, beside the one under load. Untrusted.
    #[serde(default)]
    pub restart: Vec<String>,
}

/// One combination.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExperimentVariant {
    /// The names of its levels, or its own. Untrusted.
    pub name: String,
    /// Factor and level; empty where it stands for itself.
    pub levels: Vec<[String; 2]>,
    /// Settings of the host during its trials.
    pub settings: Vec<SettingChange>,
    /// Commands before each of its trials.
    pub prepare: Vec<CommandSpec>,
    /// Commands that run on the server's host, in a lab, while each of its trials lasts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub during: Vec<CommandSpec>,
    /// What is other in its lab than the lab's file says.
    #[serde(default)]
    pub services: Vec<ServiceChange>,
    /// The service of the lab that is under load; `None`: there is no lab.
    #[serde(default)]
    pub service: Option<String>,
    /// How long a trial takes, with the start of its services, where that does not follow from the plan; `None`: it does.
    #[serde(default)]
    pub takes: Option<SpanNs>,
    /// What a trial is, with the seed of the first block: [`Plan::Run`], [`Plan::Load`] or [`Plan::Work`].
    pub plan: Plan,
}

/// Something other about a service of a lab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServiceChange {
    /// The service. Untrusted.
    pub service: String,
    /// A parameter of its recipe, or `recipe`. Untrusted.
    pub key: String,
    /// Its value. Untrusted.
    pub value: serde_json::Value,
}

impl ServiceChange {
    /// A change whose value is typed: a whole number and `true` and `false` are what they say, the rest is text.
    pub fn typed(service: &str, key: &str, value: &str) -> ServiceChange {
        let value = match (value, value.parse::<u64>()) {
            ("true", _) => true.into(),
            ("false", _) => false.into(),
            (_, Ok(number)) => number.into(),
            (text, Err(_)) => text.into(),
        };
        ServiceChange { service: service.to_owned(), key: key.to_owned(), value }
    }

    /// Its value as it is typed.
    pub fn value_text(&self) -> String {
        self.value.as_str().map_or_else(|| self.value.to_string(), str::to_owned)
    }

    /// The change as it is typed, `SERVICE.KEY=VALUE`.
    pub fn text(&self) -> String {
        format!("{}.{}={}", self.service, self.key, self.value_text())
    }
}

/// What happened, line by line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExperimentLine {
    /// A trial begins.
    Began(TrialBegan),
    /// It is over.
    Ended(TrialEnded),
    /// Some variants are measured no more.
    Settled(VariantsSettled),
}

/// A trial that begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialBegan {
    /// Its number, from 1.
    pub trial: u32,
    /// Its block, from 0.
    pub block: u32,
    /// Position of its variant.
    pub variant: u32,
    /// Name of its run folder below `runs`. Untrusted.
    pub run: String,
}

/// A trial that is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialEnded {
    /// Its number.
    pub trial: u32,
    /// How its run ended; only a complete one counts.
    pub status: RunStatus,
    /// Settings that are not what they were, since somebody else has changed them.
    pub not_restored: Vec<String>,
    /// Whether its run is INVALID since it was disturbed: it is made once more, however good it was.
    #[serde(default)]
    pub is_spoilt: bool,
}

/// Variants that are measured no more, because what was asked of them is decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VariantsSettled {
    /// The last block in which they were measured.
    pub block: u32,
    /// Their positions; all of them: the experiment has its answer.
    pub variants: Vec<u32>,
}

/// The last block in which this variant is to be measured; `None`: no line says so.
fn last_block(lines: &[ExperimentLine], variant: u32) -> Option<u32> {
    let settled = lines.iter().filter_map(|line| match line {
        ExperimentLine::Settled(settled) if settled.variants.contains(&variant) => Some(settled.block),
        _ => None,
    });
    settled.min()
}

/// Whether this variant is to be measured in this block, as far as these lines say.
pub fn is_due(lines: &[ExperimentLine], block: u32, variant: u32) -> bool {
    last_block(lines, variant).is_none_or(|last| block <= last)
}

/// How many trials are to be made, as far as these lines say.
pub fn trials_count(plan: &ExperimentPlan, lines: &[ExperimentLine]) -> u64 {
    let blocks = |variant| {
        last_block(lines, variant).map_or(plan.blocks, |last| plan.blocks.min(last.saturating_add(1)))
    };
    (0..plan.variants.len() as u32).map(|variant| u64::from(blocks(variant))).sum()
}

/// How often a cell is measured at most, with the runs that were disturbed.
pub const MAX_TRIES: usize = 2;

/// A cell that was measured: a complete run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredCell {
    /// Its block.
    pub block: u32,
    /// Position of its variant.
    pub variant: u32,
    /// Name of its run folder.
    pub run: String,
    /// How many complete runs there are of it.
    pub tries: usize,
    /// Whether all of them were disturbed.
    pub is_spoilt: bool,
}

/// The cells that count, each once: of its complete runs the first that was not spoilt, else the last.
pub fn measured_cells(lines: &[ExperimentLine]) -> Vec<MeasuredCell> {
    let complete = |number: u32| {
        lines.iter().find_map(|line| match line {
            ExperimentLine::Ended(end) if end.trial == number && end.status == RunStatus::Complete => {
                Some(end)
            }
            _ => None,
        })
    };
    let mut cells: Vec<MeasuredCell> = Vec::new();
    for line in lines {
        let ExperimentLine::Began(began) = line else { continue };
        let Some(is_spoilt) = complete(began.trial).map(|end| end.is_spoilt) else { continue };
        let TrialBegan { block, variant, run, .. } = began.clone();
        match cells.iter_mut().find(|cell| (cell.block, cell.variant) == (block, variant)) {
            None => cells.push(MeasuredCell { block, variant, run, tries: 1, is_spoilt }),
            Some(cell) if cell.is_spoilt => {
                *cell = MeasuredCell { run, tries: cell.tries + 1, is_spoilt, ..cell.clone() };
            }
            Some(cell) => cell.tries += 1,
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    fn began(trial: u32, block: u32, variant: u32) -> ExperimentLine {
        ExperimentLine::Began(TrialBegan { trial, block, variant, run: format!("run-{trial}") })
    }

    fn ended(trial: u32, status: RunStatus) -> ExperimentLine {
        ExperimentLine::Ended(TrialEnded { trial, status, not_restored: Vec::new(), is_spoilt: false })
    }

    fn spoilt(trial: u32) -> ExperimentLine {
        let status = RunStatus::Complete;
        ExperimentLine::Ended(TrialEnded { trial, status, not_restored: Vec::new(), is_spoilt: true })
    }

    #[test]
    fn of_a_cell_that_was_spoilt_the_next_run_counts() {
        let told = |lines: &[ExperimentLine]| {
            let cells = measured_cells(lines);
            cells.into_iter().map(|cell| (cell.run, cell.tries, cell.is_spoilt)).collect::<Vec<_>>()
        };
        let mut lines = vec![began(1, 0, 1), spoilt(1)];
        assert_eq!(told(&lines), [("run-1".to_owned(), 1, true)]);
        lines.extend([began(2, 0, 1), ended(2, RunStatus::Complete)]);
        assert_eq!(told(&lines), [("run-2".to_owned(), 2, false)]);
        lines.extend([began(3, 0, 1), spoilt(3)]);
        assert_eq!(told(&lines), [("run-2".to_owned(), 3, false)]);
    }

    #[test]
    fn a_settled_variant_is_due_up_to_its_last_block() {
        let lines = [ExperimentLine::Settled(VariantsSettled { block: 1, variants: vec![2] })];
        assert!(is_due(&lines, 1, 2) && !is_due(&lines, 2, 2));
        assert!(is_due(&lines, 9, 0) && is_due(&[], 9, 2));
    }

    #[test]
    fn only_what_was_measured_to_its_end_counts_and_once() {
        let lines = [
            began(1, 0, 1),
            ended(1, RunStatus::Interrupted),
            began(2, 0, 1),
            ended(2, RunStatus::Complete),
            began(3, 0, 0),
            ended(3, RunStatus::Complete),
            began(4, 0, 1),
            ended(4, RunStatus::Complete),
            began(5, 1, 0),
        ];
        let cells: Vec<(u32, u32, String)> =
            measured_cells(&lines).into_iter().map(|cell| (cell.block, cell.variant, cell.run)).collect();
        assert_eq!(cells, [(0, 1, "run-2".to_owned()), (0, 0, "run-3".to_owned())]);
    }
}
