//! One experiment on several machines: the sides are the machines, and the operations are the experiment's variants.
//!
//! Each variant is compared by itself, with its own gates: what refuses one of them leaves no effect of that one. That the
//! machines differ refuses nothing, since they are compared; but whether the same was measured on each is a matter of the
//! experiments' plans ([`experiments_apart`]) and of the gates. Blocks pair nothing here: block 1 of one machine has nothing in
//! common with block 1 of another one.

use super::change::{bound, point};
use super::gate::emulated::{self, EMULATED};
use super::metric::{MACHINE_METRICS, MeasuredSide, applying, underused_ratio};
use super::size::{emulator, frequency_ghz};
use super::{
    CompareOptions, Family, RunProfile, Side, WorkCompareOptions, WorkProfile, compare_work, compared,
    concluded, differences, effect, gates, headline, label, letter, refused, shown, shown_run,
};
use crate::format::{list, name, percent};
use sysdyno_record::comparison::{
    ComparedRun, GateOutcome, HostShown, HostsShown, MetricComparison, OperationComparison, PowerSource,
    RunsComparison, Severity,
};
use sysdyno_record::effect::Comparison;
use sysdyno_record::experiment::{ExperimentPlan, ExperimentVariant};
use sysdyno_record::facts::HostFacts;
use sysdyno_stats::descriptive::median;

/// The gate that says that machines differ.
const OF_MACHINES: &str = "C14";

/// Caveat for machines.
const MACHINES_LIMIT: &str =
    "Machines differ in many ways at once: no single difference between them is shown to be the cause";

/// A variant of an experiment, as it was measured on each machine.
#[derive(Clone, Debug)]
pub struct VariantOnMachines<R> {
    /// Its name. Untrusted.
    pub name: String,
    /// Its runs, or records of work, by machine; at least one of each.
    pub machines: Vec<Vec<R>>,
}

/// The machines, and how they are compared.
#[derive(Clone, Debug)]
pub struct MachinesOptions {
    /// The experiment. Untrusted.
    pub experiment: String,
    /// What the user calls the machines. Untrusted.
    pub names: Vec<String>,
    /// Their facts.
    pub facts: Vec<HostFacts>,
    /// Metrics, margins, and gates that do not refuse.
    pub compare: CompareOptions,
}

/// Variants that are named with the cores that their servers used.
const UNDERUSED_TOLD: usize = 4;

/// What was found of a variant.
struct Part {
    runs: Vec<Vec<ComparedRun>>,
    gates: Vec<GateOutcome>,
    refused: Vec<bool>,
    operations: Vec<OperationComparison>,
}

impl Part {
    fn is_refused(&self) -> bool {
        self.refused.iter().skip(1).all(|is_refused| *is_refused)
    }
}

/// Compares machines by the variants of an experiment of loads, each further machine with the first.
pub fn compare_machines(
    variants: Vec<VariantOnMachines<RunProfile>>,
    options: &MachinesOptions,
) -> RunsComparison {
    let sizes = variants.first().map_or_else(Vec::new, |variant| {
        variant.machines.iter().map(|runs| runs.first().map(|run| run.size.clone())).collect()
    });
    let is_one = variants.len() == 1;
    let (mut limits, mut underused) = (Vec::new(), Vec::new());
    let mut parts: Vec<Part> = Vec::new();
    for variant in variants {
        let title = name(&variant.name);
        let sides = sides(variant, &options.names);
        let mut part = of_loads(&sides, &title, &options.compare);
        if parts.iter().all(Part::is_refused) {
            limits = headline::limits(&sides, &part.refused);
        }
        underused.extend(told_underused(&title, &sides));
        if !is_one {
            part.gates.iter_mut().for_each(|gate| gate.text = format!("{title}: {}", gate.text));
        }
        parts.push(part);
    }
    adjust(&mut parts);
    limits.extend(underused_limit(&underused));
    let mut comparison = merged(parts, options, limits);
    let sized = comparison.hosts.iter_mut().flat_map(|shown| &mut shown.hosts).zip(sizes);
    for (host, size) in sized {
        host.cores_count = size.as_ref().and_then(|size| size.cores);
        host.power = size.and_then(|size| size.energy).map(|energy| energy.source);
    }
    comparison
}

