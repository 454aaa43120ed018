//! memcached as a load client needs it: the keys, their sizes, the commands, and the responses.
//!
//! Each key has a number. Its text, the length of its value, and the value itself follow from the number and the plan's seed,
//! so any value that is read can be verified without keeping what was stored. Responses are bounded and parsed as they
//! arrive; values are not kept. Anything that does not answer the request fails it and closes the connection, as with HTTP.
//!
//! | answer | outcome |
//! |---|---|
//! | `VALUE`, `VA` with the value that belongs to the key | hit |
//! | `END`, `EN`, `MN` without it | miss, which is ok |
//! | `STORED`, `HD` | stored |
//! | `NOT_STORED`, `NS` | `not_stored` |
//! | `SERVER_ERROR` to a set | `server_error`; the connection goes on |
//! | `SERVER_ERROR` to a get, `CLIENT_ERROR`, `ERROR` | `server_error`; the connection is closed |
//! | a value of another length, other bytes | `wrong_length`, `wrong_body` |
//! | a value over [`MAX_VALUE_BYTES`] | `body_limit` |
//! | a first line that begins with no word of memcached | `not_memcached` |
//! | a key that was not asked for, a line of more than [`MAX_LINE_BYTES`], anything else | `protocol` |
//! | bytes after the answer | `desync` |
//!
//! Sources: memcached `doc/protocol.txt` (1.6.18): "Storage commands", "Retrieval command", "Meta Get", "Meta Set".

mod decoder;
mod keys;
mod size;
mod source;

pub use decoder::Decoder;
pub(crate) use decoder::foreign;
pub use keys::Keys;
pub(crate) use size::max_request_bytes;
pub(crate) use source::{MemcachedSource, write_set};

/// Longest key that memcached takes. Unit: bytes.
pub const MAX_KEY_BYTES: usize = 250;

/// Longest value that is stored or read: what fits into an item of a server that was not told otherwise. Unit: bytes.
pub const MAX_VALUE_BYTES: usize = 1_000_000;

/// Longest line of an answer. Unit: bytes.
pub const MAX_LINE_BYTES: usize = 2048;

/// Most keys of one reading request.
pub const MAX_KEYS_PER_GET: u32 = 100;

/// Most keys of a plan.
pub const MAX_KEYS_COUNT: u64 = 1 << 40;
