//! Queries and requests to the kernel over netlink: one socket, one request at a time, answered during the send.
//!
//! Promise: this crate never mistakes a part of an answer for the whole, or the answer to another query for this one. Callers
//! know what a message means; attributes stay bytes, so that a restore writes exactly what was read. Sources: netlink(7),
//! `include/uapi/linux/netlink.h`.

mod attribute;
pub mod ethtool;
mod message;
mod socket;
mod sys;

pub use attribute::{Attributes, find, number, put, put_nested, text, word};
pub use socket::{CREATE, EXCLUSIVE, NetlinkSocket, REPLACE, errno};
