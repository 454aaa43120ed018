//! Messages about TCP and UDP sockets. Source: `include/uapi/linux/inet_diag.h`.

use super::SocketState;
use std::net::{IpAddr, SocketAddr};
use sysdyno_netlink::{find, word};

/// `struct inet_diag_req_v2`. Unit: bytes.
const REQUEST_BYTES: usize = 56;
/// `struct inet_diag_req`. Unit: bytes.
const OLD_REQUEST_BYTES: usize = 60;
/// `struct inet_diag_msg`. Unit: bytes.
const ANSWER_BYTES: usize = 72;

const IPPROTO_TCP: u8 = 6;
const IPPROTO_UDP: u8 = 17;
const INET_DIAG_INFO: u16 = 2;
const INET_DIAG_SKV6ONLY: u16 = 11;

/// `idiag_timer` of a socket whose retransmission timer runs. Source: `net/ipv4/inet_diag.c`, `inet_sk_diag_fill`.
const RETRANSMITTING: u8 = 1;

/// Of `struct tcp_info`: `tcpi_busy_time` and `tcpi_sndbuf_limited`. Unit: bytes from its beginning.
/// Source: `include/uapi/linux/tcp.h`.
const BUSY_TIME: usize = 168;
const HELD_BACK_TIME: usize = 184;

/// The address family of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    V4,
    V6,
}

impl Family {
    /// The family of an address.
    pub(crate) fn of(address: &SocketAddr) -> Family {
        if address.is_ipv4() { Family::V4 } else { Family::V6 }
    }

    /// `AF_INET`, `AF_INET6`.
    fn number(self) -> u8 {
        match self {
            Family::V4 => 2,
            Family::V6 => 10,
        }
    }
}

/// Which TCP sockets are asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InetQuestion {
    pub(crate) family: Family,
    pub(crate) state: SocketState,
    /// Only sockets with this local port; 0 for all.
    pub(crate) port: u16,
    /// Whether times are asked for, too: the kernel then locks each socket for a moment.
    pub(crate) with_times: bool,
}

impl InetQuestion {
    /// The body of the message.
    pub(crate) fn encode(&self) -> [u8; REQUEST_BYTES] {
        let mut body = [0; REQUEST_BYTES];
        body[0] = self.family.number();
        body[1] = IPPROTO_TCP;
        body[2] = u8::from(self.with_times) << (INET_DIAG_INFO - 1);
        body[4..8].copy_from_slice(&(1u32 << self.state as u32).to_ne_bytes());
        body[8..10].copy_from_slice(&self.port.to_be_bytes());
        // INET_DIAG_NOCOOKIE: any socket will do.
        body[48..56].fill(0xff);
        body
    }
}

/// All UDP sockets of a family that are connected: what they send goes to one address, as questions to a name server do.
///
/// The kernel walks its whole table, which takes 50 µs where a system has few of them. *Source*: `net/ipv4/udp_diag.c`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UdpQuestion(pub(crate) Family);

impl UdpQuestion {
    /// The body of the message.
    pub(crate) fn encode(self) -> [u8; REQUEST_BYTES] {
        let UdpQuestion(family) = self;
        let question = InetQuestion { family, state: SocketState::Established, port: 0, with_times: false };
        let mut body = question.encode();
        body[1] = IPPROTO_UDP;
        body
    }
}

/// All TCP sockets of both families in these states.
///
/// The kernel walks its whole table for each question, which takes milliseconds on a host with much memory, however few sockets
/// there are. This one, of the older interface, is the only one that both families answer.
/// *Source*: `net/ipv4/inet_diag.c`, `inet_diag_dump_compat`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BothFamilies<'a>(pub(crate) &'a [SocketState]);

impl BothFamilies<'_> {
    /// The type of the message: `TCPDIAG_GETSOCK`.
    pub(crate) const KIND: u16 = 18;

    /// The body of the message: `struct inet_diag_req`.
    pub(crate) fn encode(&self) -> [u8; OLD_REQUEST_BYTES] {
        let mut body = [0; OLD_REQUEST_BYTES];
        let states = self.0.iter().fold(0u32, |states, state| states | 1 << *state as u32);
        body[52..56].copy_from_slice(&states.to_ne_bytes());
        body
    }
}

/// One TCP socket that listens at exactly this address.
///
/// The kernel finds it by its hash, where [`InetQuestion`] walks all listening sockets. Of several at one address
/// (`SO_REUSEPORT`) it takes any, and a wildcard's where the address has none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListenerQuestion {
    pub(crate) local: SocketAddr,
}

impl ListenerQuestion {
    /// The body of the message. *Source*: `net/ipv4/inet_diag.c`, `inet_diag_find_one_icsk`.
    pub(crate) fn encode(&self) -> [u8; REQUEST_BYTES] {
        let question = InetQuestion {
            family: Family::of(&self.local),
            state: SocketState::Listen,
            port: self.local.port(),
            with_times: false,
        };
        let mut body = question.encode();
        match self.local.ip() {
            IpAddr::V4(address) => body[12..16].copy_from_slice(&address.octets()),
            IpAddr::V6(address) => body[12..28].copy_from_slice(&address.octets()),
        }
        body
    }
}

