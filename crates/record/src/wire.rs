//! The protocols on a load's connections, if they are not HTTP/1.1 over a plain socket.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What is spoken on the connections of a load; the default is HTTP/1.1 over a plain socket.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WirePlan {
    /// memcached instead of HTTP; `None` for HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memcached: Option<MemcachedPlan>,
    /// HTTP/2 instead of HTTP/1.1; `None` for HTTP/1.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http2: Option<Http2Plan>,
    /// TLS below what is spoken; `None` for a plain socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<TlsPlan>,
}

impl WirePlan {
    /// Whether it is HTTP/1.1 over a plain socket.
    pub fn is_plain(&self) -> bool {
        *self == WirePlan::default()
    }
}

/// How HTTP/2 is spoken: by ALPN over TLS, by prior knowledge over a plain socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Http2Plan {
    /// Requests at a time on one connection.
    pub streams: u32,
}

/// How TLS is spoken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TlsPlan {
    /// The name that the certificate must have, and that is sent to the server (SNI) unless it is an address.
    pub server_name: String,
    /// The one version that is offered; `None`: 1.2 and 1.3.
    pub version: Option<TlsVersion>,
    /// Share of the connections that are to resume a session instead of a full handshake. Unit: ratio, 0 to 1.
    pub resume_ratio: f64,
    /// Whether any certificate is taken.
    pub is_insecure: bool,
    /// File with the certificates that are trusted; `None`: those that the system trusts.
    pub ca_file: Option<PathBuf>,
    /// File with the client's certificate; `None`: none is shown.
    pub certificate_file: Option<PathBuf>,
    /// File with its key.
    pub key_file: Option<PathBuf>,
}

/// A version of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TlsVersion {
    /// 1.2.
    #[serde(rename = "1.2")]
    Tls12,
    /// 1.3.
    #[serde(rename = "1.3")]
    Tls13,
}

/// How connections were secured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandshakeCounts {
    /// Full handshakes.
    pub full: u64,
    /// Resumed sessions.
    pub resumed: u64,
}

impl HandshakeCounts {
    /// Adds the counts of another thread, interval or phase.
    pub fn add(&mut self, other: &HandshakeCounts) {
        self.full += other.full;
        self.resumed += other.resumed;
    }
}

/// What is asked of a memcached server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemcachedPlan {
    /// The commands that are used.
    pub dialect: MemcachedDialect,
    /// Share of the requests that read; the others store. Unit: ratio, 0 to 1.
    pub get_ratio: f64,
    /// Keys that one reading request asks for.
    pub keys_per_get: u32,
    /// Number of different keys.
    pub keys_count: u64,
    /// Which keys are asked for how often.
    pub popularity: Popularity,
    /// Length of the keys; never shorter than their number needs digits.
    pub key_size: SizeModel,
    /// Length of the values.
    pub value_size: SizeModel,
    /// How long the server is to keep a value; 0 for ever. Unit: seconds.
    pub expiry_seconds: u32,
    /// Whether each value that is read is compared with the one that belongs to its key.
    pub is_verified: bool,
    /// Whether all keys are stored before the first trial.
    pub is_preloaded: bool,
}

/// The commands of memcached that are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemcachedDialect {
    /// `get` and `set`.
    #[default]
    Text,
    /// `mg` and `ms`.
    Meta,
}

/// Which keys are asked for how often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Popularity {
    /// All alike.
    #[default]
    Uniform,
    /// The n-th most popular key in proportion to n to the minus this exponent.
    Zipf(f64),
}

/// How long keys or values are. A key has the same length, and its value too, whenever it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SizeModel {
    /// All alike. Unit: bytes.
    Fixed(u32),
    /// Uniform between two lengths, both included.
    Range(SizeRange),
    /// As in the ETC pool of Facebook (Atikoglu et al., SIGMETRICS 2012).
    Etc,
}

/// Two lengths. Unit: bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeRange {
    /// The least.
    pub min_bytes: u32,
    /// The greatest.
    pub max_bytes: u32,
}

/// What became of the keys of answered memcached requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheCounts {
    /// Keys that were asked for and had a value.
    pub hits: u64,
    /// Keys that were asked for and had none.
    pub misses: u64,
    /// Values that were stored.
    pub stored: u64,
}

impl CacheCounts {
    /// Adds the counts of another thread, interval or phase.
    pub fn add(&mut self, other: &CacheCounts) {
        self.hits += other.hits;
        self.misses += other.misses;
        self.stored += other.stored;
    }

    /// Share of requested keys that had a value; `None` if no key was requested.
    pub fn hit_ratio(&self) -> Option<f64> {
        let asked = self.hits + self.misses;
        (asked > 0).then(|| self.hits as f64 / asked as f64)
    }
}
