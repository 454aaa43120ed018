//! Reads files that people write: whole, unless they are devices, pipes, or longer than anybody would write.

use anyhow::ensure;
use std::path::Path;

/// Longest file that is read. Unit: bytes.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// The contents of a file; the error has only the cause.
pub fn read(path: &Path) -> anyhow::Result<String> {
    let metadata = std::fs::metadata(path)?;
    ensure!(
        metadata.is_file() && metadata.len() <= MAX_FILE_BYTES,
        "not a regular file, or longer than 1 MiB"
    );
    Ok(std::fs::read_to_string(path)?)
}

/// Values that are of another kind, too large, or out of any range.
#[cfg(test)]
const WRONG_VALUES: [&str; 13] = [
    "''",
    "'{{\u{e9}\u{2026}'",
    "'-1s'",
    "'18446744073709551616h'",
    "-1",
    "0",
    "1e308",
    "nan",
    "9223372036854775807",
    "true",
    "[]",
    "[[]]",
    "{}",
];

/// A TOML text with one damage at a time: a line is missing, twice there, or the last one and torn; a value is another one.
#[cfg(test)]
pub(crate) fn damaged(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let with =
        |place: usize, others: &[&str]| [&lines[..place], others, &lines[place + 1..]].concat().join("\n");
    let mut texts = Vec::new();
    for (place, line) in
        lines.iter().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
    {
        let half = line.chars().take(line.chars().count() / 2).collect::<String>();
        texts.extend([with(place, &[]), with(place, &[line, line])]);
        texts.push([&lines[..place], &[half.as_str()]].concat().join("\n"));
        if let Some((key, _)) = line.split_once(" = ") {
            texts.extend(WRONG_VALUES.map(|value| with(place, &[&format!("{key} = {value}")])));
        }
    }
    texts
}
