//! Random orders and seeds that follow from the plan's seed.

use rand::Rng;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

/// The seed of the part of a search with this number.
pub(super) fn derived_seed(seed: u64, part: u64) -> u64 {
    SplitMix64::seed_from_u64(seed ^ part.wrapping_mul(0x9e37_79b9_7f4a_7c15)).next_u64()
}

/// The values in an order that depends on `seed` and `part` only.
pub(super) fn shuffled(mut values: Vec<f64>, seed: u64, part: u64) -> Vec<f64> {
    values.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(derived_seed(seed, part)));
    values
}
