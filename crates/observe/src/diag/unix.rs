//! Messages about Unix sockets. Source: `include/uapi/linux/unix_diag.h`.

use super::SocketState;
use sysdyno_netlink::{find, word};

/// `struct unix_diag_req`. Unit: bytes.
const REQUEST_BYTES: usize = 24;
/// `struct unix_diag_msg`. Unit: bytes.
const ANSWER_BYTES: usize = 16;

const AF_UNIX: u8 = 1;
const SOCK_DGRAM: u8 = 2;
const UNIX_DIAG_NAME: u16 = 0;
const UNIX_DIAG_VFS: u16 = 1;
const UNIX_DIAG_PEER: u16 = 2;
const UNIX_DIAG_RQLEN: u16 = 4;
const UDIAG_SHOW_NAME: u32 = 0x1;
const UDIAG_SHOW_VFS: u32 = 0x2;
const UDIAG_SHOW_PEER: u32 = 0x4;
const UDIAG_SHOW_RQLEN: u32 = 0x10;

/// Which Unix sockets are asked for: all in this state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnixQuestion(pub(crate) SocketState);

impl UnixQuestion {
    /// The body of the message.
    pub(crate) fn encode(self) -> [u8; REQUEST_BYTES] {
        let show = UDIAG_SHOW_NAME | UDIAG_SHOW_VFS | UDIAG_SHOW_PEER | UDIAG_SHOW_RQLEN;
        let mut body = [0; REQUEST_BYTES];
        body[0] = AF_UNIX;
        body[4..8].copy_from_slice(&(1u32 << self.0 as u32).to_ne_bytes());
        body[12..16].copy_from_slice(&show.to_ne_bytes());
        body[16..24].fill(0xff);
        body
    }
}

/// A file of a Unix socket, as `struct unix_diag_vfs` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileId {
    /// The lower half of the inode number.
    pub(crate) inode: u32,
    /// The device in the kernel's own encoding: 12 bits of major, 20 bits of minor number.
    pub(crate) device: u32,
}

/// A Unix socket of an answer. One that was accepted has the name and the file of the socket that listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnixSocket<'a> {
    pub(crate) inode: u32,
    /// Whether it sends and takes datagrams, as that of a log does.
    pub(crate) is_datagram: bool,
    /// Its path; of an abstract socket, with a leading zero byte; empty: it is bound to none. Untrusted.
    pub(crate) name: &'a [u8],
    /// The file that it is bound to; `None`: it is abstract, or not told.
    pub(crate) file: Option<FileId>,
    /// The other end; `None`: there is none, or it has not been accepted yet.
    pub(crate) peer: Option<u32>,
    /// Listening: connections that wait to be accepted; else bytes that wait to be read; `None`: not told.
    pub(crate) queue_count: Option<u32>,
    /// Listening: the limit of the queue; `None`: not told.
    pub(crate) limit_count: Option<u32>,
}

impl UnixSocket<'_> {
    /// Reads the payload of a message; `None` if it is not such a socket.
    pub(crate) fn decode(payload: &[u8]) -> Option<UnixSocket<'_>> {
        (*payload.first()? == AF_UNIX).then_some(())?;
        let attributes = payload.get(ANSWER_BYTES..)?;
        let name = find(attributes, UNIX_DIAG_NAME).unwrap_or(&[]);
        let queues = find(attributes, UNIX_DIAG_RQLEN);
        let queue = |offset| queues.and_then(|value| word(value, offset));
        let name = if name.first() == Some(&0) { name } else { name.strip_suffix(&[0]).unwrap_or(name) };
        let file = find(attributes, UNIX_DIAG_VFS)
            .and_then(|value| Some(FileId { inode: word(value, 0)?, device: word(value, 4)? }));
        let peer =
            find(attributes, UNIX_DIAG_PEER).and_then(|value| word(value, 0)).filter(|inode| *inode != 0);
        let (inode, is_datagram) = (word(payload, 4)?, *payload.get(1)? == SOCK_DGRAM);
        Some(UnixSocket {
            inode,
            is_datagram,
            name,
            file,
            peer,
            queue_count: queue(0),
            limit_count: queue(4),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sysdyno_netlink::put;

    #[test]
    fn a_socket_is_read_with_its_name_and_its_other_end() {
        let mut payload = vec![0; ANSWER_BYTES];
        payload[0] = AF_UNIX;
        payload[4..8].copy_from_slice(&5u32.to_ne_bytes());
        put(&mut payload, UNIX_DIAG_NAME, b"/run/a.sock\0");
        put(&mut payload, UNIX_DIAG_VFS, &[7, 0, 0, 0, 8, 0, 0, 0]);
        put(&mut payload, UNIX_DIAG_PEER, &9u32.to_ne_bytes());
        put(&mut payload, UNIX_DIAG_RQLEN, &[3, 0, 0, 0, 128, 0, 0, 0]);
        let socket = UnixSocket::decode(&payload).expect("is one");
        assert_eq!((socket.inode, socket.name, socket.peer), (5, b"/run/a.sock".as_slice(), Some(9)));
        if cfg!(target_endian = "little") {
            assert_eq!((socket.queue_count, socket.limit_count), (Some(3), Some(128)));
            assert_eq!(socket.file, Some(FileId { inode: 7, device: 8 }));
        }
    }

    proptest! {
        #[test]
        fn no_bytes_can_break_the_decoder(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = UnixSocket::decode(&bytes);
        }
    }
}
