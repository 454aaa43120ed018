//! A request as pieces: text, and variables that each request fills in.

use super::filling::Filling;
use super::text::{self, TextPart, Value};
use crate::error::LoadError;
use crate::protocol::http1::RequestBytes;
use std::io::Write;
use std::sync::Arc;
use sysdyno_record::plan::{RequestSpec, Target};
use sysdyno_record::workload::ValueFile;

/// What the values of a load may name.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Names<'a> {
    /// Tables.
    pub files: &'a [ValueFile],
    /// What is taken from responses, in the order in which users remember it.
    pub taken: &'a [String],
    /// Whether there are users.
    pub has_users: bool,
    /// Whether users send cookies back.
    pub keeps_cookies: bool,
    /// Whether the request asks if a version that a cache has is still good.
    pub asks_by_version: bool,
}

impl Names<'_> {
    /// Whether requests are rebuilt each time even if they contain no value.
    pub(super) fn is_written_anew(&self) -> bool {
        self.keeps_cookies || self.asks_by_version
    }
}

/// A request that is written anew each time it is sent.
#[derive(Debug)]
pub(crate) struct Template {
    head: Box<[Piece]>,
    /// A body whose length depends on its values; empty where `fixed_body` is the body.
    body: Box<[Piece]>,
    fixed_body: Arc<[u8]>,
}

#[derive(Clone, Debug)]
enum Piece {
    Text(Box<[u8]>),
    /// `first`, …, up to `count` numbers; 0 means no limit.
    Counter {
        first: u64,
        count: u64,
    },
    /// `place` tells several random numbers of a request apart.
    Random {
        first: u64,
        last: u64,
        place: u64,
    },
    Cell {
        file: usize,
        column: usize,
        is_random: bool,
        escape: Escape,
    },
    User,
    Taken {
        number: usize,
        escape: Escape,
    },
    /// The fields that ask whether the version in the user's cache is still good.
    Condition,
    /// The `Cookie` field of a user who has cookies for the path.
    Cookies,
    /// `Connection: close` on the last request of a connection.
    Connection,
    /// The length of the body.
    Length,
}

/// What becomes of bytes that a place cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escape {
    /// There are none.
    Nothing,
    /// Characters not allowed in a request line are percent-encoded.
    Path,
    /// All but unreserved ones are percent-encoded.
    Component,
}

/// The place of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Path,
    Field,
    Body,
}

const LENGTH_FIELD: &str = "Content-Length: ";

impl Template {
    /// # Errors
    /// A request that would not be valid HTTP, or a value that cannot be had.
    pub(crate) fn of(
        request: &RequestSpec,
        target: &Target,
        path: &str,
        names: &Names<'_>,
    ) -> Result<Template, LoadError> {
        let mut making = Making { names, randoms: 0 };
        let text = std::str::from_utf8(&request.body).unwrap_or("");
        let body = making.pieces(text, Place::Body)?;
        let is_fixed = body.iter().all(|piece| matches!(piece, Piece::Text(_)));
        let fixed_body = match body.as_slice() {
            _ if !is_fixed => Arc::default(),
            [Piece::Text(text)] => text.as_ref().into(),
            _ => request.body.clone(),
        };
        let body = if is_fixed { Vec::new() } else { body };
        let sent = RequestSpec { body: fixed_body.clone(), ..request.clone() };
        let bytes = RequestBytes::of(&sent, target, path)?;
        let whole = &bytes.keep[..bytes.keep.len() - fixed_body.len()];
        let whole = std::str::from_utf8(whole).map_err(|_| LoadError::plan("a header field is not text"))?;
        let head = whole.strip_suffix("\r\n").unwrap_or(whole);
        let (line, fields) = head.split_once("\r\n").unwrap_or((head, ""));
        let mut pieces = making.pieces(line, Place::Path)?;
        pieces.push(Piece::Text(b"\r\n".as_slice().into()));
        let own = format!("\r\n{LENGTH_FIELD}");
        let (before, after) = fields.split_once(&own).map_or((fields, ""), |(before, rest)| {
            (before, rest.split_once("\r\n").map_or("", |(_, after)| after))
        });
        pieces.extend(making.pieces(if is_fixed { fields } else { before }, Place::Field)?);
        if !is_fixed {
            if before.len() < fields.len() {
                pieces.push(Piece::Text(b"\r\n".as_slice().into()));
            }
            pieces.extend([Piece::Text(LENGTH_FIELD.as_bytes().into()), Piece::Length]);
            pieces.push(Piece::Text(b"\r\n".as_slice().into()));
            pieces.extend(making.pieces(after, Place::Field)?);
        }
        let has_own_cookies = request.headers.iter().any(|field| field.name.eq_ignore_ascii_case("cookie"));
        if names.keeps_cookies && !has_own_cookies {
            pieces.push(Piece::Cookies);
        }
        if names.asks_by_version {
            pieces.push(Piece::Condition);
        }
        pieces.extend([Piece::Connection, Piece::Text(b"\r\n".as_slice().into())]);
        Ok(Template { head: pieces.into(), body: body.into(), fixed_body })
    }

    /// Whether it differs from request to request, cookies aside.
    pub(crate) fn has_values(&self) -> bool {
        let is_value = |piece: &Piece| {
            !matches!(piece, Piece::Text(_) | Piece::Cookies | Piece::Connection | Piece::Length)
        };
        self.head.iter().chain(&self.body).any(is_value)
    }

