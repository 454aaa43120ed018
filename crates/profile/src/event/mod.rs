//! The events requested from the kernel, and the ring of each CPU that they write to.
//!
//! There are three ways to open them, and the first that this user may take is taken:
//! 1. one event per CPU, for all processes: root, or `kernel.perf_event_paranoid` below 1;
//! 2. one per thread of the processes and CPU, inherited by their children: users, of their own processes, up to 1;
//! 3. the same without the kernel's code: up to 2, which is what kernels come with. There are no waits then, since a thread
//!    leaves its CPU in the kernel.
//!
//! Source: perf_event_open(2); `kernel/events/core.c`, `perf_event_open` and `perf_mmap`.

mod attributes;
mod copies;
mod ring;
mod threads;

use crate::plan::ProfilePlan;
use crate::sys::{self, EventSubject};
use crate::{ProfileError, cpus};
use attributes::{EventSpec, SampleSource};
pub(crate) use copies::CopiesSeen;
use copies::{CopySize, StackCopies};
use ring::{EventRing, OpenFailure, ThreadScope};
use std::collections::BTreeSet;
use std::io;
use std::time::Duration;
use sysdyno_record::profile::{ProfileKind, SampledEvent};
use threads::threads_of;

/// Smallest ring that is tried where this user may lock little memory. Unit: bytes.
const RING_MIN: usize = 1 << 17;

/// Most events of threads that are opened for copies of stacks, if those of whole CPUs may be opened, too.
const COPY_EVENTS_MAX: usize = 2_048;

/// How often the threads are listed again if new ones came while events were opened.
const LISTINGS_MAX: usize = 5;

/// The events of a recording.
pub(crate) struct Events {
    rings: Vec<EventRing>,
    /// Of switches; `None`: stacks are not copied, or with the samples.
    copies: Option<StackCopies>,
    /// What is sampled; `None`: every switch is recorded.
    pub(crate) event: Option<SampledEvent>,
    /// Whether the kernel is sampled, too.
    pub(crate) sees_kernel: bool,
    /// Processes of the trees that this user may not sample.
    pub(crate) denied_pids: BTreeSet<u32>,
    /// Whether they are of threads, and count no time of others.
    is_of_threads: bool,
}

/// Whom the events are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Cpus,
    Threads,
    ThreadsWithoutKernel,
}

impl Events {
    /// Opens them without starting them.
    pub(crate) fn open(plan: &ProfilePlan) -> Result<Events, ProfileError> {
        let cpus = cpus::online()?;
        first(&ways(plan), &sources(plan), |way, source| open_way(plan, way, source, &cpus))
            .map_err(|failure| error(failure, plan))
    }

    /// Starts them.
    pub(crate) fn start(&self) -> Result<(), ProfileError> {
        self.rings.iter().try_for_each(EventRing::start)
    }

    /// Stops them; what they have written can still be read.
    pub(crate) fn stop(&self) {
        self.all_rings().for_each(EventRing::stop);
    }

    /// Waits until a ring is half full, at most for this long.
    pub(crate) fn wait(&mut self, timeout: Duration) {
        ring::wait(&mut self.rings, timeout);
    }

    /// Hands what they have written to `take`, ring by ring.
    pub(crate) fn drain(&mut self, bytes: &mut Vec<u8>, take: impl FnMut(&[u8])) {
        drain(&mut self.rings, bytes, take);
    }

    /// The same of the copies of stacks at switches.
    pub(crate) fn drain_copies(&mut self, bytes: &mut Vec<u8>, take: impl FnMut(&[u8])) {
        let rings = self.copies.as_mut().map_or(&mut [][..], |copies| &mut copies.rings);
        drain(rings, bytes, take);
    }

    /// Makes copies of stacks shorter where many have no room.
    pub(crate) fn fit_copies(&mut self, plan: &ProfilePlan, seen: CopiesSeen) {
        let Some(size) = self.copies.as_ref().and_then(|copies| copies.smaller(seen)) else { return };
        let cpus: Vec<u32> = self.rings.iter().map(EventRing::cpu).collect();
        self.copies = open_copies(plan, size, &cpus, self.is_of_threads);
    }

