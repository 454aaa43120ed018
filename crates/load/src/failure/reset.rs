//! Names of the HTTP/2 error codes with which a server resets a stream or closes a connection.
//!
//! Source: RFC 9113, section 7.

/// The codes by their names.
const NAMES: [&str; 14] = [
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "FLOW_CONTROL_ERROR",
    "SETTINGS_TIMEOUT",
    "STREAM_CLOSED",
    "FRAME_SIZE_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "COMPRESSION_ERROR",
    "CONNECT_ERROR",
    "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY",
    "HTTP_1_1_REQUIRED",
];

/// What an error code is called.
pub(super) fn name(code: u32) -> String {
    NAMES.get(code as usize).map_or_else(|| format!("the error code {code}"), |name| (*name).to_owned())
}
