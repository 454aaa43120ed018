//! The order of trials: random super-blocks ABBA or BAAB.
//!
//! A fixed order fails where the environment has a rhythm or a drift; a random choice between ABBA and BAAB holds its
//! error rate, and cancels a linear drift within each super-block exactly. The seed is handed in and recorded. S. Vigna's
//! SplitMix64 (after G. Steele, D. Lea, C. Flood, OOPSLA 2014) has a fixed definition, so that a recorded seed gives the
//! same order in any version and language.

use rand::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;

/// One of the two settings that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arm {
    /// The setting as it was.
    A,
    /// The setting as changed.
    B,
}

/// Four trials in a row: two pairs.
pub type SuperBlock = [Arm; 4];

/// A run of super-blocks, each ABBA or BAAB by the top bit of the next random number (0 is ABBA).
pub fn super_blocks(seed: u64, count: usize) -> Vec<SuperBlock> {
    let mut generator = SplitMix64::seed_from_u64(seed);
    let mut next = || match generator.next_u64() >> 63 {
        0 => [Arm::A, Arm::B, Arm::B, Arm::A],
        _ => [Arm::B, Arm::A, Arm::A, Arm::B],
    };
    (0..count).map(|_| next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_super_block_has_both_settings_twice_and_cancels_a_drift() {
        let blocks = super_blocks(7, 50);
        assert!(
            blocks.contains(&[Arm::A, Arm::B, Arm::B, Arm::A])
                && blocks.contains(&[Arm::B, Arm::A, Arm::A, Arm::B])
        );
        for block in blocks {
            let drift: i32 =
                (0..4).map(|time| if block[time] == Arm::A { time as i32 } else { -(time as i32) }).sum();
            assert_eq!(drift, 0);
        }
    }
}
