//! What was measured in an experiment: which variants are settled, the comparison of all, and its report.

use super::{Making, name};
use crate::args::ComparisonForm;
use crate::commands::compare;
use crate::commands::work::profile as work_profile;
use crate::exit::Exit;
use crate::ui::Ui;
use anyhow::Context;
use std::collections::BTreeMap;
use std::path::Path;
use sysdyno_analyze::compare::RunProfile;
use sysdyno_analyze::experiment::{
    MeasuredVariant, PlannedCell, conclude, conclude_work, missing, settled, settled_by_work,
};
use sysdyno_record::comparison::RunsComparison;
use sysdyno_record::experiment::{
    ExperimentLine, ExperimentPlan, VariantsSettled, is_due, measured_cells, trials_count,
};
use sysdyno_record::plan::Plan;
use sysdyno_record::store::ExperimentFolder;
use sysdyno_report::{compare as text, html};

/// Of an experiment that is measured until it is decided: looks after every second block which variants are settled.
pub(super) fn settle(folder: &mut ExperimentFolder, making: &Making<'_>) -> anyhow::Result<()> {
    let ui = making.ui;
    let left = missing(&folder.plan, &folder.lines);
    let Some(next) = left.first().map(|cell| cell.block) else { return Ok(()) };
    let is_begun = measured_cells(&folder.lines).iter().any(|cell| cell.block == next);
    if !folder.plan.until_decided || next == 0 || next % 2 == 1 || is_begun {
        return Ok(());
    }
    let plan = &folder.plan;
    let found = match is_work(plan) {
        true => settled_by_work(plan, measured(folder, work_profile)?),
        false => settled(plan, measured(folder, |path| compare::read(path, ui))?),
    };
    let variants: Vec<u32> =
        found.into_iter().filter(|variant| is_due(&folder.lines, next, *variant)).collect();
    if variants.is_empty() {
        return Ok(());
    }
    let names = variants.iter().map(|variant| name(plan, PlannedCell { block: next, variant: *variant }));
    let names: Vec<String> = names.collect();
    ui.note(&match left.iter().any(|cell| !variants.contains(&cell.variant)) {
        true => format!("after block {next}: settled and no longer measured: {}", names.join(", ")),
        false => format!("after block {next}: all differences are decided"),
    });
    making.append(folder, ExperimentLine::Settled(VariantsSettled { block: next - 1, variants }))?;
    Ok(())
}

pub(super) fn is_work(plan: &ExperimentPlan) -> bool {
    plan.variants.iter().all(|variant| matches!(variant.plan, Plan::Work(_)))
}

/// The runs that count, as `read` sees them, of each variant.
pub(super) fn measured<R>(
    folder: &ExperimentFolder,
    read: impl Fn(&Path) -> anyhow::Result<R>,
) -> anyhow::Result<Vec<MeasuredVariant<R>>> {
    let mut measured: BTreeMap<usize, MeasuredVariant<R>> = BTreeMap::new();
    for cell in measured_cells(&folder.lines) {
        let variant = cell.variant as usize;
        let nothing = || MeasuredVariant { variant, runs: Vec::new(), blocks: Vec::new(), repeated_count: 0 };
        let of_variant = measured.entry(variant).or_insert_with(nothing);
        of_variant.runs.push(read(&folder.runs().join(&cell.run))?);
        of_variant.blocks.push(cell.block);
        of_variant.repeated_count += cell.tries.saturating_sub(1) as u64;
    }
    Ok(measured.into_values().collect())
}

/// Compares what was measured; `read` reads runs of loads.
pub fn conclusion(
    folder: &ExperimentFolder,
    read: impl Fn(&Path) -> anyhow::Result<RunProfile>,
) -> anyhow::Result<RunsComparison> {
    let planned_count = trials_count(&folder.plan, &folder.lines);
    let compared = match is_work(&folder.plan) {
        true => conclude_work(&folder.plan, planned_count, measured(folder, work_profile)?),
        false => conclude(&folder.plan, planned_count, measured(folder, read)?),
    };
    let path = folder.path().display();
    compared.with_context(|| {
        format!("cannot compare anything in '{path}': fewer than two variants were measured")
    })
}

/// What was measured, compared.
pub(super) struct Reported {
    /// How the program ends.
    pub(super) exit: Exit,
    /// `None`: nothing could be compared.
    pub(super) comparison: Option<RunsComparison>,
}

/// Compares what was measured, prints it and writes the page.
pub(super) fn report(folder: &ExperimentFolder, form: ComparisonForm, ui: &Ui) -> anyhow::Result<Reported> {
    let comparison = conclusion(folder, |path| compare::read(path, ui))?;
    let page = folder.write_report(&html::render_comparison(&comparison, None))?;
    match form {
        ComparisonForm::Text => ui.print(&text::render(&comparison, Some(&page), &ui.style())),
        ComparisonForm::Json => ui.print_json(&comparison)?,
        // The result is the last line of what was printed while it was measured.
        ComparisonForm::Jsonl => {}
    }
    let exit = if comparison.is_refused { Exit::Untrusted } else { Exit::Done };
    Ok(Reported { exit, comparison: Some(comparison) })
}
