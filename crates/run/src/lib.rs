//! Carries out plans: trial after trial, through agents on the hosts that take part.
//!
//! Promise: this crate computes no statistic; it does what a plan says, in order, writes down what comes back, and asks
//! `analyze` what to do next. Beside `lab`, it is the only crate that starts processes.
//!
//! Whatever happens on a host is a typed request to an [`agent::Agent`]: of this process ([`agent::LocalAgent`]), or of
//! another one behind a pipe ([`agent::RemoteAgent`]). What an agent must know of labs it asks [`agent::LabAddresses`] and
//! [`agent::LabShares`], which a crate above this one brings.
#![deny(unsafe_code)]

pub mod agent;
pub mod clock;
mod descriptors;
mod error;
pub mod execute;
pub mod fence;
mod origin;
pub mod profiling;
pub mod program;
pub mod service;
mod sys;
pub mod work;

pub use descriptors::raise_descriptor_limit;
pub use error::{RunError, escaped};
pub use origin::check_origin;
