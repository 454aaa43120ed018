//! The syntax of values.
//!
//! | typed | stands for |
//! |---|---|
//! | `{{counter}}`, `{{counter:7..}}`, `{{counter:1..500}}` | a number that goes up by one with each request; after the last the first comes again |
//! | `{{random:1..100000}}` | any of these numbers, equally likely |
//! | `{{csv:FILE:COLUMN}}` | the cell of the next row |
//! | `{{csv-random:FILE:COLUMN}}` | the cell of any row |
//! | `{{user}}` | the number of the user of a session |
//! | `{{NAME}}` | what an earlier response said, in a session |
//!
//! `|url` behind any of them percent-encodes all but letters, digits and `-._~`. Single braces stand for themselves, and so
//! do two behind a backslash: `\{{`.

/// Longest text between the braces. Unit: bytes.
const MAX_VALUE_BYTES: usize = 300;

/// Names with a special meaning.
const WORDS: [&str; 5] = ["counter", "random", "csv", "csv-random", "user"];

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextPart {
    /// Sent as it is.
    Text(String),
    /// Put in when the request is sent; `is_encoded`: as a component of a URL.
    Value {
        /// What.
        value: Value,
        /// Whether `|url` follows.
        is_encoded: bool,
    },
}

/// What is put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `first`, and one more each time, up to `last`.
    Counter {
        /// The least.
        first: u64,
        /// The greatest.
        last: u64,
    },
    /// Any number from `first` to `last`.
    Random {
        /// The least.
        first: u64,
        /// The greatest.
        last: u64,
    },
    /// A cell of a table.
    Cell {
        /// The file, as typed.
        file: String,
        /// Name of the column.
        column: String,
        /// Of any row, not of the next.
        is_random: bool,
    },
    /// The number of the user, from 1.
    User,
    /// What was taken from a response under this name.
    Taken(String),
}

/// A value that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misread {
    /// Where its braces begin. Unit: bytes.
    pub at: usize,
    /// What is wrong, with a hint on a separate line.
    pub cause: String,
}

/// Splits a text into what is sent as it is and values.
///
/// # Errors
/// The first value that cannot be read.
pub fn parse(text: &str) -> Result<Vec<TextPart>, Misread> {
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut at = 0;
    while let Some(found) = text[at..].find("{{").map(|offset| at + offset) {
        if text[at..found].ends_with('\\') {
            plain.push_str(&text[at..found - 1]);
            plain.push_str("{{");
            at = found + 2;
            continue;
        }
        plain.push_str(&text[at..found]);
        let misread = |cause: String| Misread { at: found, cause };
        let inner = &text[found + 2..];
        let length = inner.find("}}").filter(|length| *length <= MAX_VALUE_BYTES).ok_or_else(|| {
            misread("'{{' without a matching '}}'\nhint: write literal braces as '\\{{'".into())
        })?;
        if !plain.is_empty() {
            parts.push(TextPart::Text(std::mem::take(&mut plain)));
        }
        parts.push(value(&inner[..length]).map_err(misread)?);
        at = found + 2 + length + 2;
    }
    plain.push_str(&text[at..]);
    if !plain.is_empty() {
        parts.push(TextPart::Text(plain));
    }
    Ok(parts)
}

fn value(typed: &str) -> Result<TextPart, String> {
    let (typed, is_encoded) = match typed.strip_suffix("|url") {
        Some(typed) => (typed, true),
        None => (typed, false),
    };
    let (word, rest) = typed.split_once(':').map_or((typed, None), |(word, rest)| (word, Some(rest)));
    let value = match (word, rest) {
        ("counter", None) => Value::Counter { first: 1, last: u64::MAX },
        ("counter", Some(rest)) => {
            let (first, last) = range(rest, typed)?;
            Value::Counter { first, last: last.unwrap_or(u64::MAX) }
        }
        ("random", Some(rest)) => match range(rest, typed)? {
            (first, Some(last)) => Value::Random { first, last },
            (_, None) => return Err(hint(typed, "{{random:1..100000}}")),
        },
        ("csv" | "csv-random", Some(rest)) => {
            let (file, column) = rest
                .rsplit_once(':')
                .filter(|(file, column)| !file.is_empty() && !column.is_empty())
                .ok_or_else(|| hint(typed, "{{csv:users.csv:name}}"))?;
            Value::Cell { file: file.into(), column: column.into(), is_random: word == "csv-random" }
        }
        ("user", None) => Value::User,
        (name, None) if is_name(name) => Value::Taken(name.into()),
        _ => {
            return Err(hint(
                typed,
                "{{counter:1..}}, {{random:1..9}}, {{csv:FILE:COLUMN}}, or '\\{{' for braces",
            ));
        }
    };
    Ok(TextPart::Value { value, is_encoded })
}

/// `7..` or `1..500`.
fn range(text: &str, typed: &str) -> Result<(u64, Option<u64>), String> {
    let wrong = || hint(typed, "{{counter:1..}} or {{random:1..100000}}");
    let (first, last) = text.split_once("..").ok_or_else(wrong)?;
    let first: u64 = first.parse().map_err(|_| wrong())?;
    let last = if last.is_empty() { None } else { Some(last.parse::<u64>().map_err(|_| wrong())?) };
    if last.is_some_and(|last| last < first) {
        return Err(format!("'{}' ends before it starts", typed.escape_debug()));
    }
    Ok((first, last))
}

fn hint(typed: &str, example: &str) -> String {
    let shown: String = typed.chars().take(60).collect();
    format!("'{{{{{}}}}}' is not a value\nhint: write {example}", shown.escape_debug())
}

/// Whether a value that is taken from a response may have this name.
pub fn is_name(name: &str) -> bool {
    let mut letters = name.chars();
    let begins = letters.next().is_some_and(|letter| letter.is_ascii_alphabetic() || letter == '_');
    let goes_on = letters.all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'));
    begins && goes_on && name.len() <= 40 && !WORDS.contains(&name)
}
