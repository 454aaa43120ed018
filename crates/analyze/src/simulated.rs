//! Synthetic servers for tests of the search: a known capacity, noise, and a generator that may be too weak.

use crate::corpus::load_plan;
use crate::search::{Search, TrialRequest};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;
use sysdyno_record::analysis::{Reason, Verdict, VerdictStatus};
use sysdyno_record::load::*;
use sysdyno_record::plan::*;
use sysdyno_record::units::{MonoNs, SpanNs};

/// How a server answers at an offered rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Model {
    /// p99 of one queue: `floor_ns / (1 − rate/capacity)`, then a backlog that grows with the window.
    Queue { capacity_hz: f64, floor_ns: f64 },
    /// Fast up to the capacity, seconds beyond it.
    Cliff { capacity_hz: f64 },
    /// Fast up to the capacity; beyond it, the excess is refused.
    Refuses { capacity_hz: f64 },
    /// Every response is a 404.
    NotFound { capacity_hz: f64 },
    /// Nobody listens.
    Dead,
    /// So many requests at one time at most, each taking so long, the rest wait for a connection.
    Connections { service_ns: f64 },
}

/// A server, its noise and its generator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct World {
    pub(crate) model: Model,
    /// Standard deviation of ln p99 between trials.
    pub(crate) noise: f64,
    /// Chance that a trial is hit by something: p99 twenty times as long.
    pub(crate) flake_ratio: f64,
    /// Rate that the generator can send; `None` for more than any server takes.
    pub(crate) generator_hz: Option<f64>,
    /// Chance that a trial is disturbed and known to be.
    pub(crate) disturbed_ratio: f64,
}

impl World {
    pub(crate) fn quiet(model: Model) -> World {
        World { model, noise: 0.0, flake_ratio: 0.0, generator_hz: None, disturbed_ratio: 0.0 }
    }

    /// The greatest rate with p99 within `limit_ns`.
    pub(crate) fn capacity_hz(&self, limit_ns: f64) -> f64 {
        match self.model {
            Model::Queue { capacity_hz, floor_ns } => capacity_hz * (1.0 - floor_ns / limit_ns),
            Model::Cliff { capacity_hz } | Model::Refuses { capacity_hz } => capacity_hz,
            Model::NotFound { .. } | Model::Dead => 0.0,
            Model::Connections { service_ns } => 64e9 / service_ns,
        }
    }
}

/// The result of one trial.
struct Response {
    p99_ns: f64,
    service_p50_ns: f64,
    pool_wait_ns: f64,
    completed_ratio: f64,
    failed_ratio: f64,
}

impl Model {
    fn respond(self, rate_hz: f64, seconds: f64) -> Response {
        let fast = Response {
            p99_ns: 2e6,
            service_p50_ns: 1e6,
            pool_wait_ns: 0.0,
            completed_ratio: 1.0,
            failed_ratio: 0.0,
        };
        let backlog = |capacity: f64| Response {
            p99_ns: 2e9,
            service_p50_ns: 20e6,
            completed_ratio: (capacity / rate_hz).min(1.0),
            ..fast
        };
        match self {
            Model::Queue { capacity_hz, floor_ns } => {
                let load = rate_hz / capacity_hz;
                let queue_ns = floor_ns / (1.0 - load.min(0.995));
                let excess_ns = (load - 0.995).max(0.0) * seconds * 1e9;
                let completed_ratio = (capacity_hz / rate_hz).min(1.0);
                Response {
                    p99_ns: queue_ns + excess_ns,
                    service_p50_ns: queue_ns / 3.0,
                    completed_ratio,
                    ..fast
                }
            }
            Model::Cliff { capacity_hz } if rate_hz > capacity_hz => backlog(capacity_hz),
            Model::Refuses { capacity_hz } if rate_hz > capacity_hz => {
                Response { failed_ratio: 1.0 - capacity_hz / rate_hz, ..fast }
            }
            Model::Cliff { .. } | Model::Refuses { .. } => fast,
            Model::NotFound { .. } => Response { failed_ratio: 1.0, ..fast },
            Model::Dead => Response { failed_ratio: 1.0, completed_ratio: 0.0, ..fast },
            Model::Connections { service_ns } => {
                let limit = 64e9 / service_ns;
                let is_over = rate_hz > limit;
                let wait_ns = if is_over { 1e9 } else { 1e3 };
                let over = Response { pool_wait_ns: wait_ns, service_p50_ns: service_ns, ..fast };
                Response { p99_ns: service_ns + wait_ns, completed_ratio: (limit / rate_hz).min(1.0), ..over }
            }
        }
    }

