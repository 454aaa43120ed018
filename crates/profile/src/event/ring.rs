//! The events of one CPU that share a ring: a single one of the whole CPU, or one of each thread.

use super::attributes::{EventSpec, SampleSource};
use super::threads::ProcessThread;
use crate::ProfileError;
use crate::sys::{self, EventSubject, PerfRing};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;
use sysdyno_record::profile::SampledEvent;

/// Why the events of a CPU could not be opened.
pub(super) enum OpenFailure {
    /// This user may not; of a process, if it is one of those that were asked for.
    Rights { pid: Option<u32>, source: io::Error },
    /// This user may not lock so much memory.
    Memory(io::Error),
    /// All threads have ended.
    NoThread,
    /// No counter of this machine counts the event.
    NoCounter(SampledEvent),
    /// Anything else.
    Other(ProfileError),
}

/// The threads whose events are opened.
pub(super) struct ThreadScope<'a> {
    pub(super) threads: &'a [ProcessThread],
    /// Processes that are not skipped if this user may not sample them.
    pub(super) needed_pids: &'a [u32],
}

/// Events of a CPU, and the ring that they write to.
pub(super) struct EventRing {
    cpu: u32,
    name: &'static str,
    /// That of the ring first.
    events: Vec<OwnedFd>,
    ring: PerfRing,
    /// Whether the thread of the first event has ended; then it is always ready, and says nothing.
    has_hung_up: bool,
}

impl EventRing {
    /// Opens the event of a whole CPU, without starting it.
    pub(super) fn of_cpu(spec: &EventSpec, cpu: u32, ring_bytes: usize) -> Result<EventRing, OpenFailure> {
        let event =
            open(spec, EventSubject::All, cpu, ring_bytes).map_err(|source| failure(source, spec, cpu))?;
        EventRing::map(event, spec.name(), cpu, ring_bytes)
    }

    /// Opens the events of threads, without starting them; those that may not be sampled become `denied`.
    pub(super) fn of_threads(
        spec: &EventSpec,
        scope: &ThreadScope<'_>,
        cpu: u32,
        ring_bytes: usize,
        denied: &mut BTreeSet<u32>,
    ) -> Result<EventRing, OpenFailure> {
        let mut ring: Option<EventRing> = None;
        for ProcessThread { pid, tid } in scope.threads {
            let event = match open(spec, EventSubject::Thread(*tid), cpu, ring_bytes) {
                Ok(event) => event,
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => continue,
                Err(source) if is_refusal(&source) => {
                    if scope.needed_pids.contains(pid) {
                        return Err(OpenFailure::Rights { pid: Some(*pid), source });
                    }
                    denied.insert(*pid);
                    continue;
                }
                Err(source) => return Err(failure(source, spec, cpu)),
            };
            match &mut ring {
                Some(ring) => ring.add(event)?,
                None => ring = Some(EventRing::map(event, spec.name(), cpu, ring_bytes)?),
            }
        }
        ring.ok_or(OpenFailure::NoThread)
    }

    fn map(
        event: OwnedFd,
        name: &'static str,
        cpu: u32,
        ring_bytes: usize,
    ) -> Result<EventRing, OpenFailure> {
        let pages = (ring_bytes / rustix::param::page_size()).max(1);
        let ring = PerfRing::map(event.as_fd(), pages).map_err(|source| match source.raw_os_error() {
            Some(libc::EPERM) => OpenFailure::Memory(source),
            _ => OpenFailure::Other(ProfileError::Event { operation: "map", event: name, cpu, source }),
        })?;
        Ok(EventRing { cpu, name, events: vec![event], ring, has_hung_up: false })
    }

    /// Lets another event write to this ring.
    fn add(&mut self, event: OwnedFd) -> Result<(), OpenFailure> {
        let shared = self.events.first().map_or(Ok(()), |first| sys::redirect(event.as_fd(), first.as_fd()));
        shared.map_err(|source| OpenFailure::Other(self.error("share the ring of", source)))?;
        self.events.push(event);
        Ok(())
    }

    /// The CPU.
    pub(super) fn cpu(&self) -> u32 {
        self.cpu
    }

    /// Starts the events.
    pub(super) fn start(&self) -> Result<(), ProfileError> {
        let start = |event: &OwnedFd| sys::enable(event.as_fd());
        self.events.iter().try_for_each(start).map_err(|source| self.error("start", source))
    }

