//! Which end of a connection a socket is.
//!
//! A list of the connections says so, and costs milliseconds. A thread that opens a connection for each request waits at a socket
//! that is newer than the list. Without those threads, a census would see a tier only while nobody waits for it. So a socket that
//! is not in the list is taken for what had the same number of the same owner (a tier, a process) before, if that was always the same.

use super::glance::SocketSeen;
use crate::discover::ConnectionEnds;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use sysdyno_record::live::ThreadWait;
use sysdyno_record::plan::Endpoint;

/// Numbers of descriptors that are remembered.
const MAX_NUMBERS: usize = 4096;

/// What a socket is to its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SocketEnd {
    Accepted,
    Listening,
    /// The owner asks somebody there.
    Asking(Endpoint),
    /// It leads to somebody who is no tier, whoever of the owner's threads asks there and why.
    Outside(Endpoint),
    /// It is in no list: somebody else's, or one of another kind.
    Elsewhere,
}

/// What sockets were in earlier lists, by their owner and the number of the descriptor.
#[derive(Debug)]
pub(crate) struct SocketEnds<O> {
    /// `None`: now this and now that.
    known: HashMap<(O, u64), Option<SocketEnd>>,
}

impl<O> Default for SocketEnds<O> {
    fn default() -> SocketEnds<O> {
        SocketEnds { known: HashMap::new() }
    }
}

impl<O: Clone + Eq + Hash> SocketEnds<O> {
    /// What a socket is; `None`: nobody knows.
    pub(crate) fn of(&self, owner: &O, socket: SocketSeen, ends: &ConnectionEnds) -> Option<SocketEnd> {
        in_list(socket, ends).or_else(|| self.known.get(&(owner.clone(), socket.number)).cloned().flatten())
    }

    /// Forgets the sockets of other owners than these.
    pub(crate) fn keep(&mut self, is_kept: impl Fn(&O) -> bool) {
        self.known.retain(|(owner, _), _| is_kept(owner));
    }

    /// Remembers what a socket is; `is_new`: the list was made after the socket was seen.
    pub(crate) fn learn(&mut self, owner: &O, socket: SocketSeen, (ends, is_new): (&ConnectionEnds, bool)) {
        let elsewhere = is_new.then_some(SocketEnd::Elsewhere);
        let Some(end) = in_list(socket, ends).or(elsewhere) else { return };
        let has_room = self.known.len() < MAX_NUMBERS;
        match self.known.entry((owner.clone(), socket.number)) {
            Entry::Vacant(place) if has_room => drop(place.insert(Some(end))),
            // It may have been closed before it was listed.
            Entry::Occupied(mut known) if *known.get() == Some(SocketEnd::Elsewhere) => {
                drop(known.insert(Some(end)));
            }
            Entry::Occupied(mut known)
                if end != SocketEnd::Elsewhere && known.get().as_ref() != Some(&end) =>
            {
                drop(known.insert(None));
            }
            Entry::Occupied(_) | Entry::Vacant(_) => {}
        }
    }
}

fn in_list(socket: SocketSeen, ends: &ConnectionEnds) -> Option<SocketEnd> {
    let asked = ends.asked.get(&socket.inode).cloned().map(SocketEnd::Asking);
    let accepted = || ends.accepted.contains(&socket.inode).then_some(SocketEnd::Accepted);
    let listening = || ends.listening.contains(&socket.inode).then_some(SocketEnd::Listening);
    let outside = || ends.outside.get(&socket.inode).cloned().map(SocketEnd::Outside);
    asked.or_else(accepted).or_else(listening).or_else(outside)
}

/// What a thread waits for that waits for these sockets: who was asked, if anybody was.
pub(crate) fn at_sockets(found: &[Option<SocketEnd>]) -> (ThreadWait, Option<&Endpoint>) {
    let known = || found.iter().flatten();
    let asked =
        known().find_map(|end| if let SocketEnd::Asking(address) = end { Some(address) } else { None });
    let outside =
        || known().find_map(|end| if let SocketEnd::Outside(address) = end { Some(address) } else { None });
    let is_own = |end: &SocketEnd| matches!(end, SocketEnd::Accepted | SocketEnd::Listening);
    match (asked, known().any(is_own)) {
        (Some(address), _) => (ThreadWait::Network, Some(address)),
        (None, true) => (ThreadWait::Idle, None),
        (None, false) if found.is_empty() => (ThreadWait::Other, None),
        (None, false) => (ThreadWait::Network, outside()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_socket_is_what_its_number_was_unless_that_changes() {
        let database = Endpoint::Unix("/run/db.sock".into());
        let list = |accepted: u64, asked: u64| ConnectionEnds {
            accepted: [accepted].into(),
            asked: [(asked, database.clone())].into(),
            ..ConnectionEnds::default()
        };
        let socket = |number, inode| SocketSeen { number, inode };
        let mut ends: SocketEnds<Option<Endpoint>> = SocketEnds::default();
        ends.learn(&None, socket(5, 99), (&list(10, 20), true));
        assert_eq!(ends.of(&None, socket(5, 99), &list(10, 20)), Some(SocketEnd::Elsewhere));
        ends.learn(&None, socket(5, 20), (&list(10, 20), false));
        ends.learn(&None, socket(5, 99), (&list(10, 20), true));
        let now = list(11, 21);
        assert_eq!(ends.of(&None, socket(5, 99), &now), Some(SocketEnd::Asking(database.clone())));
        assert_eq!(ends.of(&None, socket(5, 11), &now), Some(SocketEnd::Accepted), "the list comes first");
        assert_eq!(ends.of(&None, socket(6, 99), &now), None);
        assert_eq!(ends.of(&Some(database), socket(5, 99), &now), None, "another tier");
        ends.learn(&None, socket(5, 11), (&now, false));
        assert_eq!(ends.of(&None, socket(5, 99), &now), None, "now this and now that");
    }
}
