//! System calls for which no library has a suitable safe interface, behind functions that are safe to call.
#![allow(unsafe_code)]

pub(crate) mod mounts;
pub(crate) mod program;
pub(crate) mod scheduler;
pub(crate) mod wait;