/// A TCP or UDP socket of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InetSocket {
    pub(crate) is_listening: bool,
    /// Whether it is being connected, and nobody has answered yet.
    pub(crate) is_connecting: bool,
    /// Whether this end has closed it, and the other one has not taken all of what was sent.
    pub(crate) is_closing: bool,
    pub(crate) local: SocketAddr,
    /// The other end; of a listening socket, all zeros.
    pub(crate) remote: SocketAddr,
    /// Listening: connections that wait to be accepted; else bytes that wait to be read.
    pub(crate) receive_queue: u32,
    /// Listening: the limit of the queue; else bytes that wait to be acknowledged.
    pub(crate) send_queue: u32,
    /// How often the first segment that waits to be acknowledged was sent again since the last progress.
    pub(crate) retransmits_count: u8,
    /// 0: it has not been accepted yet.
    pub(crate) inode: u32,
    /// Whether an IPv6 socket takes no IPv4 connections; `None`: not told.
    pub(crate) is_v6_only: Option<bool>,
    /// How long it has been sending, and for how much of that its send buffer was full; `None`: not told. Unit: microseconds.
    pub(crate) sending_us: Option<[u64; 2]>,
}

impl InetSocket {
    /// Reads the payload of a message; `None` if it is not such a socket.
    pub(crate) fn decode(payload: &[u8]) -> Option<InetSocket> {
        let family = *payload.first()?;
        let (local, remote) = (end(family, payload, 4, 8)?, end(family, payload, 6, 24)?);
        let attributes = payload.get(ANSWER_BYTES..)?;
        let [timer, retransmits_count] = [*payload.get(2)?, *payload.get(3)?];
        let only = find(attributes, INET_DIAG_SKV6ONLY);
        let info = find(attributes, INET_DIAG_INFO);
        let time = |at: usize| Some(u64::from_ne_bytes(info?.get(at..at + 8)?.try_into().ok()?));
        Some(InetSocket {
            is_listening: *payload.get(1)? == SocketState::Listen as u8,
            is_connecting: *payload.get(1)? == SocketState::SynSent as u8,
            is_closing: *payload.get(1)? == SocketState::FinWait1 as u8,
            local,
            remote,
            receive_queue: word(payload, 56)?,
            send_queue: word(payload, 60)?,
            retransmits_count: if timer == RETRANSMITTING { retransmits_count } else { 0 },
            inode: word(payload, 68)?,
            is_v6_only: only.and_then(|value| value.first().map(|flag| *flag != 0)),
            sending_us: time(BUSY_TIME).zip(time(HELD_BACK_TIME)).map(|(busy, held)| [busy, held]),
        })
    }
}

/// One end of a connection, whose port and address are at these offsets.
fn end(family: u8, payload: &[u8], port: usize, address: usize) -> Option<SocketAddr> {
    let ip = match family {
        2 => IpAddr::from(<[u8; 4]>::try_from(payload.get(address..address + 4)?).ok()?),
        10 => IpAddr::from(<[u8; 16]>::try_from(payload.get(address..address + 16)?).ok()?),
        _ => return None,
    };
    let port = u16::from_be_bytes(<[u8; 2]>::try_from(payload.get(port..port + 2)?).ok()?);
    Some(SocketAddr::new(ip, port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sysdyno_netlink::put;

    #[test]
    fn a_question_is_laid_out_as_the_header_file_says() {
        let question =
            InetQuestion { family: Family::V6, state: SocketState::Listen, port: 0x1f90, with_times: false };
        let bytes = question.encode();
        assert_eq!(bytes.len(), 56);
        assert_eq!(&bytes[0..2], &[10, 6]);
        assert_eq!(bytes[4..8], 0x400u32.to_ne_bytes());
        assert_eq!(&bytes[8..12], &[0x1f, 0x90, 0, 0]);
        assert_eq!(&bytes[48..56], &[0xff; 8]);
        let all = BothFamilies(&[SocketState::Listen, SocketState::Established]).encode();
        assert_eq!((all.len(), &all[..52], &all[56..]), (60, &[0; 52][..], &[0; 4][..]));
        assert_eq!(all[52..56], 0x402u32.to_ne_bytes());
        let one = ListenerQuestion { local: "10.1.2.3:8080".parse().expect("is one") }.encode();
        assert_eq!(one[8..20], [0x1f, 0x90, 0, 0, 10, 1, 2, 3, 0, 0, 0, 0]);
    }

    #[test]
    fn a_listening_socket_is_read_with_its_attributes() {
        let mut payload = vec![0; ANSWER_BYTES];
        payload[..2].copy_from_slice(&[10, 10]);
        payload[4..6].copy_from_slice(&80u16.to_be_bytes());
        payload[23] = 1;
        payload[56..60].copy_from_slice(&512u32.to_ne_bytes());
        payload[60..64].copy_from_slice(&511u32.to_ne_bytes());
        payload[68..72].copy_from_slice(&99u32.to_ne_bytes());
        put(&mut payload, 8, &[0]);
        put(&mut payload, INET_DIAG_SKV6ONLY, &[1]);
        let mut info = [0; 232];
        info[168..176].copy_from_slice(&9000u64.to_ne_bytes());
        info[184..192].copy_from_slice(&7000u64.to_ne_bytes());
        put(&mut payload, INET_DIAG_INFO, &info);
        let expected = InetSocket {
            is_listening: true,
            is_connecting: false,
            is_closing: false,
            local: "[::1]:80".parse().expect("is one"),
            remote: "[::]:0".parse().expect("is one"),
            receive_queue: 512,
            send_queue: 511,
            retransmits_count: 0,
            inode: 99,
            is_v6_only: Some(true),
            sending_us: Some([9000, 7000]),
        };
        assert_eq!(InetSocket::decode(&payload), Some(expected));
        assert_eq!(InetSocket::decode(&payload[..71]), None);
    }

    proptest! {
        #[test]
        fn no_bytes_can_break_the_decoder(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = InetSocket::decode(&bytes);
        }
    }
}
