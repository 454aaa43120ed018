//! One request, and the requirements for its response.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One HTTP request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestSpec {
    /// Method, upper case as it is sent.
    pub method: String,
    /// Header fields besides `Host`, `Content-Length`, `Connection` and `User-Agent`; secrets redacted in the record.
    pub headers: Vec<HeaderField>,
    /// The body; empty for none. It is not recorded, and copies of a plan share it.
    #[serde(skip)]
    pub body: Arc<[u8]>,
    /// Length of the body, kept since the body itself is not recorded.
    pub body_bytes: u64,
}

/// One header field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeaderField {
    /// Name as sent.
    pub name: String,
    /// Value as sent, or `«redacted»` in the record.
    pub value: String,
}

/// What a response must be like. An empty validator accepts everything; the status is always checked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validators {
    /// Accepted status codes; empty means 200 to 399.
    pub statuses: Vec<u16>,
    /// Exact body length in bytes.
    pub body_bytes: Option<u64>,
    /// A header field that must be present, with this value if one is given.
    pub header: Option<ExpectedHeader>,
    /// Bytes that the body must contain.
    pub body_contains: Option<String>,
    /// Learn the body's checksum from the first responses and fail those that differ later.
    pub same_body: bool,
    /// With `same_body`: a body that only varies is accepted. One is of another kind if it is an error page, shorter than half of the
    /// learnt one, or longer than twice.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_vary: bool,
}

/// A header field that a response must have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpectedHeader {
    /// Name, compared without case.
    pub name: String,
    /// Value, compared exactly after trimming; `None` accepts any.
    pub value: Option<String>,
}
