//! HTTP/1.1 as a load client needs it: fixed request bytes out, framing of responses in.
//!
//! The response parser reads only the framing and what the validators need. Bodies are counted and discarded. Any doubt
//! about where a response ends fails the request and closes the connection (RFC 9112 §6.3, §9.6).
//!
//! Decisions beyond the letter of RFC 9112:
//!
//! | input | decision |
//! |---|---|
//! | line ended by a bare LF | accepted |
//! | bare CR, NUL or another control character (HTAB excepted) in the head | `protocol` |
//! | folded field (line that begins with a space or tab) | `protocol` |
//! | space between field name and colon, empty or non-token name | `protocol` |
//! | first bytes of a connection that are not `HTTP/` | `not_http`, at once; `speaks_tls` if they are an alert of TLS |
//! | the same behind other responses | `protocol` |
//! | version other than `HTTP/1.0`, `HTTP/1.1` | `protocol` |
//! | status that is not three digits from 100 to 599 | `invalid_status` |
//! | several equal Content-Length values (`5, 5`) | accepted |
//! | Content-Length with sign, blanks inside, hex, more than 2^53, or differing values | `protocol` |
//! | Transfer-Encoding together with Content-Length, or with HTTP/1.0 | `protocol` |
//! | Transfer-Encoding other than exactly one `chunked` | `protocol` |
//! | 101 without having asked for an upgrade | `protocol` |
//! | bytes after the response | `desync` |

pub(crate) mod body;
mod chunked;
pub(crate) mod head;
pub(crate) mod kept;
pub mod limits;
pub mod request;
pub mod response;
mod rules;
mod watch;

pub use request::RequestBytes;
pub use response::ResponseParser;
pub use rules::Rules;
