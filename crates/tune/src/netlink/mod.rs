//! Requests to the kernel over netlink: one socket, one request at a time, answers as they came.
//!
//! Attributes stay bytes: what is put back is what was read, not what a library understood of it. Everything that is
//! read is bounded. Sources: netlink(7), rtnetlink(7), `include/uapi/linux/netlink.h`.

mod attribute;

pub use attribute::{Attributes, find, number, put, put_nested, text, words};

use rustix::fd::{AsFd, OwnedFd};
use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::{AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType};
use std::io;

const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const NLM_F_REQUEST: u16 = 0x1;
const NLM_F_ACK: u16 = 0x4;
const NLM_F_DUMP: u16 = 0x300;
/// Makes what is not there; of requests that make something.
pub const NLM_F_CREATE: u16 = 0x400;
/// Replaces what is there; of requests that make something.
pub const NLM_F_REPLACE: u16 = 0x100;
/// In an error: its length was cut, so that attributes follow at once.
const NLM_F_CAPPED: u16 = 0x100;
const NLM_F_ACK_TLVS: u16 = 0x200;
const NLMSGERR_ATTR_MSG: u16 = 1;

/// Length of a message's head. Unit: bytes.
const HEAD: usize = 16;

/// Longest datagram that is read. Unit: bytes.
const MAX_DATAGRAM: usize = 64 * 1024;

/// Most messages of one answer.
const MAX_MESSAGES: usize = 65_536;

/// A socket to a part of the kernel, in the network namespace of the calling thread.
pub struct Netlink {
    socket: OwnedFd,
}

/// What a request is answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// An acknowledgement, perhaps after one message.
    Answer,
    /// All that there is.
    Dump,
    /// An acknowledgement, with these flags in the request.
    Change(u16),
}

impl Netlink {
    /// To links and their queues.
    pub fn route() -> io::Result<Netlink> {
        // The protocol that has the number 0 is also the one that is meant without any.
        Netlink::to(None)
    }

    /// To families that have names.
    pub fn generic() -> io::Result<Netlink> {
        Netlink::to(Some(netlink::GENERIC))
    }

    fn to(protocol: Option<Protocol>) -> io::Result<Netlink> {
        let socket = rustix::net::socket_with(
            AddressFamily::NETLINK,
            SocketType::RAW,
            SocketFlags::CLOEXEC,
            protocol,
        )?;
        rustix::net::connect(&socket, &SocketAddrNetlink::new(0, 0))?;
        // Without it errors have no words, and nothing else is lost.
        let _ = crate::sys::ask_for_error_texts(socket.as_fd());
        Ok(Netlink { socket })
    }

    /// Sends a request of this type and returns the bodies of the messages that answer it.
    ///
    /// # Errors
    /// What the kernel says, in its own words where it has any.
    pub fn ask(&self, kind: u16, wanted: Wanted, body: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        let flags = NLM_F_REQUEST
            | match wanted {
                Wanted::Answer => NLM_F_ACK,
                Wanted::Dump => NLM_F_DUMP,
                Wanted::Change(flags) => NLM_F_ACK | flags,
            };
        let length = u32::try_from(HEAD + body.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        let mut request = Vec::with_capacity(HEAD + body.len());
        request.extend(length.to_ne_bytes());
        request.extend(kind.to_ne_bytes());
        request.extend(flags.to_ne_bytes());
        request.extend(1u32.to_ne_bytes());
        request.extend(0u32.to_ne_bytes());
        request.extend(body);
        rustix::io::retry_on_intr(|| rustix::net::send(&self.socket, &request, SendFlags::empty()))?;
        let mut found = Vec::new();
        let mut datagram = vec![0u8; MAX_DATAGRAM];
        while found.len() < MAX_MESSAGES {
            let receive = || rustix::net::recv(&self.socket, &mut datagram[..], RecvFlags::empty());
            let (length, _) = retry(receive)?;
            if add(&datagram[..length], &mut found)? == Progress::Over {
                return Ok(found);
            }
        }
        Err(io::Error::other("the kernel's answer does not end"))
    }
}

fn retry<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(rustix::io::Errno::INTR) => {}
            result => return Ok(result?),
        }
    }
}

