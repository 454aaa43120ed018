//! Settings of a network device itself: channels, rings, coalescing, offloads, over the netlink family `ethtool`.
//!
//! The place of a group is `ethtool:GROUP:INDEX:NAME`; its text is `NAME VALUE` pairs in the kernel's order, with the names
//! of ethtool(8). For offloads, the text has the requested state of those that can be changed, then the word `active` and
//! all that are in force, since a request for one can enable or disable others. A write sends only the differences from the
//! current values: drivers refuse values that they do not know, even unchanged ones. Sources:
//! `networking/ethtool-netlink.rst`, `include/uapi/linux/ethtool_netlink.h`.

use super::device::{INTERFACE, NetworkDevice};
use super::{Setting, SettingFamily, SettingPlace};
use crate::name::SettingName;
use crate::roots::TuneRoots;
use std::fmt;
use std::io;
use sysdyno_netlink::ethtool::{
    CHANNELS_GET, COALESCE_GET, DeviceId, Ethtool, FEATURES_ACTIVE, FEATURES_GET, FEATURES_HW,
    FEATURES_WANTED, RINGS_GET, bits, put_bits,
};
use sysdyno_netlink::{find, number, put};

pub(super) const PREFIX: &str = "ethtool:";

/// The word between the requested state and the state in force.
const ACTIVE: &str = "active";

/// Width of a number in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    Byte,
    Word,
}

/// What is in a group.
#[derive(Clone, Copy, Debug)]
enum Content {
    /// Numbers by their attribute, in the kernel's order.
    Numbers(&'static [(u16, Width, &'static str)]),
    /// What the device does for the kernel.
    Offloads,
}

/// A group of settings that are read and sent together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeviceGroup {
    /// Its name in places.
    name: &'static str,
    /// The request that reads; the one after it sets.
    get: u8,
    /// The option of ethtool(8).
    option: &'static str,
    content: Content,
}

use Width::{Byte, Word};

/// Numbers of queues.
pub(crate) const CHANNELS: DeviceGroup = DeviceGroup {
    name: "channels",
    get: CHANNELS_GET,
    option: "-L",
    content: Content::Numbers(&[(6, Word, "rx"), (7, Word, "tx"), (8, Word, "other"), (9, Word, "combined")]),
};

/// Lengths of queues.
pub(crate) const RINGS: DeviceGroup = DeviceGroup {
    name: "rings",
    get: RINGS_GET,
    option: "-G",
    content: Content::Numbers(&[
        (6, Word, "rx"),
        (7, Word, "rx-mini"),
        (8, Word, "rx-jumbo"),
        (9, Word, "tx"),
    ]),
};

/// When interrupts are raised.
pub(crate) const COALESCING: DeviceGroup = DeviceGroup {
    name: "coalescing",
    get: COALESCE_GET,
    option: "-C",
    content: Content::Numbers(&[
        (2, Word, "rx-usecs"),
        (3, Word, "rx-frames"),
        (4, Word, "rx-usecs-irq"),
        (5, Word, "rx-frames-irq"),
        (6, Word, "tx-usecs"),
        (7, Word, "tx-frames"),
        (8, Word, "tx-usecs-irq"),
        (9, Word, "tx-frames-irq"),
        (10, Word, "stats-block-usecs"),
        (11, Byte, "adaptive-rx"),
        (12, Byte, "adaptive-tx"),
        (13, Word, "pkt-rate-low"),
        (14, Word, "rx-usecs-low"),
        (15, Word, "rx-frames-low"),
        (16, Word, "tx-usecs-low"),
        (17, Word, "tx-frames-low"),
        (18, Word, "pkt-rate-high"),
        (19, Word, "rx-usecs-high"),
        (20, Word, "rx-frames-high"),
        (21, Word, "tx-usecs-high"),
        (22, Word, "tx-frames-high"),
        (23, Word, "sample-interval"),
        (24, Byte, "cqe-mode-tx"),
        (25, Byte, "cqe-mode-rx"),
    ]),
};

/// What the device does for the kernel.
pub(crate) const OFFLOADS: DeviceGroup =
    DeviceGroup { name: "offloads", get: FEATURES_GET, option: "-K", content: Content::Offloads };

impl SettingFamily for DeviceGroup {
    fn place(&self, _: &str) -> String {
        "the netlink family ethtool".into()
    }

    fn find(&self, name: &SettingName<'_>, roots: &TuneRoots) -> Result<Vec<SettingPlace>, String> {
        let device = NetworkDevice::find(name.first(), roots)?;
        Ok(vec![SettingPlace::of(GroupOfDevice { group: *self, device })])
    }

    fn witnesses(&self) -> &'static [&'static str] {
        INTERFACE
    }
}

/// A group of one device.
#[derive(Debug)]
pub(super) struct GroupOfDevice {
    group: DeviceGroup,
    device: NetworkDevice,
}

impl GroupOfDevice {
    pub(super) fn parse(rest: &str) -> Option<GroupOfDevice> {
        let (name, device) = rest.split_once(':')?;
        let group = [CHANNELS, RINGS, COALESCING, OFFLOADS].into_iter().find(|group| group.name == name)?;
        Some(GroupOfDevice { group, device: NetworkDevice::parse(device)? })
    }
}

impl fmt::Display for GroupOfDevice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{PREFIX}{}:{}", self.group.name, self.device)
    }
}

