//! Several samples in one row, several intervals in one: what a long run keeps of what is no longer told apart.
//!
//! Sums stay sums, histograms are merged without loss (by whoever holds them), a counter keeps its last value, which is
//! exact at the end of the cell, and everything else keeps its extremes. So growth over any span that begins and ends
//! where cells do is what it was, and nothing that stood out is averaged away.

mod interval;
mod readings;

pub use interval::IntervalCell;
pub use readings::{ReadingsCell, thinned};
