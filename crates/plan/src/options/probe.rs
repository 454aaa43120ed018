//! Options of the probes that run alongside a load, and targets of probes as they are typed.

use super::typed::{Typed, read_as_text};
use super::words::{Word, Worded};
use clap::Args;
use serde::Deserialize;
use std::path::PathBuf;
use std::str::FromStr;
use sysdyno_record::probe::ProbeKind;
use sysdyno_record::units::SpanNs;

/// The probes that run alongside a load.
#[derive(Clone, Debug, Default, PartialEq, Args, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[command(next_help_heading = "Probe")]
pub struct ProbeOptions {
    /// Also probe from outside the load: the server with the same request (http), a connect (tcp), or an echo (icmp); or
    /// another target, as in `sysdyno probe`. Repeat it for several
    #[arg(long, value_name = "KIND|[NAME=]TARGET", env = "SYSDYNO_PROBE")]
    #[serde(deserialize_with = "one_or_several")]
    pub probe: Vec<ProbeOption>,
    /// Interval between probes of a target; at least 10ms, or 100ms to a public address [default: 100ms]
    #[arg(long, value_name = "DURATION")]
    pub probe_interval: Option<Typed<SpanNs>>,
    /// Time out a probe this long after its intended send [default: 5s]
    #[arg(long, value_name = "DURATION")]
    pub probe_timeout: Option<Typed<SpanNs>>,
    /// Write one line per probe, with its time, to this file
    #[arg(long, value_name = "FILE", env = "SYSDYNO_PROBE_LOG")]
    pub probe_log: Option<PathBuf>,
}

/// What is probed beside a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeOption {
    /// The server under load.
    Own(ProbeKind),
    /// Something else.
    Other(ProbeTargetOption),
}

/// A target with the name that lines and tables call it by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeTargetOption {
    /// The name; the target itself, if none was typed.
    pub name: String,
    /// The target as it was typed.
    pub target: String,
}

/// Longest name that is typed. Unit: bytes.
const NAME_BYTES_MAX: usize = 24;

impl FromStr for ProbeTargetOption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = text.split_once('=').filter(|(name, _)| is_name(name));
        let (name, target) = named.unwrap_or((text, text));
        if target.is_empty() {
            return Err("there is no target: write HOST, HOST:PORT, or a URL".to_owned());
        }
        Ok(ProbeTargetOption { name: name.to_owned(), target: target.to_owned() })
    }
}

/// A URL is none, since it has a colon or a slash before its query.
fn is_name(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=NAME_BYTES_MAX).contains(&text.len()) && text.bytes().all(is_plain)
}

impl FromStr for ProbeOption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let at = ProbeKind::WORDS.iter().position(|word| *word == text);
        if let Some(Word(kind)) = at.map(|at| ProbeKind::VALUES[at]) {
            return Ok(ProbeOption::Own(kind));
        }
        // A misspelled kind is no host name.
        if !text.contains(['.', ':', '/', '=']) {
            let words = ProbeKind::WORDS.join(", ");
            return Err(format!(
                "use {words}, or a target such as icmp://HOST, HOST:PORT, or http://HOST/PATH"
            ));
        }
        text.parse().map(ProbeOption::Other)
    }
}

read_as_text!(ProbeOption);

/// A text, or a list of them.
fn one_or_several<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<ProbeOption>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Texts {
        One(String),
        Several(Vec<String>),
    }
    let texts = match Texts::deserialize(from)? {
        Texts::One(text) => vec![text],
        Texts::Several(texts) => texts,
    };
    texts.iter().map(|text| text.parse()).collect::<Result<_, String>>().map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn other(name: &str, target: &str) -> Result<ProbeOption, String> {
        Ok(ProbeOption::Other(ProbeTargetOption { name: name.into(), target: target.into() }))
    }

    #[test]
    fn a_probe_is_a_kind_or_a_target_that_may_have_a_name() {
        let read = |text: &str| text.parse::<ProbeOption>();
        assert_eq!(read("http"), Ok(ProbeOption::Own(ProbeKind::Http)));
        assert_eq!(read("icmp://a"), other("icmp://a", "icmp://a"));
        assert_eq!(read("path-a=10.0.0.1"), other("path-a", "10.0.0.1"));
        assert_eq!(read("x=http://a/?b=c"), other("x", "http://a/?b=c"));
        assert_eq!(read("http://a/?b=c"), other("http://a/?b=c", "http://a/?b=c"));
        assert_eq!(read("a b=10.0.0.1"), other("a b=10.0.0.1", "a b=10.0.0.1"));
        assert!(read("udp").expect_err("is none").contains("http, tcp, icmp"));
        assert!(read("x=").is_err());
    }

    #[test]
    fn a_file_has_one_probe_or_several() {
        let read = |text: &str| toml::from_str::<ProbeOptions>(text).map(|options| options.probe);
        assert_eq!(read("probe = 'tcp'").expect("reads"), [ProbeOption::Own(ProbeKind::Tcp)]);
        assert_eq!(read("probe = ['tcp', 'x=10.0.0.1']").expect("reads").len(), 2);
        assert!(read("").expect("reads").is_empty());
        assert!(read("probe = ['udp']").is_err() && read("probe = 7").is_err());
    }
}