/// Compares machines by the variants of an experiment of commands.
pub fn compare_machines_at_work(
    variants: Vec<VariantOnMachines<WorkProfile>>,
    metric: Option<&str>,
    options: &MachinesOptions,
) -> RunsComparison {
    let mut limits = Vec::new();
    let of_work = |variant: VariantOnMachines<WorkProfile>| {
        let title = name(&variant.name);
        let wanted = WorkCompareOptions { metric, margin_ratio: options.compare.margin_ratio };
        let mut found = compare_work(&sides(variant, &options.names), wanted);
        for operation in &mut found.operations {
            operation.operation = format!("{title}: {}", operation.operation);
        }
        limits = found.limits;
        Part {
            refused: found.sides.iter().map(|side| side.is_refused).collect(),
            runs: found.sides.into_iter().map(|side| side.runs).collect(),
            gates: found.gates,
            operations: found.operations,
        }
    };
    let mut parts: Vec<Part> = variants.into_iter().map(of_work).collect();
    refuse_emulated(&mut parts, options);
    merged(parts, options, limits)
}

fn sides<R>(variant: VariantOnMachines<R>, names: &[String]) -> Vec<Side<R>> {
    let named = names.iter().zip(variant.machines);
    named.map(|(name, runs)| Side { name: name.clone(), runs, blocks: Vec::new() }).collect()
}

fn of_loads(sides: &[Side], title: &str, options: &CompareOptions) -> Part {
    let mut sides = sides.to_vec();
    label(&mut sides);
    let mut gates = gates(&sides, &options.allowed);
    gates.retain(|gate| gate.id != OF_MACHINES);
    let refused = refused(&gates, sides.len());
    let metrics = sides.first().and_then(|side| side.runs.first());
    let metrics = metrics.map_or_else(Vec::new, |run| applying(run, None, &options.metrics));
    let measured = metrics.into_iter().map(|metric| {
        let mut measured: Vec<MeasuredSide> =
            sides.iter().map(|side| metric.measure(&side.runs, &[], None)).collect();
        if metric.unit == "per_joule" {
            tell_meters_apart(&sides, &mut measured);
        }
        (metric, measured)
    });
    // What no machine has to divide by is left out; the machines' own lines say that it is not known.
    let is_of_machines = |name| MACHINE_METRICS.iter().any(|one| one.name == name);
    let measured: Vec<_> = measured
        .filter(|(metric, sides)| {
            !is_of_machines(metric.name) || sides.iter().any(|side| !side.runs.is_empty())
        })
        .collect();
    let mut family = Family::of(measured.len());
    let metrics = measured
        .into_iter()
        .map(|(metric, sides)| compared(metric, sides, (&refused, family.next()), options.margin_ratio))
        .collect();
    let operations = vec![OperationComparison { operation: title.to_owned(), metrics }];
    let runs = sides.iter().map(|side| side.runs.iter().map(shown_run).collect()).collect();
    Part { runs, gates, refused, operations }
}

