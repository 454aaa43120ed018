//! The system call that no safe library offers as it is needed, behind a function that is safe to call.
#![allow(unsafe_code)]

pub(crate) mod wait;
