//! A run in progress: the seconds of the current trial, who uses the CPUs, what a search has tried, and the state of a
//! comparison.
//!
//! Nothing is decided here: verdicts and conclusions are drawn from the whole record once it is complete.

mod compared;
mod frame;
mod host;
mod meter;
mod now;
mod second;
mod threads;
mod watch;

pub use compared::ComparedMeter;
pub use host::{HostNow, host_now};
pub use meter::RunMeter;
pub use second::second;
pub use watch::HostWatch;

use crate::outcome::TrialOutcome;
use crate::readings::Window;
use crate::tryout::Standing;
use crate::verdict::is_generator_full;
use sysdyno_record::effect::Effect;
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::load::{Interval, TrialBegin, TrialPurpose};
use sysdyno_record::plan::{Arrival, PhaseEnd, PhaseKind};
use sysdyno_record::progress::{
    Closing, CpuUse, CpuUses, LoadMark, MARKS_MAX, RunPicture, RunProgress, TriedLoad,
};
use sysdyno_record::series::Series;
use sysdyno_record::tryout::TryPlan;
use sysdyno_record::units::{MonoNs, SpanNs};

/// Readings that "now" is the mean of: long enough for what is read once a second, or, where the sampler reads less often to
/// keep within its budget, for what is read every four.
const NOW: [SpanNs; 2] = [SpanNs::from_millis(2_100), SpanNs::from_millis(8_500)];

/// Maximum number of effects kept of a comparison.
const EFFECTS_MAX: usize = 64;

/// What whoever looks on has seen so far.
#[derive(Clone, Debug)]
pub struct LiveRun {
    picture: RunPicture,
    stage: Option<u32>,
}

impl Default for LiveRun {
    fn default() -> LiveRun {
        let progress = RunProgress::BEFORE;
        let picture = RunPicture {
            progress,
            arrival: Arrival::Closed,
            connections_count: 0,
            goal_count: None,
            marks: Vec::new(),
            uses: None,
            busiest_thread_ratio: None,
            is_generator_full: false,
            tried: Vec::new(),
            closing: None,
        };
        LiveRun { picture, stage: None }
    }
}

impl LiveRun {
    /// A comparison that has not begun to measure.
    pub fn of_tryout(plan: &TryPlan) -> LiveRun {
        let mut live = LiveRun::default();
        live.picture.closing = Some(Closing {
            line: "pilot".into(),
            budget: plan.budget,
            margin: plan.effect_ratio,
            better: plan.metric.better(),
            effects: Vec::new(),
        });
        live
    }

    /// What is drawn of it.
    pub fn picture(&self) -> &RunPicture {
        &self.picture
    }

    /// How far the plan is.
    pub fn progress(&mut self, progress: &RunProgress) {
        self.picture.progress = *progress;
    }

    /// A trial begins.
    pub fn begin(&mut self, begin: &TrialBegin) {
        let picture = &mut self.picture;
        picture.arrival = begin.plan.arrival;
        picture.connections_count = begin.plan.connections;
        picture.goal_count = goal_count(begin);
        picture.marks.clear();
        (picture.busiest_thread_ratio, picture.is_generator_full) = (None, false);
    }

    /// About a second of the load is over.
    pub fn interval(&mut self, interval: &Interval) {
        let seconds = interval.end_mono_ns.seconds_since(interval.begin_mono_ns);
        if seconds < SECONDS_MIN {
            return;
        }
        let counts = &interval.counts;
        let picture = &mut self.picture;
        if picture.marks.len() == MARKS_MAX {
            picture.marks.remove(0);
        }
        picture.marks.push(LoadMark {
            is_measured: matches!(interval.phase, PhaseKind::Steady | PhaseKind::Step),
            ok_hz: counts.ok as f64 / seconds,
            errors_hz: (counts.failed + counts.timed_out) as f64 / seconds,
            p50_ns: interval.p50_ns,
            p99_ns: interval.p99_ns,
        });
        let busiest_ns = interval.thread_cpu_ns.iter().copied().max();
        picture.busiest_thread_ratio = busiest_ns.map(|cpu_ns| cpu_ns as f64 / 1e9 / seconds);
        picture.is_generator_full = picture.busiest_thread_ratio.is_some_and(is_generator_full);
    }

