//! What single threads do at an instant: shared by the census of a server's tiers and that of the busiest processes.

mod ends;
mod futex;
mod glance;
mod handling;
mod wait;

pub(crate) use ends::{SocketEnd, SocketEnds, at_sockets};
pub(crate) use futex::{futex_place, is_short_wait};
pub(crate) use glance::{Sight, SocketSeen, ThreadFiles, at_descriptors, at_numbers};
pub(crate) use handling::RequestHandling;
pub(crate) use wait::{Doing, KINDS, by_function, by_state, doing, is_in_event_loop, is_writing};
