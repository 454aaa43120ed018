//! Numbers as ranges, as the kernel lists CPUs: `0-3`, `5`.

use std::collections::BTreeSet;

/// The numbers in order, each range as one text.
pub fn ranges(numbers: impl IntoIterator<Item = u32>) -> Vec<String> {
    let ordered: Vec<u32> = numbers.into_iter().collect::<BTreeSet<u32>>().into_iter().collect();
    let ranges = ordered.chunk_by(|one, next| next - one == 1);
    let text = |range: &[u32]| match range {
        [first, .., last] => format!("{first}-{last}"),
        _ => range.iter().map(u32::to_string).collect(),
    };
    ranges.map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbors_are_one_range() {
        assert_eq!(ranges([5, 0, 1, 2, 33, 0]), ["0-2", "5", "33"]);
        assert_eq!(ranges([u32::MAX, u32::MAX - 1]), ["4294967294-4294967295"]);
        assert_eq!(ranges([]), [""; 0]);
    }
}
