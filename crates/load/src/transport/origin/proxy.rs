//! The PROXY protocol header: tells the server who the client is, before a connection's first request.
//!
//! The addresses are those of the connection itself, as if a proxy were its own only client. A Unix socket has none and
//! says so (`UNKNOWN`, `LOCAL`). Source: `doc/proxy-protocol.txt` of HAProxy, sections 2.1 and 2.2.

use std::net::{IpAddr, SocketAddr};
use sysdyno_record::origin::ProxyProtocol;

/// What a binary header begins with.
const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";

/// Version 2, command PROXY; and command LOCAL.
const VERSION_PROXY: u8 = 0x21;
const VERSION_LOCAL: u8 = 0x20;

/// A stream over IPv4, over IPv6, and of no family.
const TCP4: u8 = 0x11;
const TCP6: u8 = 0x21;
const UNSPECIFIED: u8 = 0x00;

/// The two ends of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    /// This host's.
    pub client: SocketAddr,
    /// The server's.
    pub server: SocketAddr,
}

/// The header of a connection; `None`: it has no addresses.
pub(crate) fn header(version: ProxyProtocol, ends: Option<Ends>) -> Vec<u8> {
    match version {
        ProxyProtocol::V1 => text(ends).into_bytes(),
        ProxyProtocol::V2 => binary(ends),
    }
}

fn text(ends: Option<Ends>) -> String {
    let Some(Ends { client, server }) = ends else { return "PROXY UNKNOWN\r\n".into() };
    let family = if client.is_ipv4() { "TCP4" } else { "TCP6" };
    format!("PROXY {family} {} {} {} {}\r\n", client.ip(), server.ip(), client.port(), server.port())
}

fn binary(ends: Option<Ends>) -> Vec<u8> {
    let mut bytes = SIGNATURE.to_vec();
    let Some(Ends { client, server }) = ends else {
        bytes.extend([VERSION_LOCAL, UNSPECIFIED, 0, 0]);
        return bytes;
    };
    let addresses = [octets(client.ip()), octets(server.ip())].concat();
    let length = (addresses.len() + 4) as u16;
    bytes.extend([VERSION_PROXY, if client.is_ipv4() { TCP4 } else { TCP6 }]);
    bytes.extend(length.to_be_bytes());
    bytes.extend(addresses);
    bytes.extend(client.port().to_be_bytes());
    bytes.extend(server.port().to_be_bytes());
    bytes
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(client: &str, server: &str) -> Option<Ends> {
        let address = |text: &str| text.parse().expect("an address");
        Some(Ends { client: address(client), server: address(server) })
    }

    #[test]
    fn headers_are_those_of_the_specification() {
        let v1 = |ends| String::from_utf8(header(ProxyProtocol::V1, ends)).expect("text");
        assert_eq!(
            v1(ends("192.168.0.1:56324", "192.168.0.11:443")),
            "PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\r\n"
        );
        assert_eq!(v1(ends("[::1]:1", "[fe80::2]:80")), "PROXY TCP6 ::1 fe80::2 1 80\r\n");
        assert_eq!(v1(None), "PROXY UNKNOWN\r\n");
        let v2 = header(ProxyProtocol::V2, ends("127.0.0.2:258", "127.0.0.1:80"));
        assert_eq!(v2[..12], SIGNATURE);
        assert_eq!(v2[12..], [0x21, 0x11, 0, 12, 127, 0, 0, 2, 127, 0, 0, 1, 1, 2, 0, 80]);
        assert_eq!(header(ProxyProtocol::V2, ends("[::1]:1", "[::1]:2"))[12..16], [0x21, 0x21, 0, 36]);
        assert_eq!(header(ProxyProtocol::V2, None)[12..], [0x20, 0, 0, 0]);
    }
}
