//! Chance with a seed.

use rand::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;

/// What happens by chance.
#[derive(Clone, Debug)]
pub(super) struct Dice(SplitMix64);

impl Dice {
    pub(super) fn new(seed: u64) -> Dice {
        Dice(SplitMix64::seed_from_u64(seed))
    }

    /// From 0 to below 1.
    fn share(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Whether something of this probability happens.
    pub(super) fn happens(&mut self, probability: f64) -> bool {
        self.share() < probability
    }

    /// A number between two others.
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + (self.share() * (high - low) as f64) as u64
    }
}