/// `connections kept: A 49%`: the machines whose servers were not busy with a variant.
fn told_underused(title: &str, sides: &[Side]) -> Option<String> {
    let told = sides.iter().enumerate().filter_map(|(index, side)| {
        let ratios: Vec<f64> = side.runs.iter().filter_map(underused_ratio).collect();
        Some(format!("{} {}", letter(index), percent(median(&ratios)?)))
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| format!("{title}: {}", told.join(", ")))
}

/// Why rates per core are lower bounds.
fn underused_limit(told: &[String]) -> Option<String> {
    let shown = told.get(..told.len().min(UNDERUSED_TOLD)).filter(|shown| !shown.is_empty())?;
    let more = if told.len() > shown.len() { ", and other variants" } else { "" };
    Some(format!(
        "A server that does not use its cores could deliver more per core, so ≥ marks a lower bound (cores used: {}{more})",
        shown.join("; ")
    ))
}

/// What the processors count is a part of what a meter reads at the plug: such numbers are shown and not compared.
fn tell_meters_apart(sides: &[Side], measured: &mut [MeasuredSide]) {
    let source = |side: &Side| side.runs.iter().find_map(|run| Some(run.size.energy?.source));
    let Some(first) = sides.first().and_then(source) else { return };
    let called = |source| match source {
        PowerSource::Rapl => "RAPL",
        PowerSource::Meter => "a meter",
    };
    for (index, side) in sides.iter().enumerate().skip(1) {
        if let Some(other) = source(side).filter(|other| *other != first) {
            let cause = format!("A was read by {}, {} by {}", called(first), letter(index), called(other));
            measured[index].missing = Some(cause);
        }
    }
}

/// Each variant is a question of its own, and so are its rate and what that is divided by: families of one metric over all
/// machines. All other metrics of a variant share one.
fn adjust(parts: &mut [Part]) {
    for operation in parts.iter_mut().flat_map(|part| &mut part.operations) {
        let mut others = Vec::new();
        for (number, metric) in operation.metrics.iter_mut().enumerate() {
            if number > 0 && !is_of_machines(metric) {
                others.extend(&mut metric.effects);
            } else {
                effect::adjust(&mut metric.effects.iter_mut().collect::<Vec<_>>());
            }
        }
        effect::adjust(&mut others);
    }
}

fn is_of_machines(metric: &MetricComparison) -> bool {
    MACHINE_METRICS.iter().any(|one| one.name == metric.metric)
}

/// Commands on an emulated machine are refused as loads are.
fn refuse_emulated(parts: &mut [Part], options: &MachinesOptions) {
    let Some((first, others)) = options.facts.split_first() else { return };
    let is_allowed = options.compare.allowed.iter().any(|name| name == EMULATED.id || name == EMULATED.name);
    for (index, facts) in others.iter().enumerate() {
        let side = index + 1;
        let Some(text) = emulated::difference(first, facts, &letter(side)) else { continue };
        let severity = if is_allowed { Severity::Allowed } else { Severity::Refused };
        let (id, name, remedy) = (EMULATED.id, EMULATED.name, EMULATED.remedy);
        if let Some(part) = parts.first_mut() {
            part.gates.insert(0, GateOutcome { id, name, severity, side, text, remedy });
        }
        for part in parts.iter_mut().filter(|_| !is_allowed) {
            part.refused[side] = true;
            let metrics = part.operations.iter_mut().flat_map(|operation| &mut operation.metrics);
            metrics.for_each(|metric| metric.effects.retain(|effect| effect.side != side));
        }
    }
}

/// All variants as one comparison.
fn merged(parts: Vec<Part>, options: &MachinesOptions, mut limits: Vec<String>) -> RunsComparison {
    let refused: Vec<bool> =
        (0..options.names.len()).map(|side| parts.iter().all(|part| part.refused[side])).collect();
    let mut runs: Vec<Vec<ComparedRun>> = vec![Vec::new(); options.names.len()];
    let (mut gates, mut operations) = (Vec::new(), Vec::new());
    for part in parts {
        runs.iter_mut().zip(part.runs).for_each(|(all, mut of_part)| all.append(&mut of_part));
        gates.extend(part.gates);
        operations.extend(part.operations);
    }
    gates.sort_by_key(|gate| std::cmp::Reverse(gate.severity));
    limits.push(MACHINES_LIMIT.to_owned());
    let sides = shown(options.names.iter().map(String::as_str).zip(runs), &refused);
    let mut comparison = concluded(sides, gates, operations, limits);
    comparison.is_refused = comparison.gates.iter().any(|gate| gate.severity == Severity::Refused);
    for verdict in &mut comparison.verdicts {
        if !comparison.sides[verdict.side].is_refused
            && let Some(sentence) = sentence(&comparison.operations, verdict.side)
        {
            verdict.sentence = sentence;
        }
    }
    comparison.headline = headline::headline(&comparison.sides, &comparison.verdicts);
    comparison.machines = differences(&options.facts, options.compare.workload);
    let hosts = options.facts.iter().enumerate().map(|(side, facts)| host(side, facts)).collect();
    comparison.hosts = Some(HostsShown { experiment: options.experiment.clone(), hosts });
    comparison
}

/// `in 'small', goodput of B is 50% lower, per core the same within 5%; 1 of 2 variants is not comparable`, of the first variant
/// that is comparable.
fn sentence(operations: &[OperationComparison], side: usize) -> Option<String> {
    let is_compared = |operation: &&OperationComparison| {
        operation.metrics.iter().flat_map(|metric| &metric.effects).any(|effect| effect.side == side)
    };
    let compared: Vec<&OperationComparison> = operations.iter().filter(is_compared).collect();
    let first = compared.first()?;
    let decisive = first.metrics.iter().find(|metric| !is_of_machines(metric));
    let decisive =
        decisive.map(|metric| format!("{} of {} is {}", metric.title, letter(side), told(metric, side)));
    let divided = first.metrics.iter().filter(|metric| is_of_machines(metric)).map(|metric| {
        format!("{} {}", metric.metric.replace('-', " ").replace("ghz", "core and GHz"), told(metric, side))
    });
    let mut sentence = decisive.into_iter().chain(divided).collect::<Vec<_>>().join(", ");
    if operations.len() > 1 {
        sentence = format!("in '{}', {sentence}", first.operation);
    }
    let (all, refused) = (operations.len(), operations.len() - compared.len());
    if refused > 0 {
        let verb = if refused == 1 { "is" } else { "are" };
        sentence = format!("{sentence}; {refused} of {all} variants {verb} not comparable");
    }
    Some(sentence)
}

fn told(metric: &MetricComparison, side: usize) -> String {
    let Some(found) = metric.effects.iter().find(|effect| effect.side == side) else {
        return "not compared".to_owned();
    };
    match (&found.effect, &found.bound, found.verdict.word) {
        (None, None, _) if [0, side].iter().any(|one| metric.sides[*one].median.is_none()) => {
            "unknown".to_owned()
        }
        (None, None, _) => "not compared".to_owned(),
        (_, _, Comparison::Same) => format!("the same within {}", percent(metric.margin_ratio)),
        (_, _, Comparison::CannotTell) => "undecided".to_owned(),
        (Some(effect), _, _) => point(effect, metric.better),
        (None, Some(one), _) => bound(one, metric.better),
    }
}

fn host(side: usize, facts: &HostFacts) -> HostShown {
    let text = |name: &str| facts.text(name).map(str::to_owned);
    HostShown {
        side,
        cpu: text("cpu.model"),
        architecture: text("kernel.architecture"),
        kernel: text("kernel.release"),
        emulator: emulator(facts).map(str::to_owned),
        cpus_count: facts.number("cpu.online_count"),
        cores_count: None,
        frequency_ghz: frequency_ghz(facts),
        power: None,
    }
}

/// Why two plans are not of one experiment, in a phrase; `None`: they are.
///
/// Loads are left to the gates, which see what was really sent.
pub fn experiments_apart(a: &ExperimentPlan, b: &ExperimentPlan) -> Option<String> {
    if a.name != b.name {
        return Some(format!("one is '{}', the other '{}'", name(&a.name), name(&b.name)));
    }
    let lab = |plan: &ExperimentPlan| {
        plan.lab.as_ref().map(|lab| (lab.text.clone(), lab.generator.clone(), lab.restart.clone()))
    };
    if lab(a) != lab(b) {
        return Some("their labs differ".to_owned());
    }
    let other = |variant: &ExperimentVariant| b.variants.iter().find(|other| other.name == variant.name);
    let missing = a.variants.iter().find(|variant| other(variant).is_none());
    if let Some(missing) = missing {
        return Some(format!("only one has a variant '{}'", name(&missing.name)));
    }
    if a.variants.len() != b.variants.len() {
        return Some("they have different numbers of variants".to_owned());
    }
    a.variants.iter().find_map(|variant| variants_apart(variant, other(variant)?))
}

fn variants_apart(a: &ExperimentVariant, b: &ExperimentVariant) -> Option<String> {
    let apart = [
        ("settings", a.settings != b.settings),
        ("services", a.services != b.services || a.service != b.service),
        ("commands", a.prepare != b.prepare || a.during != b.during),
        ("kinds of trials", std::mem::discriminant(&a.plan) != std::mem::discriminant(&b.plan)),
    ];
    let apart: Vec<String> =
        apart.into_iter().filter(|(_, is_apart)| *is_apart).map(|(what, _)| what.to_owned()).collect();
    (!apart.is_empty()).then(|| format!("variant '{}' has different {}", name(&a.name), list(&apart)))
}

#[cfg(test)]
mod tests;
