//! Rates and numbers of clients that change: turns a ramp into phases.

mod read;

use crate::options::LoadOptions;
use anyhow::ensure;
use read::{HINT, RampLine, read};
use sysdyno_record::plan::{Arrival, LoadPlan, PhaseEnd, PhaseKind, PhasePlan};
use sysdyno_record::ramp::RampOf;
use sysdyno_record::units::SpanNs;
use sysdyno_record::workload::{ClientPoint, Slope};

/// Adds the requested ramp to a load.
pub fn add(plan: &mut LoadPlan, load: &LoadOptions) -> anyhow::Result<()> {
    let Some(typed) = &load.ramp else { return Ok(()) };
    ensure!(
        load.rate.is_none() && load.steps.is_empty() && load.requests.is_none() && load.duration.is_none(),
        "cannot combine a ramp with a rate, steps, a duration, or a number of requests: the ramp sets all of \
         these"
    );
    ensure!(
        plan.arrival != Arrival::Trace,
        "cannot combine a ramp with a replayed log: the log sets the timing"
    );
    let (of, lines) = read(typed)?;
    let warmup = plan.phases.iter().copied().filter(|phase| phase.kind == PhaseKind::Warmup);
    let warmup: Vec<PhasePlan> = warmup.collect();
    match of {
        RampOf::Rate => add_rates(plan, load, &lines, warmup),
        RampOf::Clients => add_clients(plan, load, &lines, warmup),
    }
}

/// Adds what the load must meet.
pub fn add_objective(plan: &mut LoadPlan, load: &LoadOptions) -> anyhow::Result<()> {
    let Some(objective) = load.objective else { return Ok(()) };
    ensure!(
        plan.arrival.is_open() || plan.changes().is_some(),
        "cannot use an objective for a closed load: no request is due at a time\nhint: use --rate, --ramp 100/s..5k/s:60s \
         for a rising load, --fail-if 'p99>20ms' to check it, or sysdyno run to find the highest rate"
    );
    plan.objective = Some(objective.0);
    Ok(())
}

fn add_rates(
    plan: &mut LoadPlan,
    load: &LoadOptions,
    lines: &[RampLine],
    mut phases: Vec<PhasePlan>,
) -> anyhow::Result<()> {
    plan.arrival = load.arrival.map_or(Arrival::Poisson, |word| word.0);
    for phase in &mut phases {
        let first_hz = lines[0].begin;
        ensure!(first_hz > 0.0, "cannot warm up: the ramp starts at zero");
        phase.rate_hz = Some(first_hz);
    }
    for line in lines {
        let mean = line.begin.midpoint(line.end);
        ensure!(mean > 0.0, "cannot use a ramp with a phase of zero rate\n{HINT}");
        if line.begin != line.end {
            let phase = phases.len() as u32;
            plan.workload.slopes.push(Slope { phase, begin_hz: line.begin, end_hz: line.end });
        }
        phases.push(phase(Some(mean), line.span));
    }
    plan.phases = phases;
    Ok(())
}

fn add_clients(
    plan: &mut LoadPlan,
    load: &LoadOptions,
    lines: &[RampLine],
    mut phases: Vec<PhasePlan>,
) -> anyhow::Result<()> {
    let most = lines.iter().map(|line| line.begin.max(line.end)).fold(0.0, f64::max);
    ensure!(
        load.connections.is_none() && load.arrival.is_none() && phases.is_empty(),
        "cannot set connections, arrival, or warm-up for a ramp of clients: the ramp sets the number of \
         clients"
    );
    let has_clients = lines.iter().all(|line| line.begin.max(line.end) >= 1.0);
    ensure!(has_clients, "cannot use a ramp with a phase of zero clients\n{HINT}");
    let mut at = SpanNs(0);
    let mut points = vec![ClientPoint { at, clients: 0 }];
    for line in lines {
        points.push(ClientPoint { at, clients: line.begin as u32 });
        at = SpanNs(at.0.saturating_add(line.span.0));
        points.push(ClientPoint { at, clients: line.end as u32 });
        phases.push(phase(None, line.span));
    }
    plan.connections = most as u32;
    plan.threads = plan.threads.min(plan.connections);
    plan.workload.clients = points;
    plan.phases = phases;
    Ok(())
}

fn phase(rate_hz: Option<f64>, span: SpanNs) -> PhasePlan {
    PhasePlan { kind: PhaseKind::Step, rate_hz, end: PhaseEnd::After(span) }
}