    /// Whether stacks are copied at switches.
    pub(crate) fn has_copies(&self) -> bool {
        self.copies.is_some()
    }

    fn all_rings(&self) -> impl Iterator<Item = &EventRing> {
        self.rings.iter().chain(self.copies.iter().flat_map(|copies| &copies.rings))
    }

    /// CPUs that are sampled.
    pub(crate) fn cpus_count(&self) -> u32 {
        self.rings.len() as u32
    }

    /// CPU time of the threads since the start, in programs and in the kernel. Unit: nanoseconds.
    ///
    /// `None`: they count that of all processes, or something else. Source: the count of `cpu-clock`, which is not limited to what is
    /// sampled.
    pub(crate) fn threads_cpu_ns(&self) -> Option<u64> {
        let is_time = self.is_of_threads && self.event == Some(SampledEvent::CpuClock);
        is_time.then(|| self.rings.iter().map(EventRing::count).sum()).flatten()
    }
}

fn drain(rings: &mut [EventRing], bytes: &mut Vec<u8>, mut take: impl FnMut(&[u8])) {
    for ring in rings {
        bytes.clear();
        ring.drain(bytes);
        take(bytes);
    }
}

/// The ways for this plan, the best one first.
fn ways(plan: &ProfilePlan) -> Vec<Way> {
    match (plan.scope_pids.is_empty(), plan.kind) {
        (true, _) => vec![Way::Cpus],
        (false, ProfileKind::OnCpu) => vec![Way::Cpus, Way::Threads, Way::ThreadsWithoutKernel],
        (false, ProfileKind::OffCpu) => vec![Way::Cpus, Way::Threads],
    }
}

/// What is sampled: the event that was asked for, or cycles, or the kernel's timer where the machine does not count those.
fn sources(plan: &ProfilePlan) -> Vec<SampleSource> {
    match (plan.kind, plan.event) {
        (ProfileKind::OffCpu, _) => vec![SampleSource::Switches],
        (ProfileKind::OnCpu, Some(event)) => vec![SampleSource::Running(event)],
        (ProfileKind::OnCpu, None) => {
            [SampledEvent::Cycles, SampledEvent::CpuClock].map(SampleSource::Running).into()
        }
    }
}

/// The first source that can be opened, in the first way that is allowed; else the last failure.
fn first<T>(
    ways: &[Way],
    sources: &[SampleSource],
    mut open: impl FnMut(Way, SampleSource) -> Result<T, OpenFailure>,
) -> Result<T, OpenFailure> {
    let mut failed = OpenFailure::NoThread;
    for way in ways {
        for (number, source) in sources.iter().enumerate() {
            let is_last = number + 1 == sources.len();
            match open(*way, *source) {
                // What is not allowed for one event is not for the others either.
                Err(failure @ OpenFailure::Rights { .. }) => {
                    failed = failure;
                    break;
                }
                Err(OpenFailure::NoCounter(_) | OpenFailure::Other(_)) if !is_last => {}
                result => return result,
            }
        }
    }
    Err(failed)
}

fn open_way(plan: &ProfilePlan, way: Way, source: SampleSource, cpus: &[u32]) -> Result<Events, OpenFailure> {
    let spec = EventSpec {
        source,
        rate_hz: plan.rate_hz,
        sees_kernel: way != Way::ThreadsWithoutKernel,
        is_inherited: way != Way::Cpus,
    };
    let is_of_threads = way != Way::Cpus;
    let mut denied_pids = BTreeSet::new();
    let rings = open_rings(&spec, |ring_bytes| match is_of_threads {
        false => cpus.iter().map(|cpu| EventRing::of_cpu(&spec, *cpu, ring_bytes)).collect(),
        true => open_threads(plan, &spec, cpus, ring_bytes, &mut denied_pids),
    })?;
    let copies = (source == SampleSource::Switches)
        .then(|| open_copies(plan, CopySize::default(), cpus, is_of_threads))
        .flatten();
    let (event, sees_kernel) = (source.event(), spec.sees_kernel);
    Ok(Events { rings, copies, event, sees_kernel, denied_pids, is_of_threads })
}

