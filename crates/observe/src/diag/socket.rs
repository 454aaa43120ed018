//! The netlink socket that questions go through.

use super::codec::{Message, split_message};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};
use std::io;
use std::os::fd::OwnedFd;

/// The kernel fills at most this much at once (`netlink_dump`). Unit: bytes.
const BUFFER_BYTES: usize = 32 << 10;

/// A socket for questions to `sock_diag`, in the network namespace of the thread that opened it.
#[derive(Debug)]
pub(crate) struct DiagSocket {
    file: OwnedFd,
    sequence: u32,
    buffer: Vec<u8>,
}

impl DiagSocket {
    /// Opens the socket. *Errors*: the kernel has no `sock_diag`, or a filter of system calls forbids it.
    pub(crate) fn open() -> io::Result<DiagSocket> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let protocol = Some(netlink::SOCK_DIAG);
        let file = rustix::net::socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, protocol)?;
        Ok(DiagSocket { file, sequence: 0, buffer: vec![0; BUFFER_BYTES] })
    }

    /// Asks, and hands the payload of each answer to `each`.
    ///
    /// The kernel answers while it is being asked, so nothing is waited for: an answer that is not there is an error.
    pub(crate) fn ask<Q: AsRef<[u8]>>(
        &mut self,
        encode: impl FnOnce(u32) -> Q,
        mut each: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        self.sequence = self.sequence.wrapping_add(1);
        self.drain();
        rustix::net::send(&self.file, encode(self.sequence).as_ref(), SendFlags::empty())?;
        loop {
            let (length, whole) = rustix::net::recv(&self.file, &mut self.buffer[..], RecvFlags::TRUNC)?;
            if whole > length || length == 0 {
                return Err(io::Error::other("the answer is cut off"));
            }
            let mut rest = &self.buffer[..length];
            while !rest.is_empty() {
                let Some((message, tail)) = split_message(rest, self.sequence) else {
                    return Err(io::Error::other("the answer is malformed"));
                };
                match message {
                    Message::Socket(payload) => each(payload),
                    Message::End(0) => return Ok(()),
                    Message::End(number) => return Err(io::Error::from_raw_os_error(number)),
                    Message::Other => {}
                }
                rest = tail;
            }
        }
    }

    /// Throws away what an earlier question, ended by an error, may have left.
    fn drain(&mut self) {
        while let Ok((length, _)) = rustix::net::recv(&self.file, &mut self.buffer[..], RecvFlags::TRUNC) {
            if length == 0 {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Family, InetQuestion, InetSocket, SocketState};
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn the_queue_of_a_listener_is_told_with_its_limit() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
        let address = listener.local_addr().expect("is bound");
        let _waiting = TcpStream::connect(address).expect("connects");
        let question = InetQuestion { family: Family::V4, state: SocketState::Listen, port: address.port() };
        let mut found = Vec::new();
        let mut socket = DiagSocket::open().expect("this kernel has sock_diag");
        socket
            .ask(|sequence| question.encode(sequence), |payload| found.extend(InetSocket::decode(payload)))
            .expect("answers");
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].local, found[0].receive_queue), (address, 1));
        assert!(found[0].send_queue >= 128, "the standard library asks for a queue of 128 or more");
    }

    #[test]
    fn a_wrong_question_is_an_error_of_the_kernel() {
        let mut socket = DiagSocket::open().expect("this kernel has sock_diag");
        let encode = |sequence| {
            let mut bytes = super::super::UnixQuestion::encode(sequence).to_vec();
            bytes[16] = 200;
            bytes
        };
        assert!(socket.ask(encode, |_| {}).is_err());
        let question = InetQuestion { family: Family::V4, state: SocketState::Listen, port: 1 };
        assert!(socket.ask(|sequence| question.encode(sequence), |_| {}).is_ok(), "the next one is answered");
    }
}
