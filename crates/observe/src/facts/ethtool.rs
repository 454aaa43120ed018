//! What `ethtool` tells of an interface: rings, channels, coalescing, offloads. Asked for by generic netlink.
//!
//! Only questions are sent that change nothing. Answers come while the question is sent. Sources:
//! `include/uapi/linux/{genetlink,ethtool_netlink}.h`; `Documentation/networking/ethtool-netlink.rst` (kernel 5.6 and
//! later).

use super::sheet::{Answer, Sheet};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};
use std::io;
use std::os::fd::OwnedFd;

/// Longer answers are cut off and refused. Unit: bytes.
const BUFFER_BYTES: usize = 32 << 10;
/// `struct nlmsghdr`. Unit: bytes.
const HEADER_BYTES: usize = 16;
/// `struct nlmsghdr` and `struct genlmsghdr`. Unit: bytes.
const HEADERS_BYTES: usize = 20;
/// `struct nlattr`. Unit: bytes.
const ATTRIBUTE_BYTES: usize = 4;

const NLM_F_REQUEST: u16 = 1;
const NLMSG_ERROR: u16 = 2;
const NLA_F_NESTED: u16 = 0x8000;
/// Takes the flags off the type of an attribute.
const NLA_TYPE_MASK: u16 = 0x3fff;
const GENL_ID_CTRL: u16 = 0x10;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;
const ETHTOOL_A_HEADER: u16 = 1;
const ETHTOOL_A_HEADER_DEV_NAME: u16 = 2;
const ETHTOOL_MSG_FEATURES_GET: u8 = 11;
const ETHTOOL_A_FEATURES_ACTIVE: u16 = 4;
const ETHTOOL_A_BITSET_BITS: u16 = 3;
const ETHTOOL_A_BITSET_BIT_NAME: u16 = 2;

/// A question, and the facts in its answer: numbers, and flags that are 0 or 1.
struct Question {
    command: u8,
    numbers: &'static [(u16, &'static str)],
    flags: &'static [(u16, &'static str)],
}

const QUESTIONS: &[Question] = &[
    // ETHTOOL_MSG_RINGS_GET
    Question {
        command: 15,
        numbers: &[
            (2, "ring_rx_max_descriptors"),
            (5, "ring_tx_max_descriptors"),
            (6, "ring_rx_descriptors"),
            (9, "ring_tx_descriptors"),
        ],
        flags: &[],
    },
    // ETHTOOL_MSG_CHANNELS_GET
    Question {
        command: 17,
        numbers: &[
            (2, "channels_rx_max_count"),
            (3, "channels_tx_max_count"),
            (5, "channels_combined_max_count"),
            (6, "channels_rx_count"),
            (7, "channels_tx_count"),
            (9, "channels_combined_count"),
        ],
        flags: &[],
    },
    // ETHTOOL_MSG_COALESCE_GET
    Question {
        command: 19,
        numbers: &[
            (2, "coalesce_rx_us"),
            (3, "coalesce_rx_packets"),
            (6, "coalesce_tx_us"),
            (7, "coalesce_tx_packets"),
        ],
        flags: &[(11, "coalesce_rx_is_adaptive"), (12, "coalesce_tx_is_adaptive")],
    },
];

/// A socket to the kernel's ethtool, or why there is none.
pub(super) struct Ethtool(Answer<Connection>);

struct Connection {
    file: OwnedFd,
    family: u16,
    buffer: Vec<u8>,
}

impl Ethtool {
    /// Opens the socket, in the network namespace of this thread. `is_host`: it belongs to what is described.
    pub(super) fn open(is_host: bool) -> Ethtool {
        if !is_host {
            return Ethtool(Err("a recorded tree does not hold it".to_owned()));
        }
        Ethtool(Connection::open().map_err(|error| format!("cannot ask ethtool: {error}")))
    }

