//! Where a broker is: `tls://HOST[:PORT]`, or `nats://` on the loopback interface only.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// The port that brokers listen on.
const DEFAULT_PORT: u16 = 4222;

/// A broker's URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokerUrl {
    /// Name or address; its certificate must have it.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Whether the connection is encrypted.
    pub(crate) is_tls: bool,
}

/// A text that is no broker's URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is not the URL of a broker: {cause}\nhint: use tls://HOST:PORT")]
pub struct NoBrokerUrl {
    text: String,
    cause: &'static str,
}

impl FromStr for BrokerUrl {
    type Err = NoBrokerUrl;

    fn from_str(text: &str) -> Result<BrokerUrl, NoBrokerUrl> {
        // What is before an '@' may be a secret.
        let public = text.rsplit('@').next().unwrap_or_default();
        let shown = public.chars().take(80).collect::<String>().escape_debug().to_string();
        let failed = |cause| NoBrokerUrl { text: shown.clone(), cause };
        let (is_tls, rest) = match (text.strip_prefix("tls://"), text.strip_prefix("nats://")) {
            (Some(rest), _) => (true, rest),
            (_, Some(rest)) => (false, rest),
            _ => return Err(failed("it does not begin with tls://")),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (host, port) = split(rest).ok_or(failed("the host or the port is wrong"))?;
        let url = BrokerUrl { host, port, is_tls };
        if !is_tls && !url.is_loopback() {
            return Err(failed("without TLS, a broker is used on the loopback interface only"));
        }
        Ok(url)
    }
}

impl BrokerUrl {
    /// Whether the host is written as an address of the loopback interface.
    fn is_loopback(&self) -> bool {
        self.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

impl fmt::Display for BrokerUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_tls { "tls" } else { "nats" };
        match self.host.contains(':') {
            true => write!(out, "{scheme}://[{}]:{}", self.host, self.port),
            false => write!(out, "{scheme}://{}:{}", self.host, self.port),
        }
    }
}

/// Host and port; user names and anything else that is not one of the two make it wrong.
fn split(text: &str) -> Option<(String, u16)> {
    let (host, port) = match text.strip_prefix('[') {
        Some(inner) => {
            let (host, behind) = inner.split_once(']')?;
            (host, if behind.is_empty() { None } else { Some(behind.strip_prefix(':')?) })
        }
        None => text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
    };
    let port = match port {
        None => DEFAULT_PORT,
        Some(text) => text.parse::<u16>().ok().filter(|port| *port > 0)?,
    };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-._:".contains(letter);
    let is_host = !host.is_empty() && host.len() <= 253 && host.chars().all(is_plain);
    is_host.then(|| (host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broker_is_reached_by_tls_or_on_the_loopback_interface() {
        let shown = |text: &str| text.parse::<BrokerUrl>().map(|url| url.to_string());
        assert_eq!(shown("tls://broker.example"), Ok("tls://broker.example:4222".into()));
        assert_eq!(shown("tls://10.0.0.1:4333/"), Ok("tls://10.0.0.1:4333".into()));
        assert_eq!(shown("tls://[fe80::1]:1"), Ok("tls://[fe80::1]:1".into()));
        assert_eq!(shown("nats://127.0.0.1"), Ok("nats://127.0.0.1:4222".into()));
        assert_eq!(shown("nats://[::1]:5"), Ok("nats://[::1]:5".into()));
        let refused = [
            "nats://10.0.0.1",
            "nats://localhost",
            "10.0.0.1",
            "http://a",
            "tls://",
            "tls://user:secret@a",
            "tls://a:0",
            "tls://a:b",
            "tls://a b",
            "tls://a/b",
        ];
        for text in refused {
            assert!(shown(text).is_err(), "{text}");
        }
    }
}
