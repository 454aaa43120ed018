//! Every bound on what a server may send.

/// Longest frame that a server may send: what HTTP/2 allows unless it is told otherwise. Unit: bytes.
pub const MAX_FRAME_BYTES: usize = 16 * 1024;

/// Longest header block, encoded, and longest list of fields, decoded. Unit: bytes.
pub const MAX_HEAD_BYTES: usize = 64 * 1024;

/// Most CONTINUATION frames of one header block.
pub const MAX_CONTINUATIONS_COUNT: u32 = 16;

/// Most control frames, empty frames and frames of ended streams in a row without a byte of a response.
pub const MAX_IDLE_FRAMES_COUNT: u32 = 1000;

/// Most control frames of a connection that are answered between two complete responses: whoever sends more of them has
/// no interest in the answers, and may not even read them.
pub const MAX_ANSWERS_COUNT: u32 = 10_000;

/// Most interim (1xx) responses before a final one.
pub const MAX_INTERIM_COUNT: u32 = 32;

/// Memory of the table of fields that a server may refer to: what HTTP/2 grants unless it says otherwise. Unit: bytes.
pub const TABLE_BYTES: usize = 4096;

/// Greatest window that there is; both kinds are opened as wide. Unit: bytes.
pub const MAX_WINDOW_BYTES: i64 = (1 << 31) - 1;

/// Most requests at a time on one connection of a plan.
pub const MAX_STREAMS_COUNT: u32 = 10_000;
