//! Samples, histograms, estimates, intervals and tests, as pure functions.
//!
//! Promise: this crate does no input or output, reads no clock, and draws no randomness that it was not handed.
//!
//! Every estimate comes with its interval ([`estimate::Estimate`]). A function answers `None` when its sample can't
//! support an answer: too few values, one that is not finite, no variance where some is needed. It never answers with
//! an infinity, with something that is not a number, or with a zero that stands for "unknown".

pub mod censored;
pub mod change_point;
pub mod dependence;
pub mod descriptive;
pub mod distribution;
pub mod estimate;
pub mod goodness;
pub mod histogram;
mod integral;
pub mod isotonic;
pub mod multiplicity;
pub mod order_statistics;
pub mod proportion;
pub mod rank_sum;
pub mod regression;
pub mod sample_size;
pub mod schedule;
pub mod sequential;
pub mod signed_rank;
pub mod steady;
pub mod t_test;
pub mod usl;
pub mod variance_components;
pub mod verdict;
