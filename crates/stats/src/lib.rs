//! Samples, histograms, estimates, intervals and tests, as pure functions.
//!
//! Promise: this crate does no input or output, reads no clock, and uses only the randomness that the caller passes in.
//!
//! Every estimate comes with its interval ([`estimate::Estimate`]). A function returns `None` when its sample cannot
//! support an answer: too few values, a value that is not finite, no variance where some is needed. It never returns an
//! infinity, NaN, or a zero that means "unknown".

pub mod block_model;
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