/// Opens rings of the size that fits, or the largest for which this user may lock memory.
fn open_rings(
    spec: &EventSpec,
    mut open: impl FnMut(usize) -> Result<Vec<EventRing>, OpenFailure>,
) -> Result<Vec<EventRing>, OpenFailure> {
    let mut ring_bytes = spec.ring_bytes();
    loop {
        match open(ring_bytes) {
            Err(OpenFailure::Memory(_)) if ring_bytes > RING_MIN => ring_bytes /= 2,
            result => return result,
        }
    }
}

/// Events that copy stacks at switches: of the threads alone if they are few, so that no other process takes the budget.
fn open_copies(plan: &ProfilePlan, size: CopySize, cpus: &[u32], is_of_threads: bool) -> Option<StackCopies> {
    let events_count = threads_of(&plan.tree_pids).len() * cpus.len();
    let is_of_threads = is_of_threads || (1..=COPY_EVENTS_MAX).contains(&events_count);
    StackCopies::open(size, |spec| {
        let spec = EventSpec { is_inherited: is_of_threads, ..*spec };
        open_rings(&spec, |ring_bytes| match is_of_threads {
            false => cpus.iter().map(|cpu| EventRing::of_cpu(&spec, *cpu, ring_bytes)).collect(),
            true => open_threads(plan, &spec, cpus, ring_bytes, &mut BTreeSet::new()),
        })
    })
}

/// Opens the events of all threads. One that begins meanwhile may have inherited an event or not: then all are opened anew.
fn open_threads(
    plan: &ProfilePlan,
    spec: &EventSpec,
    cpus: &[u32],
    ring_bytes: usize,
    denied: &mut BTreeSet<u32>,
) -> Result<Vec<EventRing>, OpenFailure> {
    let mut listings_count = 0;
    loop {
        denied.clear();
        listings_count += 1;
        let threads = threads_of(&plan.tree_pids);
        let scope = ThreadScope { threads: &threads, needed_pids: &plan.scope_pids };
        let open = |cpu: &u32| EventRing::of_threads(spec, &scope, *cpu, ring_bytes, denied);
        let rings = cpus.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        if listings_count == LISTINGS_MAX || threads_of(&plan.tree_pids) == threads {
            return Ok(rings);
        }
    }
}

fn error(failure: OpenFailure, plan: &ProfilePlan) -> ProfileError {
    let pid = plan.scope_pids.first().copied().unwrap_or(0);
    match failure {
        OpenFailure::Rights { pid, source } => refusal(plan, pid, source),
        OpenFailure::Memory(source) => ProfileError::Memory { source },
        OpenFailure::NoThread => ProfileError::NoProcess { pid },
        OpenFailure::NoCounter(event) if event != SampledEvent::Cycles && counts_cycles(plan.rate_hz) => {
            ProfileError::NotCounted { event: event.name() }
        }
        OpenFailure::NoCounter(event) => ProfileError::NoCounters { event: event.name() },
        OpenFailure::Other(ProfileError::Event { source, .. })
            if source.raw_os_error() == Some(libc::EMFILE) =>
        {
            ProfileError::Descriptors { threads_count: threads_of(&plan.tree_pids).len() }
        }
        OpenFailure::Other(error) => error,
    }
}

/// Why this user may not, and what would help.
fn refusal(plan: &ProfilePlan, pid: Option<u32>, source: io::Error) -> ProfileError {
    let paranoid = paranoid().map_or_else(|| "unknown".to_owned(), |level| level.to_string());
    let allows_own = allows_own_programs(plan.rate_hz);
    match pid {
        None => ProfileError::NotAllowed { paranoid, allows_own, source },
        Some(pid) if !allows_own => ProfileError::NotAllowedProcess { pid, paranoid, source },
        Some(pid) if plan.kind == ProfileKind::OffCpu && allows_program(pid, plan.rate_hz) => {
            ProfileError::NoWaits { pid, paranoid }
        }
        Some(pid) => ProfileError::OtherUser { pid },
    }
}

