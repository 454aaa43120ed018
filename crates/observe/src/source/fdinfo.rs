//! `/proc/PID/fdinfo/FD`: only the flags with which the file was opened, and what an epoll instance watches.
//!
//! Source: `fs/proc/fd.c`, `seq_show`: `flags:` in octal; `fs/eventpoll.c`, `ep_show_fdinfo`: `tfd:` with a descriptor.

use super::{Fields, decimal, lines};
use crate::error::ParseError;

/// How a file is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenFlags {
    /// Whether it may be written through this descriptor.
    pub is_writable: bool,
    /// Whether all that is written goes to its end.
    pub is_append: bool,
}

/// `O_ACCMODE`, the same on all architectures.
const ACCESS_MODE: u64 = 0o3;

/// `O_APPEND`. Source: `include/uapi/asm-generic/fcntl.h`; x86 and 64-bit ARM have no other.
const APPEND: u64 = 0o2000;

/// Reads the flags out of the text.
pub fn parse(text: &[u8]) -> Result<OpenFlags, ParseError> {
    for (index, line) in lines(text).enumerate() {
        let mut fields = Fields::of(line);
        if fields.next() == Some(b"flags:") {
            let flags = fields.next().and_then(octal).ok_or(ParseError::at(index, "flags in octal"))?;
            return Ok(OpenFlags {
                is_writable: matches!(flags & ACCESS_MODE, 1 | 2),
                is_append: flags & APPEND != 0,
            });
        }
    }
    Err(ParseError::at(0, "flags of a descriptor"))
}

/// The descriptors that an epoll instance watches; none for other files.
pub fn watched(text: &[u8]) -> impl Iterator<Item = u64> + '_ {
    lines(text).filter_map(|line| {
        let mut fields = Fields::of(line);
        (fields.next() == Some(b"tfd:")).then(|| fields.next().and_then(decimal)).flatten()
    })
}

fn octal(digits: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(digits).ok()?;
    u64::from_str_radix(digits, 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoll_instance_lists_its_descriptors() {
        let text = b"pos:\t0\nflags:\t02\nmnt_id:\t15\nino:\t94\n\
            tfd:        7 events:       19 data:                7  pos:0 ino:5f sdev:8\n\
            tfd:       12 events: 2000201d data: 7f0200000000000c  pos:0 ino:60 sdev:8\ntfd: x\n";
        assert_eq!(watched(text).collect::<Vec<_>>(), [7, 12]);
        assert_eq!(watched(b"pos:\t0\nflags:\t02\n").count(), 0);
    }

    #[test]
    fn the_flags_say_whether_and_where_it_is_written() {
        let check = |flags: &str, is_writable: bool, is_append: bool| {
            let text = format!("pos:\t0\nflags:\t{flags}\nmnt_id:\t29\n");
            assert_eq!(parse(text.as_bytes()), Ok(OpenFlags { is_writable, is_append }), "{flags}");
        };
        check("0102001", true, true);
        check("0100002", true, false);
        check("02100000", false, false);
        for wrong in ["", "pos:\t0\n", "flags:\n", "flags:\t9\n", "flags:\t-1\n"] {
            assert!(parse(wrong.as_bytes()).is_err(), "{wrong:?}");
        }
    }
}
