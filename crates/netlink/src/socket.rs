//! The socket for queries and requests.

use crate::message::{AnswerPart, Refused, encode, split};
use crate::sys;
use rustix::fd::{AsFd, OwnedFd};
use rustix::net::netlink::{GENERIC, SOCK_DIAG, SocketAddrNetlink};
use rustix::net::{AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType};
use std::io;

const REQUEST: u16 = 0x1;
const ACKNOWLEDGE: u16 = 0x4;
const DUMP: u16 = 0x300;

/// Replaces what is there; of requests that make something.
pub const REPLACE: u16 = 0x100;
/// Refuses what is there already; of requests that make something.
pub const EXCLUSIVE: u16 = 0x200;
/// Makes what is not there; of requests that make something.
pub const CREATE: u16 = 0x400;

/// Longest part of an answer that is read; lists come in parts of at most half of it (`netlink_dump`). Unit: bytes.
const BUFFER_BYTES: usize = 64 << 10;

/// A socket to a part of the kernel, in the network namespace of the thread that opened it.
#[derive(Debug)]
pub struct NetlinkSocket {
    file: OwnedFd,
    sequence: u32,
    buffer: Vec<u8>,
    /// Whether an earlier question may have left an answer.
    has_rest: bool,
}

impl NetlinkSocket {
    /// To links, addresses, routes, and queues.
    ///
    /// # Errors
    /// As for all parts: the kernel has no such part, or a filter of system calls forbids it.
    pub fn route() -> io::Result<NetlinkSocket> {
        // The protocol that has the number 0 is also the one that is meant without any.
        NetlinkSocket::open(None)
    }

    /// To families that have names.
    ///
    /// # Errors
    /// See [`NetlinkSocket::route`].
    pub fn generic() -> io::Result<NetlinkSocket> {
        NetlinkSocket::open(Some(GENERIC))
    }

    /// To the table of sockets.
    ///
    /// # Errors
    /// See [`NetlinkSocket::route`].
    pub fn sock_diag() -> io::Result<NetlinkSocket> {
        NetlinkSocket::open(Some(SOCK_DIAG))
    }

