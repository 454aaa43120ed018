//! Messages of `sock_diag`: what is asked, byte by byte, and what is answered.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use sysdyno_netlink::{find, word};

/// `struct inet_diag_req_v2`. Unit: bytes.
const INET_REQUEST_BYTES: usize = 56;
/// `struct inet_diag_msg`. Unit: bytes.
const INET_ANSWER_BYTES: usize = 72;
/// `struct unix_diag_req`. Unit: bytes.
const UNIX_REQUEST_BYTES: usize = 24;
/// `struct unix_diag_msg`. Unit: bytes.
const UNIX_ANSWER_BYTES: usize = 16;

/// The type of all questions.
pub(crate) const SOCK_DIAG_BY_FAMILY: u16 = 20;
const AF_UNIX: u8 = 1;
const IPPROTO_TCP: u8 = 6;
const INET_DIAG_SKV6ONLY: u16 = 11;
const UNIX_DIAG_NAME: u16 = 0;
const UNIX_DIAG_VFS: u16 = 1;
const UNIX_DIAG_RQLEN: u16 = 4;
const UDIAG_SHOW_NAME: u32 = 0x1;
const UDIAG_SHOW_VFS: u32 = 0x2;
const UDIAG_SHOW_RQLEN: u32 = 0x10;

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

/// The states of `include/net/tcp_states.h` that are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SocketState {
    Established = 1,
    Listen = 10,
}

/// Which TCP sockets are asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InetQuestion {
    pub(crate) family: Family,
    pub(crate) state: SocketState,
    /// Only sockets with this local port; 0 for all.
    pub(crate) port: u16,
}

impl InetQuestion {
    /// The body of the message.
    pub(crate) fn encode(&self) -> [u8; INET_REQUEST_BYTES] {
        let mut body = [0; INET_REQUEST_BYTES];
        body[0] = self.family.number();
        body[1] = IPPROTO_TCP;
        body[4..8].copy_from_slice(&(1u32 << self.state as u32).to_ne_bytes());
        body[8..10].copy_from_slice(&self.port.to_be_bytes());
        // INET_DIAG_NOCOOKIE: any socket will do.
        body[48..56].fill(0xff);
        body
    }
}

/// Which Unix sockets are asked for: those that listen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnixQuestion;

impl UnixQuestion {
    /// The body of the message.
    pub(crate) fn encode() -> [u8; UNIX_REQUEST_BYTES] {
        let mut body = [0; UNIX_REQUEST_BYTES];
        body[0] = AF_UNIX;
        body[4..8].copy_from_slice(&(1u32 << SocketState::Listen as u32).to_ne_bytes());
        body[12..16].copy_from_slice(&(UDIAG_SHOW_NAME | UDIAG_SHOW_VFS | UDIAG_SHOW_RQLEN).to_ne_bytes());
        body[16..24].fill(0xff);
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
    pub(crate) fn encode(&self) -> [u8; INET_REQUEST_BYTES] {
        let question = InetQuestion {
            family: Family::of(&self.local),
            state: SocketState::Listen,
            port: self.local.port(),
        };
        let mut body = question.encode();
        match self.local.ip() {
            IpAddr::V4(address) => body[12..16].copy_from_slice(&address.octets()),
            IpAddr::V6(address) => body[12..28].copy_from_slice(&address.octets()),
        }
        body
    }
}

/// A TCP socket of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InetSocket {
    pub(crate) local: SocketAddr,
    /// Listening: connections that wait to be accepted; else bytes that wait to be read.
    pub(crate) receive_queue: u32,
    /// Listening: the limit of the queue; else bytes that wait to be acknowledged.
    pub(crate) send_queue: u32,
    pub(crate) inode: u32,
    /// Whether an IPv6 socket takes no IPv4 connections; `None`: not told.
    pub(crate) is_v6_only: Option<bool>,
}

impl InetSocket {
    /// Reads the payload of a message; `None` if it is not such a socket.
    pub(crate) fn decode(payload: &[u8]) -> Option<InetSocket> {
        let local = match *payload.first()? {
            2 => IpAddr::from(Ipv4Addr::from(<[u8; 4]>::try_from(payload.get(8..12)?).ok()?)),
            10 => IpAddr::from(Ipv6Addr::from(<[u8; 16]>::try_from(payload.get(8..24)?).ok()?)),
            _ => return None,
        };
        let port = u16::from_be_bytes(<[u8; 2]>::try_from(payload.get(4..6)?).ok()?);
        let only = find(payload.get(INET_ANSWER_BYTES..)?, INET_DIAG_SKV6ONLY);
        Some(InetSocket {
            local: SocketAddr::new(local, port),
            receive_queue: word(payload, 56)?,
            send_queue: word(payload, 60)?,
            inode: word(payload, 68)?,
            is_v6_only: only.and_then(|value| value.first().map(|flag| *flag != 0)),
        })
    }
}

