//! The order of trials: random super-blocks ABBA or BAAB, and balanced orders of more variants.
//!
//! A fixed order fails where the environment has a rhythm or a drift; a random choice between ABBA and BAAB holds its
//! error rate, and cancels a linear drift within each super-block exactly. For k variants, E. Williams's squares
//! (1949) let each follow each other equally often. The seed is handed in and recorded, so that the order can be had
//! again.

/// Sebastiano Vigna's SplitMix64 (after G. Steele, D. Lea, C. Flood, OOPSLA 2014): a small generator with a fixed
/// definition, so that a recorded seed gives the same order in any version and language.
#[derive(Clone, Debug)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// A generator with this seed.
    pub fn from_seed(seed: u64) -> SplitMix64 {
        SplitMix64 { state: seed }
    }

    /// The next 64 random bits.
    pub fn next_bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

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
    let mut generator = SplitMix64::from_seed(seed);
    let mut next = || match generator.next_bits() >> 63 {
        0 => [Arm::A, Arm::B, Arm::B, Arm::A],
        _ => [Arm::B, Arm::A, Arm::A, Arm::B],
    };
    (0..count).map(|_| next()).collect()
}

/// Orders of `variants` such that each one stands at each place, and directly after each other one, equally often.
///
/// As many orders as variants when their number is even, twice as many when it is odd. Empty for no variant.
pub fn williams_orders(variants: usize) -> Vec<Vec<usize>> {
    // 0, 1, k−1, 2, k−2, …
    let step =
        |place: usize| if place % 2 == 1 { place.div_ceil(2) } else { (variants - place / 2) % variants };
    let first: Vec<usize> = (0..variants).map(step).collect();
    let rotate = |by: usize| first.iter().map(|variant| (variant + by) % variants).collect::<Vec<_>>();
    let mut orders: Vec<Vec<usize>> = (0..variants).map(rotate).collect();
    if variants % 2 == 1 && variants > 1 {
        let mirrored: Vec<Vec<usize>> =
            orders.iter().map(|order| order.iter().rev().copied().collect()).collect();
        orders.extend(mirrored);
    }
    orders
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_variant_follows_every_other_equally_often() {
        for variants in 2..=7 {
            let orders = williams_orders(variants);
            let mut follows = BTreeMap::new();
            for pair in orders.iter().flat_map(|order| order.windows(2)) {
                *follows.entry((pair[0], pair[1])).or_insert(0) += 1;
            }
            assert_eq!(follows.len(), variants * (variants - 1));
            assert!(
                follows.values().all(|count| *count == orders.len() / variants),
                "{variants}: {follows:?}"
            );
        }
        assert!(williams_orders(0).is_empty());
        assert_eq!(williams_orders(1), [[0]]);
    }

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
