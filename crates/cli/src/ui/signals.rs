//! Signals as flags. Ctrl-C asks for the end; a second one ends the program at once. Ctrl-\ asks for statistics.

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What signals have asked for.
#[derive(Clone, Debug)]
pub struct Signals {
    interrupted: Arc<AtomicBool>,
    asked: Arc<AtomicBool>,
}

impl Signals {
    /// Begins to listen.
    pub fn listen() -> anyhow::Result<Signals> {
        let signals = Signals { interrupted: Arc::default(), asked: Arc::default() };
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // Registered first, so that it sees the flag of the signal before this one.
            flag::register_conditional_shutdown(signal, 130, Arc::clone(&signals.interrupted))?;
            flag::register(signal, Arc::clone(&signals.interrupted))?;
        }
        flag::register(SIGQUIT, Arc::clone(&signals.asked))?;
        Ok(signals)
    }

    /// Whether the end was asked for.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Whether statistics were asked for since the last call.
    pub fn take_asked(&self) -> bool {
        self.asked.swap(false, Ordering::Relaxed)
    }
}
