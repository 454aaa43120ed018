//! The netlink socket that questions go through.

use super::message::{Message, split_message};
use rustix::net::{AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType};
use std::io;
use std::os::fd::OwnedFd;

/// The kernel fills at most this much at once (`netlink_dump`). Unit: bytes.
const BUFFER_BYTES: usize = 32 << 10;

/// A socket for questions to a part of the kernel, in the network namespace of the thread that opened it.
#[derive(Debug)]
pub(crate) struct NetlinkSocket {
    file: OwnedFd,
    sequence: u32,
    buffer: Vec<u8>,
    /// Whether an earlier question may have left an answer.
    has_rest: bool,
}

impl NetlinkSocket {
    /// Opens the socket; without a protocol it is for routes. *Errors*: the kernel has no such part, or a filter of system calls
    /// forbids it.
    pub(crate) fn open(protocol: Option<Protocol>) -> io::Result<NetlinkSocket> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let file = rustix::net::socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, protocol)?;
        Ok(NetlinkSocket { file, sequence: 0, buffer: vec![0; BUFFER_BYTES], has_rest: false })
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
                    Message::Body(payload) => each(payload),
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

    /// Asks for one object, and decodes the answer; `None`: there is no such object.
    pub(crate) fn ask_for_one<Q: AsRef<[u8]>, T>(
        &mut self,
        encode: impl FnOnce(u32) -> Q,
        decode: impl FnOnce(&[u8]) -> Option<T>,
    ) -> io::Result<Option<T>> {
        Ok(self.ask_once(encode, decode)?.unwrap_or(None))
    }

    /// Asks for one object that there must be, and decodes the answer; `None`: it cannot be read. *Errors*: also the kernel's.
    pub(crate) fn ask_for_certain<Q: AsRef<[u8]>, T>(
        &mut self,
        encode: impl FnOnce(u32) -> Q,
        decode: impl FnOnce(&[u8]) -> Option<T>,
    ) -> io::Result<Option<T>> {
        self.ask_once(encode, decode)?.map_err(io::Error::from_raw_os_error)
    }

    /// What one message says, or the number of the kernel's error.
    fn ask_once<Q: AsRef<[u8]>, T>(
        &mut self,
        encode: impl FnOnce(u32) -> Q,
        decode: impl FnOnce(&[u8]) -> Option<T>,
    ) -> io::Result<Result<Option<T>, i32>> {
        self.send(encode)?;
        let length = self.receive()?;
        let message = split_message(&self.buffer[..length], self.sequence);
        self.has_rest = message.is_none_or(|(_, rest)| !rest.is_empty());
        match message {
            Some((Message::Body(payload), _)) => Ok(Ok(decode(payload))),
            Some((Message::End(number), _)) => Ok(Err(number)),
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
