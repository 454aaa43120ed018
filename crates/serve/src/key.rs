//! What a request that changes something must carry besides the cookie, so that no page of another site can make a browser send one.
//!
//! The key stands only in the server's own pages, and is sent in a field that a page of another site may not send without leave,
//! which nobody is given. The request must also come from the origin that it is sent to.

use crate::token::AccessToken;
use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderValue};

/// The field of the key.
const KEY_FIELD: &str = "x-sysdyno-key";

/// The key to changes.
pub(crate) struct ChangeKey(pub(crate) AccessToken);

impl ChangeKey {
    pub(crate) fn text(&self) -> &str {
        self.0.text()
    }

    /// Whether a request that passed the gate may change something.
    pub(crate) fn fits(&self, headers: &HeaderMap) -> bool {
        let text =
            |value: Option<&HeaderValue>| value.and_then(|value| value.to_str().ok()).map(str::to_owned);
        let origin = text(headers.get(ORIGIN));
        let own = text(headers.get(HOST)).map(|host| format!("http://{host}"));
        let key = text(headers.get(KEY_FIELD));
        origin.is_some() && origin == own && key.is_some_and(|key| self.0.is(&key))
    }
}
