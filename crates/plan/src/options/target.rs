//! Options of the request and its response, and of how the generator sends.

use super::allow::Allow;
use super::habits::{self, TimeoutOrType};
use super::typed::{Typed, read_as_text};
use super::wire::WireOptions;
use super::words::Word;
use anyhow::ensure;
use clap::Args;
use serde::Deserialize;
use std::path::PathBuf;
use std::str::FromStr;
use sysdyno_record::plan::{IoChoice, SpinChoice, StampChoice};
use sysdyno_record::units::{Bytes, SpanNs};

/// What to send and what must come back.
#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[command(next_help_heading = "Request and response")]
pub struct TargetOptions {
    /// Request method [default: GET]
    #[arg(long, short = 'm', short_alias = 'X', alias = "request", value_name = "METHOD", value_parser = habits::method, env = "SYSDYNO_METHOD")]
    pub method: Option<String>,
    /// Request header; repeatable
    ///
    /// URL, headers, and body may contain values, which are filled in for each request: '{{counter:1..}}', '{{random:1..9}}',
    /// '{{csv:users.csv:name}}'. docs/reference/values.md lists them.
    #[arg(long = "header", short = 'H', value_name = "NAME: VALUE")]
    pub header: Vec<Field>,
    /// File with the request body
    #[arg(long, short = 'p', value_name = "FILE", env = "SYSDYNO_BODY_FILE")]
    pub body_file: Option<PathBuf>,
    /// Content type of the request body
    #[arg(long, value_name = "TYPE", env = "SYSDYNO_CONTENT_TYPE")]
    pub content_type: Option<String>,
    /// Accepted status codes [default: 200 to 399]
    #[arg(long, value_delimiter = ',', value_name = "CODE,…", env = "SYSDYNO_EXPECT_STATUS")]
    pub expect_status: Vec<u16>,
    /// Exact length of the response body, in bytes
    #[arg(long, value_name = "BYTES", env = "SYSDYNO_EXPECT_LENGTH")]
    pub expect_length: Option<u64>,
    /// Header that every response must have, with this value if given
    #[arg(long, value_name = "NAME[: VALUE]", env = "SYSDYNO_EXPECT_HEADER")]
    pub expect_header: Option<Field>,
    /// Text that every response body must contain
    #[arg(long, value_name = "TEXT", env = "SYSDYNO_EXPECT_BODY")]
    pub expect_body: Option<String>,
    /// Accept any response body (by default, error pages and bodies much larger or smaller than the first count as failures)
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = habits::switch, value_name = "BOOL", conflicts_with = "same_body", env = "SYSDYNO_ANY_BODY")]
    pub any_body: Option<bool>,
    /// Count all response bodies that differ from the first one as failures
    #[arg(long)]
    #[serde(skip)]
    pub same_body: bool,
    /// Longest response body to read [default: 64MiB]
    #[arg(long, value_name = "SIZE", env = "SYSDYNO_MAX_BODY")]
    pub max_body: Option<Typed<Bytes>>,
    /// Time out a request this long after its intended send [default: 10s]
    #[arg(long, alias = "max-time", value_name = "DURATION", env = "SYSDYNO_TIMEOUT")]
    pub timeout: Option<Typed<SpanNs>>,
    /// Same as --timeout if a duration (as in wrk), or --content-type if it has a slash (as in ab)
    #[arg(short = 'T', value_name = "DURATION | TYPE", value_parser = habits::timeout_or_type, conflicts_with_all = ["timeout", "content_type"])]
    #[serde(skip)]
    pub timeout_or_type: Option<TimeoutOrType>,
    /// Time out a connection attempt after this long [default: 5s]
    #[arg(long, value_name = "DURATION", env = "SYSDYNO_CONNECT_TIMEOUT")]
    pub connect_timeout: Option<Typed<SpanNs>>,
    /// Time out a request when no data has arrived for this long [default: --timeout]
    #[arg(long, value_name = "DURATION", env = "SYSDYNO_IDLE_TIMEOUT")]
    pub idle_timeout: Option<Typed<SpanNs>>,
    /// Keep connections alive, as in ab and weighttp (the default here)
    #[arg(long, short = 'k', conflicts_with = "no_keepalive")]
    #[serde(skip)]
    pub keep_alive: bool,
    /// Open a new connection for each request, as ab does without -k
    #[arg(long, alias = "disable-keepalive", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = habits::switch, value_name = "BOOL", conflicts_with = "requests_per_connection", env = "SYSDYNO_NO_KEEPALIVE")]
    pub no_keepalive: Option<bool>,
    /// Requests per connection [default: as many as the server allows]
    #[arg(long, value_name = "N", env = "SYSDYNO_REQUESTS_PER_CONNECTION")]
    pub requests_per_connection: Option<u32>,
    /// Generator threads [default: half the CPUs]
    #[arg(long, short = 't', value_name = "N", value_parser = habits::threads, env = "SYSDYNO_THREADS")]
    pub threads: Option<u32>,
    /// Kernel interface [default: io_uring where the kernel has and allows it, else epoll]
    #[arg(long, value_enum, env = "SYSDYNO_IO")]
    pub io: Option<Word<IoChoice>>,
    /// Spin instead of sleep before each send of an open load [default: if the server runs on other CPUs]
    #[arg(long, value_enum, env = "SYSDYNO_SPIN")]
    pub spin: Option<Word<SpinChoice>>,
    /// End of a latency: when the kernel received the response, or when the generator read it [default: kernel]
    #[arg(long, value_enum, env = "SYSDYNO_STAMPS")]
    pub stamps: Option<Word<StampChoice>>,
    /// Random seed for arrivals and orders [default: random, and recorded]
    #[arg(long, value_name = "N", env = "SYSDYNO_SEED")]
    pub seed: Option<u64>,
    /// Also measure this process as a part of the server; repeatable. Processes that listen at the target, and those that they are connected to, are always measured
    #[arg(long = "watch-pid", value_name = "PID")]
    pub watch_pid: Vec<u32>,
    /// The fence, which only files can set.
    #[arg(skip)]
    pub allow: Allow,
    /// What is spoken on the connections.
    #[command(flatten)]
    pub wire: WireOptions,
}

impl TargetOptions {
    /// Refuses a fence in a file that names the target.
    pub(crate) fn check_no_fence(&self) -> anyhow::Result<()> {
        ensure!(
            self.allow == Allow::default(),
            "'allow' can only be set in sysdyno.toml, not in experiments"
        );
        Ok(())
    }

    /// The timeout of `-T`; `None` if it is missing or a content type.
    pub fn typed_timeout(&self) -> Option<SpanNs> {
        self.timeout_or_type.as_ref().and_then(TimeoutOrType::timeout)
    }
}

/// A header field as typed: a name, then a colon and a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name.
    pub name: String,
    /// The value; `None` if there was no colon.
    pub value: Option<String>,
}

impl FromStr for Field {
    type Err = String;

    fn from_str(text: &str) -> Result<Field, String> {
        let (name, value) = match text.split_once(':') {
            Some((name, value)) => (name.trim(), Some(value.trim().to_owned())),
            None => (text.trim(), None),
        };
        if name.is_empty() || text.contains(['\r', '\n', '\0']) {
            return Err("write it as 'Name: value' on one line".into());
        }
        Ok(Field { name: name.to_owned(), value })
    }
}

read_as_text!(Field);
