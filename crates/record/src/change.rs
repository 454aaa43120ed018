//! A change of a setting, as typed: `KEY=VALUE`.

use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// Longest change that is read. Unit: bytes.
const MAX_BYTES: usize = 4096;

/// Longest text to show. Unit: characters.
const MAX_TOLD: usize = 120;

/// A setting and the value that a variant gives it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingChange {
    /// The setting: `net.core.somaxconn`.
    pub key: String,
    /// The value as it was typed.
    pub value: String,
}

impl SettingChange {
    /// The change as it would be typed.
    pub fn text(&self) -> String {
        format!("{}={}", self.key, self.value)
    }
}

/// A text that is no change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot change '{text}': it is not in the form KEY=VALUE\nhint: net.core.somaxconn=4096")]
pub struct NoChange {
    /// What was typed, cut off.
    text: String,
}

impl FromStr for SettingChange {
    type Err = NoChange;

    fn from_str(text: &str) -> Result<SettingChange, NoChange> {
        let form = || NoChange { text: text.chars().take(MAX_TOLD).collect() };
        if text.len() > MAX_BYTES || text.contains(['\n', '\0']) {
            return Err(form());
        }
        let (key, value) = text.split_once('=').ok_or_else(form)?;
        let (key, value) = (key.trim(), value.trim());
        // sysctl takes both forms; here they are one setting.
        // What a colon follows is a path, which keeps its slashes.
        let is_of_path = key.split_once(':').is_some_and(|(_, rest)| rest.starts_with('/'));
        let key = if key.contains('/') && !is_of_path {
            key.trim_matches('/').replace('/', ".")
        } else {
            key.to_owned()
        };
        let key = key.strip_prefix("proc.sys.").unwrap_or(&key).to_owned();
        if key.is_empty() || value.is_empty() {
            return Err(form());
        }
        Ok(SettingChange { key, value: value.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_read_as_sysctl_reads_them() {
        let check = |text: &str, key: &str, value: &str| {
            assert_eq!(text.parse(), Ok(SettingChange { key: key.into(), value: value.into() }), "{text}");
        };
        check("net.core.somaxconn=4096", "net.core.somaxconn", "4096");
        check(" net.ipv4.tcp_rmem = 4096 131072 33554432 ", "net.ipv4.tcp_rmem", "4096 131072 33554432");
        check("net/core/somaxconn=1", "net.core.somaxconn", "1");
        check("/proc/sys/vm/swappiness=1", "vm.swappiness", "1");
        check("mount:/srv/data=noatime,commit=30", "mount:/srv/data", "noatime,commit=30");
        for wrong in ["", "=", "a=", "=1", "net.core.somaxconn", "a=1\nb=2"] {
            assert!(wrong.parse::<SettingChange>().is_err(), "{wrong:?}");
        }
    }
}
