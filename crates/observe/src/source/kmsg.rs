//! One record of `/dev/kmsg`: `PREFIX,SEQUENCE,MICROSECONDS,FLAGS[,…];TEXT`, then lines of a dictionary.
//!
//! Source: `Documentation/ABI/testing/dev-kmsg`. The prefix is facility × 8 + level; programs can write records, too, but
//! not with the facility of the kernel.

use super::decimal;
use crate::error::ParseError;

/// A record of the kernel's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelRecord<'a> {
    /// Who wrote it; 0: the kernel.
    pub facility: u64,
    /// What it says. Untrusted text, with `\xNN` for what cannot be printed.
    pub text: &'a [u8],
}

/// Facility of what the kernel itself writes.
pub const FROM_KERNEL: u64 = 0;

/// Reads a record.
pub fn parse(record: &[u8]) -> Result<KernelRecord<'_>, ParseError> {
    let expected = |item| ParseError::at(0, item);
    let separator = record.iter().position(|byte| *byte == b';').ok_or(expected("';'"))?;
    let prefix = record[..separator].split(|byte| *byte == b',').next().and_then(decimal);
    let prefix = prefix.ok_or(expected("facility and level"))?;
    let text = record[separator + 1..].split(|byte| *byte == b'\n').next().unwrap_or_default();
    Ok(KernelRecord { facility: prefix >> 3, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_a_facility_and_its_first_line_is_the_text() {
        let record = b"4,1234,5678,-;TCP: out of memory\n SUBSYSTEM=net\n";
        assert_eq!(parse(record), Ok(KernelRecord { facility: FROM_KERNEL, text: b"TCP: out of memory" }));
        let record = b"12,1,2,-,caller=T1;hello; world\n";
        assert_eq!(parse(record), Ok(KernelRecord { facility: 1, text: b"hello; world" }));
        for wrong in [&b""[..], b"6,1,2,-", b";x", b"x,1;y", b",;z"] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