    /// Who uses the CPUs now. Where nothing was read in time, what was known before stays.
    pub fn uses(&mut self, uses: &CpuUses) {
        if *uses != CpuUses::default() {
            self.picture.uses = Some(uses.clone());
        }
    }

    /// A trial of a search is judged. Trials that only look for the order of magnitude are not drawn.
    pub fn tried(&mut self, outcome: &TrialOutcome) {
        let load = match outcome.purpose {
            TrialPurpose::Sweep => Some(f64::from(outcome.connections)),
            _ => outcome.offered_hz,
        };
        let load = load.filter(|load| load.is_finite() && *load > 0.0);
        self.picture.tried.extend(load.map(|load| TriedLoad { load, is_met: outcome.met() }));
    }

    /// Something is to be said of a comparison besides its effect.
    pub fn say(&mut self, line: &str) {
        if let Some(closing) = &mut self.picture.closing {
            line.clone_into(&mut closing.line);
        }
    }

    /// A pair of a comparison is complete.
    pub fn standing(&mut self, standing: &Standing) {
        let is_new = self.stage.replace(standing.stage.stage) != Some(standing.stage.stage);
        let Some(closing) = &mut self.picture.closing else { return };
        if is_new || closing.effects.len() == EFFECTS_MAX {
            closing.effects.clear();
        }
        closing.line.clone_from(&standing.line);
        let is_finite =
            |effect: &Effect| [effect.low, effect.point, effect.high].iter().all(|end| end.is_finite());
        closing.effects.extend(standing.effect.filter(is_finite));
    }
}

/// The rest of an interval that a phase cut short says nothing about a rate. Unit: seconds.
const SECONDS_MIN: f64 = 0.2;

/// Requests after which the last phase ends.
fn goal_count(begin: &TrialBegin) -> Option<u64> {
    match begin.plan.phases.last()?.end {
        PhaseEnd::Requests(count) => Some(count),
        PhaseEnd::After(_) => None,
    }
}

/// The readings of a host.
#[derive(Clone, Copy, Debug)]
pub struct HostReadings<'a> {
    /// What was read.
    pub series: &'a Series,
    /// Whether the load is sent from it.
    pub has_generator: bool,
}

/// Who used the CPUs of the server's host in the last seconds, and what the generator used, whose host may be another one.
fn cpu_uses(server: HostReadings<'_>, generator: &Series, watched: &[WatchedProcess]) -> CpuUses {
    let is_read = |window: &Window| window.machine().is_some();
    let window = lately(server.series, is_read);
    let mut targets: Vec<&WatchedProcess> =
        watched.iter().filter(|process| process.role == ProcessRole::Target).collect();
    targets.sort_by_key(|process| process.tier.as_ref().map_or(0, |tier| tier.depth));
    let address = |process: &WatchedProcess| process.tier.as_ref().map(|tier| tier.address.clone());
    let mut tiers: Vec<CpuUse> = Vec::new();
    for group in targets.chunk_by(|one, other| address(one) == address(other)) {
        let cpus = lately(server.series, |window| window.process_cpus(group).is_some()).process_cpus(group);
        tiers.extend(cpus.map(|cpus| CpuUse { name: group[0].command.clone(), cpus }));
    }
    let own: Vec<&WatchedProcess> =
        watched.iter().filter(|process| process.role == ProcessRole::Generator).collect();
    let generator_cpus = lately(generator, |window| window.process_cpus(&own).is_some()).process_cpus(&own);
    let machine = window.machine();
    let known: f64 = tiers.iter().map(|tier| tier.cpus).sum::<f64>()
        + generator_cpus.filter(|_| server.has_generator).unwrap_or(0.0);
    CpuUses {
        tiers,
        other_cpus: machine.map(|machine| (machine.busy_ratio * machine.cpus as f64 - known).max(0.0)),
        generator_cpus,
        host_cpus_count: machine.map(|machine| machine.cpus as u32),
    }
}

