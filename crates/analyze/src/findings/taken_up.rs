//! How a server takes up the connections that wait to be accepted, while its threads have nothing to do.
//!
//! A thread that waits for something to do accepts the next connection at once, unless it may not: because there is a limit on
//! their rate, or because it has one already, on which its client sends nothing.

use crate::readings::{Level, Window, process_scope, ratio, sum_known};
use crate::threshold::{HOUSE, Threshold};
use crate::view::TrialView;
use sysdyno_record::column::{self, ScopeKind, tier_scope};
use sysdyno_record::event::WatchedProcess;

pub(super) const QUEUED: Threshold =
    Threshold::new("connections waiting to be accepted, on average", 1.0, "count", HOUSE);
pub(super) const IDLE: Threshold = Threshold::new(
    "share of the threads of a tier that wait for something to do, while connections wait for it",
    0.8,
    "ratio",
    HOUSE,
);
pub(super) const FREE: Threshold = Threshold::new(
    "connections that were accepted ÷ threads, at most, for the threads to be free to accept others",
    0.5,
    "ratio",
    HOUSE,
);
pub(super) const EACH: [Threshold; 2] = [
    Threshold::new(
        "connections that were accepted ÷ threads, for each to have one, at least",
        0.6,
        "ratio",
        HOUSE,
    ),
    Threshold::new(
        "connections that were accepted ÷ threads, for each to have one, at most",
        2.0,
        "ratio",
        HOUSE,
    ),
];

/// Connections that wait at an address, and who could take them up.
pub(super) struct TakenUp {
    pub(super) queue: Level,
    /// Connections that were accepted, on average.
    pub(super) accepted: f64,
    threads: f64,
    idle: f64,
}

impl TakenUp {
    /// At the address of this scope; `None`: none waits there, or it was not read.
    pub(super) fn at(view: &TrialView, window: &Window, scope: &str) -> Option<TakenUp> {
        let queue = window.level(column::LISTENER_QUEUE, scope).filter(|queue| queue.mean >= QUEUED.value)?;
        let processes = view.listening_at(scope);
        let is_first = processes.iter().all(|process| process.tier.is_none());
        let connections = window.level(column::CONNECTIONS_ESTABLISHED, scope)?;
        // Those of the server are listed with those that wait.
        let beside = (column::CONNECTIONS_ESTABLISHED, scope);
        let waiting = window.level_beside(column::LISTENER_QUEUE, scope, beside).filter(|_| is_first);
        let accepted = (connections.mean - waiting.map_or(0.0, |waiting| waiting.mean)).max(0.0);
        let idle = idle_ratio(view, window, scope)?;
        Some(TakenUp { queue, accepted, threads: threads(&processes, window)?, idle })
    }

    /// Whether threads are free to accept connections, and leave them waiting.
    pub(super) fn is_paced(&self) -> bool {
        self.idle >= IDLE.value && self.accepted <= FREE.value * self.threads
    }

    /// Whether each thread has a connection on which nothing comes.
    pub(super) fn is_held_by_clients(&self) -> bool {
        let [least, most] = EACH.map(|each| each.value * self.threads);
        self.idle >= IDLE.value && (least..=most).contains(&self.accepted)
    }
}

/// The part of the threads at the address of this scope that wait for something to do.
pub(super) fn idle_ratio(view: &TrialView, window: &Window, scope: &str) -> Option<f64> {
    let is_first = view.listening_at(scope).iter().all(|process| process.tier.is_none());
    let of_tier = match is_first {
        true => tier_scope(None),
        false => scope.replacen(ScopeKind::Listener.prefix(), ScopeKind::Tier.prefix(), 1),
    };
    let count = |gauge| window.level(gauge, &of_tier).map(|level| level.mean);
    ratio(count(column::WAITS_IDLE)?, count(column::WAITS_THREADS)?)
}

/// The threads of these processes, on average.
pub(super) fn threads(processes: &[&WatchedProcess], window: &Window) -> Option<f64> {
    sum_known(processes.iter().map(|process| {
        window.level(column::PROCESS_THREADS, &process_scope(process)).map(|level| level.mean)
    }))
}
