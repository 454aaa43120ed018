//! The conclusion of a squeeze.

use super::elasticity::best;
use super::elasticity::elasticity;
use super::name::resource_name;
use super::sentence;
use super::sum::sum;
use super::try_plan;
use crate::tryout::Course;
use sysdyno_record::squeeze::{
    Elasticity, ResourceKind, RowWord, SQUEEZE_SCHEMA, SqueezeConclusion, SqueezePlan, SqueezeRow,
    SqueezedResource, SqueezedResources,
};
use sysdyno_record::tryout::{Diagnostic, DiagnosticKind, TrialArm, TryPlan};
use sysdyno_stats::descriptive::median;

/// From this elasticity on, a resource is the bottleneck, if its interval lies above the second. House values.
const LIMITS_MIN: f64 = 0.75;
const LIMITS_LOW: f64 = 0.5;

/// An interval that lies above this says that a resource matters. House value.
const MATTERS_LOW: f64 = 0.05;

/// An interval that lies below this says that it does not. House value.
const SPARE_HIGH: f64 = 0.15;

/// A generator whose interval lies above this makes the run void. House value.
const GENERATOR_LOW: f64 = 0.1;

/// More of a resource by this much is what a gain is told for. Unit: ratio.
const MORE: f64 = 0.1;

/// An effect of the placebo beyond this is worth a warning. Unit: ratio. House value.
const PLACEBO_MAX: f64 = 0.03;

/// Draws every conclusion that a course supports.
pub fn conclude(
    plan: &SqueezePlan,
    found: &SqueezedResources,
    course: &Course,
    elapsed_ns: u64,
) -> SqueezeConclusion {
    let tryout = try_plan(plan, found);
    let mut rows: Vec<SqueezeRow> =
        found.resources.iter().map(|resource| row(&tryout, found, course, resource)).collect();
    rows.sort_by(|one, other| place(one).total_cmp(&place(other)));
    let sum = sum(&rows);
    let void = void(&rows);
    let diagnostics = [placebo(&rows), check(&rows)].into_iter().flatten().collect();
    SqueezeConclusion {
        schema: SQUEEZE_SCHEMA.into(),
        headline: sentence::headline(&rows, sum.as_ref(), &void, &found.thresholds),
        metric: plan.tryout.metric,
        baseline: baseline(course, &tryout),
        rows,
        sum,
        void,
        diagnostics,
        pairs: course.pairs().to_vec(),
        elapsed_ns,
    }
}

/// Where a row stands: what matters most first, and what only checks the method last.
fn place(row: &SqueezeRow) -> f64 {
    let group = match row.kind {
        kind if kind.is_ranked() && row.word == RowWord::Void => 1.0,
        ResourceKind::Cpu | ResourceKind::Link | ResourceKind::Disk | ResourceKind::Connections => 0.0,
        ResourceKind::HostCpu => 2.0,
        ResourceKind::Generator => 3.0,
        ResourceKind::Placebo => 4.0,
    };
    // Elasticities are of the order of 1.
    let point = best(row).and_then(|found| found.point).unwrap_or(0.0);
    1000.0 * group - point.clamp(-100.0, 100.0)
}

fn row(
    plan: &TryPlan,
    found: &SqueezedResources,
    course: &Course,
    resource: &SqueezedResource,
) -> SqueezeRow {
    let contrasts = resource.contrasts.iter().filter_map(|number| found.contrasts.get(*number as usize));
    let elasticities: Vec<Elasticity> =
        contrasts.filter_map(|contrast| elasticity(plan, course, contrast)).collect();
    let mut row = SqueezeRow {
        name: resource_name(resource, &found.resources),
        kind: resource.kind,
        available: resource.available,
        used: resource.used,
        elasticities,
        word: RowWord::CannotTell,
        sentence: String::new(),
        gain_at_most_ratio: None,
    };
    row.word = word(&row);
    row.gain_at_most_ratio = best(&row).and_then(|found| found.interval).map(gain);
    row.sentence = sentence::row(&row);
    row
}

fn word(row: &SqueezeRow) -> RowWord {
    let Some(found) = best(row) else {
        let is_void = row.elasticities.iter().any(|elasticity| elasticity.void.is_some());
        return if is_void { RowWord::Void } else { RowWord::CannotTell };
    };
    match (found.point, found.interval) {
        (Some(point), Some([low, _])) if point >= LIMITS_MIN && low >= LIMITS_LOW => RowWord::Limits,
        (_, Some([low, _])) if low > MATTERS_LOW => RowWord::Matters,
        (_, Some([_, high])) if high < SPARE_HIGH => RowWord::Spare,
        _ => RowWord::CannotTell,
    }
}

/// What more of a resource helps at most: capacity is concave, so that taking away costs at least as much as giving brings.
fn gain([_, high]: [f64; 2]) -> f64 {
    (high.max(0.0) * MORE.ln_1p()).exp_m1()
}

/// Why the run says nothing of the server.
fn void(rows: &[SqueezeRow]) -> Vec<String> {
    let generators = rows.iter().filter(|row| row.kind == ResourceKind::Generator);
    let matters = generators.filter_map(|row| {
        let found = best(row)?;
        let low = found.interval?[0];
        (low > GENERATOR_LOW).then(|| sentence::generator(found.depth_ratio, found.effect.as_ref()))
    });
    matters.collect()
}

/// Whether being put into a group, and being looked at, cost anything by itself.
fn placebo(rows: &[SqueezeRow]) -> Option<Diagnostic> {
    let row = rows.iter().find(|row| row.kind == ResourceKind::Placebo)?;
    let effect = row.elasticities.first()?.effect.as_ref()?;
    let is_warning = effect.high < 1.0 - PLACEBO_MAX || effect.low > 1.0 + PLACEBO_MAX;
    Some(Diagnostic {
        kind: DiagnosticKind::Placebo,
        is_warning,
        sentence: sentence::placebo(effect, is_warning),
    })
}

/// Whether the CPU of all tiers, and of the generator, comes to that of the host.
fn check(rows: &[SqueezeRow]) -> Option<Diagnostic> {
    let host = best(rows.iter().find(|row| row.kind == ResourceKind::HostCpu)?)?.interval?;
    let parts = sum(rows)?;
    let is_apart = host[0] > parts.interval[1] || parts.interval[0] > host[1];
    let sentence = sentence::check(host, parts.interval, is_apart);
    Some(Diagnostic { kind: DiagnosticKind::HostCpu, is_warning: is_apart, sentence })
}

/// The median over trials of A that are the host as it is, or else over all trials of A.
fn baseline(course: &Course, plan: &TryPlan) -> Option<f64> {
    let values = |is_meant: fn(u32) -> bool| {
        let of_a = course.trials().iter().filter(|trial| trial.arm == TrialArm::A && is_meant(trial.variant));
        median(&of_a.filter_map(|trial| trial.values.get(&plan.metric).copied()).collect::<Vec<_>>())
    };
    values(|variant| variant == 0).or_else(|| values(|_| true))
}
