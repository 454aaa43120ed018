//! The ICMP probe: echo requests, each with a token that identifies its reply.
//!
//! A ping socket (`SOCK_DGRAM`, which `net.ipv4.ping_group_range` permits to groups of users) is tried first, a raw one
//! next. A reply counts only if it has the right type, identifier, sequence number and, byte for byte, the payload that was
//! sent: anybody can send ICMP, and a raw socket sees everybody's.
//! Sources: RFC 792, RFC 4443; `net/ipv4/ping.c` (the kernel sets identifier and checksum of a ping socket).

use super::prober::{ProbeEnd, Prober};
use crate::clock;
use crate::error::LoadError;
use crate::failure;
use rustix::event::{PollFd, PollFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, ipproto};
use std::net::SocketAddr;
use sysdyno_record::load::FailureClass;
use sysdyno_record::probe::ProbeOutcome;

/// Type numbers of echo request and echo reply.
const TYPES_V4: [u8; 2] = [8, 0];
const TYPES_V6: [u8; 2] = [128, 129];

/// Bytes of type, code, checksum, identifier and sequence number.
const HEADER_BYTES: usize = 8;

/// Bytes behind the header, as `ping` sends them.
const PAYLOAD_BYTES: usize = 56;

/// What the payload begins with.
const MAGIC: &[u8; 8] = b"sysdyno\0";

/// Longest packet to parse: the longest IPv4 header, and a reply.
const BUFFER_BYTES: usize = 60 + HEADER_BYTES + PAYLOAD_BYTES + 1;

/// Packets to process in a row.
const MAX_RECEIVES_COUNT: usize = 256;

/// An ICMP socket, and the operations that have no reply yet.
pub(super) struct IcmpProber {
    fd: OwnedFd,
    token: Token,
    open: Vec<u64>,
}

/// What tells replies to this probe from all others.
#[derive(Clone, Copy, Debug)]
struct Token {
    is_v6: bool,
    is_raw: bool,
    seed: u64,
}

impl IcmpProber {
    /// # Errors
    /// Neither kind of socket may be opened, or there is no way to the address.
    pub(super) fn open(address: SocketAddr, seed: u64) -> Result<IcmpProber, LoadError> {
        let is_v6 = address.is_ipv6();
        let (fd, is_raw) = open_socket(is_v6).map_err(|errno| refused(address, errno))?;
        let mut address = address;
        address.set_port(0);
        let unreachable = |errno: Errno| LoadError::Probe {
            target: address.ip().to_string(),
            cause: std::io::Error::from(errno).to_string(),
        };
        net::connect(&fd, &address).map_err(unreachable)?;
        Ok(IcmpProber { fd, token: Token { is_v6, is_raw, seed }, open: Vec::new() })
    }

    fn end(&mut self, sequence: u64, outcome: ProbeOutcome, ended: &mut Vec<ProbeEnd>) {
        if let Some(place) = self.open.iter().position(|open| *open == sequence) {
            self.open.remove(place);
            ended.push(ProbeEnd { sequence, at: clock::now(), outcome, connect_ns: None, status: None });
        }
    }
}

fn open_socket(is_v6: bool) -> Result<(OwnedFd, bool), Errno> {
    let (family, protocol) =
        if is_v6 { (AddressFamily::INET6, ipproto::ICMPV6) } else { (AddressFamily::INET, ipproto::ICMP) };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let open = |kind| net::socket_with(family, kind, flags, Some(protocol));
    match open(SocketType::DGRAM) {
        Ok(fd) => Ok((fd, false)),
        Err(first) => match open(SocketType::RAW) {
            Ok(fd) => Ok((fd, true)),
            // Without the family there is neither.
            Err(Errno::PERM | Errno::ACCESS) => Err(Errno::PERM),
            Err(_) => Err(first),
        },
    }
}

fn refused(address: SocketAddr, errno: Errno) -> LoadError {
    let cause = if errno == Errno::PERM {
        "this user may not open ping sockets or raw sockets\nhint: run as root, allow ping sockets with \
         `sudo sysctl -w net.ipv4.ping_group_range='0 2147483647'`, or probe over TCP"
            .to_owned()
    } else {
        std::io::Error::from(errno).to_string()
    };
    LoadError::Probe { target: address.ip().to_string(), cause }
}

impl Token {
    /// The identifier; a ping socket's own takes its place.
    fn identifier(self) -> [u8; 2] {
        ((self.seed ^ self.seed >> 16) as u16).to_be_bytes()
    }

    fn payload(self, sequence: u64) -> [u8; PAYLOAD_BYTES] {
        let mut payload = [0; PAYLOAD_BYTES];
        payload[..8].copy_from_slice(MAGIC);
        payload[8..16].copy_from_slice(&self.seed.to_be_bytes());
        payload[16..24].copy_from_slice(&sequence.to_be_bytes());
        payload
    }

