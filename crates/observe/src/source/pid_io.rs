//! `/proc/PID/io`: bytes read and written by a process and by the children that it waited for.
//!
//! The file stays readable after the process has ended, until its parent reaps it. Source: `fs/proc/base.c`,
//! `do_io_accounting`; `kernel/exit.c`, `wait_task_zombie` (what a reaped child adds to its parent).

use super::named::Picker;
use crate::error::ParseError;
use sysdyno_record::work::IoUsage;

const NAMES: &[&str] = &["read_bytes", "write_bytes", "rchar", "wchar", "syscr", "syscw"];

/// Reads the text.
pub fn parse(text: &[u8]) -> Result<IoUsage, ParseError> {
    let mut picker = Picker::new(NAMES);
    picker.parse(text)?;
    let value = |position: usize| picker.values()[position].ok_or(ParseError::at(0, NAMES[position]));
    Ok(IoUsage {
        read_bytes: value(0)?,
        written_bytes: value(1)?,
        read_call_bytes: value(2)?,
        write_call_bytes: value(3)?,
        read_calls_count: value(4)?,
        write_calls_count: value(5)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "rchar: 3980\nwchar: 11\nsyscr: 9\nsyscw: 2\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 0\n";

    #[test]
    fn six_counts_are_needed() {
        let io = parse(TEXT.as_bytes()).expect("reads");
        assert_eq!((io.read_bytes, io.written_bytes, io.read_call_bytes), (4096, 8192, 3980));
        assert_eq!((io.write_call_bytes, io.read_calls_count, io.write_calls_count), (11, 9, 2));
        for missing in NAMES {
            let text = TEXT.replace(&format!("{missing}:"), "other:");
            assert!(parse(text.as_bytes()).is_err(), "{missing}");
        }
        assert!(parse(b"").is_err());
    }
}
