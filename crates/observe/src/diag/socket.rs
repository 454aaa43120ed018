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
    /// Whether an earlier question may have left an answer.
    has_rest: bool,
}

impl DiagSocket {
    /// Opens the socket. *Errors*: the kernel has no `sock_diag`, or a filter of system calls forbids it.
    pub(crate) fn open() -> io::Result<DiagSocket> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let protocol = Some(netlink::SOCK_DIAG);
        let file = rustix::net::socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, protocol)?;
        Ok(DiagSocket { file, sequence: 0, buffer: vec![0; BUFFER_BYTES], has_rest: false })
    }

    /// Asks, and hands the payload of each answer to `each`.
    ///
    /// The kernel answers while it is being asked, so nothing is waited for: an answer that is not there is an error.
    pub(crate) fn ask<Q: AsRef<[u8]>>(
        &mut self,
        encode: impl FnOnce(u32) -> Q,
        mut each: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        self.send(encode)?;
        loop {
            let length = self.receive()?;
            let mut rest = &self.buffer[..length];
            while !rest.is_empty() {
                let Some((message, tail)) = split_message(rest, self.sequence) else {
                    return Err(io::Error::other("the answer is malformed"));
                };
                match message {
                    Message::Socket(payload) => each(payload),
                    Message::End(0) => {
                        self.has_rest = false;
                        return Ok(());
                    }
                    Message::End(number) => return Err(io::Error::from_raw_os_error(number)),
                    Message::Other => {}
                }
                rest = tail;
            }
        }
    }

    /// Asks for one socket, and decodes the answer; `None`: there is no such socket.
    pub(crate) fn ask_for_one<Q: AsRef<[u8]>, T>(
        &mut self,
        encode: impl FnOnce(u32) -> Q,
        decode: impl FnOnce(&[u8]) -> Option<T>,
    ) -> io::Result<Option<T>> {
        self.send(encode)?;
        let length = self.receive()?;
        let message = split_message(&self.buffer[..length], self.sequence);
        self.has_rest = message.is_none_or(|(_, rest)| !rest.is_empty());
        match message {
            Some((Message::Socket(payload), _)) => Ok(decode(payload)),
            Some((Message::End(_), _)) => Ok(None),
            Some((Message::Other, _)) | None => Err(io::Error::other("the answer is malformed")),
        }
    }

    fn send<Q: AsRef<[u8]>>(&mut self, encode: impl FnOnce(u32) -> Q) -> io::Result<()> {
        self.sequence = self.sequence.wrapping_add(1);
        if std::mem::replace(&mut self.has_rest, true) {
            self.drain();
        }
        rustix::net::send(&self.file, encode(self.sequence).as_ref(), SendFlags::empty())?;
        Ok(())
    }

    /// Receives one part of an answer; returns its length.
    fn receive(&mut self) -> io::Result<usize> {
        let (length, whole) = rustix::net::recv(&self.file, &mut self.buffer[..], RecvFlags::TRUNC)?;
        if whole > length || length == 0 {
            return Err(io::Error::other("the answer is cut off"));
        }
        Ok(length)
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
    use super::super::{Family, InetQuestion, InetSocket, ListenerQuestion, SocketState};
    use super::*;
    use crate::testing::eventually;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn the_queue_of_a_listener_is_told_with_its_limit() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
        let address = listener.local_addr().expect("is bound");
        let _waiting = TcpStream::connect(address).expect("connects");
        let question = InetQuestion { family: Family::V4, state: SocketState::Listen, port: address.port() };
        let mut socket = DiagSocket::open().expect("this kernel has sock_diag");
        let ask = || {
            let mut found = Vec::new();
            socket
                .ask(
                    |sequence| question.encode(sequence),
                    |payload| found.extend(InetSocket::decode(payload)),
                )
                .expect("answers");
            found
        };
        let found = eventually(ask, |found| found.iter().any(|listener| listener.receive_queue > 0));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].local, found[0].receive_queue), (address, 1));
        assert!(found[0].send_queue >= 128, "the standard library asks for a queue of 128 or more");
    }

    #[test]
    fn one_listener_is_found_by_its_address_and_none_by_another() {
        let mut socket = DiagSocket::open().expect("this kernel has sock_diag");
        for bound in ["127.0.0.1:0", "0.0.0.0:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(bound) else { continue };
            let local = listener.local_addr().expect("is bound");
            let _waiting = TcpStream::connect(local).expect("connects");
            let mut ask = || {
                let question = ListenerQuestion { local };
                let asked = socket.ask_for_one(|sequence| question.encode(sequence), InetSocket::decode);
                asked.expect("is answered")
            };
            let is_waiting =
                |found: &Option<InetSocket>| found.as_ref().is_none_or(|it| it.receive_queue > 0);
            let found = eventually(&mut ask, is_waiting).expect("is found");
            assert_eq!((found.local, found.receive_queue), (local, 1));
            drop(listener);
            assert_eq!(eventually(&mut ask, Option::is_none), None, "it is gone");
        }
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
