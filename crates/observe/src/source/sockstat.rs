//! `/proc/PID/net/sockstat`: sockets in use in a network namespace.
//!
//! Source: `net/ipv4/proc.c`, `sockstat_seq_show`. `orphan`, `alloc` and `mem` are totals of the host.

use super::{Fields, lines};
use crate::error::ParseError;

/// The line `TCP:`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sockstat {
    /// Sockets that are bound or connected.
    pub tcp_inuse_count: Option<u64>,
    /// Sockets without a process.
    pub tcp_orphan_count: Option<u64>,
    /// Sockets in TIME_WAIT.
    pub tcp_tw_count: Option<u64>,
    /// Sockets that have memory.
    pub tcp_alloc_count: Option<u64>,
    /// Memory of all TCP sockets. Unit: pages.
    pub tcp_mem_pages: Option<u64>,
}

/// Reads the line of TCP; fields that are missing are `None`.
pub fn parse(text: &[u8]) -> Result<Sockstat, ParseError> {
    for (index, line) in lines(text).enumerate() {
        let mut fields = Fields::of(line);
        if fields.next() == Some(b"TCP:") {
            return parse_tcp(fields).ok_or(ParseError::at(index, "names and counts"));
        }
    }
    Err(ParseError::at(0, "a line of TCP"))
}

fn parse_tcp(mut fields: Fields<'_>) -> Option<Sockstat> {
    let mut out = Sockstat::default();
    while let Some(name) = fields.next() {
        let value = fields.decimal()?;
        let place = match name {
            b"inuse" => &mut out.tcp_inuse_count,
            b"orphan" => &mut out.tcp_orphan_count,
            b"tw" => &mut out.tcp_tw_count,
            b"alloc" => &mut out.tcp_alloc_count,
            b"mem" => &mut out.tcp_mem_pages,
            _ => continue,
        };
        *place = Some(value);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tcp_is_read_by_name() {
        let sockstat = parse(b"sockets: used 15\nTCP: inuse 1 orphan 2 new 9 tw 3 mem 161\nUDP: inuse 0\n");
        let expected = Sockstat {
            tcp_inuse_count: Some(1),
            tcp_orphan_count: Some(2),
            tcp_tw_count: Some(3),
            tcp_alloc_count: None,
            tcp_mem_pages: Some(161),
        };
        assert_eq!(sockstat, Ok(expected));
        for wrong in ["", "UDP: inuse 1\n", "TCP: inuse\n", "TCP: inuse x\n"] {
            assert!(parse(wrong.as_bytes()).is_err(), "{wrong:?}");
        }
    }
}
