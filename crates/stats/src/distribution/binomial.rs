//! The binomial distribution, exact: probabilities summed outward from the most probable number, each from its
//! neighbor.
//!
//! No factorial is needed and nothing overflows. Cost: proportional to the square root of the number of trials.

/// The least number of successes that `count` trials do not exceed with at least this probability.
///
/// Cost: proportional to the square root of `count`; the weights are summed outward from the most probable number,
/// each from its neighbor, so that no factorial is needed and nothing overflows.
///
/// Panics: `probability` or `success_ratio` is not strictly between 0 and 1.
pub fn binomial_quantile(probability: f64, count: u64, success_ratio: f64) -> u64 {
    assert!(probability > 0.0 && probability < 1.0, "a probability is strictly between 0 and 1");
    let weights = BinomialWeights::new(count, success_ratio);
    let mut sum = 0.0;
    for (offset, weight) in weights.weights.iter().enumerate() {
        sum += weight;
        if sum / weights.total >= probability {
            return weights.first + offset as u64;
        }
    }
    weights.first + (weights.weights.len() as u64).saturating_sub(1)
}

/// The probability of at most `successes` in `count` trials.
///
/// Cost: as [`binomial_quantile`].
///
/// Panics: `success_ratio` is not strictly between 0 and 1.
#[cfg(test)]
pub(crate) fn binomial_cdf(successes: u64, count: u64, success_ratio: f64) -> f64 {
    let weights = BinomialWeights::new(count, success_ratio);
    if successes < weights.first {
        return 0.0;
    }
    let taken = (successes - weights.first + 1).min(weights.weights.len() as u64) as usize;
    weights.weights[..taken].iter().sum::<f64>() / weights.total
}

/// Binomial probabilities, up to a common factor, of the consecutive numbers that matter.
struct BinomialWeights {
    first: u64,
    weights: Vec<f64>,
    total: f64,
}

impl BinomialWeights {
    /// Weights below this share of the greatest are left out: together they are less than 1e-18 of the sum.
    const NEGLIGIBLE: f64 = 1e-22;

    fn new(count: u64, success_ratio: f64) -> BinomialWeights {
        assert!(success_ratio > 0.0 && success_ratio < 1.0, "a success ratio is strictly between 0 and 1");
        let odds = success_ratio / (1.0 - success_ratio);
        let mode = (((count + 1) as f64 * success_ratio).floor() as u64).min(count);
        let mut below = Vec::new();
        let (mut number, mut weight) = (mode, 1.0);
        while number > 0 && weight > Self::NEGLIGIBLE {
            weight *= number as f64 / ((count - number + 1) as f64 * odds);
            number -= 1;
            below.push(weight);
        }
        let first = number;
        let mut weights: Vec<f64> = below.into_iter().rev().collect();
        weights.push(1.0);
        (number, weight) = (mode, 1.0);
        while number < count && weight > Self::NEGLIGIBLE {
            weight *= (count - number) as f64 * odds / (number + 1) as f64;
            number += 1;
            weights.push(weight);
        }
        let total = weights.iter().sum();
        BinomialWeights { first, weights, total }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binomial_quantile_is_the_least_number_that_reaches_the_probability() {
        for (count, ratio) in [(1, 0.5), (10, 0.1), (1000, 0.99), (1_000_000, 0.999)] {
            for probability in [0.025, 0.5, 0.975] {
                let number = binomial_quantile(probability, count, ratio);
                assert!(binomial_cdf(number, count, ratio) >= probability);
                assert!(number == 0 || binomial_cdf(number - 1, count, ratio) < probability);
            }
        }
    }

    #[test]
    fn the_binomial_distribution_is_that_of_two_coins() {
        assert_eq!([0, 1, 2].map(|heads| binomial_cdf(heads, 2, 0.5)), [0.25, 0.75, 1.0]);
    }
}
