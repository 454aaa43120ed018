//! Hosts as users type them: `here`, `netns:NAME`, `netns:/PATH`, `[USER@]HOST`, `ssh://[USER@]HOST[:PORT]`, and
//! `fleet:NAME` or `fleet:KEY=VALUE` for agents of a fleet.
//!
//! The text becomes a program's arguments, so few characters are allowed: no space, no quote, nothing that begins like an
//! option (CVE-2017-1000117 and similar).

use crate::fleet::FleetSelector;
use std::path::PathBuf;
use std::str::FromStr;

/// Longest name. Unit: bytes.
const MAX_BYTES: usize = 255;

/// A host other than this one, and the way there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPlace {
    /// As it was typed.
    pub name: String,
    /// The way there.
    pub way: HostWay,
}

/// A way to a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostWay {
    /// This host, in another process.
    Here,
    /// A network namespace of this machine.
    Namespace(PathBuf),
    /// The system's `ssh`.
    Ssh(SshAddress),
    /// Agents of a fleet, which the broker knows.
    Fleet(FleetSelector),
}

/// The destination for `ssh`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SshAddress {
    /// Name, address, or an alias of its configuration.
    pub host: String,
    /// `None`: as its configuration says.
    pub user: Option<String>,
    /// `None`: as its configuration says.
    pub port: Option<u16>,
}

/// A text that names no host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{text}' is not a host\nhint: use 'here', netns:NAME or netns:/PATH (a network namespace), USER@HOST or \
     ssh://USER@HOST:PORT, or fleet:NAME or fleet:KEY=VALUE (agents of a fleet)"
)]
pub struct NoHost {
    /// What was typed, escaped.
    text: String,
}

/// This host; another one of that name is ssh://here.
const HERE: &str = "here";

/// Folder of named network namespaces.
const NAMED: &str = "/run/netns";

impl FromStr for HostPlace {
    type Err = NoHost;

    fn from_str(text: &str) -> Result<HostPlace, NoHost> {
        let way = match (text.strip_prefix("netns:"), text.strip_prefix("fleet:")) {
            (Some(place), _) => namespace(place).map(HostWay::Namespace),
            (_, Some(selector)) => FleetSelector::parse(selector).map(HostWay::Fleet),
            _ if text == HERE => Some(HostWay::Here),
            _ => ssh(text.strip_prefix("ssh://").unwrap_or(text)).map(HostWay::Ssh),
        };
        match way.filter(|_| text.len() <= MAX_BYTES) {
            Some(way) => Ok(HostPlace { name: text.to_owned(), way }),
            None => {
                Err(NoHost { text: text.chars().take(80).collect::<String>().escape_debug().to_string() })
            }
        }
    }
}

fn namespace(place: &str) -> Option<PathBuf> {
    if place.starts_with('/') {
        return (!place.contains(char::is_control)).then(|| PathBuf::from(place));
    }
    let is_name = is_word(place, "._-") && place != "." && place != "..";
    is_name.then(|| PathBuf::from(NAMED).join(place))
}

fn ssh(text: &str) -> Option<SshAddress> {
    let text = text.strip_suffix('/').unwrap_or(text);
    let (user, rest) = match text.rsplit_once('@') {
        Some((user, rest)) => (Some(user), rest),
        None => (None, text),
    };
    let (host, port) = match rest.strip_prefix('[') {
        Some(inner) => {
            let (host, behind) = inner.split_once(']')?;
            (host, if behind.is_empty() { None } else { Some(behind.strip_prefix(':')?) })
        }
        None if rest.matches(':').count() == 1 => {
            rest.split_once(':').map(|(host, port)| (host, Some(port)))?
        }
        None => (rest, None),
    };
    let port = match port {
        None => None,
        Some(text) => Some(text.parse::<u16>().ok().filter(|port| *port > 0)?),
    };
    let is_user = user.is_none_or(|user| is_word(user, "._-"));
    (is_user && is_word(host, "._-:")).then(|| SshAddress {
        host: host.to_owned(),
        user: user.map(str::to_owned),
        port,
    })
}

/// Letters, digits and these, beginning with a letter, a digit or a colon.
fn is_word(text: &str, others: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric();
    text.chars().next().is_some_and(|first| is_plain(first) || first == ':' && others.contains(':'))
        && text.chars().all(|letter| is_plain(letter) || others.contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ssh_of(text: &str) -> Option<(Option<String>, String, Option<u16>)> {
        match text.parse::<HostPlace>().ok()?.way {
            HostWay::Ssh(address) => Some((address.user, address.host, address.port)),
            HostWay::Namespace(_) | HostWay::Here | HostWay::Fleet(_) => None,
        }
    }

    #[test]
    fn the_ways_that_there_are() {
        let name = |text: &str| text.parse::<HostPlace>().map(|place| place.way);
        assert_eq!(name("netns:web-1"), Ok(HostWay::Namespace("/run/netns/web-1".into())));
        assert_eq!(name("here"), Ok(HostWay::Here));
        assert_eq!(name("fleet:web-1"), Ok(HostWay::Fleet(FleetSelector::Name("web-1".into()))));
        assert_eq!(ssh_of("ssh://here"), Some((None, "here".into(), None)));
        assert_eq!(name("netns:/proc/7/ns/net"), Ok(HostWay::Namespace("/proc/7/ns/net".into())));
        let some = |user: &str, host: &str, port| Some((Some(user.to_owned()), host.to_owned(), port));
        assert_eq!(ssh_of("ann@web.example"), some("ann", "web.example", None));
        assert_eq!(ssh_of("ssh://ann@10.0.0.7:2222/"), some("ann", "10.0.0.7", Some(2222)));
        assert_eq!(ssh_of("ssh://ann@[fe80::1]:22"), some("ann", "fe80::1", Some(22)));
        assert_eq!(ssh_of("web"), Some((None, "web".into(), None)));
    }

    #[test]
    fn nothing_that_a_shell_or_an_option_parser_could_take_for_its_own_is_a_host() {
        let hostile = [
            "",
            "-oProxyCommand=id",
            "ann@-oProxyCommand=id",
            "-l@web",
            "web;id",
            "web id",
            "$(id)",
            "`id`",
            "ann@web\nid",
            "a'b",
            "a\"b",
            "%h",
            "web:",
            "web:0",
            "web:99999",
            "web:22x",
            "[::1",
            "ssh://",
            "netns:",
            "netns:..",
            "netns:.",
            "netns:a/b",
            "netns:-x",
            "netns:a b",
            "fleet:",
            "fleet:*",
            "fleet:a.b",
            "ü",
        ];
        for text in hostile {
            assert!(text.parse::<HostPlace>().is_err(), "{text:?}");
        }
        assert!("a".repeat(300).parse::<HostPlace>().is_err());
    }
}
