//! Where this host sends packets for an address, and which addresses it has: the kernel's answers, by rtnetlink.
//!
//! Everything here concerns the network namespace of the calling thread. A lookup is that of a connection: policy rules,
//! source address, and user count. An address is on link if its route has no router and it lies in the network of one of
//! that interface's addresses: a default route into a tunnel has no router either.
//! Sources: rtnetlink(7); `include/uapi/linux/{rtnetlink,if_addr}.h`.

mod codec;

use crate::error::ObserveError;
use crate::roots::Roots;
pub(crate) use codec::FlowPorts;
use codec::{
    ALL_ADDRESSES, ALL_ROUTES, FoundRoute, InterfaceAddress, MultipathRoute, RTM_GETADDR, RTM_GETROUTE,
    RouteKind, RouteQuestion,
};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use std::io;
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt;
use sysdyno_netlink::{NetlinkSocket, errno};
use sysdyno_record::route::{HostAddress, Route};

/// Where packets for `address` go that come from `source`; without one, from where the kernel chooses.
///
/// That loopback addresses are the host's own needs no asking.
pub fn route(address: IpAddr, source: Option<IpAddr>) -> Route {
    if address.to_canonical().is_loopback() {
        return Route::Own;
    }
    look_up(address, source).unwrap_or_else(|error| Route::Unknown { cause: error.to_string() })
}

fn look_up(address: IpAddr, source: Option<IpAddr>) -> Result<Route, ObserveError> {
    let failed = |source| ObserveError::Route { operation: "look a route up", source };
    let mut socket = NetlinkSocket::route().map_err(failed)?;
    let question = RouteQuestion {
        address: address.to_canonical(),
        source: source.map(|it| it.to_canonical()),
        ports: None,
    };
    match socket.get(RTM_GETROUTE, &question.encode(), FoundRoute::decode) {
        Ok(Some(found)) => place(&mut socket, question.address, &found).map_err(failed),
        Ok(None) => Err(failed(io::Error::other("the answer is malformed"))),
        Err(error) if is_no_route(&error) => Ok(Route::Nowhere { cause: cause(&error) }),
        Err(error) => Err(failed(error)),
    }
}

/// The number of the interface and the router of packets to `address`; `None`: there is no route.
pub(crate) fn flow_route(
    address: IpAddr,
    source: Option<IpAddr>,
    ports: Option<FlowPorts>,
) -> Result<Option<(u32, Option<IpAddr>)>, ObserveError> {
    let failed = |source| ObserveError::Route { operation: "look a route up", source };
    let mut socket = NetlinkSocket::route().map_err(failed)?;
    let question = RouteQuestion { address, source, ports };
    match socket.get(RTM_GETROUTE, &question.encode(), FoundRoute::decode) {
        Ok(found) => Ok(found.map(|found| (found.interface, found.gateway))),
        Err(error) if is_no_route(&error) => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

/// The routes that have several next hops.
pub(crate) fn multipath_routes() -> Result<Vec<MultipathRoute>, ObserveError> {
    let failed = |source| ObserveError::Route { operation: "list routes", source };
    let mut socket = NetlinkSocket::route().map_err(failed)?;
    let mut found = Vec::new();
    socket
        .list(RTM_GETROUTE, &ALL_ROUTES, |body| found.extend(MultipathRoute::decode(body)))
        .map_err(failed)?;
    Ok(found)
}

/// What names the network namespace of the calling thread on its machine; `None`: it is hidden.
///
/// Source: `/proc/thread-self/ns/net`.
pub fn own_network() -> Option<u64> {
    std::fs::metadata(Roots::host().in_proc("thread-self/ns/net")).ok().map(|found| found.ino())
}

/// The addresses of this host.
///
/// *Errors*: the kernel does not tell.
pub fn host_addresses() -> Result<Vec<HostAddress>, ObserveError> {
    let failed = |source| ObserveError::Route { operation: "list addresses", source };
    let mut socket = NetlinkSocket::route().map_err(failed)?;
    let found = addresses(&mut socket).map_err(failed)?;
    let told = |it: &InterfaceAddress| HostAddress { address: it.own, interface: interface_name(it.index) };
    Ok(found.iter().map(told).collect())
}

fn addresses(socket: &mut NetlinkSocket) -> io::Result<Vec<InterfaceAddress>> {
    let mut found = Vec::new();
    socket.list(RTM_GETADDR, &ALL_ADDRESSES, |body| found.extend(InterfaceAddress::decode(body)))?;
    Ok(found)
}

fn place(socket: &mut NetlinkSocket, address: IpAddr, found: &FoundRoute) -> io::Result<Route> {
    let interface = || interface_name(found.interface);
    Ok(match found.kind {
        RouteKind::Own => Route::Own,
        RouteKind::Other => {
            Route::Nowhere { cause: format!("it is not the address of a single host on '{}'", interface()) }
        }
        RouteKind::Unicast if found.is_direct => {
            let is_in = |it: &InterfaceAddress| it.index == found.interface && it.contains(address);
            match addresses(socket)?.iter().any(is_in) {
                true => Route::OnLink { interface: interface() },
                false => Route::Routed { interface: interface(), gateway: None },
            }
        }
        RouteKind::Unicast => Route::Routed { interface: interface(), gateway: found.gateway },
    })
}

/// The errors that stand for routes of which the kernel makes no packets.
fn is_no_route(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let no_route = [Errno::NETUNREACH, Errno::HOSTUNREACH, Errno::ACCESS, Errno::INVAL, Errno::NODEV];
    errno(error).is_some_and(|number| no_route.iter().any(|errno| errno.raw_os_error() == number))
}

fn cause(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable => {
            "there is no route to it".into()
        }
        io::ErrorKind::PermissionDenied => "a route prohibits it".into(),
        _ => format!("there is no route to it ({error})"),
    }
}

/// Name of an interface; its number if it has gone meanwhile.
pub(crate) fn interface_name(index: u32) -> String {
    let named = rustix::net::socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)
        .and_then(|socket| rustix::net::netdevice::index_to_name(&socket, index));
    named.unwrap_or_else(|_| index.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn addresses_of_this_host_are_its_own() {
        for own in ["127.0.0.1", "127.200.3.4", "::ffff:127.0.0.1"] {
            assert_eq!(look_up(ip(own), None).expect("is told"), Route::Own, "{own}");
        }
        assert_eq!(look_up(ip("127.0.0.1"), Some(ip("127.0.0.2"))).expect("is told"), Route::Own);
        let all = host_addresses().expect("are told");
        assert!(all.iter().any(|one| one.address == ip("127.0.0.1") && one.interface == "lo"), "{all:?}");
        for one in all {
            assert_eq!(route(one.address, None), Route::Own, "{one:?}");
        }
    }

    #[test]
    fn what_stands_for_many_hosts_is_nowhere() {
        let found = route(ip("255.255.255.255"), None);
        assert!(matches!(found, Route::Nowhere { .. }), "{found:?}");
    }
}
