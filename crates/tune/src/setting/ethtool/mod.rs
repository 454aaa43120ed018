//! What a device itself is set to: channels, rings, coalescing, offloads, over the netlink family `ethtool`.
//!
//! The text of a group is `NAME VALUE` pairs in the kernel's order, with the names of ethtool(8). Of offloads it is what
//! was asked for, of those that can be changed, then the word `active` and all that are in force, for asking for one can
//! bring or take others. A write sends only what differs from what is there: drivers refuse what they do not know, even
//! if it is unchanged. Sources: `networking/ethtool-netlink.rst`, `include/uapi/linux/ethtool_netlink.h`.

use super::link::{Link, link_name};
use crate::netlink::{Attributes, Netlink, Wanted, find, number, put, put_nested, text};
use std::io;

const GENL_ID_CTRL: u16 = 16;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;

/// The head of every request; the same number in all of them.
const HEADER: u16 = 1;
const HEADER_DEV_INDEX: u16 = 1;

const FEATURES_HW: u16 = 2;
const FEATURES_WANTED: u16 = 3;
const FEATURES_ACTIVE: u16 = 4;
const BITSET_BITS: u16 = 3;
const BITSET_BIT: u16 = 1;
const BIT_NAME: u16 = 2;
const BIT_VALUE: u16 = 3;

/// The word between what was asked for and what is in force.
const ACTIVE: &str = "active";

/// Length of the head of a generic message. Unit: bytes.
const GENERIC_HEAD: usize = 4;

/// A group of settings that are read and sent together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// Numbers of queues.
    Channels,
    /// Lengths of queues.
    Rings,
    /// When interrupts are raised.
    Coalescing,
    /// What the device does for the kernel.
    Offloads,
}

/// Width of a number in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    Byte,
    Word,
}

/// How a group is asked for.
struct Form {
    group: Group,
    /// Its name in places.
    name: &'static str,
    /// The request that reads; the one after it sets.
    get: u8,
    /// The option of ethtool(8).
    option: &'static str,
    /// Numbers by their attribute, in the kernel's order.
    numbers: &'static [(u16, Width, &'static str)],
}

use Width::{Byte, Word};

const FORMS: [Form; 4] = [
    Form {
        group: Group::Channels,
        name: "channels",
        get: 17,
        option: "-L",
        numbers: &[(6, Word, "rx"), (7, Word, "tx"), (8, Word, "other"), (9, Word, "combined")],
    },
    Form {
        group: Group::Rings,
        name: "rings",
        get: 15,
        option: "-G",
        numbers: &[(6, Word, "rx"), (7, Word, "rx-mini"), (8, Word, "rx-jumbo"), (9, Word, "tx")],
    },
    Form {
        group: Group::Coalescing,
        name: "coalescing",
        get: 19,
        option: "-C",
        numbers: &[
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
        ],
    },
    Form { group: Group::Offloads, name: "offloads", get: 11, option: "-K", numbers: &[] },
];

impl Group {
    /// The place of this group of a device, given as `INDEX:NAME`.
    pub(crate) fn place(self, link: &str) -> String {
        let name = FORMS.iter().find(|form| form.group == self).map_or("", |form| form.name);
        format!("ethtool:{name}:{link}")
    }
}

/// Understands `GROUP:INDEX:NAME`.
fn named(rest: &str) -> io::Result<(&'static Form, Link<'_>)> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidInput);
    let (name, link) = rest.split_once(':').ok_or_else(invalid)?;
    Ok((FORMS.iter().find(|form| form.name == name).ok_or_else(invalid)?, Link::of(link)?))
}

/// The text of a group.
pub(super) fn read(rest: &str) -> io::Result<String> {
    let (form, link) = named(rest)?;
    if link_name(link.index)?.is_none() {
        return Err(io::Error::from(io::ErrorKind::NotFound));
    }
    let netlink = Netlink::generic()?;
    let answers = netlink.ask(family(&netlink)?, Wanted::Answer, &request(form.get, link.index))?;
    let answer = answers.first().and_then(|answer| answer.get(GENERIC_HEAD..));
    let answer = answer.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
    Ok(match form.group {
        Group::Offloads => offloads(answer),
        _ => numbers(form, answer),
    })
}

