//! Where a load goes: turns a URL into one pinned address, if that address may be loaded at all.
//!
//! A name is resolved once, all its addresses are classified, and one of them is pinned; nothing is looked up again while
//! the load runs, so a name cannot pass the check and then lead to another address.

mod class;
mod fence;
mod url;

pub use class::{AddressClass, classify};
pub use fence::{Fence, FenceJudgement};

use crate::error::LoadError;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use sysdyno_record::plan::{Endpoint, Target};
use url::Url;

/// Ports that are never loaded: those of mail and of name service.
const NEVER_PORTS: [u16; 4] = [25, 53, 465, 587];

/// Whether the endpoint is on this host, so that no load of it can harm another.
pub fn is_home(endpoint: &Endpoint) -> bool {
    match endpoint {
        Endpoint::Tcp(address) => classify(address.ip()) == AddressClass::Home,
        Endpoint::Unix(_) => true,
    }
}

/// A text that was typed as a target, as it may be shown: without user name and password.
pub(crate) fn shown(text: &str) -> String {
    url::shown(text)
}

/// Whether a URL names a memcached server.
pub fn is_memcached(url: &str) -> bool {
    url.starts_with("memcached:") || url.starts_with("memcacheds:")
}

/// Whom the certificate of an `https` or `memcacheds` URL must name; `None` if it is none.
pub fn tls_name(url: &str) -> Option<String> {
    match url::parse(url) {
        Ok(Url::Http { host, is_tls: true, .. } | Url::Memcached { host, is_tls: true, .. }) => Some(host),
        _ => None,
    }
}

/// Resolves a URL and checks that it may be loaded.
///
/// `http://HOST[:PORT]/PATH` goes over TCP, `unix:SOCKET` and `unix:SOCKET:/PATH` to a Unix socket; likewise
/// `memcached://HOST[:PORT]` and `memcached:/SOCKET`. `https` and `memcacheds` have TLS on top of TCP. A URL without a scheme
/// is taken for `http`.
///
/// # Errors
/// A malformed URL, a name without an address, or an address that is not to be loaded.
pub fn resolve(text: &str) -> Result<Target, LoadError> {
    match url::parse(text)? {
        Url::Unix { socket, path } => {
            let shown = format!("unix:{}", socket.display());
            Ok(Target { url: shown, endpoint: Endpoint::Unix(socket), host: "localhost".into(), path })
        }
        Url::MemcachedUnix { socket } => Ok(Target {
            url: format!("memcached:{}", socket.display()),
            endpoint: Endpoint::Unix(socket),
            host: "localhost".into(),
            path: "/".into(),
        }),
        Url::Memcached { host, port, is_tls } => {
            let address = resolve_host(&host, port)?;
            let bracketed = if host.contains(':') { format!("[{host}]") } else { host };
            let authority = format!("{bracketed}:{port}");
            let scheme = if is_tls { "memcacheds" } else { "memcached" };
            Ok(Target {
                url: format!("{scheme}://{authority}"),
                endpoint: Endpoint::Tcp(address),
                host: authority,
                path: "/".into(),
            })
        }
        Url::Http { host, port, path, is_tls } => {
            let address = resolve_host(&host, port)?;
            let authority = authority(host, port, is_tls);
            let scheme = if is_tls { "https" } else { "http" };
            let url = format!("{scheme}://{authority}{path}");
            Ok(Target { url, endpoint: Endpoint::Tcp(address), host: authority, path })
        }
    }
}

/// The URL of a target with another address in it; that of a Unix socket is as it was.
pub fn url_at(target: &Target, address: IpAddr) -> String {
    let Endpoint::Tcp(endpoint) = target.endpoint else { return target.url.clone() };
    let has_port = target.host.ends_with(&format!(":{}", endpoint.port()));
    let authority = match (has_port, address) {
        (true, address) => SocketAddr::new(address, endpoint.port()).to_string(),
        (false, IpAddr::V4(address)) => address.to_string(),
        (false, IpAddr::V6(address)) => format!("[{address}]"),
    };
    target.url.replacen(&target.host, &authority, 1)
}

/// The origin (scheme, host and port) and the path of an `http` or `https` URL; nothing is looked up.
///
/// # Errors
/// A malformed URL, or one of a Unix socket.
pub(crate) fn origin_and_path(text: &str) -> Result<(String, String), LoadError> {
    match url::parse(text)? {
        Url::Unix { .. } | Url::Memcached { .. } | Url::MemcachedUnix { .. } => {
            Err(LoadError::Url { url: shown(text), cause: "it is on a different server" })
        }
        Url::Http { host, port, path, is_tls } => {
            let scheme = if is_tls { "https" } else { "http" };
            Ok((format!("{scheme}://{}", authority(host, port, is_tls)), path))
        }
    }
}

fn authority(host: String, port: u16, is_tls: bool) -> String {
    let bracketed = if host.contains(':') { format!("[{host}]") } else { host };
    let default_port = if is_tls { 443 } else { 80 };
    if port == default_port { bracketed } else { format!("{bracketed}:{port}") }
}

fn resolve_host(host: &str, port: u16) -> Result<SocketAddr, LoadError> {
    let failed = |cause: String| LoadError::Resolve { host: host.into(), cause };
    let is_number = host.parse::<std::net::IpAddr>().is_ok();
    if !is_number && looks_numeric(host) {
        return Err(failed("it is neither a name nor a plain IPv4 or IPv6 address".into()));
    }
    let found = (host, port).to_socket_addrs().map_err(|error| failed(error.to_string()))?;
    let addresses: Vec<SocketAddr> = found.collect();
    for address in &addresses {
        authorize(host, *address)?;
    }
    let preferred = addresses.iter().find(|address| address.is_ipv4()).or(addresses.first());
    preferred.copied().ok_or_else(|| failed("it has no address".into()))
}

