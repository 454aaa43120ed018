//! Samples, histograms, estimates, intervals and tests, as pure functions.
//!
//! Promise: this crate does no input or output, reads no clock, and draws no randomness that it was not handed.

pub mod histogram;