/// The value of `kernel.perf_event_paranoid`; `None`: it cannot be read.
pub(crate) fn paranoid() -> Option<i32> {
    std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok()?.trim().parse().ok()
}

/// Whether this user may sample the programs that it runs.
fn allows_own_programs(rate_hz: u32) -> bool {
    may_open(SampledEvent::CpuClock, EventSubject::Own, rate_hz)
}

fn allows_program(pid: u32, rate_hz: u32) -> bool {
    may_open(SampledEvent::CpuClock, EventSubject::Thread(pid), rate_hz)
}

/// Whether the machine has counters at all.
fn counts_cycles(rate_hz: u32) -> bool {
    may_open(SampledEvent::Cycles, EventSubject::Own, rate_hz)
}

fn may_open(event: SampledEvent, subject: EventSubject, rate_hz: u32) -> bool {
    let source = SampleSource::Running(event);
    let spec = EventSpec { source, rate_hz, sees_kernel: false, is_inherited: false };
    sys::open_event(&spec.attributes(RING_MIN), subject, None).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CYCLES: SampleSource = SampleSource::Running(SampledEvent::Cycles);
    const CLOCK: SampleSource = SampleSource::Running(SampledEvent::CpuClock);

    fn plan(event: Option<SampledEvent>) -> ProfilePlan {
        let (scope_pids, tree_pids) = (vec![1], vec![1]);
        ProfilePlan { kind: ProfileKind::OnCpu, event, rate_hz: 99, scope_pids, tree_pids }
    }

    fn not_allowed() -> OpenFailure {
        OpenFailure::Rights { pid: None, source: io::ErrorKind::PermissionDenied.into() }
    }

    /// What is opened of a plan on a machine with or without counters, by a user who may take these ways.
    fn opened(
        event: Option<SampledEvent>,
        has_counters: bool,
        allowed: &[Way],
    ) -> Option<(Way, SampleSource)> {
        let plan = plan(event);
        let open = |way, source| match source {
            _ if !allowed.contains(&way) => Err(not_allowed()),
            SampleSource::Running(event) if event.is_hardware() && !has_counters => {
                Err(OpenFailure::NoCounter(event))
            }
            source => Ok((way, source)),
        };
        first(&ways(&plan), &sources(&plan), open).ok()
    }

    #[test]
    fn cycles_are_sampled_where_they_are_counted_and_else_the_timer() {
        let all = [Way::Cpus, Way::Threads, Way::ThreadsWithoutKernel];
        assert_eq!(opened(None, true, &all), Some((Way::Cpus, CYCLES)));
        assert_eq!(opened(None, false, &all), Some((Way::Cpus, CLOCK)));
        assert_eq!(opened(Some(SampledEvent::CpuClock), true, &all), Some((Way::Cpus, CLOCK)));
        // What was asked for by name is not replaced.
        assert_eq!(opened(Some(SampledEvent::Cycles), false, &all), None);
    }

    #[test]
    fn a_user_takes_the_first_way_that_is_allowed() {
        let user_only = [Way::ThreadsWithoutKernel];
        assert_eq!(opened(None, true, &user_only), Some((Way::ThreadsWithoutKernel, CYCLES)));
        assert_eq!(opened(None, false, &user_only), Some((Way::ThreadsWithoutKernel, CLOCK)));
        assert_eq!(opened(None, false, &[Way::Threads]), Some((Way::Threads, CLOCK)));
        assert_eq!(opened(None, true, &[]), None);
    }

    #[test]
    fn waits_have_no_way_without_the_kernel_and_hosts_none_of_threads() {
        let off_cpu = ProfilePlan { kind: ProfileKind::OffCpu, ..plan(None) };
        assert_eq!(ways(&off_cpu), [Way::Cpus, Way::Threads]);
        assert_eq!(sources(&off_cpu), [SampleSource::Switches]);
        let host = ProfilePlan { scope_pids: vec![], ..plan(None) };
        assert_eq!(ways(&host), [Way::Cpus]);
    }
}
