//! Draws the next kind of request by weight, independently each time.

use super::RequestKind;
use crate::error::LoadError;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Kinds with their shares.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mix {
    /// Upper end of each kind's part of [0, 1), without the last; empty for one kind.
    ends: Vec<f64>,
}

impl Mix {
    /// One kind, which needs no drawing.
    pub(crate) fn of_one() -> Mix {
        Mix { ends: Vec::new() }
    }

    /// Kinds 0, 1, … with these weights.
    ///
    /// # Errors
    /// A weight that is no number of 0 or more, or a sum of 0.
    pub(crate) fn new(weights: impl IntoIterator<Item = f64>) -> Result<Mix, LoadError> {
        let mut sum = 0.0;
        let mut ends = Vec::new();
        for weight in weights {
            if !(weight.is_finite() && weight >= 0.0) {
                return Err(LoadError::plan(format!("the weight {weight} must be 0 or more")));
            }
            sum += weight;
            ends.push(sum);
        }
        if sum <= 0.0 || !sum.is_finite() {
            return Err(LoadError::plan("no operation has a weight above 0"));
        }
        // What lies at or behind the last kind with a weight is never drawn, and rounding cannot lead beyond it.
        let last = ends.iter().position(|end| *end >= sum).unwrap_or(0);
        ends.truncate(last);
        ends.iter_mut().for_each(|end| *end /= sum);
        Ok(Mix { ends })
    }

    /// Draws a kind.
    #[inline]
    pub(crate) fn draw(&self, random: &mut Xoshiro256PlusPlus) -> RequestKind {
        if self.ends.is_empty() {
            return 0;
        }
        let uniform: f64 = random.random();
        self.ends.partition_point(|end| *end <= uniform) as RequestKind
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn kinds_are_drawn_by_their_weights() {
        let mix = Mix::new([0.0, 30.0, 0.0, 70.0, 0.0]).expect("is a mix");
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut counts = [0u32; 5];
        (0..100_000).for_each(|_| counts[mix.draw(&mut random) as usize] += 1);
        assert_eq!((counts[0], counts[2], counts[4]), (0, 0, 0));
        // 30,000 expected, standard deviation 145.
        assert!((29_300..30_700).contains(&counts[1]), "{counts:?}");
        for wrong in [vec![], vec![0.0], vec![-1.0, 2.0], vec![f64::NAN], vec![f64::INFINITY]] {
            assert!(Mix::new(wrong.clone()).is_err(), "{wrong:?}");
        }
    }
}