    /// Writes the facts of one interface.
    pub(super) fn read(&mut self, sheet: &mut Sheet<'_>, name: &str) {
        for question in QUESTIONS {
            let answer = self.ask(question.command, name);
            let value = |kind: u16| {
                let value = find(answer.as_ref().map_err(Clone::clone)?, kind).and_then(to_number);
                value.ok_or_else(|| "its driver does not tell".to_owned())
            };
            for (kind, fact) in question.numbers {
                sheet.number(format!("nic.{name}.{fact}"), value(*kind).map(f64::from));
            }
            for (kind, fact) in question.flags {
                let word = value(*kind).map(|flag| if flag == 0 { "no" } else { "yes" }.to_owned());
                sheet.text(format!("nic.{name}.{fact}"), word);
            }
        }
        let features = self.ask(ETHTOOL_MSG_FEATURES_GET, name);
        sheet.text(format!("nic.{name}.offloads"), features.map(|bytes| active_features(&bytes).join(" ")));
    }

    fn ask(&mut self, command: u8, name: &str) -> Answer<Vec<u8>> {
        let connection = self.0.as_mut().map_err(|reason| reason.clone())?;
        let device = attribute(ETHTOOL_A_HEADER_DEV_NAME, &[name.as_bytes(), &[0]].concat());
        let question = attribute(ETHTOOL_A_HEADER | NLA_F_NESTED, &device);
        let answer = connection.ask(connection.family, command, &question);
        answer.map_err(|error| format!("ethtool does not tell: {error}"))
    }
}

impl Connection {
    fn open() -> io::Result<Connection> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let protocol = Some(netlink::GENERIC);
        let file = rustix::net::socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, protocol)?;
        let mut connection = Connection { file, family: 0, buffer: vec![0; BUFFER_BYTES] };
        let question = attribute(CTRL_ATTR_FAMILY_NAME, b"ethtool\0");
        let answer = connection.ask(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, &question)?;
        let family = find(&answer, CTRL_ATTR_FAMILY_ID).and_then(to_number);
        let family = family.and_then(|number| u16::try_from(number).ok());
        connection.family = family.ok_or_else(|| io::Error::other("the kernel does not name the family"))?;
        Ok(connection)
    }

    /// Asks, and returns the attributes of the answer.
    fn ask(&mut self, kind: u16, command: u8, attributes: &[u8]) -> io::Result<Vec<u8>> {
        rustix::net::send(&self.file, &encode(kind, command, attributes), SendFlags::empty())?;
        let (length, whole) = rustix::net::recv(&self.file, &mut self.buffer[..], RecvFlags::TRUNC)?;
        if whole > length {
            return Err(io::Error::other("the answer is cut off"));
        }
        decode(&self.buffer[..length])
    }
}

fn encode(kind: u16, command: u8, attributes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(HEADERS_BYTES + attributes.len()).expect("questions are short");
    let mut out = Vec::new();
    out.extend_from_slice(&length.to_ne_bytes());
    out.extend_from_slice(&kind.to_ne_bytes());
    out.extend_from_slice(&NLM_F_REQUEST.to_ne_bytes());
    out.extend_from_slice(&[0; 8]);
    out.extend_from_slice(&[command, 1, 0, 0]);
    out.extend_from_slice(attributes);
    out
}

/// The attributes of a message, or the error that it reports.
fn decode(message: &[u8]) -> io::Result<Vec<u8>> {
    let malformed = || io::Error::other("the answer is malformed");
    let length = number_at(message, 0, 4).ok_or_else(malformed)? as usize;
    let message = message.get(..length).ok_or_else(malformed)?;
    if number_at(message, 4, 2) == Some(u32::from(NLMSG_ERROR)) {
        let number = number_at(message, HEADER_BYTES, 4).ok_or_else(malformed)? as i32;
        return Err(io::Error::from_raw_os_error(number.wrapping_neg()));
    }
    message.get(HEADERS_BYTES..).map(<[u8]>::to_vec).ok_or_else(malformed)
}

fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = u16::try_from(ATTRIBUTE_BYTES + value.len()).unwrap_or(u16::MAX);
    let mut out = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
    out.extend_from_slice(value);
    out.resize(out.len().next_multiple_of(4), 0);
    out
}

