//! Links: veth pairs, created within the namespaces of their ends and never in the host's; and the bridges of switches.
//!
//! A thread in the namespace sends the requests over rtnetlink. Sources: rtnetlink(7), veth(4),
//! `include/uapi/linux/{if_link,if_addr,veth,pkt_sched}.h`.

use super::namespace;
use super::plan_links::{Address, End, LabLink};
use std::io;
use std::net::IpAddr;
use std::os::fd::AsRawFd;
use std::path::Path;
use sysdyno_netlink::{CREATE, EXCLUSIVE, NetlinkSocket, put, put_nested, word};

const RTM_NEWLINK: u16 = 16;
const RTM_NEWADDR: u16 = 20;
const RTM_GETLINK: u16 = 18;
const RTM_NEWQDISC: u16 = 36;

const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
const IFLA_MASTER: u16 = 10;
const IFLA_LINKINFO: u16 = 18;
const IFLA_NET_NS_FD: u16 = 28;
const IFLA_NUM_TX_QUEUES: u16 = 31;
const IFLA_NUM_RX_QUEUES: u16 = 32;
const IFLA_AF_SPEC: u16 = 26;
const IFLA_GSO_MAX_SEGS: u16 = 40;
const IFLA_INET6_ADDR_GEN_MODE: u16 = 8;
const IN6_ADDR_GEN_MODE_NONE: u8 = 1;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const VETH_INFO_PEER: u16 = 1;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
/// No probe for another one with the address: the lab knows all that there are.
const IFA_F_NODAD: u8 = 0x02;
const IFF_UP: u32 = 1;
const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_RATE64: u16 = 4;
const TCA_TBF_BURST: u16 = 6;
const TC_H_ROOT: u32 = 0xFFFF_FFFF;

/// Length of `struct ifinfomsg`. Unit: bytes.
const LINK_HEAD: usize = 16;

/// The index of the loopback interface in every namespace.
const LOOPBACK: u32 = 1;

/// The bridge of a switch.
const SWITCH: &str = "switch0";

/// What may wait in front of a limited link. Unit: bytes.
const TBF_QUEUE_BYTES: u32 = 1 << 20;

/// Brings the loopback interface of a namespace up.
pub(super) fn loopback_up(path: &Path) -> io::Result<()> {
    namespace::within(path, || set_up(&mut NetlinkSocket::route()?, LOOPBACK))
}

/// Where an end of a link is.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndPlace<'a> {
    pub(super) namespace: &'a Path,
    pub(super) role: Role,
}

/// What an end is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// An interface of a host.
    Host,
    /// A port of a switch.
    Port,
    /// The inner end of a pair that leads to a relay, which brings it up: so the host's end has no carrier before.
    Relay,
}

/// Makes the bridge of a switch, in whose namespace nothing else is.
pub(super) fn make_switch(path: &Path) -> io::Result<()> {
    namespace::within(path, || {
        let mut netlink = NetlinkSocket::route()?;
        let mut request = vec![0; LINK_HEAD];
        put(&mut request, IFLA_IFNAME, &named(SWITCH));
        let mut info = Vec::new();
        put(&mut info, IFLA_INFO_KIND, b"bridge");
        put_nested(&mut request, IFLA_LINKINFO, &info);
        netlink.change(RTM_NEWLINK, CREATE | EXCLUSIVE, &request)?;
        let index = index(&mut netlink, SWITCH)?;
        set_up(&mut netlink, index)
    })
}

