//! The controller's side of a fleet: who is there, and a tunnel to each agent that is used.

mod roster;
mod tunnel;

pub use roster::{chosen, roster};
#[cfg(test)]
pub(crate) use tunnel::{AGAIN, OPENING};
pub use tunnel::{FleetOrder, open_tunnel};
