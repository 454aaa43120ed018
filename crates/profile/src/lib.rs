//! Samples the call stacks of running and waiting threads, and names their functions.
//!
//! Promise: this crate never keeps an address, and never loses a sample without counting it. It writes nothing to the
//! host; the events that it opens end with their descriptors.
//!
//! Constraints that shape the crate:
//! - one thread reads all CPUs, and what it holds is bounded: distinct stacks, not samples ([`stacks`]);
//! - while sampling, nothing is looked up but what would be gone afterwards: which file lies at which address of which
//!   process ([`processes`], [`space`]), and how its functions are left ([`unwind`]);
//! - what a program has on its stack is secret: it is taken apart at once, kept nowhere, and never leaves memory;
//! - names come afterwards ([`naming`]), and with them the last address goes; what takes longest, the kernel's symbols, is read
//!   before it begins ([`Symbols`]);
//! - it reads no clock: whoever records says when it began and when it is over ([`Recording`]).
//!
//! The kernel's interface is specified in perf_event_open(2).

#![deny(unsafe_code)]

mod chain;
mod cpus;
mod error;
mod event;
mod frames;
mod naming;
mod object_file;
mod plan;
mod processes;
mod recording;
mod registers;
mod space;
mod stacks;
mod switches;
mod sys;
mod unwind;
mod vdso;
mod waits;
mod wire;

pub use error::ProfileError;
pub use naming::Symbols;
pub use plan::ProfilePlan;
pub use recording::{Recording, Stopped};
