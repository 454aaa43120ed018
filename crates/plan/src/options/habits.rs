//! Options that users of ab, wrk, weighttp, and h2load type out of habit and that sysdyno writes differently.
//!
//! Each letter has one meaning here. Where the tools disagree, the value decides if it can (`-T`); otherwise the meaning is
//! that of most tools (`-t`, `-d`), and a value that only makes sense with the other meaning is refused with what to type
//! instead. `docs/guide/other-tools.md` has the whole table.

use super::typed::Typed;
use sysdyno_record::units::{SpanNs, UnitError};

/// The value of a switch that a file may also set: no value turns it on, `=false` turns it off, whatever the file says.
pub(super) fn switch(text: &str) -> Result<bool, &'static str> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "" | "0" | "false" | "no" | "off" => Ok(false),
        _ => Err("write true or false"),
    }
}

/// The value of `-T`: a timeout (wrk) or a content type (ab).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimeoutOrType {
    /// A request's timeout.
    Timeout(SpanNs),
    /// The content type of the request's body.
    Type(String),
}

impl TimeoutOrType {
    /// The timeout, if it is one.
    pub fn timeout(&self) -> Option<SpanNs> {
        match self {
            TimeoutOrType::Timeout(span) => Some(*span),
            TimeoutOrType::Type(_) => None,
        }
    }

    /// The content type, if it is one.
    pub fn content_type(&self) -> Option<&str> {
        match self {
            TimeoutOrType::Timeout(_) => None,
            TimeoutOrType::Type(name) => Some(name),
        }
    }
}

/// A duration, in seconds if it has no unit.
pub(super) fn duration(text: &str) -> Result<Typed<SpanNs>, UnitError> {
    let is_bare = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_bare { format!("{text}s").parse() } else { text.parse() }
}

/// What `-T` means: a content type has a slash, a duration never does.
pub(super) fn timeout_or_type(text: &str) -> Result<TimeoutOrType, UnitError> {
    if text.contains('/') {
        return Ok(TimeoutOrType::Type(text.to_owned()));
    }
    duration(text).map(|span| TimeoutOrType::Timeout(span.0))
}

/// A number of threads; a value that looks like ab's time limit is refused.
pub(super) fn threads(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| {
        "write a number of threads, as in wrk and weighttp; for a time limit (ab's -t), use -d 30s".to_owned()
    })
}

/// A method; a number, as for h2load's `-m`, is refused.
pub(super) fn method(text: &str) -> Result<String, String> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(
            "write a method, such as 'HEAD'; for streams per connection (h2load's -m), use --streams".into(),
        );
    }
    Ok(text.to_owned())
}
