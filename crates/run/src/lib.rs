//! Carries out plans: trial after trial, through agents on the hosts that take part.
//!
//! Promise: this crate computes no statistic; it carries out a plan in order, records the results, and asks `analyze` what
//! to do next. Besides `lab`, it is the only crate that starts processes.
//!
//! Everything done on a host is a typed request to an [`agent::Agent`], in this process ([`agent::LocalAgent`]) or in
//! another one behind a pipe ([`agent::RemoteAgent`]). Agents learn about labs through [`agent::LabAddresses`] and
//! [`agent::LabShares`], which a crate above this one implements.
#![deny(unsafe_code)]

pub mod agent;
mod burner;
pub mod clock;
mod descriptors;
mod error;
pub mod execute;
pub mod fence;
pub mod links;
mod origin;
pub mod profiling;
pub mod program;
pub mod service;
mod sys;
pub mod work;

pub use burner::{detach_burner, serve_burner};
pub use descriptors::raise_descriptor_limit;
pub use error::{RunError, escaped};
pub use origin::check_origin;