/// Kinds and values of attributes, until one is malformed.
fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let (length, kind) = (number_at(bytes, 0, 2)? as usize, number_at(bytes, 2, 2)?);
        let value = bytes.get(ATTRIBUTE_BYTES..length)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or(&[]);
        Some((kind as u16 & NLA_TYPE_MASK, value))
    })
}

fn find(bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    attributes(bytes).find(|(kind, _)| *kind == wanted).map(|(_, value)| value)
}

/// Names of the features that are in force, sorted.
fn active_features(bytes: &[u8]) -> Vec<String> {
    let set = find(bytes, ETHTOOL_A_FEATURES_ACTIVE).and_then(|set| find(set, ETHTOOL_A_BITSET_BITS));
    let name = |bit: &[u8]| {
        let name = find(bit, ETHTOOL_A_BITSET_BIT_NAME)?;
        Some(String::from_utf8_lossy(name.strip_suffix(&[0]).unwrap_or(name)).into_owned())
    };
    let mut names: Vec<String> =
        attributes(set.unwrap_or_default()).filter_map(|(_, bit)| name(bit)).collect();
    names.sort_unstable();
    names
}

/// A number of one, two or four bytes, in the host's order.
fn to_number(value: &[u8]) -> Option<u32> {
    number_at(value, 0, value.len())
}

fn number_at(bytes: &[u8], offset: usize, length: usize) -> Option<u32> {
    let field = bytes.get(offset..offset.checked_add(length)?)?;
    match *field {
        [one] => Some(u32::from(one)),
        [one, two] => Some(u32::from(u16::from_ne_bytes([one, two]))),
        [one, two, three, four] => Some(u32::from_ne_bytes([one, two, three, four])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roots::Roots;
    use proptest::prelude::*;

    #[test]
    fn features_are_named() {
        let bit =
            |name: &str| attribute(1 | NLA_F_NESTED, &attribute(ETHTOOL_A_BITSET_BIT_NAME, name.as_bytes()));
        let bits = [bit("tx-scatter-gather\0"), bit("rx-gro\0")].concat();
        let set =
            [attribute(2, &64u32.to_ne_bytes()), attribute(ETHTOOL_A_BITSET_BITS | NLA_F_NESTED, &bits)]
                .concat();
        let answer = [attribute(2, &[]), attribute(ETHTOOL_A_FEATURES_ACTIVE | NLA_F_NESTED, &set)].concat();
        assert_eq!(active_features(&answer), ["rx-gro", "tx-scatter-gather"]);
    }

    #[test]
    fn an_error_is_that_of_the_kernel() {
        let mut message = encode(NLMSG_ERROR, 0, &[]);
        message[HEADER_BYTES..HEADERS_BYTES].copy_from_slice(&(-95i32).to_ne_bytes());
        assert_eq!(decode(&message).expect_err("is one").raw_os_error(), Some(95));
        assert!(decode(&message[..10]).is_err());
    }

    #[test]
    fn the_loopback_tells_its_offloads() {
        let roots = Roots::host();
        let mut sheet = Sheet::new(&roots);
        let mut ethtool = Ethtool::open(true);
        ethtool.read(&mut sheet, "lo");
        ethtool.read(&mut sheet, "no-such-device");
        let facts = sheet.into_facts();
        if let Err(reason) = ethtool.0 {
            assert!(reason.starts_with("cannot ask ethtool: "), "{reason}");
            return;
        }
        assert!(facts.text("nic.lo.offloads").is_some_and(|offloads| offloads.contains("loopback")));
        assert_eq!(facts.number("nic.lo.ring_rx_descriptors"), None);
        assert_eq!(facts.text("nic.no-such-device.offloads"), None);
    }

    proptest! {
        #[test]
        fn no_bytes_can_break_the_decoder(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = (decode(&bytes), active_features(&bytes), find(&bytes, 1).and_then(to_number));
        }
    }
}