/// Makes a pair, gives its ends their addresses, and brings them up.
pub(super) fn make(link: &LabLink, places: [EndPlace<'_>; 2]) -> io::Result<()> {
    let far = namespace::open(places[1].namespace)?;
    namespace::within(places[0].namespace, || {
        let mut request = vec![0; LINK_HEAD];
        put_interface(&mut request, link, &link.ends[0]);
        let mut peer = vec![0; LINK_HEAD];
        put_interface(&mut peer, link, &link.ends[1]);
        put(&mut peer, IFLA_NET_NS_FD, &far.as_raw_fd().to_ne_bytes());
        let (mut data, mut info) = (Vec::new(), Vec::new());
        put_nested(&mut data, VETH_INFO_PEER, &peer);
        put(&mut info, IFLA_INFO_KIND, b"veth");
        put_nested(&mut info, IFLA_INFO_DATA, &data);
        put_nested(&mut request, IFLA_LINKINFO, &info);
        NetlinkSocket::route()?.change(RTM_NEWLINK, CREATE | EXCLUSIVE, &request)
    })?;
    let mut ends = link.ends.iter().zip(places);
    ends.try_for_each(|(end, place)| namespace::within(place.namespace, || set(link, end, place.role)))
}

fn put_interface(request: &mut Vec<u8>, link: &LabLink, end: &End) {
    put(request, IFLA_IFNAME, &named(&end.interface));
    if let Some(mtu) = link.mtu_bytes {
        put(request, IFLA_MTU, &mtu.to_ne_bytes());
    }
    put(request, IFLA_NUM_TX_QUEUES, &link.queues_count.to_ne_bytes());
    put(request, IFLA_NUM_RX_QUEUES, &link.queues_count.to_ne_bytes());
}

fn named(name: &str) -> Vec<u8> {
    [name.as_bytes(), &[0]].concat()
}

/// Address, queueing discipline and state of one end, in whose namespace this is.
fn set(link: &LabLink, end: &End, role: Role) -> io::Result<()> {
    let netlink = &mut NetlinkSocket::route()?;
    let index = self::index(netlink, &end.interface)?;
    match role {
        Role::Host => {}
        Role::Port => join_switch(netlink, index)?,
        Role::Relay => {
            // A kernel without IPv6 has nothing to say.
            let _ = make_silent(netlink, index);
            return Ok(());
        }
    }
    if link.relay.is_some() {
        cut_segments(netlink, index)?;
    }
    if let Some(address) = end.address {
        add_address(netlink, index, address)?;
    }
    if let Some(rate) = link.rate_bits_hz {
        limit(netlink, index, rate)?;
    }
    set_up(netlink, index)
}

fn change(netlink: &mut NetlinkSocket, index: u32, put: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
    let mut request = [&[0; 4][..], &index.to_ne_bytes(), &[0; 8]].concat();
    put(&mut request);
    netlink.change(RTM_NEWLINK, 0, &request)
}

fn join_switch(netlink: &mut NetlinkSocket, index: u32) -> io::Result<()> {
    let master = self::index(netlink, SWITCH)?;
    change(netlink, index, |request| put(request, IFLA_MASTER, &master.to_ne_bytes()))
}

/// No link-local address of IPv6, so that the kernel does not speak there by itself.
fn make_silent(netlink: &mut NetlinkSocket, index: u32) -> io::Result<()> {
    let (mut mode, mut family) = (Vec::new(), Vec::new());
    put(&mut mode, IFLA_INET6_ADDR_GEN_MODE, &[IN6_ADDR_GEN_MODE_NONE]);
    put_nested(&mut family, libc::AF_INET6 as u16, &mode);
    change(netlink, index, |request| put_nested(request, IFLA_AF_SPEC, &family))
}

/// Has the kernel cut what it sends into packets itself, as it would in front of a wire: a pair hands on up to 64 KiB in one
/// piece otherwise, which a relay would hold and lose as one frame.
fn cut_segments(netlink: &mut NetlinkSocket, index: u32) -> io::Result<()> {
    change(netlink, index, |request| put(request, IFLA_GSO_MAX_SEGS, &1u32.to_ne_bytes()))
}

/// Brings an interface of the thread's network namespace up.
pub(super) fn bring_up(index: u32) -> io::Result<()> {
    set_up(&mut NetlinkSocket::route()?, index)
}

/// The index of an interface of the thread's network namespace.
pub(super) fn index_of(name: &str) -> io::Result<u32> {
    index(&mut NetlinkSocket::route()?, name)
}

fn index(netlink: &mut NetlinkSocket, name: &str) -> io::Result<u32> {
    let mut request = vec![0; LINK_HEAD];
    put(&mut request, IFLA_IFNAME, &named(name));
    let found = netlink.get(RTM_GETLINK, &request, |answer| word(answer, 4))?;
    found.ok_or_else(|| io::ErrorKind::NotFound.into())
}

fn set_up(netlink: &mut NetlinkSocket, index: u32) -> io::Result<()> {
    let request = [&[0; 4][..], &index.to_ne_bytes(), &IFF_UP.to_ne_bytes(), &IFF_UP.to_ne_bytes()].concat();
    netlink.change(RTM_NEWLINK, 0, &request)
}

fn add_address(netlink: &mut NetlinkSocket, index: u32, address: Address) -> io::Result<()> {
    let (family, bytes) = match address.ip {
        IpAddr::V4(ip) => (libc::AF_INET as u8, ip.octets().to_vec()),
        IpAddr::V6(ip) => (libc::AF_INET6 as u8, ip.octets().to_vec()),
    };
    let mut request = vec![family, address.prefix_bits, IFA_F_NODAD, 0];
    request.extend(index.to_ne_bytes());
    put(&mut request, IFA_LOCAL, &bytes);
    put(&mut request, IFA_ADDRESS, &bytes);
    netlink.change(RTM_NEWADDR, CREATE | EXCLUSIVE, &request)
}

/// A token bucket at the root: 5 ms worth of the rate at once, at least two long packets.
fn limit(netlink: &mut NetlinkSocket, index: u32, rate_bits_hz: u64) -> io::Result<()> {
    let rate = rate_bits_hz / 8;
    let burst = u32::try_from((rate / 200).clamp(128 * 1024, 64 << 20)).expect("was just bounded");
    // struct tc_tbf_qopt: rate and peak rate (tc_ratespec, 12 bytes each), limit, buffer, mtu.
    let mut parameters = vec![0u8; 24];
    parameters[1] = 1; // TC_LINKLAYER_ETHERNET
    parameters[8..12].copy_from_slice(&u32::try_from(rate).unwrap_or(u32::MAX).to_ne_bytes());
    parameters.extend((burst + TBF_QUEUE_BYTES).to_ne_bytes());
    // In ticks; `TCA_TBF_BURST`, in bytes, is what counts.
    parameters.extend([0; 8]);
    let mut options = Vec::new();
    put(&mut options, TCA_TBF_PARMS, &parameters);
    put(&mut options, TCA_TBF_BURST, &burst.to_ne_bytes());
    if u32::try_from(rate).is_err() {
        put(&mut options, TCA_TBF_RATE64, &rate.to_ne_bytes());
    }
    let mut request = vec![0; 4];
    request.extend([index, 0, TC_H_ROOT, 0].iter().flat_map(|word| word.to_ne_bytes()));
    put(&mut request, TCA_KIND, b"tbf\0");
    put_nested(&mut request, TCA_OPTIONS, &options);
    let made = netlink.change(RTM_NEWQDISC, CREATE | EXCLUSIVE, &request);
    made.map_err(|error| io::Error::new(error.kind(), format!("cannot limit its rate (tbf): {error}")))
}
