//! Questions to the kernel by netlink: one message asked, the answer read until the kernel says that it is complete.
//!
//! What is asked is that of [`crate::diag`] and [`crate::route`]; nothing is changed by asking. Source:
//! `include/uapi/linux/netlink.h`.

mod message;
mod socket;

pub(crate) use message::{HEADER_BYTES, Wanted, attribute, encode_header, put_attribute, read_u32};
pub(crate) use socket::NetlinkSocket;
