//! What a probe of one target will do, and whether several may be sent at one time.

use super::way::Way;
use super::{MAX_OPEN_COUNT, MAX_TARGETS_COUNT, MIN_INTERVAL, MIN_PUBLIC_INTERVAL};
use crate::error::LoadError;
use sysdyno_record::plan::LoadPlan;
use sysdyno_record::probe::{ProbePlan, ProbedTarget, ProbesPlan};
use sysdyno_record::units::SpanNs;

/// What is probed, and how.
#[derive(Clone, Debug)]
pub struct ProbeJob {
    /// Schedule and deadline.
    pub plan: ProbePlan,
    /// Where to and what.
    pub way: Way,
    /// End after so many operations; `None` goes on until it is stopped.
    pub count: Option<u64>,
    /// The trial beside which it runs, 0 for none.
    pub trial: u32,
    /// The place of its target among those that are probed together, from 0.
    pub target: u16,
    /// How long after the start the first operation is due.
    pub offset: SpanNs,
    /// What makes its echo requests its own.
    pub seed: u64,
    /// Generator threads on this host, whose CPUs it keeps off.
    pub generator_threads: u32,
}

impl ProbeJob {
    /// A probe that runs alone.
    ///
    /// # Errors
    /// A target cannot be probed in its way, or not this often.
    pub fn alone(plan: &ProbesPlan) -> Result<Vec<ProbeJob>, LoadError> {
        let order = JobOrder { count: plan.count, trial: 0, seed: plan.seed, generator_threads: 0 };
        order.jobs(&plan.targets, Way::of)
    }

    /// The probes that a load plan asks for; none, if it asks for none.
    ///
    /// # Errors
    /// A target cannot be probed in its way, or not this often.
    pub fn beside(load: &LoadPlan, trial: u32) -> Result<Vec<ProbeJob>, LoadError> {
        let order = JobOrder { count: None, trial, seed: load.seed, generator_threads: load.threads };
        order.jobs(&load.probed(), |probed| Way::beside(probed, load))
    }

    /// Whether it may be sent.
    ///
    /// # Errors
    /// It is faster than a probe may be, or keeps too many operations open.
    pub fn check(&self) -> Result<(), LoadError> {
        let refused = |cause: String| Err(LoadError::Probe { target: self.way.shown(), cause });
        let ProbePlan { interval, timeout, .. } = self.plan;
        if interval < MIN_INTERVAL {
            return refused(format!("an interval of {interval} is too short; the minimum is {MIN_INTERVAL}"));
        }
        if self.way.is_public() && interval < MIN_PUBLIC_INTERVAL {
            return refused(format!(
                "an interval of {interval} is too short for a public address; the minimum is \
                 {MIN_PUBLIC_INTERVAL}"
            ));
        }
        if timeout.0 / interval.0 >= MAX_OPEN_COUNT {
            return refused(format!(
                "an interval of {interval} with a timeout of {timeout} allows more than {MAX_OPEN_COUNT} \
                 open probes"
            ));
        }
        Ok(())
    }
}

/// What the jobs of several targets have in order.
struct JobOrder {
    count: Option<u64>,
    trial: u32,
    seed: u64,
    generator_threads: u32,
}

impl JobOrder {
    /// A job for each target, whose operations are spread evenly over an interval, so that none queues behind another's.
    fn jobs(
        &self,
        targets: &[ProbedTarget],
        way: impl Fn(&ProbedTarget) -> Result<Way, LoadError>,
    ) -> Result<Vec<ProbeJob>, LoadError> {
        let all = targets.len().max(1) as u64;
        let job = |(place, probed): (usize, &ProbedTarget)| {
            Ok(ProbeJob {
                plan: probed.plan,
                way: way(probed)?,
                count: self.count,
                trial: self.trial,
                target: u16::try_from(place).unwrap_or(u16::MAX),
                offset: SpanNs(probed.plan.interval.0 / all * place as u64),
                // Echo requests of one target are no replies to those of another.
                seed: self.seed.wrapping_add(place as u64),
                generator_threads: self.generator_threads,
            })
        };
        let jobs = targets.iter().enumerate().map(job).collect::<Result<Vec<_>, LoadError>>()?;
        check_together(&jobs).map(|()| jobs)
    }
}

/// Whether these jobs may be sent at one time.
///
/// # Errors
/// One may not be sent, there are too many, or those of one public address are together more than one may be.
fn check_together(jobs: &[ProbeJob]) -> Result<(), LoadError> {
    jobs.iter().try_for_each(ProbeJob::check)?;
    if let Some(job) = jobs.get(MAX_TARGETS_COUNT) {
        let cause = format!("more than {MAX_TARGETS_COUNT} targets at one time");
        return Err(LoadError::Probe { target: job.way.shown(), cause });
    }
    for job in jobs {
        let Some(address) = job.way.public_address() else { continue };
        let same = jobs.iter().filter(|other| other.way.public_address() == Some(address));
        let rate_hz: f64 = same.map(|other| 1e9 / other.plan.interval.0.max(1) as f64).sum();
        let most_hz = 1e9 / MIN_PUBLIC_INTERVAL.0 as f64;
        if rate_hz > most_hz * (1.0 + 1e-9) {
            let cause = format!(
                "all probes of this public address together would send {} times a second; the maximum is {most_hz}",
                (rate_hz * 1e3).round() / 1e3
            );
            return Err(LoadError::Probe { target: job.way.shown(), cause });
        }
    }
    Ok(())
}
