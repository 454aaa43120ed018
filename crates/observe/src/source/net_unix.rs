//! `/proc/net/unix`: listening Unix sockets by path, for hosts without `unix_diag`.
//!
//! Source: `net/unix/af_unix.c`, `unix_seq_show`; `__SO_ACCEPTCON` in `include/linux/net.h`.

use super::{Fields, hexadecimal, lines};
use crate::error::ParseError;

/// The flag of a listening socket.
const ACCEPTING: u64 = 1 << 16;

/// Inodes of the sockets that listen at `path`.
pub fn parse_listening(text: &[u8], path: &[u8]) -> Result<Vec<u64>, ParseError> {
    let mut out = Vec::new();
    for (index, line) in lines(text).enumerate().skip(1) {
        let mut fields = Fields::of(line);
        let error = ParseError::at(index, "a socket");
        let flags = fields.nth(3).and_then(hexadecimal).ok_or(error)?;
        let inode = fields.nth(2).and_then(super::decimal).ok_or(error)?;
        if flags & ACCEPTING != 0 && fields.rest() == path {
            out.push(inode);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listening_sockets_of_the_path_count() {
        let text = b"Num       RefCount Protocol Flags    Type St Inode Path\n\
            0000000065a3b42c: 00000003 00000000 00000000 0001 03   543\n\
            0000000065a3b42d: 00000002 00000000 00010000 0001 01   544 /run/php fpm.sock\n\
            0000000065a3b42e: 00000003 00000000 00000000 0001 03   545 /run/php fpm.sock\n";
        assert_eq!(parse_listening(text, b"/run/php fpm.sock"), Ok(vec![544]));
        assert_eq!(parse_listening(text, b"/run/php"), Ok(vec![]));
        assert!(parse_listening(b"Num\n1: 2 3\n", b"/x").is_err());
    }
}
