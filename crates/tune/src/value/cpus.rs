//! Sets of CPUs: as typed, as the kernel's lists, and as its masks.

use std::collections::BTreeSet;
use sysdyno_record::ranges::ranges;

/// Highest CPU number that is understood.
const MAX_CPU: u32 = 8191;

/// The CPUs of a list such as `0-2,5`; `None` if it is none.
pub(super) fn parse(text: &str) -> Option<BTreeSet<u32>> {
    let mut cpus = BTreeSet::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || last > MAX_CPU {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

/// As the kernel lists them.
pub(super) fn list(cpus: &BTreeSet<u32>) -> String {
    ranges(cpus.iter().copied()).join(",")
}

/// As a mask with as many digits and commas as `like`; `None` if it has too few.
pub(super) fn mask(cpus: &BTreeSet<u32>, like: &str) -> Option<String> {
    let like = like.trim();
    let digits_count = like.bytes().filter(u8::is_ascii_hexdigit).count();
    let mut digits = vec![0u8; digits_count];
    for cpu in cpus {
        let from_right = usize::try_from(cpu / 4).ok()?;
        let at = digits_count.checked_sub(from_right + 1)?;
        digits[at] |= 1 << (cpu % 4);
    }
    let mut digits =
        digits.into_iter().map(|digit| char::from_digit(u32::from(digit), 16).expect("is below 16"));
    Some(
        like.chars()
            .map(|letter| if letter == ',' { ',' } else { digits.next().expect("counted above") })
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_masks_are_those_of_the_kernel() {
        let cpus = parse("0-2,5,33").expect("is a list");
        assert_eq!(list(&cpus), "0-2,5,33");
        assert_eq!(mask(&cpus, "00000000,00000000").as_deref(), Some("00000002,00000027"));
        assert_eq!(mask(&parse("1").expect("is a list"), "3\n").as_deref(), Some("2"));
        assert_eq!(mask(&cpus, "3"), None);
        for wrong in ["", "2-1", "a", "0,", "9000"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
