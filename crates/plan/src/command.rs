//! Parses commands.

use anyhow::{Context, ensure};
use sysdyno_record::command::CommandSpec;

/// The words of a command: quotes group, nothing else has a meaning, unless a shell reads them.
pub fn command(text: &str, has_shell: bool) -> anyhow::Result<CommandSpec> {
    let words = if has_shell {
        Some(["/bin/sh", "-c", text].map(str::to_owned).to_vec())
    } else {
        shlex::split(text)
    };
    let words = words.with_context(|| format!("cannot read command '{text}': a quote is not closed"))?;
    ensure!(!words.is_empty(), "cannot run an empty command");
    Ok(CommandSpec { text: text.to_owned(), words })
}
