//! Links in a lab's plan: hosts, addresses, interface names, and what slows frames down.

use super::file::{LinkFile, MAX_COUNT};
use super::problem::FileProblem;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::net::IpAddr;
use sysdyno_record::units::SpanNs;
use toml::Spanned;

/// Longest name of an interface. Unit: bytes. Source: `IFNAMSIZ`, with its final zero.
const MAX_INTERFACE: usize = 15;

/// Longest time that a frame is held.
const MAX_DELAY: SpanNs = SpanNs::from_secs(10);

/// A link between two hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabLink {
    /// Its ends.
    pub ends: [End; 2],
    /// Queues of each end, to send and to receive.
    pub queues_count: u32,
    /// Longest packet; `None`: what the kernel chooses. Unit: bytes.
    pub mtu_bytes: Option<u32>,
    /// Most that an end sends; `None`: as much as it can. Unit: bits per second.
    pub rate_bits_hz: Option<u64>,
    /// What delays and loses frames on their way; `None`: nothing does.
    #[serde(default)]
    pub relay: Option<Relay>,
}

/// A process between the ends of a link, through which all frames go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relay {
    /// How long each frame is held, either way.
    pub delay_ns: SpanNs,
    /// How many of a million frames are lost, either way.
    pub loss_ppm: u32,
    /// Of the numbers that say which.
    pub seed: u64,
}

/// An end of a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// The host that it is in.
    pub host: String,
    /// Name of the interface.
    pub interface: String,
    /// Its address; `None` if it has none.
    pub address: Option<Address>,
}

/// An address of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// The address itself.
    pub ip: IpAddr,
    /// How many bits of it are the network's.
    pub prefix_bits: u8,
}

/// The links of a file, in its order.
///
/// # Errors
/// Whatever is wrong with one of them.
pub(super) fn understand(
    files: &[LinkFile],
    hosts: &[String],
    switches: &BTreeSet<String>,
) -> Result<Vec<LabLink>, FileProblem> {
    let mut links: Vec<LabLink> = Vec::new();
    for file in files {
        let link = link(file, hosts, switches, &links)?;
        links.push(link);
    }
    Ok(links)
}

fn link(
    file: &LinkFile,
    hosts: &[String],
    switches: &BTreeSet<String>,
    before: &[LabLink],
) -> Result<LabLink, FileProblem> {
    let [a, b] = file.between.get_ref().as_slice() else {
        return Err(FileProblem::with(&file.between, "a link is between two hosts"));
    };
    if let Some(unknown) = [a, b].into_iter().find(|host| !hosts.contains(host.get_ref())) {
        return Err(FileProblem::with(unknown, "there is no such host"));
    }
    if a.get_ref() == b.get_ref() {
        return Err(FileProblem::with(b, "a link is between two different hosts"));
    }
    if before.len() >= MAX_COUNT {
        return Err(FileProblem::with(&file.between, format!("a lab has at most {MAX_COUNT} links")));
    }
    let addresses = addresses(file, [a, b].map(|host| switches.contains(host.get_ref())))?;
    let ends = [end(file, 0, a, addresses[0], before)?, end(file, 1, b, addresses[1], before)?];
    let within = |value: &Option<Spanned<u32>>, range: std::ops::RangeInclusive<u32>| match value {
        Some(value) if !range.contains(value.get_ref()) => {
            Err(FileProblem::with(value, format!("this must be from {} to {}", range.start(), range.end())))
        }
        value => Ok(value.as_ref().map(|value| *value.get_ref())),
    };
    Ok(LabLink {
        ends,
        queues_count: within(&file.queues, 1..=64)?.unwrap_or(1),
        mtu_bytes: within(&file.mtu, 576..=65535)?,
        rate_bits_hz: file.rate.as_ref().map(rate).transpose()?,
        relay: relay(file, before.len())?,
    })
}

/// The relay that delay and loss take; `None` where there is neither.
fn relay(file: &LinkFile, position: usize) -> Result<Option<Relay>, FileProblem> {
    if file.delay.is_none() && file.loss.is_none() {
        return match &file.seed {
            Some(seed) => Err(FileProblem::with(seed, "only a link with loss can have a seed")),
            None => Ok(None),
        };
    }
    let seed = file.seed.as_ref().map_or(position as u64 + 1, |seed| *seed.get_ref());
    Ok(Some(Relay {
        delay_ns: file.delay.as_ref().map(delay).transpose()?.unwrap_or(SpanNs(0)),
        loss_ppm: file.loss.as_ref().map(loss).transpose()?.unwrap_or(0),
        seed,
    }))
}

/// `20ms`.
fn delay(typed: &Spanned<String>) -> Result<SpanNs, FileProblem> {
    let span = typed.get_ref().parse::<SpanNs>().ok().filter(|span| *span <= MAX_DELAY);
    span.ok_or_else(|| FileProblem::with(typed, "this is not a delay up to 10s, such as 20ms or 500us"))
}