    /// An echo request; the kernel fills in the checksum of ICMPv6.
    fn request(self, sequence: u64) -> [u8; HEADER_BYTES + PAYLOAD_BYTES] {
        let mut packet = [0; HEADER_BYTES + PAYLOAD_BYTES];
        packet[0] = if self.is_v6 { TYPES_V6[0] } else { TYPES_V4[0] };
        packet[4..6].copy_from_slice(&self.identifier());
        packet[6..8].copy_from_slice(&(sequence as u16).to_be_bytes());
        packet[HEADER_BYTES..].copy_from_slice(&self.payload(sequence));
        if !self.is_v6 {
            let checksum = checksum(&packet);
            packet[2..4].copy_from_slice(&checksum.to_be_bytes());
        }
        packet
    }

    /// The operation that a packet is the reply to.
    ///
    /// `None` if the reply is not for this probe.
    fn sequence_of(self, packet: &[u8]) -> Option<u64> {
        let message = if self.is_raw && !self.is_v6 { without_ip_header(packet)? } else { packet };
        let (header, payload) = message.split_at_checked(HEADER_BYTES)?;
        let kind = if self.is_v6 { TYPES_V6[1] } else { TYPES_V4[1] };
        let is_ours = !self.is_raw || header[4..6] == self.identifier();
        let sequence = u64::from_be_bytes(payload.get(16..24)?.try_into().ok()?);
        let is_reply = header[0] == kind && header[1] == 0 && header[6..8] == (sequence as u16).to_be_bytes();
        (is_reply && is_ours && payload == self.payload(sequence)).then_some(sequence)
    }
}

/// The message in an IPv4 packet.
fn without_ip_header(packet: &[u8]) -> Option<&[u8]> {
    let first = *packet.first()?;
    let header_bytes = usize::from(first & 0x0f) * 4;
    (first >> 4 == 4 && header_bytes >= 20).then(|| packet.get(header_bytes..)).flatten()
}

/// The Internet checksum (RFC 1071) of an even number of bytes.
fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks_exact(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

impl Prober for IcmpProber {
    fn begin(&mut self, sequence: u64, ended: &mut Vec<ProbeEnd>) {
        self.open.push(sequence);
        if let Err(errno) = net::send(&self.fd, &self.token.request(sequence), SendFlags::DONTWAIT) {
            let class = match errno {
                Errno::AGAIN => FailureClass::LocalBuffers,
                errno => failure::of_connect(errno),
            };
            self.end(sequence, ProbeOutcome::Failed(class), ended);
        }
    }

    fn watched(&self) -> Vec<PollFd<'_>> {
        vec![PollFd::new(&self.fd, PollFlags::IN)]
    }

    fn advance(&mut self, ready: &[PollFlags], ended: &mut Vec<ProbeEnd>) {
        if ready.iter().all(|flags| flags.is_empty()) {
            return;
        }
        let mut buffer = [0; BUFFER_BYTES];
        for _ in 0..MAX_RECEIVES_COUNT {
            match net::recv(&self.fd, &mut buffer, RecvFlags::DONTWAIT) {
                Ok((length, _)) => {
                    if let Some(sequence) = self.token.sequence_of(&buffer[..length]) {
                        self.end(sequence, ProbeOutcome::Received, ended);
                    }
                }
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                // An error that came back does not say to which operation; the oldest has waited longest.
                Err(errno) => {
                    let Some(oldest) = self.open.first().copied() else { continue };
                    self.end(oldest, ProbeOutcome::Failed(failure::of_connect(errno)), ended);
                }
            }
        }
    }

    fn abandon(&mut self, sequence: u64) {
        self.open.retain(|open| *open != sequence);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAW: Token = Token { is_v6: false, is_raw: true, seed: 0x1234_5678 };

    /// What a raw socket receives for a request.
    fn reply_to(sequence: u64) -> Vec<u8> {
        let mut packet = vec![0x45];
        packet.resize(20, 0);
        packet.extend_from_slice(&RAW.request(sequence));
        packet[20] = TYPES_V4[1];
        packet
    }

    #[test]
    fn a_request_has_a_checksum_that_sums_to_nothing() {
        assert_eq!(checksum(&RAW.request(70_000)), 0);
        assert_eq!(checksum(&[0, 0]), 0xffff);
    }

    #[test]
    fn only_the_reply_to_what_was_sent_counts() {
        assert_eq!(RAW.sequence_of(&reply_to(70_000)), Some(70_000));
        let ping = Token { is_raw: false, ..RAW };
        assert_eq!(ping.sequence_of(&reply_to(7)[20..]), Some(7));
        // Any bit of type, code, identifier, sequence number and payload counts; the checksum is the kernel's.
        for place in (20..22).chain(24..20 + HEADER_BYTES + PAYLOAD_BYTES) {
            let mut forged = reply_to(7);
            forged[place] ^= 1;
            // A number that was not sent is nobody's.
            assert!(RAW.sequence_of(&forged).is_none_or(|sequence| sequence > 7), "byte {place}");
        }
        for length in 0..reply_to(7).len() {
            assert_eq!(RAW.sequence_of(&reply_to(7)[..length]), None, "{length} bytes");
        }
        let mut longer = reply_to(7);
        longer.push(0);
        assert_eq!(RAW.sequence_of(&longer), None);
        assert_eq!(RAW.sequence_of(&[0x4f]), None);
        assert_eq!(RAW.sequence_of(&[0x41; 84]), None);
    }
}
