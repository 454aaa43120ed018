//! Lists of CPUs such as `0-3,8`, as `/sys/devices/system/cpu/online` and `effective_affinity_list` hold them.
//!
//! Source: `lib/vsprintf.c`, `bitmap_list_string`; cpuset(7), "List format".

use super::decimal;
use crate::error::ParseError;

/// No kernel has more CPUs. Source: `NR_CPUS` of `arch/x86/Kconfig` is at most 8192.
const MAX_CPUS: usize = 65_536;

/// Reads the list, which may be empty.
pub fn parse(text: &[u8]) -> Result<Vec<u32>, ParseError> {
    let error = ParseError::at(0, "a list of cpus");
    let number = |digits: &[u8]| decimal(digits).and_then(|number| u32::try_from(number).ok()).ok_or(error);
    let mut out = Vec::new();
    for part in text.trim_ascii().split(|byte| *byte == b',').filter(|part| !part.is_empty()) {
        let mut bounds = part.splitn(2, |byte| *byte == b'-');
        let first = number(bounds.next().unwrap_or_default())?;
        let last = bounds.next().map_or(Ok(first), number)?;
        let count = last.checked_sub(first).ok_or(error)? as usize + 1;
        if out.len() + count > MAX_CPUS {
            return Err(error);
        }
        out.extend(first..=last);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_numbers_are_read() {
        assert_eq!(parse(b"0-3,8\n"), Ok(vec![0, 1, 2, 3, 8]));
        assert_eq!(parse(b"\n"), Ok(vec![]));
        for wrong in ["3-1", "x", "1-", "0-4294967295", "1-2-3"] {
            assert!(parse(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
