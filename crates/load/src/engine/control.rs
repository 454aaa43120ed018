//! The order to stop, or to send only probes, from the caller or from a hard stop.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use sysdyno_record::load::TrialEnding;

/// Stops a trial from another thread. Threads see it within 50 ms.
#[derive(Debug, Default)]
pub struct Control {
    is_stopped: AtomicBool,
    is_held_back: AtomicBool,
    may_probe: AtomicBool,
    hard_stop: Mutex<Option<String>>,
}

impl Control {
    /// A control that has not stopped anything yet.
    pub fn new() -> Control {
        Control::default()
    }

    /// Asks for the end: no new requests, a short drain, then the result.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    /// Somebody ends the load in time if it is cut down to probes.
    pub(super) fn allow_probes(&self) {
        self.may_probe.store(true, Ordering::Relaxed);
    }

    /// Stops the load because it passed a limit that protects the target, or because nobody answers for it any more; the
    /// first reason is kept.
    pub fn hard_stop(&self, text: String) {
        let mut reason = self.hard_stop.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        reason.get_or_insert(text);
        self.stop();
    }

    /// Cuts the load down to a few probes per second because it passed a limit that protects the target, so that the host's
    /// counters can explain the failure. Stops it where no probes may be sent.
    pub(super) fn give_up(&self, text: String) {
        if !self.may_probe.load(Ordering::Relaxed) {
            return self.hard_stop(text);
        }
        let mut reason = self.hard_stop.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        reason.get_or_insert(text);
        self.is_held_back.store(true, Ordering::Relaxed);
    }

    /// Whether only probes are sent.
    pub(super) fn is_held_back(&self) -> bool {
        self.is_held_back.load(Ordering::Relaxed)
    }

    /// Whether a stop was requested.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Why a trial that is over ended.
    pub(super) fn ending(&self) -> TrialEnding {
        let reason = self.hard_stop.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match (&*reason, self.is_stopped()) {
            (Some(text), _) => TrialEnding::HardStop(text.clone()),
            (None, true) => TrialEnding::Interrupted,
            (None, false) => TrialEnding::Complete,
        }
    }
}
