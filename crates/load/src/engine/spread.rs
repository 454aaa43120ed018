//! A trial that several hosts send together: their windows are merged like those of threads.
//!
//! Thread k of the load runs on host k modulo the number of hosts, so everything that is split over threads is split over
//! hosts too. A lost host counts as ended: its open requests stay in flight or unsent for good, and the load stops, unless
//! enough hosts are left. What was the lost host's to send stays unsent: nobody sends it instead.

use super::crew::CrewMessage;
use super::handover::Heard;
use super::host::{HostSum, SpreadHost};
use super::job::Job;
use super::merge::Merge;
use super::worker::Finish;
use super::{Control, LoadOutcome, Sink};
use crate::clock;
use crate::error::LoadError;
use sysdyno_record::load::GapSample;
use sysdyno_record::plan::LoadPlan;
use sysdyno_record::spread::{PartEnd, PartFinish, PartReady, PartReport, PartWindow};
use sysdyno_record::units::MonoNs;

/// How far a window may end ahead of this host's clock: clocks drift. Unit: nanoseconds.
const AHEAD_NS: u64 = 2_000_000_000;

/// Longest text of a host that is kept, in characters.
const MAX_TEXT_CHARS: usize = 300;

/// Gaps between arrivals that a thread may tell.
const MAX_GAPS_COUNT: usize = 10_000;

/// Most arrivals that one thread can have had waiting; only bounds a sum.
const MAX_BACKLOG: u64 = 1 << 32;

/// Something that is heard of a host.
#[derive(Clone, Debug)]
pub enum Said {
    /// What it measured; its instants are on this host's clock.
    Report(PartReport),
    /// It is gone, for this reason.
    Lost(String),
}

/// The hosts of a load while they send.
pub trait Generators {
    /// What is heard next, with the number of the host; `None`: nothing within a moment.
    fn next(&mut self) -> Option<(usize, Said)>;

    /// Takes a host for lost that said what cannot be.
    fn refuse(&mut self, host: usize, cause: &str);
}

/// Merges what hosts measure that were told to begin, until all have ended. When fewer than `least` are left, it stops.
///
/// # Errors
/// A plan that contradicts itself.
///
/// # Panics
/// If a request vanished, as in [`super::run`].
pub fn spread(
    plan: &LoadPlan,
    trial: u32,
    control: &Control,
    (hosts, least): (Vec<SpreadHost>, usize),
    generators: &mut dyn Generators,
    sink: &mut dyn Sink,
) -> Result<LoadOutcome, LoadError> {
    let job = Job::new(plan, control)?;
    let count = hosts.len();
    let gear = gear(plan, &hosts);
    let sums: Vec<HostSum> = hosts.into_iter().map(|host| HostSum::new(host, plan)).collect();
    let mut merging = Merging {
        heard: vec![Heard::default(); plan.threads as usize],
        has_ended: vec![false; count],
        left: count,
        least,
        merge: Merge::new(&job, trial, gear, sums),
        job: &job,
        control,
        sink,
    };
    while !merging.has_ended.iter().all(|has_ended| *has_ended) {
        match generators.next() {
            Some((host, Said::Report(report))) => {
                if let Err(cause) = merging.take(host, report) {
                    generators.refuse(host, cause);
                    merging.lose(host, cause);
                }
            }
            Some((host, Said::Lost(cause))) => merging.lose(host, &cause),
            None => {}
        }
    }
    let learnt_body = (0..count).find_map(|host| merging.merge.host_mut(host).learnt_body);
    Ok(merging.merge.finish(learnt_body, merging.sink))
}