/// Whether a host is written in digits only, as short or octal forms of addresses are.
fn looks_numeric(host: &str) -> bool {
    let last = host.trim_end_matches('.').rsplit('.').next().unwrap_or("");
    last.starts_with(|first: char| first.is_ascii_digit())
        && last.chars().all(|letter| letter.is_ascii_hexdigit() || letter == 'x' || letter == 'X')
}

/// Refuses a target whose address is not the user's own to load, wherever its plan comes from.
///
/// # Errors
/// It is at such an address, or at a port that is never loaded.
pub fn check_address(target: &Target) -> Result<(), LoadError> {
    match &target.endpoint {
        Endpoint::Tcp(address) => authorize(&target.url, *address),
        Endpoint::Unix(_) => Ok(()),
    }
}

/// Refuses addresses that are not the user's own to load.
fn authorize(host: &str, address: SocketAddr) -> Result<(), LoadError> {
    let refused = |cause: String| LoadError::Refused { target: format!("{host} ({address})"), cause };
    if NEVER_PORTS.contains(&address.port()) {
        return Err(refused(format!("sysdyno never loads port {}", address.port())));
    }
    match classify(address.ip()) {
        AddressClass::Home | AddressClass::Private => Ok(()),
        AddressClass::Public => Err(refused(
            "it is a public address; only loopback, private, and link-local addresses can be loaded".into(),
        )),
        AddressClass::Never(what) => {
            Err(refused(format!("it is a {what} address, which sysdyno never loads")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_becomes_an_address_and_a_request_line() {
        let target = resolve("http://127.0.0.1:8080/a?b=c").expect("resolves");
        assert_eq!(target.endpoint, Endpoint::Tcp("127.0.0.1:8080".parse().expect("address")));
        assert_eq!((target.host.as_str(), target.path.as_str()), ("127.0.0.1:8080", "/a?b=c"));
        assert_eq!(resolve("127.0.0.1").expect("resolves").url, "http://127.0.0.1/");
        assert_eq!(resolve("http://[::1]:81").expect("resolves").host, "[::1]:81");
        let cache = resolve("memcached://127.0.0.1").expect("resolves");
        assert_eq!(cache.endpoint, Endpoint::Tcp("127.0.0.1:11211".parse().expect("address")));
        let cache = resolve("memcacheds://127.0.0.1").expect("resolves");
        assert_eq!(cache.endpoint, Endpoint::Tcp("127.0.0.1:11211".parse().expect("address")));
        assert_eq!(cache.url, "memcacheds://127.0.0.1:11211");
        let cache = resolve("memcached:/run/m.sock").expect("resolves");
        assert_eq!(
            (cache.endpoint, cache.url.as_str()),
            (Endpoint::Unix("/run/m.sock".into()), "memcached:/run/m.sock")
        );
        let secure = resolve("https://127.0.0.1/x").expect("resolves");
        assert_eq!(secure.endpoint, Endpoint::Tcp("127.0.0.1:443".parse().expect("address")));
        assert_eq!((secure.host.as_str(), secure.url.as_str()), ("127.0.0.1", "https://127.0.0.1/x"));
        assert_eq!(tls_name("https://[::1]:8/").as_deref(), Some("::1"));
        assert_eq!(tls_name("memcacheds://cache.test").as_deref(), Some("cache.test"));
        assert_eq!((tls_name("http://a/"), tls_name("memcached://a")), (None, None));
        assert!(is_memcached("memcached://a") && is_memcached("memcacheds://a") && !is_memcached("http://a"));
        let unix = resolve("unix:/run/x.sock:/status").expect("resolves");
        assert_eq!((unix.endpoint, unix.path.as_str()), (Endpoint::Unix("/run/x.sock".into()), "/status"));
    }

    #[test]
    fn another_address_takes_the_place_of_the_host_alone() {
        let at = |url: &str, address: &str| {
            url_at(&resolve(url).expect("resolves"), address.parse().expect("an address"))
        };
        assert_eq!(at("http://127.0.0.1/127.0.0.1", "10.0.0.1"), "http://10.0.0.1/127.0.0.1");
        assert_eq!(at("https://127.0.0.1:8443/x?y", "fd00::1"), "https://[fd00::1]:8443/x?y");
        assert_eq!(at("http://[::1]/", "fd00::1"), "http://[fd00::1]/");
        assert_eq!(at("memcached://127.0.0.1", "10.0.0.1"), "memcached://10.0.0.1:11211");
        assert_eq!(at("unix:/run/x.sock:/y", "10.0.0.1"), "unix:/run/x.sock");
    }

    #[test]
    fn foreign_and_misleading_addresses_are_refused() {
        for url in [
            "http://8.8.8.8/",
            "http://[2606:4700::1111]/",
            "http://169.254.169.254/latest",
            "http://[fd00:ec2::254]/",
            "http://224.0.0.1/",
            "http://0.0.0.0/",
            "http://255.255.255.255/",
            "http://[::ffff:8.8.8.8]/",
            "http://[64:ff9b::8.8.8.8]/",
            "http://192.0.2.1/",
            "http://127.0.0.1:25/",
        ] {
            assert!(matches!(resolve(url), Err(LoadError::Refused { .. })), "{url}");
        }
        for url in [
            "http://0177.0.0.1/",
            "http://127.1/",
            "http://0x7f000001/",
            "http://2130706433/",
            "http://1.2.3.4.5/",
        ] {
            assert!(matches!(resolve(url), Err(LoadError::Resolve { .. })), "{url}");
        }
    }
}
