//! A change as it is typed: `KEY=VALUE`.

use crate::error::Refusal;
use std::str::FromStr;
use sysdyno_record::change::{NoChange, SettingChange};

/// A setting and what it should become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The setting, with dots: `net.core.somaxconn`.
    pub key: String,
    /// The value as it was typed, without blanks around it.
    pub value: String,
}

impl Change {
    /// The change as it would be typed.
    pub fn text(&self) -> String {
        format!("{}={}", self.key, self.value)
    }
}

impl FromStr for Change {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Change, Refusal> {
        let SettingChange { key, value } = text.parse().map_err(|_: NoChange| {
            Refusal::new(text, "it is not in the form KEY=VALUE").hint("net.core.somaxconn=4096")
        })?;
        Ok(Change { key, value })
    }
}
