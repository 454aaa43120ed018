//! The CPUs of this host.

use crate::ProfileError;

/// Those that are online. Source: `/sys/devices/system/cpu/online`, ranges as `0-3,8`.
pub(crate) fn online() -> Result<Vec<u32>, ProfileError> {
    let path = "/sys/devices/system/cpu/online";
    let text =
        std::fs::read_to_string(path).map_err(|source| ProfileError::Io { path: path.to_owned(), source })?;
    Ok(parse(text.trim()))
}

fn parse(text: &str) -> Vec<u32> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse().ok()?..=last.parse::<u32>().ok()?.min(65_535))
    };
    text.split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_read_from_ranges() {
        assert_eq!(parse("0-2,5,7-8"), [0, 1, 2, 5, 7, 8]);
        assert_eq!(parse("0"), [0]);
        assert!(parse("x").is_empty());
    }
}
