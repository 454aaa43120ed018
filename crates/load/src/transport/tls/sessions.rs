//! Resumable sessions of one thread with one server.

use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::pki_types::ServerName;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Tickets that are kept; the oldest goes first.
const MAX_TICKETS_COUNT: usize = 1024;

/// What is kept. All connections of a load go to one server, so names are not told apart.
#[derive(Debug, Default)]
struct Kept {
    tickets: VecDeque<Tls13ClientSessionValue>,
    session: Option<Tls12ClientSessionValue>,
    group: Option<NamedGroup>,
}

/// The sessions of a thread.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    // The library asks for a store that threads can share; this one is not shared, so that nobody waits for it.
    kept: Mutex<Kept>,
}

impl Sessions {
    fn with<T>(&self, use_of: impl FnOnce(&mut Kept) -> T) -> T {
        use_of(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether the next connection can be resumed.
    pub(super) fn is_ready(&self) -> bool {
        self.with(|kept| kept.session.is_some() || !kept.tickets.is_empty())
    }
}

/// What a connection may do with the sessions.
#[derive(Debug)]
pub(super) enum Access {
    /// Learn new ones only: a full handshake.
    Learn(Arc<Sessions>),
    /// Use them too.
    Use(Arc<Sessions>),
}

impl Access {
    fn sessions(&self) -> &Sessions {
        match self {
            Access::Learn(sessions) | Access::Use(sessions) => sessions,
        }
    }

    fn usable(&self) -> Option<&Sessions> {
        match self {
            Access::Learn(_) => None,
            Access::Use(sessions) => Some(sessions),
        }
    }
}

impl ClientSessionStore for Access {
    fn set_kx_hint(&self, _: ServerName<'static>, group: NamedGroup) {
        self.sessions().with(|kept| kept.group = Some(group));
    }

    fn kx_hint(&self, _: &ServerName<'_>) -> Option<NamedGroup> {
        self.sessions().with(|kept| kept.group)
    }

    fn set_tls12_session(&self, _: ServerName<'static>, value: Tls12ClientSessionValue) {
        self.sessions().with(|kept| kept.session = Some(value));
    }

    fn tls12_session(&self, _: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.usable()?.with(|kept| kept.session.clone())
    }

    fn remove_tls12_session(&self, _: &ServerName<'static>) {
        self.sessions().with(|kept| kept.session = None);
    }

    fn insert_tls13_ticket(&self, _: ServerName<'static>, value: Tls13ClientSessionValue) {
        self.sessions().with(|kept| {
            if kept.tickets.len() >= MAX_TICKETS_COUNT {
                kept.tickets.pop_front();
            }
            kept.tickets.push_back(value);
        });
    }

    fn take_tls13_ticket(&self, _: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        self.usable()?.with(|kept| kept.tickets.pop_back())
    }
}
