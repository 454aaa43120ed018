//! `/proc/net/tcp` and `tcp6`: listening sockets, for hosts without `sock_diag`.
//!
//! Source: `net/ipv4/tcp_ipv4.c`, `get_tcp4_sock`; `net/ipv6/tcp_ipv6.c`, `get_tcp6_sock`. Reading it costs time
//! proportional to all sockets of the namespace, so it is read once and not sampled.

use super::{Fields, hexadecimal, lines};
use crate::error::ParseError;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// A listening socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListeningSocket {
    /// Where it listens.
    pub address: SocketAddr,
    /// Its inode number.
    pub inode: u64,
    /// Connections that wait to be accepted.
    pub queue_count: u64,
}

/// The state `TCP_LISTEN` of `include/net/tcp_states.h`.
const LISTEN: &[u8] = b"0A";

/// Reads the listening sockets.
pub fn parse(text: &[u8]) -> Result<Vec<ListeningSocket>, ParseError> {
    let mut out = Vec::new();
    let mut all = lines(text).enumerate();
    all.next()
        .filter(|(_, line)| line.trim_ascii().starts_with(b"sl"))
        .ok_or(ParseError::at(0, "a header"))?;
    for (index, line) in all {
        let mut fields = Fields::of(line);
        if fields.clone().nth(3) == Some(LISTEN) {
            out.push(parse_line(&mut fields).ok_or(ParseError::at(index, "a socket"))?);
        }
    }
    Ok(out)
}

fn parse_line(fields: &mut Fields<'_>) -> Option<ListeningSocket> {
    let address = parse_address(fields.nth(1)?)?;
    let queues = fields.nth(2)?;
    let receive = queues.split(|byte| *byte == b':').nth(1)?;
    let inode = fields.nth(4).and_then(super::decimal)?;
    Some(ListeningSocket { address, inode, queue_count: hexadecimal(receive)? })
}

/// `0100007F:1F90`: 32-bit words of the address as the host's byte order reads them, then the port.
fn parse_address(field: &[u8]) -> Option<SocketAddr> {
    let colon = field.iter().position(|byte| *byte == b':')?;
    let (address, port) = (&field[..colon], u16::try_from(hexadecimal(&field[colon + 1..])?).ok()?);
    let mut bytes = [0; 16];
    let words = address.chunks_exact(8);
    if !matches!(address.len(), 8 | 32) {
        return None;
    }
    for (word, place) in words.zip(bytes.chunks_exact_mut(4)) {
        place.copy_from_slice(&u32::try_from(hexadecimal(word)?).ok()?.to_ne_bytes());
    }
    let ip = match address.len() {
        8 => IpAddr::from([bytes[0], bytes[1], bytes[2], bytes[3]]),
        _ => IpAddr::from(Ipv6Addr::from(bytes)),
    };
    Some(SocketAddr::new(ip, port))
}

#[cfg(test)]
#[cfg(target_endian = "little")]
mod tests {
    use super::*;

    const HEADER: &str =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";

    #[test]
    fn listening_sockets_are_found_among_others() {
        let text = format!(
            "{HEADER}   0: 0100007F:1F90 00000000:0000 0A 00000000:00000003 00:00000000 00000000     0        0 6137 1 0 100 0 0 10 0\n\
             \x20  1: 0100007F:1F91 0100007F:0001 01 00000000:00000000 00:00000000 00000000     0        0 7 1 0 100 0 0 10 0\n\
             \x20  2: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 9 1 0\n"
        );
        let expected = [
            ListeningSocket {
                address: "127.0.0.1:8080".parse().expect("is one"),
                inode: 6137,
                queue_count: 3,
            },
            ListeningSocket { address: "[::1]:80".parse().expect("is one"), inode: 9, queue_count: 0 },
        ];
        assert_eq!(parse(text.as_bytes()).expect("parses"), expected);
    }

    #[test]
    fn garbage_is_refused() {
        assert!(parse(b"").is_err());
        for wrong in [
            "0: 0100007F 0 0A 0:0 0 0 0 0 1\n",
            "0: 01:1 0 0A 0:0 0 0 0 0 1\n",
            "0: 0100007F:1 0 0A 00 0 0 0 0 1\n",
        ] {
            assert!(parse(format!("{HEADER}{wrong}").as_bytes()).is_err(), "{wrong}");
        }
    }
}