    /// Stops them; what they have written can still be read.
    pub(super) fn stop(&self) {
        // They may be gone, with their CPU; then they write no more.
        self.events.iter().for_each(|event| drop(sys::disable(event.as_fd())));
    }

    /// Appends what they have written.
    pub(super) fn drain(&mut self, bytes: &mut Vec<u8>) {
        self.ring.drain(bytes);
    }

    /// The sum of what they have counted; `None`: one of them cannot be read.
    pub(super) fn count(&self) -> Option<u64> {
        self.events.iter().map(|event| sys::count(event.as_fd()).ok()).sum()
    }

    fn error(&self, operation: &'static str, source: io::Error) -> ProfileError {
        ProfileError::Event { operation, event: self.name, cpu: self.cpu, source }
    }
}

/// Waits until a ring is half full, at most for this long.
pub(super) fn wait(rings: &mut [EventRing], timeout: Duration) {
    let mut waiting: Vec<&mut EventRing> = rings.iter_mut().filter(|ring| !ring.has_hung_up).collect();
    let mut polled: Vec<PollFd<'_>> = waiting
        .iter()
        .filter_map(|ring| ring.events.first())
        .map(|event| PollFd::new(event, PollFlags::IN))
        .collect();
    let timeout = Timespec::try_from(timeout).ok();
    // A signal ends the wait, and so does any error: whoever waits looks at the rings anyway.
    let _ = poll(&mut polled, timeout.as_ref());
    let hung_up: Vec<bool> =
        polled.iter().map(|polled| polled.revents().intersects(PollFlags::HUP | PollFlags::ERR)).collect();
    waiting.iter_mut().zip(hung_up).for_each(|(ring, has_hung_up)| ring.has_hung_up = has_hung_up);
}

fn open(spec: &EventSpec, subject: EventSubject, cpu: u32, ring_bytes: usize) -> io::Result<OwnedFd> {
    sys::open_event(&spec.attributes(ring_bytes), subject, Some(cpu))
}

/// Whether this is how the kernel says that a user may not.
pub(super) fn is_refusal(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM))
}

/// What an error of perf_event_open(2) means.
///
/// An event that no unit of the machine counts is `ENOENT`, one that is counted but cannot interrupt `EOPNOTSUPP`, and units differ
/// in what else they say. A rate beyond the kernel's is `EINVAL`.
pub(super) fn failure(source: io::Error, spec: &EventSpec, cpu: u32) -> OpenFailure {
    let code = source.raw_os_error();
    let max_hz = (code == Some(libc::EINVAL)).then(rate_max_hz).flatten();
    if let Some(max_hz) = max_hz.filter(|max_hz| *max_hz < spec.rate_hz) {
        return OpenFailure::Other(ProfileError::Rate { rate_hz: spec.rate_hz, max_hz });
    }
    match (code, spec.source) {
        (Some(libc::EACCES | libc::EPERM), _) => OpenFailure::Rights { pid: None, source },
        (Some(libc::ENOSYS), _) => OpenFailure::Other(ProfileError::NoPerfEvents),
        (
            Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP | libc::EINVAL),
            SampleSource::Running(event),
        ) if event.is_hardware() => OpenFailure::NoCounter(event),
        _ => OpenFailure::Other(ProfileError::Event { operation: "open", event: spec.name(), cpu, source }),
    }
}

/// Most samples per second; the kernel lowers it by itself where they take too long. `None`: it cannot be read.
fn rate_max_hz() -> Option<u32> {
    std::fs::read_to_string("/proc/sys/kernel/perf_event_max_sample_rate").ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_that_no_counter_counts_is_told_from_one_that_is_not_allowed() {
        let of = |code, event| {
            let spec = EventSpec {
                source: SampleSource::Running(event),
                rate_hz: 99,
                sees_kernel: true,
                is_inherited: false,
            };
            failure(io::Error::from_raw_os_error(code), &spec, 0)
        };
        for code in [libc::ENOENT, libc::ENODEV, libc::EOPNOTSUPP] {
            let failure = of(code, SampledEvent::CacheMisses);
            assert!(matches!(failure, OpenFailure::NoCounter(SampledEvent::CacheMisses)), "{code}");
            assert!(matches!(of(code, SampledEvent::CpuClock), OpenFailure::Other(_)), "{code}");
        }
        for code in [libc::EACCES, libc::EPERM] {
            assert!(matches!(of(code, SampledEvent::Cycles), OpenFailure::Rights { .. }), "{code}");
        }
    }
}
