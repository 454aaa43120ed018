//! Which end of a connection a socket is.
//!
//! A list of the connections says so, and costs milliseconds. A thread that opens a connection for each request waits at a socket
//! that is newer than the list. Without those threads, a census would see a tier only while nobody waits for it. So a socket that
//! is not in the list is taken for what had the same number in the same tier before, if that was always the same.

use crate::discover::ConnectionEnds;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use sysdyno_record::plan::Endpoint;

/// Numbers of descriptors that are remembered.
const MAX_NUMBERS: usize = 4096;

/// A descriptor that leads to a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SocketSeen {
    pub(super) number: u64,
    pub(super) inode: u64,
}

/// What a socket of a tier is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SocketEnd {
    Accepted,
    Listening,
    /// The tier asks another one there.
    Asking(Endpoint),
    /// It is in no list: somebody else's, or one of another kind.
    Elsewhere,
}

/// What sockets were in earlier lists, by the tier and the number of the descriptor.
#[derive(Debug, Default)]
pub(super) struct SocketEnds {
    /// `None`: now this and now that.
    known: HashMap<(Option<Endpoint>, u64), Option<SocketEnd>>,
}

impl SocketEnds {
    /// What a socket is; `None`: nobody knows.
    pub(super) fn of(
        &self,
        tier: &Option<Endpoint>,
        socket: SocketSeen,
        ends: &ConnectionEnds,
    ) -> Option<SocketEnd> {
        in_list(socket, ends).or_else(|| self.known.get(&(tier.clone(), socket.number)).cloned().flatten())
    }

    /// Remembers what a socket is; `is_new`: the list was made after the socket was seen.
    pub(super) fn learn(
        &mut self,
        tier: &Option<Endpoint>,
        socket: SocketSeen,
        (ends, is_new): (&ConnectionEnds, bool),
    ) {
        let elsewhere = is_new.then_some(SocketEnd::Elsewhere);
        let Some(end) = in_list(socket, ends).or(elsewhere) else { return };
        let has_room = self.known.len() < MAX_NUMBERS;
        match self.known.entry((tier.clone(), socket.number)) {
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
    asked.or_else(accepted).or_else(listening)
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
        let mut ends = SocketEnds::default();
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
