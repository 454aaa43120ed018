//! Where a probe goes: resolves names once, and refuses addresses that must not be probed.
//!
//! Everybody probes networks with a few packets per second, so public addresses are allowed at a capped rate; addresses that
//! reach many hosts, none, or the credentials of a cloud machine are refused.

use crate::error::LoadError;
use crate::target::{AddressClass, classify};
use std::net::{SocketAddr, ToSocketAddrs};
use sysdyno_record::probe::ProbeKind;

/// An address that is too short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeAddress {
    /// Address and port.
    pub address: SocketAddr,
    /// Whether it is neither this host's nor a private one.
    pub is_public: bool,
}

impl ProbeAddress {
    /// An address that was already allowed.
    pub fn of(address: SocketAddr) -> ProbeAddress {
        ProbeAddress { address, is_public: classify(address.ip()) == AddressClass::Public }
    }
}

/// What was typed, before anything is looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeTarget {
    /// The operation that the text asks for.
    pub kind: ProbeKind,
    /// Name or address.
    pub host: String,
    /// Port; `None`: none was typed.
    pub port: Option<u16>,
}

/// Longest text that is read. Unit: bytes.
const MAX_TEXT_BYTES: usize = 8 * 1024;

impl ProbeTarget {
    /// Reads a target: `http://…` and `unix:…` are probed by HTTP, `tcp://HOST:PORT` and `HOST:PORT` by TCP,
    /// `icmp://HOST` and `HOST` by ICMP.
    ///
    /// # Errors
    /// It is none of these.
    pub fn parse(text: &str) -> Result<ProbeTarget, LoadError> {
        let failed =
            |cause: &str| LoadError::Probe { target: crate::target::shown(text), cause: cause.to_owned() };
        if text.len() > MAX_TEXT_BYTES || text.bytes().any(|byte| byte <= 0x20 || byte == 0x7f) {
            return Err(failed("it is too long, or contains blanks or control characters"));
        }
        if text.starts_with("unix:") {
            return Ok(ProbeTarget { kind: ProbeKind::Http, host: String::new(), port: None });
        }
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => (Some(scheme.to_ascii_lowercase()), rest),
            None => (None, text),
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (host, port) = split(&rest[..end]).ok_or_else(|| failed("host and port cannot be read"))?;
        let kind = match scheme.as_deref() {
            Some("http") => ProbeKind::Http,
            Some("tcp") => ProbeKind::Tcp,
            Some("icmp") => ProbeKind::Icmp,
            Some("https") => return Err(failed("https is not supported")),
            Some(_) => return Err(failed("only http://, unix:, tcp:// and icmp:// are known")),
            None if end < rest.len() => ProbeKind::Http,
            None if port.is_some() => ProbeKind::Tcp,
            None => ProbeKind::Icmp,
        };
        Ok(ProbeTarget { kind, host, port })
    }

    /// Looks the host up, at this port, and pins one address.
    ///
    /// # Errors
    /// The name has no address, or has one that is never probed.
    pub fn resolve(&self, port: u16) -> Result<ProbeAddress, LoadError> {
        let failed = |cause: String| LoadError::Resolve { host: self.host.clone(), cause };
        let found =
            (self.host.as_str(), port).to_socket_addrs().map_err(|error| failed(error.to_string()))?;
        let addresses: Vec<SocketAddr> = found.collect();
        for address in &addresses {
            if let AddressClass::Never(what) = classify(address.ip()) {
                let target = format!("{} ({})", self.host, address.ip());
                return Err(LoadError::Probe { target, cause: format!("it is a {what} address") });
            }
        }
        let preferred = addresses.iter().find(|address| address.is_ipv4()).or(addresses.first());
        preferred.map(|address| ProbeAddress::of(*address)).ok_or_else(|| failed("it has no address".into()))
    }
}

/// Host and port of `HOST`, `HOST:PORT`, `[V6]`, `[V6]:PORT` or a bare IPv6 address.
fn split(authority: &str) -> Option<(String, Option<u16>)> {
    let read_port = |text: &str| text.parse::<u16>().ok().filter(|port| *port > 0);
    if authority.parse::<std::net::Ipv6Addr>().is_ok() {
        return Some((authority.to_owned(), None));
    }
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']')?;
            host.parse::<std::net::Ipv6Addr>().ok()?;
            (host, after.strip_prefix(':').or(after.is_empty().then_some(""))?)
        }
        None => authority.split_once(':').unwrap_or((authority, "")),
    };
    let is_host = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':');
    if host.is_empty() || !host.bytes().all(is_host) {
        return None;
    }
    let port = if port.is_empty() { None } else { Some(read_port(port)?) };
    Some((host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_says_what_is_probed() {
        let check = |text: &str, kind: ProbeKind, host: &str, port: Option<u16>| {
            let expected = ProbeTarget { kind, host: host.into(), port };
            assert_eq!(ProbeTarget::parse(text).expect(text), expected, "{text}");
        };
        check("server", ProbeKind::Icmp, "server", None);
        check("::1", ProbeKind::Icmp, "::1", None);
        check("icmp://10.0.0.1", ProbeKind::Icmp, "10.0.0.1", None);
        check("server:22", ProbeKind::Tcp, "server", Some(22));
        check("[::1]:22", ProbeKind::Tcp, "::1", Some(22));
        check("tcp://server", ProbeKind::Tcp, "server", None);
        check("http://server/x?y", ProbeKind::Http, "server", None);
        check("server:8080/x", ProbeKind::Http, "server", Some(8080));
        for wrong in ["", "ftp://x", "https://x", "a b", "x:0", "x:99999", "[x]", "http://", "x:y", "a\u{1b}"]
        {
            assert!(ProbeTarget::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn addresses_of_many_or_of_nobody_are_not_probed_and_public_ones_are() {
        let resolve = |host: &str| ProbeTarget::parse(host).expect("reads").resolve(80);
        for never in ["224.0.0.1", "255.255.255.255", "0.0.0.0", "169.254.169.254", "ff02::1"] {
            assert!(matches!(resolve(never), Err(LoadError::Probe { .. })), "{never}");
        }
        assert!(resolve("9.9.9.9").expect("is too short").is_public);
        assert!(!resolve("127.0.0.1").expect("is too short").is_public);
        assert!(!resolve("10.1.2.3").expect("is too short").is_public);
    }
}