/// What the threads of all hosts send with, in the order of their numbers.
fn gear(plan: &LoadPlan, hosts: &[SpreadHost]) -> PartReady {
    let cpu = |thread: usize| {
        let host = hosts.get(thread % hosts.len().max(1))?;
        host.ready.cpus.get(thread / hosts.len()).copied().flatten()
    };
    let worst = hosts.iter().map(|host| host.ready.timer_error).max_by_key(|error| error.p99_ns);
    let mut names: Vec<&str> = hosts.iter().map(|host| host.ready.io.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    PartReady {
        cpus: (0..plan.threads as usize).map(cpu).collect(),
        timer_error: worst.unwrap_or_default(),
        io: names.join(", "),
        io_fallback: hosts.iter().find_map(|host| host.ready.io_fallback.clone()),
    }
}

/// What is merged, and how far each host is.
struct Merging<'a, 'b> {
    job: &'b Job<'a>,
    control: &'b Control,
    merge: Merge<'b>,
    /// By thread.
    heard: Vec<Heard>,
    /// By host.
    has_ended: Vec<bool>,
    /// Hosts that are not lost, and how many of them there must be.
    left: usize,
    least: usize,
    sink: &'b mut dyn Sink,
}

impl Merging<'_, '_> {
    /// Takes what a host measured; the error is a sentence about it.
    fn take(&mut self, host: usize, report: PartReport) -> Result<(), &'static str> {
        match report {
            _ if self.has_ended[host] => Err("it continued after its end"),
            PartReport::Ready(_) | PartReport::Connected => Err("it started twice"),
            PartReport::Window(window) => self.take_window(host, *window),
            PartReport::Finished(finish) => self.take_finish(host, finish),
            PartReport::Over(end) => self.take_end(host, end),
        }
    }

    /// Whether a thread is one of a host's, and still runs.
    fn is_running(&self, host: usize, thread: u32) -> bool {
        let is_its_own = thread as usize % self.has_ended.len() == host;
        is_its_own && !self.merge.has_finished(thread)
    }

    fn take_window(&mut self, host: usize, window: PartWindow) -> Result<(), &'static str> {
        let thread = window.thread;
        if !self.is_running(host, thread) {
            return Err("it sent a window for a thread that it does not run");
        }
        let latest = MonoNs(clock::now().0.saturating_add(AHEAD_NS));
        let window = self.heard[thread as usize].window(window, self.job, latest)?;
        self.merge.take(CrewMessage::Window(thread, window), &|_, _| {}, self.sink);
        Ok(())
    }

    fn take_finish(&mut self, host: usize, finish: PartFinish) -> Result<(), &'static str> {
        let (thread, threads) = (finish.thread, self.heard.len().max(1));
        if !self.is_running(host, thread) {
            return Err("it ended a thread that it does not run");
        }
        if !self.heard[thread as usize].is_balanced() {
            return Err("its counts do not add up");
        }
        let gaps = finish.gaps.into_iter().take(self.job.plan.phases.len());
        let bounded = |mut sample: GapSample| {
            sample.gaps_ns.truncate(MAX_GAPS_COUNT / threads);
            sample
        };
        let finish = Finish {
            gaps: gaps.map(bounded).collect(),
            backlog_max: finish.backlog_max.min(MAX_BACKLOG),
            spin_ended: finish.spin_ended.as_deref().map(bounded_text),
            end: finish.end_mono_ns.min(clock::now()),
        };
        self.merge.take(CrewMessage::Finished(thread, finish), &|_, _| {}, self.sink);
        Ok(())
    }

    fn take_end(&mut self, host: usize, end: PartEnd) -> Result<(), &'static str> {
        let threads = self.heard.len() as u32;
        if (0..threads).any(|thread| self.is_running(host, thread)) {
            return Err("it did not report the end of a thread");
        }
        self.has_ended[host] = true;
        self.merge.host_mut(host).learnt_body = end.learnt_body;
        if let Some(text) = end.hard_stop {
            self.control.hard_stop(bounded_text(&text));
        }
        Ok(())
    }

    /// A host is gone: its threads have ended where they were heard of last, and the load stops.
    fn lose(&mut self, host: usize, cause: &str) {
        if self.has_ended[host] {
            return;
        }
        for thread in 0..self.heard.len() as u32 {
            if self.is_running(host, thread) {
                let end = self.heard[thread as usize].end();
                let finish = Finish { gaps: Vec::new(), backlog_max: 0, spin_ended: None, end };
                self.merge.take(CrewMessage::Finished(thread, finish), &|_, _| {}, self.sink);
            }
        }
        self.has_ended[host] = true;
        self.merge.host_mut(host).lost = Some(bounded_text(cause));
        self.left -= 1;
        if self.left < self.least {
            self.control.stop();
        }
    }
}

fn bounded_text(text: &str) -> String {
    text.chars().take(MAX_TEXT_CHARS).collect()
}
