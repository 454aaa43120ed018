//! Every bound on what a server may send before its response counts as broken.

/// Longest line of a response head, its line end included. Unit: bytes.
pub const MAX_HEAD_LINE_BYTES: usize = 8 * 1024;

/// Longest response head. Unit: bytes.
pub const MAX_HEAD_BYTES: usize = 64 * 1024;

/// Most fields in a response head.
pub const MAX_FIELDS_COUNT: usize = 256;

/// Most interim (1xx) responses before a final one.
pub const MAX_INTERIM_COUNT: u32 = 32;

/// Longest line with a chunk's size, extensions included. Unit: bytes.
pub const MAX_CHUNK_LINE_BYTES: usize = 256;

/// Most bytes of chunk extensions in one response.
pub const MAX_CHUNK_EXTENSION_BYTES: usize = 16 * 1024;

/// Longest trailer section. Unit: bytes.
pub const MAX_TRAILER_BYTES: usize = 16 * 1024;

/// Greatest Content-Length or chunk size that is taken for a number: what a double holds exactly. Unit: bytes.
pub const MAX_DECLARED_BYTES: u64 = 1 << 53;

/// Longest body that is read to its end unless the plan says otherwise. Unit: bytes.
pub const DEFAULT_MAX_BODY_BYTES: u64 = 64 * 1024 * 1024;
