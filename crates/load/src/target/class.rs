//! The owner of an address, as far as the address itself reveals it.
//!
//! Ranges: IANA special-purpose address registries (RFC 6890 and its updates). Addresses that embed another address
//! (IPv4-mapped, NAT64, 6to4) are judged by the embedded one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whose an address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressClass {
    /// This host: loopback.
    Home,
    /// A private network: RFC 1918, shared space, link-local, unique local.
    Private,
    /// Everybody else's.
    Public,
    /// Nobody's to load, with what it is.
    Never(&'static str),
}

/// The class of an address.
pub fn classify(address: IpAddr) -> AddressClass {
    match address {
        IpAddr::V4(address) => classify_v4(address),
        IpAddr::V6(address) => inner_v4(address).map_or_else(|| classify_v6(address), classify_v4),
    }
}

/// Link-local addresses at which clouds serve machine credentials.
const METADATA_V4: [Ipv4Addr; 2] = [Ipv4Addr::new(169, 254, 169, 254), Ipv4Addr::new(169, 254, 170, 2)];
const METADATA_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);

fn classify_v4(address: Ipv4Addr) -> AddressClass {
    let octets = address.octets();
    if METADATA_V4.contains(&address) {
        AddressClass::Never("cloud metadata")
    } else if address.is_multicast() {
        AddressClass::Never("multicast")
    } else if address.is_broadcast() || octets[0] >= 240 {
        AddressClass::Never("broadcast or reserved")
    } else if octets[0] == 0 {
        AddressClass::Never("unspecified")
    } else if address.is_documentation() {
        AddressClass::Never("documentation")
    } else if address.is_loopback() {
        AddressClass::Home
    } else if address.is_private() || address.is_link_local() || (octets[0] == 100 && octets[1] & 0xc0 == 64)
    {
        AddressClass::Private
    } else {
        AddressClass::Public
    }
}

fn classify_v6(address: Ipv6Addr) -> AddressClass {
    let first = address.segments()[0];
    if address == METADATA_V6 {
        AddressClass::Never("cloud metadata")
    } else if address.is_multicast() {
        AddressClass::Never("multicast")
    } else if address.is_unspecified() {
        AddressClass::Never("unspecified")
    } else if first == 0x2001 && address.segments()[1] == 0xdb8 {
        AddressClass::Never("documentation")
    } else if address.is_loopback() {
        AddressClass::Home
    } else if first & 0xfe00 == 0xfc00 || first & 0xffc0 == 0xfe80 {
        AddressClass::Private
    } else {
        AddressClass::Public
    }
}

/// The IPv4 address that an IPv6 address carries: mapped, NAT64 (RFC 6052) or 6to4 (RFC 3056).
fn inner_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let segments = address.segments();
    let join = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match segments {
        [0, 0, 0, 0, 0, 0xffff, high, low] => Some(join(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(join(high, low)),
        [0x2002, high, low, ..] => Some(join(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_the_class_of_their_registry() {
        let check = |text: &str, class: AddressClass| {
            assert_eq!(classify(text.parse().expect("an address")), class, "{text}");
        };
        for home in ["127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1"] {
            check(home, AddressClass::Home);
        }
        for private in
            ["10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.1.1", "100.64.0.1", "fe80::1", "fd12::1"]
        {
            check(private, AddressClass::Private);
        }
        for public in ["9.9.9.9", "172.32.0.1", "100.128.0.1", "2001:4860::1", "2002:0808:0808::1"] {
            check(public, AddressClass::Public);
        }
        check("ff02::1", AddressClass::Never("multicast"));
        check("2001:db8::1", AddressClass::Never("documentation"));
    }
}
