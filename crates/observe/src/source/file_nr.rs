//! `/proc/sys/fs/file-nr`: open files of the host and their limit.
//!
//! Source: `fs/file_table.c`, `proc_nr_files`.

use super::Fields;
use crate::error::ParseError;

/// Open files of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileNr {
    /// Allocated file structures.
    pub allocated_count: u64,
    /// Most that there may be, `fs.file-max`; processes with `CAP_SYS_ADMIN` may exceed it.
    pub limit_count: u64,
}

/// Reads the text.
pub fn parse(text: &[u8]) -> Result<FileNr, ParseError> {
    let read = || {
        let mut fields = Fields::of(text.trim_ascii());
        let (allocated_count, _free) = (fields.decimal()?, fields.decimal()?);
        Some(FileNr { allocated_count, limit_count: fields.decimal()? })
    };
    read().ok_or(ParseError::at(0, "three counts"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_counts_are_needed() {
        assert_eq!(parse(b"521\t0\t2466177\n"), Ok(FileNr { allocated_count: 521, limit_count: 2_466_177 }));
        for wrong in ["", "1 2\n", "1 2 x\n"] {
            assert!(parse(wrong.as_bytes()).is_err(), "{wrong:?}");
        }
    }
}