    /// Writes the request behind what is in `out`; `scratch` is memory.
    pub(crate) fn write(&self, filling: &Filling<'_>, scratch: &mut Vec<u8>, out: &mut Vec<u8>) {
        scratch.clear();
        self.body.iter().for_each(|piece| piece.write(filling, scratch));
        let start = out.len();
        for piece in &self.head {
            match piece {
                Piece::Length => number(scratch.len() as u64, out),
                Piece::Cookies => filling.write_cookies(start, out),
                Piece::Condition => {
                    if let Some(version) = filling.version {
                        version.write_condition(out);
                    }
                }
                Piece::Connection if filling.is_last => out.extend_from_slice(b"Connection: close\r\n"),
                piece => piece.write(filling, out),
            }
        }
        out.extend_from_slice(if self.body.is_empty() { &self.fixed_body } else { scratch });
    }
}

impl Piece {
    fn write(&self, filling: &Filling<'_>, out: &mut Vec<u8>) {
        match *self {
            Piece::Text(ref text) => out.extend_from_slice(text),
            Piece::Counter { first, count } => number(filling.counter(first, count), out),
            Piece::Random { first, last, place } => number(filling.random(first, last, place), out),
            Piece::Cell { file, column, is_random, escape } => {
                escape.write(filling.cell(file, column, is_random).as_bytes(), out);
            }
            Piece::User => number(filling.user + 1, out),
            Piece::Taken { number, escape } => escape.write(filling.taken(number), out),
            Piece::Cookies | Piece::Condition | Piece::Connection | Piece::Length => {}
        }
    }
}

impl Escape {
    fn of(place: Place, is_encoded: bool) -> Escape {
        match place {
            _ if is_encoded => Escape::Component,
            Place::Path => Escape::Path,
            Place::Field | Place::Body => Escape::Nothing,
        }
    }

    pub(super) fn write(self, bytes: &[u8], out: &mut Vec<u8>) {
        let is_kept = |byte: u8| match self {
            Escape::Nothing => true,
            Escape::Path => byte.is_ascii_graphic() && !matches!(byte, b'#' | b'"' | b'<' | b'>'),
            Escape::Component => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~'),
        };
        for byte in bytes {
            if is_kept(*byte) {
                out.push(*byte);
            } else {
                let digit = |nibble: u8| b"0123456789ABCDEF"[nibble as usize];
                out.extend_from_slice(&[b'%', digit(byte >> 4), digit(byte & 15)]);
            }
        }
    }
}

/// Writing into memory does not fail.
fn number(number: u64, out: &mut Vec<u8>) {
    let _ = write!(out, "{number}");
}

struct Making<'a> {
    names: &'a Names<'a>,
    randoms: u64,
}

impl Making<'_> {
    fn pieces(&mut self, text: &str, place: Place) -> Result<Vec<Piece>, LoadError> {
        let parts = text::parse(text).map_err(|misread| LoadError::plan(misread.cause))?;
        parts.into_iter().map(|part| self.piece(part, place)).collect()
    }

    fn piece(&mut self, part: TextPart, place: Place) -> Result<Piece, LoadError> {
        let (value, is_encoded) = match part {
            TextPart::Text(text) => return Ok(Piece::Text(text.into_bytes().into())),
            TextPart::Value { value, is_encoded } => (value, is_encoded),
        };
        let escape = Escape::of(place, is_encoded);
        Ok(match value {
            Value::Counter { first, last } => Piece::Counter { first, count: (last - first).wrapping_add(1) },
            Value::Random { first, last } => {
                self.randoms += 1;
                Piece::Random { first, last, place: self.randoms }
            }
            Value::Cell { file, column, is_random } => {
                let (file, column) = self.column(&file, &column)?;
                if place == Place::Field && escape == Escape::Nothing {
                    check_field(&self.names.files[file], column)?;
                }
                Piece::Cell { file, column, is_random, escape }
            }
            Value::User if self.names.has_users => Piece::User,
            Value::User => {
                return Err(LoadError::plan("'{{user}}' is only available in sessions"));
            }
            Value::Taken(name) => Piece::Taken { number: self.taken(&name)?, escape },
        })
    }

    fn taken(&self, name: &str) -> Result<usize, LoadError> {
        let position = self.names.taken.iter().position(|known| known == name);
        position.ok_or_else(|| {
            LoadError::plan(format!(
                "there is no value '{}'\nhint: write literal braces as '\\{{{{'",
                name.escape_debug()
            ))
        })
    }

    fn column(&self, file: &str, column: &str) -> Result<(usize, usize), LoadError> {
        let position = self.names.files.iter().position(|known| known.file == file);
        let table = position.map(|position| &self.names.files[position]);
        let has_rows = table.is_some_and(|table| !table.cells.lines.is_empty());
        let (position, table) = position
            .zip(table)
            .filter(|_| has_rows)
            .ok_or_else(|| LoadError::plan(format!("table '{}' was not read", file.escape_debug())))?;
        let number = table.columns.iter().position(|known| known == column);
        let number = number.ok_or_else(|| {
            LoadError::plan(format!(
                "'{file}' has no column '{}', only {}",
                column.escape_debug(),
                table.columns.join(", ").escape_debug()
            ))
        })?;
        Ok((position, number))
    }
}

/// A header field is one line of visible characters.
fn check_field(table: &ValueFile, column: usize) -> Result<(), LoadError> {
    let is_bad = |byte: u8| byte < 0x20 && byte != b'\t' || byte == 0x7f;
    for (row, line) in table.cells.lines.iter().enumerate() {
        if table.cells.cell(row, column).bytes().any(is_bad) {
            let name = &table.columns[column];
            return Err(LoadError::plan(format!(
                "'{}', line {line}: '{name}' contains control characters, which headers cannot have\n\
                 hint: add '|url' to the value",
                table.file
            )));
        }
    }
    Ok(())
}
