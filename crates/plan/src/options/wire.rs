//! Options of the protocols on the connections.

use super::habits;
use super::typed::Typed;
use super::words::Word;
use clap::Args;
use serde::Deserialize;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use sysdyno_record::units::{Bytes, SpanNs};
use sysdyno_record::wire::{MemcachedDialect, Popularity, SizeModel, SizeRange, TlsVersion};

/// Heading of the options of HTTP/2.
const HTTP2: &str = "HTTP/2";

/// Heading of the options of TLS.
const TLS: &str = "TLS (for https://HOST[:PORT]/PATH or memcacheds://HOST[:PORT])";

/// The protocols on the connections.
#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[command(next_help_heading = "memcached (for memcached[s]://HOST[:PORT] or memcached:/SOCKET)")]
pub struct WireOptions {
    /// Use HTTP/2: negotiated by ALPN over TLS, or by prior knowledge without TLS; without a value, the URL decides
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "auto", env = "SYSDYNO_HTTP2", help_heading = HTTP2)]
    pub http2: Option<Http2Option>,
    /// Concurrent requests per HTTP/2 connection [default: 1]
    #[arg(long, value_name = "N", env = "SYSDYNO_STREAMS", help_heading = HTTP2)]
    pub streams: Option<u32>,
    /// File with trusted CA certificates (PEM) [default: the system's]
    #[arg(long, alias = "cacert", value_name = "FILE", env = "SYSDYNO_TLS_CA", help_heading = TLS)]
    pub tls_ca: Option<PathBuf>,
    /// File with the client certificate (PEM)
    #[arg(long, alias = "cert", value_name = "FILE", requires = "tls_key", env = "SYSDYNO_TLS_CERT", help_heading = TLS)]
    pub tls_cert: Option<PathBuf>,
    /// File with the private key of the client certificate (PEM)
    #[arg(long, alias = "key", value_name = "FILE", requires = "tls_cert", env = "SYSDYNO_TLS_KEY", help_heading = TLS)]
    pub tls_key: Option<PathBuf>,
    /// Server name to request (SNI) and to verify in the certificate [default: the URL's host]
    #[arg(long, value_name = "NAME", env = "SYSDYNO_TLS_NAME", help_heading = TLS)]
    pub tls_name: Option<String>,
    /// Offer only this TLS version [default: 1.2 and 1.3]
    #[arg(long, value_enum, env = "SYSDYNO_TLS_VERSION", help_heading = TLS)]
    pub tls_version: Option<Word<TlsVersion>>,
    /// Share of connections that resume a session instead of a full handshake, such as 90% or 0.9 [default: 0%]
    #[arg(long, value_name = "SHARE", env = "SYSDYNO_TLS_RESUME", help_heading = TLS)]
    pub tls_resume: Option<Typed<ShareOption>>,
    /// Accept any certificate; the verdict of every such run says so
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = habits::switch, value_name = "BOOL", env = "SYSDYNO_INSECURE", help_heading = TLS)]
    pub insecure: Option<bool>,
    /// Use a published workload instead of the defaults below: etc, Facebook's general-purpose pool of 2012
    #[arg(long, value_enum, value_name = "NAME", env = "SYSDYNO_MC_PRESET")]
    pub mc_preset: Option<PresetOption>,
    /// Protocol: text or meta commands [default: text]
    #[arg(long, value_enum, env = "SYSDYNO_MC_PROTOCOL")]
    pub mc_protocol: Option<Word<MemcachedDialect>>,
    /// Share of requests that are gets, such as 90% or 0.9; the rest are sets [default: 90%]
    #[arg(long, value_name = "SHARE", env = "SYSDYNO_MC_GETS")]
    pub mc_gets: Option<Typed<ShareOption>>,
    /// Keys per get [default: 1]
    #[arg(long, value_name = "N", env = "SYSDYNO_MC_MULTIGET")]
    pub mc_multiget: Option<u32>,
    /// Number of distinct keys [default: 100000]
    #[arg(long, value_name = "N", env = "SYSDYNO_MC_KEYS")]
    pub mc_keys: Option<u64>,
    /// Popularity of keys: uniform, or zipf:EXPONENT [default: uniform]
    #[arg(long, value_name = "uniform | zipf[:S]", env = "SYSDYNO_MC_POPULARITY")]
    pub mc_popularity: Option<Typed<PopularityOption>>,
    /// Key size [default: 30]
    #[arg(long, value_name = "SIZE | A..B | etc", env = "SYSDYNO_MC_KEY_SIZE")]
    pub mc_key_size: Option<Typed<SizeOption>>,
    /// Value size [default: 200]
    #[arg(long, value_name = "SIZE | A..B | etc", env = "SYSDYNO_MC_VALUE_SIZE")]
    pub mc_value_size: Option<Typed<SizeOption>>,
    /// Expiry time of stored values [default: never]
    #[arg(long, value_name = "DURATION", env = "SYSDYNO_MC_EXPIRY")]
    pub mc_expiry: Option<Typed<SpanNs>>,
    /// Do not verify the values that are read
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = habits::switch, value_name = "BOOL", env = "SYSDYNO_MC_NO_VERIFY")]
    pub mc_no_verify: Option<bool>,
    /// Do not store all keys before the load starts
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = habits::switch, value_name = "BOOL", env = "SYSDYNO_MC_NO_PRELOAD")]
    pub mc_no_preload: Option<bool>,
}

