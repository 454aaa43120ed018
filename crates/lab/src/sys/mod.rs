//! System calls that no safe library offers as they are needed, behind functions that are safe to call.
#![allow(unsafe_code)]

pub(crate) mod namespace;
pub(crate) mod packet;
