//! Questions and requests to the kernel by netlink: one socket, one at a time, answered while it is sent.
//!
//! Promise: this crate never takes a part of an answer for the whole, or the answer to another question for this one. What
//! a message means is known to those who ask; attributes stay bytes, so that what is put back is what was read. Sources:
//! netlink(7), `include/uapi/linux/netlink.h`.

mod attribute;
pub mod ethtool;
mod message;
mod socket;
mod sys;

pub use attribute::{Attributes, find, number, put, put_nested, text, word};
pub use socket::{CREATE, EXCLUSIVE, NetlinkSocket, REPLACE, errno};
