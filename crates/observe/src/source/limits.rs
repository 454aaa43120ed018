//! `/proc/PID/limits`: what a process may use.
//!
//! Source: `fs/proc/base.c`, `proc_pid_limits`; getrlimit(2).

use super::{Fields, decimal, lines};
use crate::error::ParseError;

/// A limit of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// There is none.
    Unlimited,
    /// It is this many.
    At(u64),
}

/// Soft and hard limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitPair {
    /// The limit that the kernel enforces.
    pub soft: Limit,
    /// What the process may raise it to.
    pub hard: Limit,
}

/// Reads the limit of open files.
pub fn parse_open_files(text: &[u8]) -> Result<LimitPair, ParseError> {
    for (index, line) in lines(text).enumerate() {
        if let Some(rest) = line.strip_prefix(b"Max open files") {
            let mut fields = Fields::of(rest);
            let mut limit = || fields.next().and_then(parse_limit).ok_or(ParseError::at(index, "a limit"));
            return Ok(LimitPair { soft: limit()?, hard: limit()? });
        }
    }
    Err(ParseError::at(0, "a line 'Max open files'"))
}

/// A line of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named<'a> {
    /// The limited resource, such as `open files`, without the leading `Max`.
    pub name: &'a str,
    /// Its limits.
    pub pair: LimitPair,
    /// Unit as the kernel writes it; `None`: it has none.
    pub unit: Option<&'a str>,
}

/// Width of the column of names, which hold spaces. Unit: bytes.
const NAME_BYTES: usize = 25;

/// Hands each limit to `each`.
pub fn parse(text: &[u8], mut each: impl FnMut(Named<'_>)) -> Result<(), ParseError> {
    for (index, line) in lines(text).enumerate().skip(1) {
        each(parse_line(line).ok_or(ParseError::at(index, "a limit"))?);
    }
    Ok(())
}

fn parse_line(line: &[u8]) -> Option<Named<'_>> {
    let name = std::str::from_utf8(line.get(..NAME_BYTES)?).ok()?.strip_prefix("Max ")?.trim_end();
    let mut fields = Fields::of(&line[NAME_BYTES..]);
    let mut limit = || fields.next().and_then(parse_limit);
    let pair = LimitPair { soft: limit()?, hard: limit()? };
    let unit = fields.next().and_then(|unit| std::str::from_utf8(unit).ok());
    Some(Named { name, pair, unit })
}

fn parse_limit(field: &[u8]) -> Option<Limit> {
    if field == b"unlimited" { Some(Limit::Unlimited) } else { decimal(field).map(Limit::At) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_limits_are_read_with_their_units() {
        let text = b"Limit                     Soft Limit           Hard Limit           Units     \n\
            Max cpu time              unlimited            60                   seconds   \n\
            Max nice priority         0                    0                    \n";
        let mut seen = Vec::new();
        parse(text, |limit| seen.push(format!("{} {:?} {:?}", limit.name, limit.pair.hard, limit.unit)))
            .expect("parses");
        assert_eq!(seen, ["cpu time At(60) Some(\"seconds\")", "nice priority At(0) None"]);
        assert!(parse(b"Limit\nMax cpu time x y\n", |_| {}).is_err());
    }

    #[test]
    fn open_files_are_found() {
        let text = b"Limit    Soft Limit  Hard Limit  Units\nMax processes 1 2 processes\nMax open files   1024   unlimited   files\n";
        assert_eq!(parse_open_files(text), Ok(LimitPair { soft: Limit::At(1024), hard: Limit::Unlimited }));
        for wrong in ["", "Max open files\n", "Max open files 1 x files\n", "Max processes 1 2\n"] {
            assert!(parse_open_files(wrong.as_bytes()).is_err(), "{wrong:?}");
        }
    }
}
