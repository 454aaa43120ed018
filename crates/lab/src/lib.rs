//! Hosts, and the running of a plan on them.
//!
//! Promise: this crate computes no statistic; it does what a plan says, in order, writes down what comes back, and asks
//! `analyze` what to do next. It is the only crate that starts processes.
//!
//! Whatever happens on a host is a typed [`agent::Request`] to an [`agent::Agent`]: of this process
//! ([`agent::LocalAgent`]), or of another one behind a pipe ([`agent::RemoteAgent`]).
#![deny(unsafe_code)]

pub mod agent;
mod descriptors;
mod error;
pub mod execute;
pub mod fence;
pub mod lab;
mod origin;
mod program;
pub mod service;
mod sys;
pub mod work;

pub use descriptors::raise_descriptor_limit;
pub use error::LabError;
pub use origin::check_origin;
pub use program::check_program_timeout;
