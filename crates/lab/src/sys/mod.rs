//! System calls for which no library has a suitable safe interface, behind functions that are safe to call.
#![allow(unsafe_code)]

pub(crate) mod loop_device;
pub(crate) mod namespace;
pub(crate) mod packet;