/// `0.1%`, in millionths.
fn loss(typed: &Spanned<String>) -> Result<u32, FileProblem> {
    let percent = typed.get_ref().strip_suffix('%').and_then(|number| number.parse::<f64>().ok());
    let ppm = percent.map(|percent| percent * 10_000.0).filter(|ppm| (1.0..=1e6).contains(ppm));
    let ppm = ppm.map(|ppm| ppm.round() as u32);
    ppm.ok_or_else(|| FileProblem::with(typed, "this is not a loss from 0.0001% to 100%, such as 0.1%"))
}

fn addresses(file: &LinkFile, is_switch: [bool; 2]) -> Result<[Option<Address>; 2], FileProblem> {
    let Some(list) = &file.addresses else { return Ok([None, None]) };
    match (list.get_ref().as_slice(), is_switch) {
        ([], _) => Ok([None, None]),
        ([one], [false, true]) => Ok([Some(address(one)?), None]),
        ([one], [true, false]) => Ok([None, Some(address(one)?)]),
        (_, [false, true] | [true, false]) => {
            Err(FileProblem::with(list, "a link to a switch has at most one address, for its other end"))
        }
        ([a, b], [false, false]) => {
            let (one, other) = (address(a)?, address(b)?);
            if one.ip == other.ip {
                return Err(FileProblem::with(b, "both ends have this address"));
            }
            Ok([Some(one), Some(other)])
        }
        _ => Err(FileProblem::with(list, "a link has one address per end, or none")),
    }
}

fn address(typed: &Spanned<String>) -> Result<Address, FileProblem> {
    let wrong =
        || FileProblem::with(typed, "this is not an address with a prefix length, such as 10.77.0.1/24");
    let (ip, prefix) = typed.get_ref().split_once('/').ok_or_else(wrong)?;
    let (ip, prefix_bits) =
        (ip.parse::<IpAddr>().map_err(|_| wrong())?, prefix.parse::<u8>().map_err(|_| wrong())?);
    let most = if ip.is_ipv4() { 32 } else { 128 };
    if prefix_bits == 0 || prefix_bits > most {
        return Err(wrong());
    }
    if ip.is_loopback() || ip.is_multicast() || ip.is_unspecified() {
        return Err(FileProblem::with(typed, "a link cannot have this address"));
    }
    Ok(Address { ip, prefix_bits })
}

fn end(
    file: &LinkFile,
    position: usize,
    host: &Spanned<String>,
    address: Option<Address>,
    before: &[LabLink],
) -> Result<End, FileProblem> {
    let of_host = || before.iter().flat_map(|link| &link.ends).filter(|end| end.host == *host.get_ref());
    let interface = match &file.names {
        None => format!("eth{}", of_host().count()),
        Some(names) => {
            let [a, b] = names.get_ref().as_slice() else {
                return Err(FileProblem::with(names, "a link has one name per end"));
            };
            let name = [a, b][position];
            check_interface(name)?;
            name.get_ref().clone()
        }
    };
    if of_host().any(|end| end.interface == interface) {
        let cause = format!(
            "this host already has an interface '{interface}'; choose a name with names = \
                             [..]"
        );
        return Err(FileProblem::with(host, cause));
    }
    if address
        .is_some_and(|address| of_host().any(|end| end.address.is_some_and(|other| other.ip == address.ip)))
    {
        return Err(FileProblem::with(host, "this host already has this address"));
    }
    Ok(End { host: host.get_ref().clone(), interface, address })
}

fn check_interface(name: &Spanned<String>) -> Result<(), FileProblem> {
    let text = name.get_ref();
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_good = (1..=MAX_INTERFACE).contains(&text.len())
        && text.bytes().all(is_allowed)
        && !matches!(text.as_str(), "." | ".." | "lo" | "all" | "default");
    if is_good {
        return Ok(());
    }
    Err(FileProblem::with(
        name,
        "the name of an interface has 1 to 15 characters (A-Z a-z 0-9 - _ .) and is not \
                             lo",
    ))
}

/// `100Mbit`, in bits per second.
fn rate(typed: &Spanned<String>) -> Result<u64, FileProblem> {
    let wrong = || FileProblem::with(typed, "this is not a rate from 8Kbit to 100Gbit, such as 100Mbit");
    let text = typed.get_ref();
    let at = text.find(|letter: char| !letter.is_ascii_digit()).ok_or_else(wrong)?;
    let number: u64 = text[..at].parse().map_err(|_| wrong())?;
    let unit: u64 = match &text[at..] {
        "Kbit" | "kbit" => 1_000,
        "Mbit" | "mbit" => 1_000_000,
        "Gbit" | "gbit" => 1_000_000_000,
        _ => return Err(wrong()),
    };
    let rate = number.checked_mul(unit).ok_or_else(wrong)?;
    if (8_000..=100_000_000_000).contains(&rate) { Ok(rate) } else { Err(wrong()) }
}
