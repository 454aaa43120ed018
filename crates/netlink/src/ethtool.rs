//! Reads and writes settings of network devices: the family `ethtool` of generic netlink.
//!
//! Callers know the attributes of their requests; this module has what all requests share, and sets of named bits.
//! Sources: `include/uapi/linux/{genetlink,ethtool_netlink}.h`; `Documentation/networking/ethtool-netlink.rst` (kernel 5.6
//! and later).

use crate::attribute::{Attributes, find, number, put, put_nested, text};
use crate::socket::NetlinkSocket;
use crate::sys;
use std::io;
use std::os::fd::AsFd;

const GENL_ID_CTRL: u16 = 16;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;

/// The head of every question; the same number in all of them.
const HEADER: u16 = 1;
const HEADER_DEV_INDEX: u16 = 1;
const HEADER_DEV_NAME: u16 = 2;

const BITSET_NOMASK: u16 = 1;
const BITSET_BITS: u16 = 3;
const BITSET_BIT: u16 = 1;
const BIT_NAME: u16 = 2;
const BIT_VALUE: u16 = 3;

/// Length of the head of a generic message. Unit: bytes.
const GENERIC_HEAD: usize = 4;

/// The command that asks for offloads; as with all of them, the next number sets.
pub const FEATURES_GET: u8 = 11;
/// Asks for lengths of queues.
pub const RINGS_GET: u8 = 15;
/// Asks for numbers of queues.
pub const CHANNELS_GET: u8 = 17;
/// Asks when interrupts are raised.
pub const COALESCE_GET: u8 = 19;

/// Offloads that can be changed; a set of bits.
pub const FEATURES_HW: u16 = 2;
/// Offloads that were asked for; a set of bits.
pub const FEATURES_WANTED: u16 = 3;
/// Offloads that are in force; a set of bits.
pub const FEATURES_ACTIVE: u16 = 4;

/// A device.
#[derive(Clone, Copy, Debug)]
pub enum DeviceId<'a> {
    /// By its index.
    Index(u32),
    /// By its name.
    Name(&'a str),
}

/// Lets the light of a port blink for so many seconds, and waits as long; a signal ends both. The family has no such request, so this
/// is the one of old.
///
/// # Errors
/// `ENODEV`: there is no such interface in the network namespace of this thread. `EOPNOTSUPP`: its driver cannot.
pub fn blink(name: &str, seconds: u32) -> io::Result<()> {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    sys::blink(socket.as_fd(), name, seconds)
}

/// A socket to the kernel's ethtool.
#[derive(Debug)]
pub struct Ethtool {
    socket: NetlinkSocket,
    /// The number of the family in this boot.
    family: u16,
}

impl Ethtool {
    /// Opens it, in the network namespace of this thread.
    ///
    /// # Errors
    /// The kernel has no such family, or a filter of system calls forbids it.
    pub fn open() -> io::Result<Ethtool> {
        let mut socket = NetlinkSocket::generic()?;
        let mut question = vec![CTRL_CMD_GETFAMILY, 1, 0, 0];
        put(&mut question, CTRL_ATTR_FAMILY_NAME, b"ethtool\0");
        let family = socket.get(GENL_ID_CTRL, &question, |answer| {
            let id = find(answer.get(GENERIC_HEAD..)?, CTRL_ATTR_FAMILY_ID).and_then(number)?;
            u16::try_from(id).ok()
        })?;
        let family =
            family.ok_or_else(|| io::Error::other("the kernel does not support the ethtool family"))?;
        Ok(Ethtool { socket, family })
    }

    /// The attributes that a device answers a command with.
    ///
    /// # Errors
    /// What kernel or driver say.
    pub fn get(&mut self, command: u8, device: DeviceId<'_>) -> io::Result<Vec<u8>> {
        let question = question(command, device, &[]);
        let answer = self
            .socket
            .get(self.family, &question, |answer| answer.get(GENERIC_HEAD..).map(<[u8]>::to_vec))?;
        answer.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the answer is malformed"))
    }

    /// Has a device set by attributes.
    ///
    /// # Errors
    /// What kernel or driver say.
    pub fn set(&mut self, command: u8, device: DeviceId<'_>, attributes: &[u8]) -> io::Result<()> {
        self.socket.change(self.family, 0, &question(command, device, attributes))
    }
}

fn question(command: u8, device: DeviceId<'_>, attributes: &[u8]) -> Vec<u8> {
    let mut header = Vec::new();
    match device {
        DeviceId::Index(index) => put(&mut header, HEADER_DEV_INDEX, &index.to_ne_bytes()),
        DeviceId::Name(name) => put(&mut header, HEADER_DEV_NAME, &[name.as_bytes(), &[0]].concat()),
    }
    let mut message = vec![command, 1, 0, 0];
    put_nested(&mut message, HEADER, &header);
    message.extend(attributes);
    message
}

/// The bits of a set that are named in it, and whether they are on; a set without a mask names only those.
pub fn bits(answer: &[u8], attribute: u16) -> Vec<(&str, bool)> {
    let set = find(answer, attribute).unwrap_or_default();
    let are_all_on = find(set, BITSET_NOMASK).is_some();
    let named = Attributes(find(set, BITSET_BITS).unwrap_or_default());
    let bit = |(_, bit)| {
        let name = text(find(bit, BIT_NAME)?)?;
        Some((name, are_all_on || find(bit, BIT_VALUE).is_some()))
    };
    named.filter_map(bit).collect()
}

/// Appends a set of bits, by their names.
pub fn put_bits(message: &mut Vec<u8>, attribute: u16, bits: &[(&str, bool)]) {
    let mut all = Vec::new();
    for (name, is_on) in bits {
        let mut bit = Vec::new();
        put(&mut bit, BIT_NAME, &[name.as_bytes(), &[0]].concat());
        if *is_on {
            put(&mut bit, BIT_VALUE, &[]);
        }
        put_nested(&mut all, BITSET_BIT, &bit);
    }
    let mut set = Vec::new();
    put_nested(&mut set, BITSET_BITS, &all);
    put_nested(message, attribute, &set);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_sent_and_read_by_name() {
        let wanted = [("rx-gro", true), ("tx-gso", false)];
        let mut answer = Vec::new();
        put_bits(&mut answer, FEATURES_WANTED, &wanted);
        assert_eq!(bits(&answer, FEATURES_WANTED), wanted);
        assert!(bits(&answer, FEATURES_ACTIVE).is_empty());
    }

    /// The loopback device is in every network namespace, has offloads and has no rings.
    #[test]
    fn a_device_is_asked_by_name_and_by_index() {
        let mut ethtool = Ethtool::open().expect("this kernel has ethtool");
        let by_name = ethtool.get(FEATURES_GET, DeviceId::Name("lo")).expect("answers");
        let by_index = ethtool.get(FEATURES_GET, DeviceId::Index(1)).expect("answers");
        let names = |answer: &[u8]| bits(answer, FEATURES_ACTIVE).len();
        assert!(names(&by_name) > 0 && names(&by_name) == names(&by_index));
        assert!(ethtool.get(RINGS_GET, DeviceId::Name("lo")).is_err());
        assert!(ethtool.get(FEATURES_GET, DeviceId::Name("no-such-device")).is_err());
    }
}