    /// Rate of a closed loop with this many connections.
    fn closed_hz(self, connections: u32) -> f64 {
        let n = f64::from(connections);
        match self {
            Model::Queue { capacity_hz, .. } => capacity_hz * n / (n + 8.0),
            Model::Cliff { capacity_hz }
            | Model::Refuses { capacity_hz }
            | Model::NotFound { capacity_hz } => capacity_hz * 1.02 * n / (n + 1.0),
            Model::Dead => 0.0,
            Model::Connections { service_ns } => n * 1e9 / service_ns,
        }
    }
}

/// The plan of a search with the usual lengths.
pub(crate) fn run_plan(seed: u64) -> RunPlan {
    RunPlan {
        load: load_plan(Arrival::Poisson, 64, None, 10.0),
        objective: Objective::default(),
        search: SearchPlan {
            method: SearchMethod::OfferedRate,
            probe: SpanNs::from_secs(3),
            window: SpanNs::from_secs(10),
            warmup: SpanNs::from_secs(1),
            grid_rates: 5,
            grid_replicates: 3,
            certify_passes: 3,
            max_rate_hz: None,
            limit: None,
        },
        watch_pids: vec![],
        sampling_hz: 10.0,
        seed,
        fail_if: vec![],
        need: None,
        prove: None,
    }
}

/// Runs one trial.
pub(crate) fn trial(
    world: &World,
    number: u32,
    request: &TrialRequest,
    rng: &mut impl Rng,
) -> (TrialBegin, TrialEnd, Verdict) {
    let seconds = request.window.seconds();
    let demanded = request.rate_hz.unwrap_or_else(|| world.model.closed_hz(request.connections));
    let rate_hz = if request.rate_hz.is_none() {
        demanded.min(world.generator_hz.unwrap_or(f64::INFINITY))
    } else {
        demanded
    };
    let is_limited = world.generator_hz.is_some_and(|limit| demanded > limit);
    let mut response = world.model.respond(rate_hz, seconds);
    if request.rate_hz.is_none() {
        response = Response { completed_ratio: 1.0, ..response };
        response.failed_ratio =
            if matches!(world.model, Model::NotFound { .. } | Model::Dead) { 1.0 } else { 0.0 };
    }
    response.p99_ns *= (world.noise * gauss(rng)).exp();
    if uniform(rng) < world.flake_ratio {
        response.p99_ns *= 20.0;
    }
    if is_limited && request.rate_hz.is_some() {
        (response.p99_ns, response.completed_ratio) = (3e9, 0.9);
    }
    let is_disturbed = uniform(rng) < world.disturbed_ratio;
    let begin = begin(number, request);
    let mut end = end(&begin, request, rate_hz, &response);
    end.summary.generator.busiest_thread_ratio = if is_limited { 0.97 } else { 0.1 };
    let mut reasons = Vec::new();
    let mut fire = |id: &str, is_fired: bool| {
        if is_fired {
            let status = VerdictStatus::Invalid;
            reasons.push(Reason {
                id: id.into(),
                name: id.into(),
                status,
                text: id.into(),
                remedy: id.into(),
            });
        }
    };
    fire("M01", is_limited);
    fire("M12", is_disturbed);
    let status = if reasons.is_empty() { VerdictStatus::Valid } else { VerdictStatus::Invalid };
    (begin, end, Verdict { status, reasons })
}

fn begin(number: u32, request: &TrialRequest) -> TrialBegin {
    let mut plan = load_plan(request.arrival, request.connections, request.rate_hz, request.window.seconds());
    plan.seed = request.seed;
    TrialBegin {
        trial: number,
        purpose: request.purpose,
        begin_mono_ns: MonoNs(u64::from(number) * 100_000_000_000),
        plan,
    }
}