/// Published workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PresetOption {
    /// 30 gets per set, key and value sizes as published (Atikoglu et al., SIGMETRICS 2012)
    Etc,
}

/// How to make a server speak HTTP/2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Http2Option {
    /// ALPN for https://, prior knowledge for http://
    Auto,
    /// Negotiate in the TLS handshake; needs https://
    Alpn,
    /// Assume that the server speaks HTTP/2; needs http://
    Prior,
}

/// The text is not a valid value of the option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable(&'static str);

impl fmt::Display for Unreadable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.0)
    }
}

impl std::error::Error for Unreadable {}

/// A share as typed, `90%` or `0.9`. Unit: ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShareOption(pub f64);

impl FromStr for ShareOption {
    type Err = Unreadable;

    fn from_str(text: &str) -> Result<ShareOption, Unreadable> {
        let (number, scale) = text.trim().strip_suffix('%').map_or((text.trim(), 1.0), |rest| (rest, 100.0));
        let ratio = number.trim().parse::<f64>().ok().map(|number| number / scale);
        let ratio = ratio.filter(|ratio| (0.0..=1.0).contains(ratio));
        ratio.map(ShareOption).ok_or(Unreadable("write a share between 0% and 100%, such as '90%' or '0.9'"))
    }
}

/// A popularity as typed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PopularityOption(pub Popularity);

/// The default exponent of a Zipf popularity, as in YCSB (Cooper et al., SoCC 2010).
const DEFAULT_EXPONENT: f64 = 0.99;

impl FromStr for PopularityOption {
    type Err = Unreadable;

    fn from_str(text: &str) -> Result<PopularityOption, Unreadable> {
        let popularity = match text.trim().split_once(':').unwrap_or((text.trim(), "")) {
            ("uniform", "") => Some(Popularity::Uniform),
            ("zipf", "") => Some(Popularity::Zipf(DEFAULT_EXPONENT)),
            ("zipf", exponent) => exponent.parse().ok().map(Popularity::Zipf),
            _ => None,
        };
        popularity.map(PopularityOption).ok_or(Unreadable("write 'uniform', 'zipf', or 'zipf:0.99'"))
    }
}

/// Lengths as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeOption(pub SizeModel);

impl FromStr for SizeOption {
    type Err = Unreadable;

    fn from_str(text: &str) -> Result<SizeOption, Unreadable> {
        let bytes = |text: &str| text.parse::<Bytes>().ok().and_then(|bytes| u32::try_from(bytes.0).ok());
        let range = |(min, max)| {
            let (min_bytes, max_bytes) = (bytes(min)?, bytes(max)?);
            (min_bytes <= max_bytes).then_some(SizeModel::Range(SizeRange { min_bytes, max_bytes }))
        };
        let model = match text.trim() {
            "etc" => Some(SizeModel::Etc),
            text => match text.split_once("..") {
                Some(ends) => range(ends),
                None => bytes(text).map(SizeModel::Fixed),
            },
        };
        model.map(SizeOption).ok_or(Unreadable("write a size ('200', '1KiB'), a range ('10..500'), or 'etc'"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_is_read_and_the_rest_is_not() {
        assert_eq!("90%".parse(), Ok(ShareOption(0.9)));
        assert_eq!("1".parse(), Ok(ShareOption(1.0)));
        assert!(["101%", "-1%", "x", "NaN"].iter().all(|text| text.parse::<ShareOption>().is_err()));
        assert_eq!("zipf:1.2".parse(), Ok(PopularityOption(Popularity::Zipf(1.2))));
        assert!(["zip", "uniform:1", "zipf:x"].iter().all(|text| text.parse::<PopularityOption>().is_err()));
        assert_eq!("1KiB".parse(), Ok(SizeOption(SizeModel::Fixed(1024))));
        let range = SizeModel::Range(SizeRange { min_bytes: 10, max_bytes: 500 });
        assert_eq!("10..500".parse(), Ok(SizeOption(range)));
        assert!(["5..4", "..", "1.5B", "big"].iter().all(|text| text.parse::<SizeOption>().is_err()));
    }
}
