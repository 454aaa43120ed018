//! Condenses a long run: several samples become one row, several intervals become one.
//!
//! Sums stay sums, histograms are merged without loss (by whoever holds them), a counter keeps its last value, which is
//! exact at the end of the cell, and everything else keeps its extremes. So growth over any span that begins and ends at
//! cell boundaries is unchanged, and no outlier is averaged away.

mod interval;
mod readings;

pub use interval::IntervalCell;
pub use readings::{ReadingsCell, thinned};