impl Setting for GroupOfDevice {
    fn read(&self, _: &TuneRoots) -> io::Result<String> {
        self.device.check_there()?;
        let answer = &Ethtool::open()?.get(self.group.get, DeviceId::Index(self.device.index))?;
        Ok(match self.group.content {
            Content::Numbers(known) => numbers(known, answer),
            Content::Offloads => offloads(answer),
        })
    }

    /// Sets what differs in a text from what is there.
    fn write(&self, roots: &TuneRoots, text: &str) -> io::Result<()> {
        let now = self.read(roots)?;
        let now = pairs(&now);
        let differing: Vec<(&str, &str)> =
            pairs(text).into_iter().filter(|pair| !now.contains(pair)).collect();
        if differing.is_empty() {
            return Ok(());
        }
        let mut attributes = Vec::new();
        match self.group.content {
            Content::Numbers(known) => {
                differing.into_iter().try_for_each(|pair| put_number(&mut attributes, known, pair))?;
            }
            Content::Offloads => {
                let bits: Vec<(&str, bool)> =
                    differing.into_iter().map(|(name, value)| (name, value == "on")).collect();
                put_bits(&mut attributes, FEATURES_WANTED, &bits);
            }
        }
        Ethtool::open()?.set(self.group.get + 1, DeviceId::Index(self.device.index), &attributes)
    }

    fn shown(&self, text: &str, beside: &str) -> String {
        differing(text, beside)
    }

    fn shell_line(&self, _: &TuneRoots, text: &str) -> String {
        format!("ethtool {} {} {}", self.group.option, self.device.name, joined(&pairs(text)))
    }
}

fn numbers(known: &[(u16, Width, &str)], answer: &[u8]) -> String {
    let found = known.iter().filter_map(|(attribute, _, name)| {
        let value = find(answer, *attribute).and_then(number)?;
        Some(format!("{name} {value}"))
    });
    found.collect::<Vec<_>>().join(" ")
}

fn offloads(answer: &[u8]) -> String {
    let (changeable, wanted) = (bits(answer, FEATURES_HW), bits(answer, FEATURES_WANTED));
    let pairs = changeable.into_iter().filter(|(_, is_on)| *is_on).map(|(name, _)| {
        let is_wanted = wanted.iter().any(|(found, is_on)| *found == name && *is_on);
        format!("{name} {}", if is_wanted { "on" } else { "off" })
    });
    let active = bits(answer, FEATURES_ACTIVE).into_iter().filter(|(_, is_on)| *is_on);
    let words = pairs.chain([ACTIVE.to_owned()]).chain(active.map(|(name, _)| name.to_owned()));
    words.collect::<Vec<_>>().join(" ")
}

fn put_number(
    message: &mut Vec<u8>,
    known: &[(u16, Width, &str)],
    (name, value): (&str, &str),
) -> io::Result<()> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidInput);
    let known = known.iter().find(|(_, _, known)| *known == name);
    let (attribute, width, _) = known.ok_or_else(invalid)?;
    let value: u32 = value.parse().map_err(|_| invalid())?;
    match width {
        Byte => put(message, *attribute, &[u8::try_from(value).map_err(|_| invalid())?]),
        Word => put(message, *attribute, &value.to_ne_bytes()),
    }
    Ok(())
}

/// The pairs of a text, up to what is in force.
fn pairs(text: &str) -> Vec<(&str, &str)> {
    let words: Vec<&str> = text.split_whitespace().take_while(|word| *word != ACTIVE).collect();
    words.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
}

/// The pairs of a text that another one does not have; all of it if they are the same.
fn differing(text: &str, beside: &str) -> String {
    let others = pairs(beside);
    let mut own = pairs(text);
    own.retain(|pair| !others.contains(pair));
    if own.is_empty() { joined(&pairs(text)) } else { joined(&own) }
}

fn joined(pairs: &[(&str, &str)]) -> String {
    pairs.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(" ")
}

/// The text that a group of this text becomes by `typed`, which is pairs too; for offloads only how it begins.
///
/// # Errors
/// A name is not there, or a value is not one of its kind.
pub(crate) fn typed(typed: &str, old: &str) -> Result<String, String> {
    let words: Vec<&str> = typed.split_whitespace().collect();
    if words.is_empty() || !words.len().is_multiple_of(2) {
        return Err("it takes names and values in turn, such as 'rx 512 tx 512' or 'rx-gro off'".into());
    }
    let is_switch = old.split_whitespace().any(|word| word == ACTIVE);
    let mut new = pairs(old);
    for pair in words.chunks_exact(2) {
        let (name, value) = (pair[0], pair[1]);
        let is_value = if is_switch { ["on", "off"].contains(&value) } else { value.parse::<u32>().is_ok() };
        if !is_value {
            let kind = if is_switch { "on or off" } else { "a number" };
            return Err(format!("'{value}' is not {kind}"));
        }
        let Some(known) = new.iter_mut().find(|(known, _)| *known == name) else {
            let known: Vec<&str> = new.iter().map(|(known, _)| *known).collect();
            return Err(format!("'{name}' cannot be changed here, only: {}", known.join(", ")));
        };
        known.1 = value;
    }
    let text = joined(&new);
    Ok(if is_switch { format!("{text} {ACTIVE}") } else { text })
}

#[cfg(test)]
mod tests;
