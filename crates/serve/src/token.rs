//! The secret of a server: printed once in its URL, kept by the browser in a cookie.

use std::fmt;
use std::fmt::Write as _;

/// The secret that lets a browser in.
#[derive(Clone)]
pub struct AccessToken(String);

impl AccessToken {
    /// A token of these bytes, which must be drawn at random.
    pub fn new(random: [u8; 16]) -> AccessToken {
        let mut text = String::with_capacity(32);
        for byte in random {
            let _ = write!(text, "{byte:02x}");
        }
        AccessToken(text)
    }

    /// The token as it stands in a URL.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether this is the token, in a time that does not depend on where they differ.
    pub(crate) fn is(&self, text: &str) -> bool {
        let difference = self.0.bytes().zip(text.bytes()).fold(0, |all, (one, other)| all | (one ^ other));
        self.0.len() == text.len() && std::hint::black_box(difference) == 0
    }
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("AccessToken(..)")
    }
}
