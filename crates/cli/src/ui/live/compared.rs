//! Comparisons as others see them while they last: the trials of a tryout, and the runs of an experiment, which all go to one stream.

use super::super::Ui;
use super::{ExperimentEnding, LiveOutput};
use std::path::Path;
use sysdyno_analyze::experiment::PlannedCell;
use sysdyno_analyze::tryout::{NextTrial, Standing};
use sysdyno_record::experiment::{ExperimentLine, ExperimentPlan};
use sysdyno_record::manifest::{Manifest, RunKind};
use sysdyno_record::tryout::{TryConclusion, TryLine, TryPlan};
use sysdyno_record::work::WorkLine;
use sysdyno_report::output::lines::{
    ExperimentBegins, ExperimentEnds, ExperimentTrialBegins, RunLine, SCHEMA, SideBegins, StageBegins,
    StandingLine, TryBegins, TryConcluded, VariantLine, render,
};
use sysdyno_run::clock;

/// Of tryouts.
impl LiveOutput {
    /// A tryout begins.
    pub fn begin_tryout(&mut self, run: &str, plan: &TryPlan) {
        self.begin(run, RunKind::Try);
        self.compare(plan.variants.iter().map(|variant| variant.name.as_str()));
        self.line(&RunLine::Try(TryBegins::of(plan)));
    }

    /// A tryout is over, and this came of it; `None`: nothing did.
    pub fn end_tryout(&mut self, manifest: &Manifest, conclusion: Option<&TryConclusion>, ui: &Ui) {
        let line = |conclusion| render(&RunLine::Conclusion(TryConcluded::of(conclusion)));
        self.end_with(manifest, conclusion.map(line).into_iter().collect(), ui);
    }

    /// A trial of one side begins.
    pub(super) fn side(&mut self, next: &NextTrial) {
        self.measure(|meter| meter.compared().pair(next.pair, next.variant));
        let name = self.name(next.variant);
        self.line(&RunLine::SideBegin(SideBegins {
            trial: next.trial,
            stage: next.stage.stage,
            pair: next.pair,
            arm: next.arm,
            variant: next.variant,
            name: &name,
            mono_ns: clock::monotonic(),
        }));
    }

    /// A line of a tryout was written.
    pub(super) fn told(&mut self, line: &TryLine) {
        match line {
            TryLine::Settled(settled) => self.line(&RunLine::Settled(settled)),
            TryLine::Stage(stage) => {
                self.measure(|meter| meter.compared().stage());
                let [a, b] = [stage.a, stage.b].map(|variant| self.name(variant));
                let (stage, kind) = (stage.stage, stage.kind);
                self.line(&RunLine::Stage(StageBegins { stage, kind, a: &a, b: &b }));
            }
            TryLine::Trial(trial) => {
                self.measure(|meter| meter.compared().rest());
                self.line(&RunLine::SideEnd(trial));
            }
            TryLine::Pair(pair) => self.line(&RunLine::Pair(pair)),
            // A squeeze is not streamed as lines.
            TryLine::Resources(_) => {}
        }
    }

    /// The comparison after a pair.
    pub(super) fn standing(&mut self, standing: &Standing) {
        let Standing { stage, counted, dropped, effect, line, .. } = standing;
        self.measure(|meter| meter.compared().standing(*counted, *dropped, *effect));
        self.line(&RunLine::Standing(StandingLine {
            stage: stage.stage,
            counted: *counted,
            dropped: *dropped,
            effect: effect.as_ref(),
            sentence: line,
        }));
    }
}

/// Of experiments.
impl LiveOutput {
    /// An experiment begins, of which so many trials are to be made.
    pub fn begin_experiment(&mut self, folder: &Path, plan: &ExperimentPlan, trials_count: usize) {
        self.is_experiment = true;
        self.compare(plan.variants.iter().map(|variant| variant.name.as_str()));
        self.line(&RunLine::ExperimentBegin(ExperimentBegins {
            schema: SCHEMA,
            folder: folder.display().to_string(),
            name: &plan.name,
            variants: VariantLine::all(plan),
            blocks: plan.blocks,
            trials_count: trials_count as u64,
            clock: clock::pair(),
        }));
    }

    /// A trial of an experiment begins.
    pub fn begin_cell(&mut self, trial: u32, cell: PlannedCell) {
        self.measure(|meter| meter.compared().block(cell.block, cell.variant));
        let name = self.name(cell.variant);
        self.line(&RunLine::ExperimentTrialBegin(ExperimentTrialBegins {
            trial,
            block: cell.block,
            variant: cell.variant,
            name: &name,
            mono_ns: clock::monotonic(),
        }));
    }

    /// A line of an experiment was written.
    pub fn noted(&mut self, line: &ExperimentLine) {
        match line {
            // Was told before the run began.
            ExperimentLine::Began(_) => {}
            ExperimentLine::Ended(ended) => {
                self.measure(|meter| meter.compared().rest());
                self.line(&RunLine::ExperimentTrialEnd(ended));
            }
            ExperimentLine::Settled(settled) => self.line(&RunLine::ExperimentSettled(settled)),
        }
    }

    /// A command has ended, or a second of file operations.
    pub fn operation(&mut self, line: &WorkLine) {
        self.line(&RunLine::Operation(line));
    }

    /// The experiment is over.
    pub fn end_experiment(&mut self, folder: &Path, ending: &ExperimentEnding<'_>, ui: &Ui) {
        self.is_experiment = false;
        let ends = ExperimentEnds {
            folder: folder.display().to_string(),
            status: ending.status,
            reason: ending.reason,
            headline: ending.comparison.map(|comparison| comparison.headline.as_str()),
            end_mono_ns: clock::monotonic(),
            dropped_count: self.lines.as_ref().map_or(0, |lines| lines.dropped_count()),
        };
        self.finish(vec![render(&RunLine::ExperimentEnd(ends))], ui);
    }

    fn compare<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        self.variants = names.map(str::to_owned).collect();
        self.measure(|meter| meter.compared().variants(self.variants.iter().map(String::as_str)));
    }

    fn name(&self, variant: u32) -> String {
        self.variants.get(variant as usize).cloned().unwrap_or_default()
    }
}
