//! Tables of values: comma-separated, with the names of the columns in the first line (RFC 4180).

use super::text::Misread;
use std::sync::Arc;
use sysdyno_record::workload::{Cells, ValueFile};

/// Longest file that is read. Unit: bytes.
pub const MAX_FILE_BYTES: u64 = 256 * 1024 * 1024;

/// Most columns.
const MAX_COLUMNS_COUNT: usize = 256;

/// Longest cell. Unit: bytes.
const MAX_CELL_BYTES: usize = 64 * 1024;

/// Reads a table; `file` is what it is called in templates.
///
/// # Errors
/// What is not a table, and where.
pub fn parse(file: &str, text: &str) -> Result<ValueFile, Misread> {
    let mut reader = Reader { text, at: 0, line: 1 };
    let misread = |at: usize, cause: &str| Misread { at, cause: cause.into() };
    if text.len() as u64 > MAX_FILE_BYTES {
        return Err(misread(0, "longer than 256 MiB"));
    }
    let mut columns = Vec::new();
    let mut is_last = false;
    while !is_last {
        let begin = reader.at;
        let mut name = String::new();
        is_last = reader.cell(&mut name)?;
        let name = name.trim().to_owned();
        if name.is_empty() || columns.contains(&name) || columns.len() == MAX_COLUMNS_COUNT {
            return Err(misread(begin, "the first line must name the columns, at most 256, each once"));
        }
        columns.push(name);
    }
    let mut cells = Cells::default();
    while reader.at < text.len() {
        let (begin, line) = (reader.at, reader.line);
        let mut count = 0;
        let mut is_last = false;
        while !is_last {
            is_last = reader.cell(&mut cells.text)?;
            count += 1;
            cells.ends.push(cells.text.len() as u32);
        }
        if count != columns.len() {
            let cause = format!("it has {count} cells, but the first line has {}", columns.len());
            return Err(misread(begin, &cause));
        }
        cells.lines.push(line);
    }
    if cells.lines.is_empty() {
        return Err(misread(0, "it has no rows below the column names"));
    }
    let rows_count = cells.lines.len() as u64;
    Ok(ValueFile { file: file.into(), columns, rows_count, cells: Arc::new(cells) })
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    line: u32,
}

impl Reader<'_> {
    /// Reads a cell into `cell`; whether it is the last of its row.
    fn cell(&mut self, cell: &mut String) -> Result<bool, Misread> {
        let begin = self.at;
        let misread = |cause: &str| Misread { at: begin, cause: cause.into() };
        let rest = &self.text[self.at..];
        let before = cell.len();
        if let Some(quoted) = rest.strip_prefix('"') {
            self.at += 1 + self.quoted(quoted, cell).ok_or_else(|| misread("the quote is not closed"))?;
        } else {
            let length = rest.find([',', '\n', '\r']).unwrap_or(rest.len());
            if rest[..length].contains('"') {
                return Err(misread("a quote in a cell that does not start with one"));
            }
            cell.push_str(&rest[..length]);
            self.at += length;
        }
        if cell.len() - before > MAX_CELL_BYTES {
            return Err(misread("the cell is longer than 64 KiB"));
        }
        let rest = &self.text[self.at..];
        let is_last = !rest.starts_with(',');
        let taken = match rest.as_bytes() {
            [] => 0,
            [b',' | b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => return Err(misread("expected a comma or the end of the line after a cell")),
        };
        self.at += taken;
        self.line += u32::from(is_last);
        Ok(is_last)
    }

    /// Reads a cell behind its first quote; how long it is, the last quote included.
    fn quoted(&mut self, text: &str, cell: &mut String) -> Option<usize> {
        let mut at = 0;
        loop {
            let length = text[at..].find('"')?;
            let piece = &text[at..at + length];
            self.line += piece.matches('\n').count() as u32;
            cell.push_str(piece);
            at += length + 1;
            if !text[at..].starts_with('"') {
                return Some(at);
            }
            cell.push('"');
            at += 1;
        }
    }
}