/// A file of a Unix socket, as `struct unix_diag_vfs` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileId {
    /// The lower half of the inode number.
    pub(crate) inode: u32,
    /// The device in the kernel's own encoding: 12 bits of major, 20 bits of minor number.
    pub(crate) device: u32,
}

/// A listening Unix socket of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnixSocket<'a> {
    pub(crate) inode: u32,
    /// Its path; of an abstract socket, with a leading zero byte. Untrusted.
    pub(crate) name: &'a [u8],
    /// The file that it is bound to; `None`: it is abstract, or not told.
    pub(crate) file: Option<FileId>,
    /// Connections that wait to be accepted; `None`: not told.
    pub(crate) queue_count: Option<u32>,
    /// The limit of the queue; `None`: not told.
    pub(crate) limit_count: Option<u32>,
}

impl UnixSocket<'_> {
    /// Reads the payload of a message; `None` if it is not such a socket.
    pub(crate) fn decode(payload: &[u8]) -> Option<UnixSocket<'_>> {
        (*payload.first()? == AF_UNIX).then_some(())?;
        let attributes = payload.get(UNIX_ANSWER_BYTES..)?;
        let name = find(attributes, UNIX_DIAG_NAME).unwrap_or(&[]);
        let queues = find(attributes, UNIX_DIAG_RQLEN);
        let queue = |offset| queues.and_then(|value| word(value, offset));
        let name = if name.first() == Some(&0) { name } else { name.strip_suffix(&[0]).unwrap_or(name) };
        let file = find(attributes, UNIX_DIAG_VFS)
            .and_then(|value| Some(FileId { inode: word(value, 0)?, device: word(value, 4)? }));
        let inode = word(payload, 4)?;
        Some(UnixSocket { inode, name, file, queue_count: queue(0), limit_count: queue(4) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sysdyno_netlink::put;

    #[test]
    fn a_question_is_laid_out_as_the_header_file_says() {
        let question = InetQuestion { family: Family::V6, state: SocketState::Listen, port: 0x1f90 };
        let bytes = question.encode();
        assert_eq!(bytes.len(), 56);
        assert_eq!(&bytes[0..2], &[10, 6]);
        assert_eq!(bytes[4..8], 0x400u32.to_ne_bytes());
        assert_eq!(&bytes[8..12], &[0x1f, 0x90, 0, 0]);
        assert_eq!(&bytes[48..56], &[0xff; 8]);
        assert_eq!(UnixQuestion::encode().len(), 24);
        let one = ListenerQuestion { local: "10.1.2.3:8080".parse().expect("is one") }.encode();
        assert_eq!(one[8..20], [0x1f, 0x90, 0, 0, 10, 1, 2, 3, 0, 0, 0, 0]);
    }

    #[test]
    fn a_listening_socket_is_read_with_its_attributes() {
        let mut payload = vec![0; INET_ANSWER_BYTES];
        payload[0] = 10;
        payload[4..6].copy_from_slice(&80u16.to_be_bytes());
        payload[23] = 1;
        payload[56..60].copy_from_slice(&512u32.to_ne_bytes());
        payload[60..64].copy_from_slice(&511u32.to_ne_bytes());
        payload[68..72].copy_from_slice(&99u32.to_ne_bytes());
        put(&mut payload, 8, &[0]);
        put(&mut payload, INET_DIAG_SKV6ONLY, &[1]);
        let expected = InetSocket {
            local: "[::1]:80".parse().expect("is one"),
            receive_queue: 512,
            send_queue: 511,
            inode: 99,
            is_v6_only: Some(true),
        };
        assert_eq!(InetSocket::decode(&payload), Some(expected));
        assert_eq!(InetSocket::decode(&payload[..71]), None);
    }

    #[test]
    fn a_unix_socket_is_read_with_its_name() {
        let mut payload = vec![0; UNIX_ANSWER_BYTES];
        payload[0] = AF_UNIX;
        payload[4..8].copy_from_slice(&5u32.to_ne_bytes());
        put(&mut payload, UNIX_DIAG_NAME, b"/run/a.sock\0");
        put(&mut payload, UNIX_DIAG_VFS, &[7, 0, 0, 0, 8, 0, 0, 0]);
        put(&mut payload, UNIX_DIAG_RQLEN, &[3, 0, 0, 0, 128, 0, 0, 0]);
        let socket = UnixSocket::decode(&payload).expect("is one");
        assert_eq!((socket.inode, socket.name), (5, b"/run/a.sock".as_slice()));
        if cfg!(target_endian = "little") {
            assert_eq!((socket.queue_count, socket.limit_count), (Some(3), Some(128)));
            assert_eq!(socket.file, Some(FileId { inode: 7, device: 8 }));
        }
    }

    proptest! {
        #[test]
        fn no_bytes_can_break_the_decoder(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = (InetSocket::decode(&bytes), UnixSocket::decode(&bytes));
        }
    }
}
