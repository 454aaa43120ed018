//! Reads a file of lines without trusting it: lines and file are capped, and a torn end is dropped.

use super::folder::Folder;
use super::{MAX_DOCUMENT_BYTES, MAX_LINE_BYTES, MAX_LOG_BYTES};
use crate::RecordError;
use serde::de::{DeserializeOwned, IgnoredAny};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Take};

/// What became of one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LineFate {
    /// It was taken.
    Taken,
    /// It is of a kind that a newer version may have written, or of a trial that is not there.
    Unknown,
    /// It is not what the format says.
    Malformed(String),
    /// Reading this file ends here, with the reason.
    Enough(String),
}

/// How much of a file is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Caps {
    /// Longest line with its newline. Unit: bytes.
    pub(super) line_bytes: u64,
    /// Most of the file. Unit: bytes.
    pub(super) file_bytes: u64,
}

impl Default for Caps {
    fn default() -> Caps {
        Caps { line_bytes: MAX_LINE_BYTES, file_bytes: MAX_LOG_BYTES }
    }
}

/// What is read of one folder.
#[derive(Debug)]
pub(super) struct FolderReader<'a> {
    folder: &'a Folder,
    caps: Caps,
    /// What is missing, was dropped or was not read, in sentences.
    pub(super) damage: Vec<String>,
}

impl FolderReader<'_> {
    pub(super) fn new(folder: &Folder, caps: Caps) -> FolderReader<'_> {
        FolderReader { folder, caps, damage: Vec::new() }
    }

    /// A file that is one JSON document; if it is damaged it is left out.
    pub(super) fn document<T: DeserializeOwned>(&mut self, name: &str) -> Result<Option<T>, RecordError> {
        let Some(bytes) = self.folder.read_whole(name, MAX_DOCUMENT_BYTES)? else { return Ok(None) };
        let parsed = serde_json::from_slice(&bytes);
        Ok(parsed.map_err(|error| self.damage.push(format!("skipped '{name}': {error}"))).ok())
    }

    /// Whether there is such a file.
    pub(super) fn has(&self, name: &str) -> Result<bool, RecordError> {
        Ok(self.folder.open_file(name)?.is_some())
    }

    /// The lines of the file `name` as values, `most` at the most; `wrong` says what is wrong with one that parses.
    pub(super) fn values<T: DeserializeOwned>(
        &mut self,
        name: &str,
        most: usize,
        wrong: fn(&T) -> Option<&'static str>,
    ) -> Result<Vec<T>, RecordError> {
        let mut values = Vec::new();
        self.lines(name, |line| match serde_json::from_slice::<T>(line) {
            Ok(_) if values.len() >= most => LineFate::Enough(format!("more than {most} lines")),
            Ok(value) => match wrong(&value) {
                Some(wrong) => LineFate::Malformed(wrong.to_owned()),
                None => {
                    values.push(value);
                    LineFate::Taken
                }
            },
            // Valid JSON of another shape may be what a newer version knows.
            Err(error) => match serde_json::from_slice::<IgnoredAny>(line) {
                Ok(_) => LineFate::Unknown,
                Err(_) => LineFate::Malformed(error.to_string()),
            },
        })?;
        Ok(values)
    }

    /// As [`FolderReader::values`]; a file that is not there has none, and is not missed.
    pub(super) fn values_if_any<T: DeserializeOwned>(
        &mut self,
        name: &str,
        most: usize,
        wrong: fn(&T) -> Option<&'static str>,
    ) -> Result<Vec<T>, RecordError> {
        if self.has(name)? { self.values(name, most, wrong) } else { Ok(Vec::new()) }
    }

    /// Gives every whole line of the file `name`, without its newline, to `take`.
    ///
    /// Errors: the file cannot be read, or a line that is not the last one is malformed.
    pub(super) fn lines(
        &mut self,
        name: &str,
        mut take: impl FnMut(&[u8]) -> LineFate,
    ) -> Result<(), RecordError> {
        let Some(file) = self.folder.open_file(name)? else {
            self.damage.push(format!("'{name}' is missing"));
            return Ok(());
        };
        let fail = |source| RecordError::Io { operation: "read", path: self.folder.path_of(name), source };
        let mut reader = BufReader::with_capacity(1 << 16, file).take(self.caps.file_bytes);
        let (mut line, mut number, mut unknown_count) = (Vec::new(), 0, 0);
        loop {
            number += 1;
            match next_line(&mut reader, &mut line, self.caps.line_bytes).map_err(fail)? {
                End::Line => {}
                End::File => break,
                End::Torn(what) => {
                    self.damage
                        .push(format!("'{name}' line {number}: {what}; the rest of the file is dropped"));
                    break;
                }
            }
            match take(&line) {
                LineFate::Taken => {}
                LineFate::Unknown => unknown_count += 1,
                LineFate::Enough(why) => {
                    self.damage
                        .push(format!("'{name}' line {number}: {why}; the rest of the file is not read"));
                    break;
                }
                LineFate::Malformed(cause) if is_at_end(&mut reader).map_err(fail)? => {
                    self.damage.push(format!("'{name}' line {number}, the last, is dropped: {cause}"));
                    break;
                }
                LineFate::Malformed(cause) => {
                    return Err(RecordError::Malformed {
                        path: self.folder.path_of(name),
                        line: number,
                        cause,
                    });
                }
            }
        }
        if unknown_count > 0 {
            self.damage.push(format!("'{name}': skipped {unknown_count} lines of an unknown kind or trial"));
        }
        Ok(())
    }
}

enum End {
    Line,
    File,
    Torn(&'static str),
}

/// Reads one line into `line`, newline removed.
fn next_line(reader: &mut Take<BufReader<File>>, line: &mut Vec<u8>, cap_bytes: u64) -> io::Result<End> {
    line.clear();
    let length = reader.by_ref().take(cap_bytes).read_until(b'\n', line)?;
    if line.pop_if(|last| *last == b'\n').is_some() {
        Ok(End::Line)
    } else if length as u64 == cap_bytes {
        Ok(End::Torn("too long"))
    } else if length == 0 && reader.limit() > 0 {
        Ok(End::File)
    } else if reader.limit() == 0 {
        Ok(if length == 0 && is_at_end(reader)? { End::File } else { End::Torn("the file is too long") })
    } else {
        Ok(End::Torn("truncated"))
    }
}

fn is_at_end(reader: &mut Take<BufReader<File>>) -> io::Result<bool> {
    Ok(reader.get_mut().fill_buf()?.is_empty())
}