/// Whether more datagrams follow.
#[derive(PartialEq, Eq)]
enum Progress {
    Going,
    Over,
}

/// Takes a datagram apart.
fn add(mut datagram: &[u8], found: &mut Vec<Vec<u8>>) -> io::Result<Progress> {
    let torn = || io::Error::new(io::ErrorKind::InvalidData, "the kernel's answer cannot be understood");
    while !datagram.is_empty() {
        let head = datagram.get(..HEAD).ok_or_else(torn)?;
        let length = u32::from_ne_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let kind = u16::from_ne_bytes([head[4], head[5]]);
        let flags = u16::from_ne_bytes([head[6], head[7]]);
        let body = datagram.get(HEAD..length).ok_or_else(torn)?;
        match kind {
            NLMSG_DONE => return Ok(Progress::Over),
            NLMSG_ERROR => return acknowledged(flags, body).map(|()| Progress::Over),
            _ => found.push(body.to_vec()),
        }
        datagram = datagram.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(Progress::Going)
}

/// An acknowledgement: an error number, the request's head or all of it, and perhaps a text.
fn acknowledged(flags: u16, body: &[u8]) -> io::Result<()> {
    let code = body.get(..4).map_or(0, |bytes| i32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    if code == 0 {
        return Ok(());
    }
    let error = io::Error::from_raw_os_error(-code);
    let request =
        body.get(4..8).map_or(0, |bytes| u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    let skipped = if flags & NLM_F_CAPPED != 0 { HEAD } else { (request as usize).next_multiple_of(4) };
    let attributes = body.get(4 + skipped..).filter(|_| flags & NLM_F_ACK_TLVS != 0).unwrap_or_default();
    let said = find(attributes, NLMSGERR_ATTR_MSG).and_then(text);
    // The kind of the error is what callers look at; who reads it gets the words too.
    Err(match said {
        Some(said) => io::Error::new(error.kind(), format!("{said} ({error})")),
        None => error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u16, flags: u16, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(HEAD + body.len()).expect("is short");
        let mut bytes = length.to_ne_bytes().to_vec();
        bytes.extend([kind.to_ne_bytes(), flags.to_ne_bytes()].concat());
        bytes.extend([0; 8]);
        bytes.extend(body);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    #[test]
    fn answers_are_taken_apart_and_errors_have_the_kernels_words() {
        let mut found = Vec::new();
        let datagram = [message(36, 0, b"first"), message(36, 0, b"second")].concat();
        assert!(add(&datagram, &mut found).is_ok_and(|progress| progress == Progress::Going));
        assert_eq!(found, [b"first".to_vec(), b"second".to_vec()]);
        let mut refusal = (-libc::EINVAL).to_ne_bytes().to_vec();
        refusal.extend([0; HEAD]);
        put(&mut refusal, NLMSGERR_ATTR_MSG, b"too many\0");
        let answer = message(NLMSG_ERROR, NLM_F_CAPPED | NLM_F_ACK_TLVS, &refusal);
        let error = add(&answer, &mut found).err().expect("is an error");
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        assert!(error.to_string().starts_with("too many ("), "{error}");
        assert!(add(&message(NLMSG_DONE, 0, &[0; 4]), &mut found).is_ok_and(|end| end == Progress::Over));
    }

    #[test]
    fn torn_answers_are_errors() {
        let whole = message(36, 0, b"something");
        for length in 1..whole.len() - 3 {
            assert!(add(&whole[..length], &mut Vec::new()).is_err(), "{length}");
        }
        let mut lying = whole;
        lying[0] = 3;
        assert!(add(&lying, &mut Vec::new()).is_err(), "a message shorter than its head");
    }
}
