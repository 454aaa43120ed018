//! Merges the reports of a fleet's hosts while they send with the readings of this host's sampler.

use super::super::remote::PartNews;
use super::super::wire::PartSignal;
use super::super::{AgentLink, LocalAgent, Notice, Proceed, RemoteAgent};
use super::{MOMENT, OVERTIME};
use crate::clock;
use crate::error::RunError;
use std::cell::RefCell;
use std::time::Duration;
use sysdyno_load::{Control, Generators, Said, Sink};
use sysdyno_record::load::{Interval, LatencySet};
use sysdyno_record::plan::PhaseKind;
use sysdyno_record::units::MonoNs;

/// Interval between two questions whether to continue. Unit: nanoseconds.
const TICK_NS: u64 = 50_000_000;

/// What merging and hearing have in common.
pub(super) struct Shared<'a> {
    pub(super) link: &'a mut dyn AgentLink,
    /// Something could not be written down.
    pub(super) failure: Option<RunError>,
}

impl Shared<'_> {
    fn notice(&mut self, notice: Notice) {
        if self.failure.is_none() {
            self.failure = self.link.notice(notice).err();
        }
    }
}

/// Passes on what was merged.
pub(super) struct ToLink<'a, 'b>(pub(super) &'a RefCell<Shared<'b>>);

impl Sink for ToLink<'_, '_> {
    fn phase(&mut self, begin: MonoNs, phase: PhaseKind, rate_hz: Option<f64>) {
        self.0.borrow_mut().notice(Notice::Phase { begin, phase, rate_hz });
    }

    fn interval(&mut self, interval: Interval, latency: &LatencySet) {
        self.0.borrow_mut().notice(Notice::Interval(Box::new(interval), Box::new(latency.clone())));
    }
}

/// Receives messages from the hosts while they send, and from this host's sampler.
pub(super) struct Hearing<'a, 'b> {
    pub(super) local: &'a mut LocalAgent,
    pub(super) hosts: &'a mut [RemoteAgent],
    /// Hosts that have answered, or are lost.
    pub(super) is_over: Vec<bool>,
    pub(super) shared: &'a RefCell<Shared<'b>>,
    pub(super) control: &'a Control,
    /// Whether the hosts were told to stop.
    pub(super) is_stopped: bool,
    /// The host that is heard next, in turn.
    pub(super) next: usize,
    pub(super) ticked: MonoNs,
    /// When hosts that have not ended are taken for lost.
    pub(super) give_up: Option<MonoNs>,
    /// Hosts that are not lost; the load goes on while there are at least so many.
    pub(super) left: usize,
    pub(super) least: usize,
}

impl Hearing<'_, '_> {
    /// Further work besides receiving.
    fn tick(&mut self) {
        let now = clock::monotonic();
        if now.since(self.ticked) < TICK_NS {
            return;
        }
        self.ticked = now;
        let mut shared = self.shared.borrow_mut();
        let passed = self.local.pass_on(&mut *shared.link);
        shared.failure = shared.failure.take().or(passed.err());
        if shared.link.tick() == Proceed::Stop || shared.failure.is_some() {
            self.control.stop();
        }
        drop(shared);
        if self.control.is_stopped() && !self.is_stopped {
            self.is_stopped = true;
            self.give_up = Some(now.after(OVERTIME));
            // One that cannot be told is found lost when it is heard.
            self.hosts.iter_mut().for_each(|host| drop(host.order(PartSignal::Stop)));
        }
    }

    /// A host is gone.
    fn lose(&mut self, host: usize, error: &RunError) -> Said {
        self.is_over[host] = true;
        let agent = &self.hosts[host];
        let reason = match agent.lost() {
            Some(reason) => reason.to_owned(),
            None => error.to_string(),
        };
        self.left = self.left.saturating_sub(1);
        let goes_on = self.left >= self.least;
        let notice = Notice::HostLost { host: agent.host().to_owned(), reason: reason.clone(), goes_on };
        self.shared.borrow_mut().notice(notice);
        Said::Lost(reason)
    }

    /// The next message of one host: at once if there is one, else after a short wait.
    fn hear(&mut self, host: usize, span: Duration) -> Option<(usize, Said)> {
        if self.is_over[host] {
            return None;
        }
        match self.hosts[host].hear(span) {
            Ok(Some(PartNews::Report(report))) => Some((host, Said::Report(report))),
            Ok(Some(PartNews::Done)) => {
                self.is_over[host] = true;
                // Of no account if its part is over, as it should be.
                Some((host, Said::Lost("it stopped before its part was done".into())))
            }
            Ok(None) => None,
            Err(error) => Some((host, self.lose(host, &error))),
        }
    }

    /// Takes those for lost that should have ended long ago.
    fn overdue(&mut self) -> Option<(usize, Said)> {
        let is_late = self.give_up.is_some_and(|end| clock::monotonic() > end);
        let host = self.is_over.iter().position(|is_over| !is_over).filter(|_| is_late)?;
        let error = self.hosts[host].refuse("it did not finish");
        Some((host, self.lose(host, &error)))
    }

    /// Waits until each host has answered, so that it can be asked again.
    pub(super) fn await_answers(&mut self) -> Result<(), RunError> {
        let end = clock::monotonic().after(OVERTIME);
        for host in 0..self.hosts.len() {
            while !self.is_over[host] {
                if self.hear(host, MOMENT).is_none() && clock::monotonic() > end {
                    let error = self.hosts[host].refuse("it did not finish");
                    self.lose(host, &error);
                }
                self.tick();
            }
        }
        Ok(())
    }
}

impl Generators for Hearing<'_, '_> {
    fn next(&mut self) -> Option<(usize, Said)> {
        self.tick();
        let count = self.hosts.len();
        for _ in 0..count {
            let host = self.next;
            self.next = (host + 1) % count;
            if let Some(said) = self.hear(host, Duration::ZERO) {
                return Some(said);
            }
        }
        if let Some(late) = self.overdue() {
            return Some(late);
        }
        let living = (0..count).find(|host| !self.is_over[*host])?;
        self.hear(living, MOMENT)
    }

    fn refuse(&mut self, host: usize, cause: &str) {
        let error = self.hosts[host].refuse(cause);
        self.lose(host, &error);
    }
}
