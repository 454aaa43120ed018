//! Lengths of keys and values, from a uniform number.
//!
//! ETC is the most general of the pools that Facebook published: B. Atikoglu, Y. Xu, E. Frachtenberg, S. Jiang, M.
//! Paleczny, "Workload analysis of a large-scale key-value store", SIGMETRICS 2012, section 5. Keys follow a generalized
//! extreme value distribution (location 30.7984, scale 8.20449, shape 0.078688). The lengths 0 to 14 of values have the
//! probabilities of a table; longer ones follow a generalized Pareto distribution (location 15, scale 214.476, shape
//! 0.348238). Both are drawn by inversion: x = μ + σ ((−ln u)^−k − 1) / k, and x = θ + σ (u^−k − 1) / k.

use super::{MAX_KEY_BYTES, MAX_VALUE_BYTES};
use sysdyno_record::wire::{MemcachedPlan, SizeModel};

/// What the words of a command take beside a key, and the numbers behind it, at most. Unit: bytes.
const WORDS_BYTES: usize = 40;

/// Probabilities of values of 0, 1, … 14 bytes in ETC.
const ETC_SHORT_VALUES: [f64; 15] = [
    0.00536, 0.00047, 0.17820, 0.09239, 0.00018, 0.02740, 0.00065, 0.00606, 0.00023, 0.00837, 0.00837,
    0.08989, 0.00092, 0.00326, 0.01980,
];

/// Length of a key, from a uniform number above 0 and below 1. Unit: bytes.
pub(super) fn key_bytes(model: SizeModel, uniform: f64) -> usize {
    let bytes = match model {
        SizeModel::Etc => 30.7984 + 8.20449 * ((-uniform.ln()).powf(-0.078688) - 1.0) / 0.078688,
        other => plain_bytes(other, uniform),
    };
    (bytes as usize).min(MAX_KEY_BYTES)
}

/// Length of a value, from a uniform number above 0 and below 1. Unit: bytes.
pub(super) fn value_bytes(model: SizeModel, uniform: f64) -> usize {
    let bytes = match model {
        SizeModel::Etc => etc_value_bytes(uniform),
        other => plain_bytes(other, uniform),
    };
    (bytes as usize).min(MAX_VALUE_BYTES)
}

/// The longest value that a model has. Unit: bytes.
pub(super) fn max_value_bytes(model: SizeModel) -> usize {
    let bytes = match model {
        SizeModel::Fixed(bytes) => bytes as usize,
        SizeModel::Range(range) => range.max_bytes as usize,
        SizeModel::Etc => MAX_VALUE_BYTES,
    };
    bytes.min(MAX_VALUE_BYTES)
}

/// The longest request of a plan, at most. Unit: bytes.
pub(crate) fn max_request_bytes(plan: &MemcachedPlan) -> usize {
    let key = MAX_KEY_BYTES + WORDS_BYTES;
    let get = (plan.keys_per_get as usize).saturating_mul(key);
    let set = key + WORDS_BYTES + max_value_bytes(plan.value_size);
    if plan.get_ratio < 1.0 { get.max(set) } else { get }
}

fn plain_bytes(model: SizeModel, uniform: f64) -> f64 {
    match model {
        SizeModel::Fixed(bytes) => f64::from(bytes),
        SizeModel::Range(range) => {
            f64::from(range.min_bytes) + uniform * (f64::from(range.max_bytes - range.min_bytes) + 1.0)
        }
        SizeModel::Etc => 0.0,
    }
}

fn etc_value_bytes(uniform: f64) -> f64 {
    let mut left = uniform;
    for (bytes, probability) in (0u8..).zip(ETC_SHORT_VALUES) {
        if left < probability {
            return f64::from(bytes);
        }
        left -= probability;
    }
    let rest = 1.0 - ETC_SHORT_VALUES.iter().sum::<f64>();
    let beyond = (1.0 - left / rest).max(f64::MIN_POSITIVE);
    15.0 + 214.476 * (beyond.powf(-0.348238) - 1.0) / 0.348238
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::wire::SizeRange;

    /// Evenly spread numbers stand for uniform ones.
    fn quantile(model: SizeModel, of: fn(SizeModel, f64) -> usize, ratio: f64) -> usize {
        let mut sizes: Vec<usize> =
            (0..100_000).map(|i| of(model, (f64::from(i) + 0.5) / 100_000.0)).collect();
        sizes.sort_unstable();
        sizes[(ratio * 100_000.0) as usize]
    }

    #[test]
    fn etc_has_the_quantiles_of_its_formulas() {
        // Median of the extreme value distribution: μ + σ ((ln 2)^−k − 1) / k = 33.8.
        assert_eq!(quantile(SizeModel::Etc, key_bytes, 0.5), 33);
        // 44.2% of the values have less than 15 bytes; the median of the rest is 15 + σ (2^k − 1) / k = 183.1.
        let short: f64 = ETC_SHORT_VALUES.iter().sum();
        assert_eq!(quantile(SizeModel::Etc, value_bytes, short - 0.001), 14);
        assert_eq!(quantile(SizeModel::Etc, value_bytes, short + (1.0 - short) / 2.0), 183);
        assert!(quantile(SizeModel::Etc, value_bytes, 0.99999) <= MAX_VALUE_BYTES);
    }

    #[test]
    fn a_range_has_both_of_its_ends() {
        let model = SizeModel::Range(SizeRange { min_bytes: 3, max_bytes: 5 });
        let sizes = [0.0001, 0.5, 0.9999].map(|uniform| value_bytes(model, uniform));
        assert_eq!(sizes, [3, 4, 5]);
        assert_eq!(value_bytes(SizeModel::Fixed(u32::MAX), 0.5), MAX_VALUE_BYTES);
    }
}
