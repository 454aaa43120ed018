//! Parses the settings that a variant changes.

use anyhow::bail;
use sysdyno_record::change::SettingChange;
use sysdyno_record::plan::Endpoint;

/// Settings as typed; `listener.backlog` is that of the port of the URL.
pub fn settings(changes: &[String], url: &str) -> anyhow::Result<Vec<SettingChange>> {
    let read = |text: &String| {
        let change = text.parse::<SettingChange>()?;
        let key = match change.key.as_str() {
            "listener.backlog" => format!("listener.{}.backlog", port(url)?),
            key => key.to_owned(),
        };
        Ok(SettingChange { key, ..change })
    };
    changes.iter().map(read).collect()
}

fn port(url: &str) -> anyhow::Result<u16> {
    match sysdyno_load::target::resolve(url)?.endpoint {
        Endpoint::Tcp(address) => Ok(address.port()),
        Endpoint::Unix(_) => bail!("cannot change the backlog of a Unix socket"),
    }
}
