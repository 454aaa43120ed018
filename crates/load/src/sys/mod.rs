//! System calls for which no library has a suitable safe interface, each behind a function that is safe to call.
#![allow(unsafe_code)]

pub(crate) mod bind;
mod buffers;
pub(crate) mod epoll;
pub(crate) mod ports;
pub(crate) mod ring;
pub(crate) mod stamp;