fn end(begin: &TrialBegin, request: &TrialRequest, rate_hz: f64, response: &Response) -> TrialEnd {
    let seconds = request.window.seconds();
    let scheduled = (rate_hz * seconds).round().max(1.0);
    let failed = (scheduled * response.failed_ratio).round();
    let done = (scheduled * response.completed_ratio).round();
    let ok = if failed > 0.0 { scheduled - failed } else { done };
    let timed_out = scheduled - ok - failed;
    let [scheduled, failed, ok, timed_out] = [scheduled, failed, ok, timed_out].map(|count| count as u64);
    let counts =
        Counts { scheduled, sent: scheduled, written: scheduled, ok, failed, timed_out, ..Counts::default() };
    // Whether requests beyond the capacity end late or never is the drain's affair: here they are only late.
    let counts = Counts { timed_out: 0, ok: counts.ok + timed_out, ..counts };
    let summary = |p50_ns: f64, p99_ns: f64| LatencySummary {
        p50: Some(p50_ns as u64),
        p90: Some((p99_ns * 0.8) as u64),
        p99: (counts.ok >= 1000).then_some(p99_ns as u64),
        max: Some((p99_ns * 1.3) as u64),
        count: counts.ok,
        mean: Some(p50_ns),
        ..LatencySummary::default()
    };
    let mut latency = BTreeMap::new();
    if counts.ok > 0 {
        latency.insert(LatencyKind::Response, summary(response.p99_ns / 3.0, response.p99_ns));
        // In a closed loop all that a response takes is service time.
        let service_p99_ns =
            if request.rate_hz.is_none() { response.p99_ns } else { response.service_p50_ns * 2.0 };
        latency.insert(LatencyKind::Service, summary(response.service_p50_ns, service_p99_ns));
        latency.insert(LatencyKind::PoolSlip, summary(response.pool_wait_ns / 2.0, response.pool_wait_ns));
    }
    let start = begin.begin_mono_ns;
    let measured = PhaseSummary {
        kind: PhaseKind::Steady,
        begin_mono_ns: start,
        end_mono_ns: MonoNs(start.0 + request.window.0),
        counts,
        failures: if failed > 0 { Failures::from([(FailureClass::Status, failed)]) } else { Failures::new() },
        offered_hz: request.rate_hz,
        achieved_hz: rate_hz * response.completed_ratio,
        goodput_hz: ok as f64 / seconds,
        statuses: BTreeMap::from([(if failed > 0 { 404 } else { 200 }, counts.ok + failed)]),
        latency,
        ..PhaseSummary::default()
    };
    let end_mono_ns = MonoNs(start.0 + request.window.0);
    // It has next to nothing to do.
    let generator = GeneratorSummary {
        threads: 1,
        busiest_thread_ratio: 0.1,
        io: "io_uring".into(),
        ..GeneratorSummary::default()
    };
    let summary = TrialSummary { measured, total: counts, generator, ..TrialSummary::default() };
    TrialEnd { trial: begin.trial, end_mono_ns, ending: TrialEnding::Complete, summary }
}

/// Searches to the end; more than 200 trials fail the test.
pub(crate) fn search(world: &World, plan: &RunPlan) -> Search {
    let mut search = Search::new(plan);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(plan.seed ^ 0xabcd);
    let mut number = 0;
    while let Some(request) = search.next() {
        number += 1;
        assert!(number < 200, "the search does not end: {world:?}");
        let (begin, end, verdict) = trial(world, number, &request, &mut rng);
        search.record(&begin, &end, &verdict);
    }
    search
}

fn uniform(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / 2f64.powi(53)
}

/// A standard normal value (G. Box and M. Muller 1958).
fn gauss(rng: &mut impl Rng) -> f64 {
    let radius = (-2.0 * uniform(rng).max(1e-300).ln()).sqrt();
    radius * (2.0 * std::f64::consts::PI * uniform(rng)).cos()
}