fn numbers(form: &Form, answer: &[u8]) -> String {
    let found = form.numbers.iter().filter_map(|(attribute, _, name)| {
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

/// The bits of a set that are named in it, and whether they are on; a set without a mask names only those.
fn bits(answer: &[u8], attribute: u16) -> Vec<(&str, bool)> {
    const NOMASK: u16 = 1;
    let set = find(answer, attribute).unwrap_or_default();
    let are_all_on = find(set, NOMASK).is_some();
    let named = Attributes(find(set, BITSET_BITS).unwrap_or_default());
    named
        .filter_map(|(_, bit)| {
            let name = text(find(bit, BIT_NAME)?)?;
            Some((name, are_all_on || find(bit, BIT_VALUE).is_some()))
        })
        .collect()
}

/// Sets what differs in a text from what is there.
pub(super) fn write(rest: &str, text: &str) -> io::Result<()> {
    let (form, link) = named(rest)?;
    let now = read(rest)?;
    let now = pairs(&now);
    let differing: Vec<(&str, &str)> = pairs(text).into_iter().filter(|pair| !now.contains(pair)).collect();
    let mut message = request(form.get + 1, link.index);
    if differing.is_empty() {
        return Ok(());
    }
    match form.group {
        Group::Offloads => put_nested(&mut message, FEATURES_WANTED, &bitset(&differing)),
        _ => differing.iter().try_for_each(|(name, value)| put_number(&mut message, form, (name, value)))?,
    }
    let netlink = Netlink::generic()?;
    netlink.ask(family(&netlink)?, Wanted::Answer, &message).map(drop)
}

fn bitset(differing: &[(&str, &str)]) -> Vec<u8> {
    let mut all = Vec::new();
    for (name, value) in differing {
        let mut bit = Vec::new();
        put(&mut bit, BIT_NAME, format!("{name}\0").as_bytes());
        if *value == "on" {
            put(&mut bit, BIT_VALUE, &[]);
        }
        put_nested(&mut all, BITSET_BIT, &bit);
    }
    let mut set = Vec::new();
    put_nested(&mut set, BITSET_BITS, &all);
    set
}

fn put_number(message: &mut Vec<u8>, form: &Form, (name, value): (&str, &str)) -> io::Result<()> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidInput);
    let known = form.numbers.iter().find(|(_, _, known)| *known == name);
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
pub(super) fn differing(text: &str, beside: &str) -> String {
    let others = pairs(beside);
    let mut own = pairs(text);
    own.retain(|pair| !others.contains(pair));
    match own.is_empty() {
        true => text.split_whitespace().take_while(|word| *word != ACTIVE).collect::<Vec<_>>().join(" "),
        false => own.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(" "),
    }
}

fn request(command: u8, index: u32) -> Vec<u8> {
    let mut header = Vec::new();
    put(&mut header, HEADER_DEV_INDEX, &index.to_ne_bytes());
    let mut message = vec![command, 1, 0, 0];
    put_nested(&mut message, HEADER, &header);
    message
}

/// The number of the family in this boot.
fn family(netlink: &Netlink) -> io::Result<u16> {
    let mut message = vec![CTRL_CMD_GETFAMILY, 1, 0, 0];
    put(&mut message, CTRL_ATTR_FAMILY_NAME, b"ethtool\0");
    let answers = netlink.ask(GENL_ID_CTRL, Wanted::Answer, &message)?;
    let id = answers.first().and_then(|answer| find(answer.get(GENERIC_HEAD..)?, CTRL_ATTR_FAMILY_ID));
    let id = id.and_then(|bytes| Some(u16::from_ne_bytes(bytes.try_into().ok()?)));
    id.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
}

/// The text that a group of this text becomes by `typed`, which is pairs too; for offloads only how it begins.
///
/// # Errors
/// A name is not there, or a value is not one of its kind.
pub(crate) fn typed(typed: &str, old: &str) -> Result<String, String> {
    let words: Vec<&str> = typed.split_whitespace().collect();
    if words.is_empty() || !words.len().is_multiple_of(2) {
        return Err("it takes names and values in turn, as in 'rx 512 tx 512' or 'rx-gro off'".into());
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
            return Err(format!("'{name}' cannot be changed here; these can: {}", known.join(", ")));
        };
        known.1 = value;
    }
    let mut texts: Vec<String> = new.iter().map(|(name, value)| format!("{name} {value}")).collect();
    texts.extend(is_switch.then(|| ACTIVE.to_owned()));
    Ok(texts.join(" "))
}

/// A line of shell that sets it.
pub(super) fn shell_line(rest: &str, text: &str) -> String {
    match named(rest) {
        Ok((form, link)) => {
            let all: Vec<String> =
                pairs(text).iter().map(|(name, value)| format!("{name} {value}")).collect();
            format!("ethtool {} {} {}", form.option, link.name, all.join(" "))
        }
        Err(_) => format!("# '{rest}' cannot be understood"),
    }
}

#[cfg(test)]
mod tests;
