//! Pairs of an ascending value and its number, written as the steps from one value to the next: histograms have few kinds of
//! steps, so that they are shorter, and shorter still once they are deflated.
//!
//! Sums and differences wrap: whatever was written comes back, and nothing that another host sends is refused here.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One list of pairs.
pub(crate) mod list {
    use super::{Deserialize, Deserializer, Serializer, sums, to_steps};

    pub(crate) fn serialize<S: Serializer>(pairs: &[[u64; 2]], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(to_steps(pairs))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<[u64; 2]>, D::Error> {
        Ok(sums(Vec::deserialize(from)?))
    }
}

/// A list of pairs of each kind.
pub(crate) mod by_kind {
    use super::{Deserialize, Deserializer, Serialize, Serializer, sums, to_steps};
    use std::collections::BTreeMap;

    type Lists<K> = BTreeMap<K, Vec<[u64; 2]>>;

    pub(crate) fn serialize<K: Serialize, S: Serializer>(lists: &Lists<K>, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(lists.iter().map(|(kind, pairs)| (kind, to_steps(pairs))))
    }

    pub(crate) fn deserialize<'de, K, D>(from: D) -> Result<Lists<K>, D::Error>
    where
        K: Deserialize<'de> + Ord,
        D: Deserializer<'de>,
    {
        Ok(Lists::deserialize(from)?.into_iter().map(|(kind, steps)| (kind, sums(steps))).collect())
    }
}

fn to_steps(pairs: &[[u64; 2]]) -> Vec<[u64; 2]> {
    let before = std::iter::once(0).chain(pairs.iter().map(|pair| pair[0]));
    pairs.iter().zip(before).map(|([value, count], before)| [value.wrapping_sub(before), *count]).collect()
}

fn sums(mut steps: Vec<[u64; 2]>) -> Vec<[u64; 2]> {
    let mut value = 0u64;
    for pair in &mut steps {
        value = value.wrapping_add(pair[0]);
        pair[0] = value;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_are_written_as_steps() {
        assert_eq!(to_steps(&[[1_000, 3], [1_016, 1], [2_000, 2]]), [[1_000, 3], [16, 1], [984, 2]]);
        assert_eq!(to_steps(&[]), [[0; 2]; 0]);
    }

    proptest! {
        #[test]
        fn whatever_is_written_comes_back(pairs in proptest::collection::vec(any::<[u64; 2]>(), 0..20)) {
            prop_assert_eq!(sums(to_steps(&pairs)), pairs);
        }
    }
}