    fn open(protocol: Option<Protocol>) -> io::Result<NetlinkSocket> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let file = rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, protocol)?;
        rustix::net::connect(&file, &SocketAddrNetlink::new(0, 0))?;
        // Without it errors have no words, and nothing else is lost.
        let _ = sys::ask_for_error_texts(file.as_fd());
        Ok(NetlinkSocket { file, sequence: 0, buffer: vec![0; BUFFER_BYTES], has_rest: false })
    }

    /// Asks for all objects of a kind, and hands the body of each to `each`.
    ///
    /// # Errors
    /// What the kernel says, in its own words where it has any; or the answer is not whole.
    pub fn list(&mut self, kind: u16, body: &[u8], each: impl FnMut(&[u8])) -> io::Result<()> {
        Ok(self.exchange((kind, DUMP), body, each)??)
    }

    /// Asks for one object, and decodes the answer; `None`: it cannot be decoded.
    ///
    /// # Errors
    /// See [`NetlinkSocket::list`].
    pub fn get<T>(
        &mut self,
        kind: u16,
        body: &[u8],
        decode: impl FnMut(&[u8]) -> Option<T>,
    ) -> io::Result<Option<T>> {
        Ok(self.first(kind, body, decode)??)
    }

    /// The same for an object that there may not be; `None`: the kernel has none.
    ///
    /// # Errors
    /// The kernel does not answer, or not in full.
    pub fn get_if_there<T>(
        &mut self,
        kind: u16,
        body: &[u8],
        decode: impl FnMut(&[u8]) -> Option<T>,
    ) -> io::Result<Option<T>> {
        Ok(self.first(kind, body, decode)?.unwrap_or(None))
    }

    /// Requests a change, with these flags.
    ///
    /// # Errors
    /// See [`NetlinkSocket::list`].
    pub fn change(&mut self, kind: u16, flags: u16, body: &[u8]) -> io::Result<()> {
        Ok(self.exchange((kind, ACKNOWLEDGE | flags), body, |_| {})??)
    }

    fn first<T>(
        &mut self,
        kind: u16,
        body: &[u8],
        mut decode: impl FnMut(&[u8]) -> Option<T>,
    ) -> io::Result<Result<Option<T>, Refused>> {
        let mut found = None;
        let end = self.exchange((kind, ACKNOWLEDGE), body, |body| {
            if found.is_none() {
                found = decode(body);
            }
        })?;
        Ok(end.map(|()| found))
    }

    /// Sends a message and reads the answer to its end. The kernel answers while it is asked, so nothing is waited for: an
    /// answer that is not there is an error.
    fn exchange(
        &mut self,
        (kind, flags): (u16, u16),
        body: &[u8],
        mut each: impl FnMut(&[u8]),
    ) -> io::Result<Result<(), Refused>> {
        self.sequence = self.sequence.wrapping_add(1);
        if std::mem::replace(&mut self.has_rest, true) {
            self.drain();
        }
        let message = encode(kind, REQUEST | flags, self.sequence, body);
        rustix::io::retry_on_intr(|| rustix::net::send(&self.file, &message, SendFlags::empty()))?;
        loop {
            let length = self.receive()?;
            let mut rest = &self.buffer[..length];
            while !rest.is_empty() {
                let Some((part, tail)) = split(rest, self.sequence) else {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, "the answer is malformed"));
                };
                match part {
                    AnswerPart::Body(body) => each(body),
                    AnswerPart::End(end) => {
                        self.has_rest = end.is_err();
                        return Ok(end);
                    }
                    AnswerPart::Other => {}
                }
                rest = tail;
            }
        }
    }

    /// Receives one part of an answer; returns its length.
    fn receive(&mut self) -> io::Result<usize> {
        loop {
            match rustix::net::recv(&self.file, &mut self.buffer[..], RecvFlags::TRUNC) {
                Err(rustix::io::Errno::INTR) => {}
                Ok((length, whole)) if whole > length || length == 0 => {
                    return Err(io::Error::other("the answer is truncated"));
                }
                received => return Ok(received?.0),
            }
        }
    }

    /// Throws away what an earlier question, ended by an error, may have left.
    fn drain(&mut self) {
        while self.receive().is_ok() {}
    }
}

/// The number of an error of the kernel, with or without words.
pub fn errno(error: &io::Error) -> Option<i32> {
    let refused = || error.get_ref()?.downcast_ref::<Refused>();
    error.raw_os_error().or_else(|| refused().map(|refused| refused.errno))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTM_GETLINK: u16 = 18;

    /// `struct ifinfomsg` for an index.
    fn link(index: u32) -> Vec<u8> {
        [0, index, 0, 0].iter().flat_map(|word: &u32| word.to_ne_bytes()).collect()
    }

    #[test]
    fn a_question_that_the_kernel_refuses_leaves_nothing_for_the_next_one() {
        let mut socket = NetlinkSocket::route().expect("this kernel has rtnetlink");
        let index = |body: &[u8]| crate::word(body, 4);
        let refused = socket.get(RTM_GETLINK, &link(i32::MAX as u32), index).expect_err("is not there");
        assert_eq!(errno(&refused), Some(libc::ENODEV));
        assert_eq!(socket.get_if_there(RTM_GETLINK, &link(i32::MAX as u32), index).expect("answers"), None);
        assert_eq!(socket.get(RTM_GETLINK, &link(1), index).expect("is there"), Some(1));
        let mut all = Vec::new();
        socket.list(RTM_GETLINK, &link(0), |body| all.extend(index(body))).expect("lists");
        assert!(all.contains(&1), "{all:?}");
    }
}
