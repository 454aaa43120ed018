//! URLs as people type them for a load generator.

use crate::error::LoadError;
use std::path::PathBuf;

/// A URL in parts.
#[derive(Debug)]
pub(super) enum Url {
    /// Over TCP.
    Http {
        /// Name or address, without brackets.
        host: String,
        /// Port, 80 or 443 unless given.
        port: u16,
        /// Path and query.
        path: String,
        /// Whether it is `https`.
        is_tls: bool,
    },
    /// memcached over TCP.
    Memcached {
        /// Name or address, without brackets.
        host: String,
        /// Port, 11211 unless given.
        port: u16,
        /// Whether it is `memcacheds`.
        is_tls: bool,
    },
    /// memcached over a Unix socket.
    MemcachedUnix {
        /// The socket.
        socket: PathBuf,
    },
    /// Over a Unix socket.
    Unix {
        /// The socket.
        socket: PathBuf,
        /// Path and query.
        path: String,
    },
}

/// Longest URL that is read. Unit: bytes.
const MAX_URL_BYTES: usize = 8 * 1024;

const MEMCACHED_PORT: u16 = 11211;

pub(super) fn parse(text: &str) -> Result<Url, LoadError> {
    let failed = |cause| LoadError::Url { url: shown(text), cause };
    if text.len() > MAX_URL_BYTES {
        return Err(failed("it is too long"));
    }
    if text.bytes().any(|byte| byte <= 0x20 || byte == 0x7f) {
        return Err(failed("it contains blanks or control characters"));
    }
    if let Some(rest) = text.strip_prefix("unix:") {
        let (socket, path) = rest.split_once(":/").map_or((rest, String::new()), |(s, p)| (s, p.to_owned()));
        let is_named = !socket.is_empty();
        let url = Url::Unix { socket: PathBuf::from(socket), path: format!("/{path}") };
        return if is_named { Ok(url) } else { Err(failed("it has no socket path")) };
    }
    if let Some(rest) = text.strip_prefix("memcached:") {
        return parse_memcached(rest)
            .ok_or_else(|| failed("write memcached://HOST[:PORT] or memcached:/SOCKET"));
    }
    if let Some(rest) = text.strip_prefix("memcacheds:") {
        let authority = rest.strip_prefix("//").and_then(|authority| parse_memcached_host(authority, true));
        return authority.ok_or_else(|| failed("write memcacheds://HOST[:PORT]"));
    }
    let (rest, is_tls) = match text.split_once("://") {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => (rest, false),
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => (rest, true),
        Some(_) => {
            return Err(failed("only http://, https://, memcached:, memcacheds:// and unix: are supported"));
        }
        None => (text, false),
    };
    let default_port = if is_tls { 443 } else { 80 };
    let rest = rest.split('#').next().unwrap_or("");
    let at = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(at);
    if authority.contains('@') {
        return Err(failed("user names and passwords in URLs are not accepted; use a header"));
    }
    let (host, port) =
        split_authority(authority, default_port).ok_or_else(|| failed("host and port cannot be read"))?;
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    Ok(Url::Http { host, port, path, is_tls })
}

fn parse_memcached(rest: &str) -> Option<Url> {
    match rest.strip_prefix("//") {
        Some(authority) => parse_memcached_host(authority, false),
        None => rest.starts_with('/').then(|| Url::MemcachedUnix { socket: PathBuf::from(rest) }),
    }
}

fn parse_memcached_host(authority: &str, is_tls: bool) -> Option<Url> {
    let (host, port) = split_authority(authority.strip_suffix('/').unwrap_or(authority), MEMCACHED_PORT)?;
    Some(Url::Memcached { host, port, is_tls })
}

fn split_authority(authority: &str, default_port: u16) -> Option<(String, u16)> {
    let default = default_port.to_string();
    let (host, port) = if let Some(rest) = authority.strip_prefix('[') {
        let (host, after) = rest.split_once(']')?;
        host.parse::<std::net::Ipv6Addr>().ok()?;
        (host, after.strip_prefix(':').or(after.is_empty().then_some(default.as_str()))?)
    } else {
        authority.split_once(':').unwrap_or((authority, &default))
    };
    let is_host = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':');
    let port = port.parse().ok().filter(|port| *port != 0)?;
    (!host.is_empty() && host.bytes().all(is_host)).then(|| (host.to_owned(), port))
}

/// A text that was typed as a URL, as it may be shown: without user name and password, wherever they may be meant to be.
pub(crate) fn shown(text: &str) -> String {
    let start = text.find("://").map_or(0, |at| at + 3);
    let (scheme, rest) = text.split_at(start);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    // A password may hold any of these itself; then what stands before them is no host.
    let has_host = split_authority(&rest[..end], 1).is_some();
    let last = rest.rfind('@').filter(|_| !has_host);
    let text = match last {
        Some(at) => format!("{scheme}{HIDDEN}{}", &rest[at..]),
        None => text.to_owned(),
    };
    text.chars().take(200).collect()
}

/// Replaces a password in output.
const HIDDEN: &str = "…";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_of_a_password_is_shown() {
        for text in [
            "http://user:S3CRET@host/",
            "https://user:S3CRET@host:8443/path?query",
            "HTTP://:S3CRET@host",
            "user:S3CRET@host",
            "user:S3CRET@host/path@x",
            "http://user:S3/CRET@host/",
            "http://user:S3@CRET@host/",
            "http://user:S3?CRET#S3@host/",
            "http://user:S3 CRET@host/",
            "http:user:S3CRET@host/",
            "http:/user:S3CRET@host/",
            "ftp://user:S3CRET@host/",
            "memcached://user:S3CRET@host",
            "memcacheds://user:S3CRET@host:1/",
            "http://user:S3CRET@@host/\u{7f}",
        ] {
            let error = parse(text).expect_err(text).to_string();
            assert!(!error.contains("S3") && !error.contains("CRET"), "{text}: {error}");
            let long = format!("{text}{}", "x".repeat(MAX_URL_BYTES));
            let error = parse(&long).expect_err("is too long").to_string();
            assert!(!error.contains("S3") && !error.contains("CRET"), "{text}: {error}");
        }
    }

    #[test]
    fn a_host_is_shown_though_an_at_follows() {
        assert_eq!(shown("http://host:8080/@user"), "http://host:8080/@user");
        assert_eq!(shown("http://user:x@host/y"), "http://…@host/y");
    }

    #[test]
    fn what_is_not_a_url_is_refused_with_the_reason() {
        for text in [
            "https://a:0/",
            "ftp://a/",
            "http://u:p@a/",
            "http:///x",
            "http://a:99999/",
            "http://a:0/",
            "unix:",
            "memcached:",
            "memcached:x",
            "memcached://",
            "memcached://a/x",
            "memcacheds:/run/m.sock",
            "memcacheds://",
            "a b",
            "[::1",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
