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
mod ring;
mod threads;

use crate::plan::ProfilePlan;
use crate::sys::{self, EventSubject};
use crate::{ProfileError, cpus};
use attributes::EventSpec;
use ring::{EventRing, OpenFailure, ThreadScope};
use std::collections::BTreeSet;
use std::io;
use std::time::Duration;
use sysdyno_record::profile::ProfileKind;
use threads::threads_of;

/// Smallest ring that is tried where this user may lock little memory. Unit: bytes.
const RING_MIN: usize = 1 << 17;

/// How often the threads are listed again if new ones came while events were opened.
const LISTINGS_MAX: usize = 5;

/// The events of a recording.
pub(crate) struct Events {
    rings: Vec<EventRing>,
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
        let ways: &[Way] = match (plan.scope_pids.is_empty(), plan.kind) {
            (true, _) => &[Way::Cpus],
            (false, ProfileKind::OnCpu) => &[Way::Cpus, Way::Threads, Way::ThreadsWithoutKernel],
            (false, ProfileKind::OffCpu) => &[Way::Cpus, Way::Threads],
        };
        let cpus = cpus::online()?;
        let mut refused = None;
        for way in ways {
            match open_way(plan, *way, &cpus) {
                Err(OpenFailure::Rights { pid, source }) => refused = Some((pid, source)),
                result => return result.map_err(|failure| error(failure, plan)),
            }
        }
        let (pid, source) = refused.unwrap_or((None, io::ErrorKind::PermissionDenied.into()));
        Err(refusal(plan, pid, source))
    }

    /// Starts them.
    pub(crate) fn start(&self) -> Result<(), ProfileError> {
        self.rings.iter().try_for_each(EventRing::start)
    }

    /// Stops them; what they have written can still be read.
    pub(crate) fn stop(&self) {
        self.rings.iter().for_each(EventRing::stop);
    }

    /// Waits until a ring is half full, at most for this long.
    pub(crate) fn wait(&mut self, timeout: Duration) {
        ring::wait(&mut self.rings, timeout);
    }

    /// Hands what they have written to `take`, ring by ring.
    pub(crate) fn drain(&mut self, bytes: &mut Vec<u8>, mut take: impl FnMut(&[u8])) {
        for ring in &mut self.rings {
            bytes.clear();
            ring.drain(bytes);
            take(bytes);
        }
    }

    /// CPUs that are sampled.
    pub(crate) fn cpus_count(&self) -> u32 {
        self.rings.len() as u32
    }

    /// CPU time of the threads since the start, in programs and in the kernel. Unit: nanoseconds.
    ///
    /// `None`: they count that of all processes. Source: the count of `cpu-clock`, which is not limited to what is sampled.
    pub(crate) fn threads_cpu_ns(&self) -> Option<u64> {
        self.is_of_threads.then(|| self.rings.iter().map(EventRing::count).sum()).flatten()
    }
}

fn open_way(plan: &ProfilePlan, way: Way, cpus: &[u32]) -> Result<Events, OpenFailure> {
    let spec = EventSpec {
        kind: plan.kind,
        rate_hz: plan.rate_hz,
        sees_kernel: way != Way::ThreadsWithoutKernel,
        is_inherited: way != Way::Cpus,
    };
    let mut ring_bytes = spec.ring_bytes();
    loop {
        let mut denied_pids = BTreeSet::new();
        let rings = match way {
            Way::Cpus => cpus.iter().map(|cpu| EventRing::of_cpu(&spec, *cpu, ring_bytes)).collect(),
            Way::Threads | Way::ThreadsWithoutKernel => {
                open_threads(plan, &spec, cpus, ring_bytes, &mut denied_pids)
            }
        };
        match rings {
            Err(OpenFailure::Memory(_)) if ring_bytes > RING_MIN => ring_bytes /= 2,
            Ok(rings) => {
                return Ok(Events {
                    rings,
                    sees_kernel: spec.sees_kernel,
                    denied_pids,
                    is_of_threads: way != Way::Cpus,
                });
            }
            Err(failure) => return Err(failure),
        }
    }
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
    may_open(EventSubject::Own, rate_hz)
}

fn allows_program(pid: u32, rate_hz: u32) -> bool {
    may_open(EventSubject::Thread(pid), rate_hz)
}

fn may_open(subject: EventSubject, rate_hz: u32) -> bool {
    let spec = EventSpec { kind: ProfileKind::OnCpu, rate_hz, sees_kernel: false, is_inherited: false };
    sys::open_event(&spec.attributes(RING_MIN), subject, None).is_ok()
}