/// The shortest of the spans that end with the last row in which enough was read; else the longest.
fn lately(series: &Series, is_read: impl Fn(&Window) -> bool) -> Window<'_> {
    let end = series.windows().last().map_or(MonoNs(0), |window| window[1]);
    let [short, long] = NOW.map(|span| Window::new(series, MonoNs(end.0.saturating_sub(span.0)), end));
    if is_read(&short) { short } else { long }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::{GENERATOR, SeriesBuilder, Specimen, TARGET};

    #[test]
    fn a_trial_has_a_mark_for_each_second_and_begins_anew() {
        let case = Specimen::open(100.0, 10.0).build();
        let view = case.view();
        let mut live = LiveRun::default();
        live.begin(view.begin);
        view.intervals.iter().for_each(|interval| live.interval(interval));
        assert_eq!(live.picture().marks.len(), view.intervals.len());
        let last = live.picture().marks.iter().rfind(|mark| mark.is_measured).expect("was measured");
        assert!((last.ok_hz - 100.0).abs() < 10.0, "{last:?}");
        assert!(live.picture().busiest_thread_ratio.is_some_and(|ratio| ratio < 0.9));
        assert!(!live.picture().is_generator_full);
        live.begin(view.begin);
        assert!(live.picture().marks.is_empty());
    }

    #[test]
    fn what_is_nobodys_is_what_the_host_used_besides() {
        let busy: Vec<f64> = (0..50).map(|tick| f64::from(tick) * 80_000.0).collect();
        let idle: Vec<f64> = (0..50).map(|tick| f64::from(tick) * 20_000.0).collect();
        let server: Vec<f64> = (0..50).map(|tick| f64::from(tick) * 50_000.0).collect();
        let own: Vec<f64> = (0..50).map(|tick| f64::from(tick) * 10_000.0).collect();
        let series = SeriesBuilder::new(0.1)
            .column("cpu.user_us", "cpu:0", &busy)
            .column("cpu.idle_us", "cpu:0", &idle)
            .column("process.cpu_us", &format!("process:{TARGET}"), &server)
            .column("process.cpu_us", &format!("process:{GENERATOR}"), &own)
            .build();
        let watched = [
            WatchedProcess::new(TARGET, 1, "nginx", ProcessRole::Target),
            WatchedProcess::new(GENERATOR, 1, "sysdyno", ProcessRole::Generator),
        ];
        let readings = |has_generator| HostReadings { series: &series, has_generator };
        let uses = cpu_uses(readings(true), &series, &watched);
        let near =
            |value: Option<f64>, expected: f64| value.is_some_and(|value| (value - expected).abs() < 0.01);
        assert_eq!(uses.tiers[0].name, "nginx");
        assert!(near(Some(uses.tiers[0].cpus), 0.5) && near(uses.generator_cpus, 0.1), "{uses:?}");
        assert!(near(uses.other_cpus, 0.2), "{uses:?}");
        assert!(near(cpu_uses(readings(false), &series, &watched).other_cpus, 0.3));
        let rarely = |values: &[f64]| {
            let at = |(tick, value): (usize, &f64)| (tick % 40 == 0).then_some(*value);
            values.iter().enumerate().map(at).collect::<Vec<_>>()
        };
        let series = SeriesBuilder::new(0.1).set("process.cpu_us", "process:1000", rarely(&server)).build();
        let slowed = cpu_uses(HostReadings { series: &series, has_generator: false }, &series, &watched);
        assert!(near(slowed.tiers.first().map(|tier| tier.cpus), 0.5), "{slowed:?}");
        let nothing = Series::default();
        let uses = cpu_uses(HostReadings { series: &nothing, has_generator: true }, &nothing, &watched);
        assert_eq!(uses, CpuUses::default(), "what was not read is not 0");
    }
}
