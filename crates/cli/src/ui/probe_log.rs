//! The file with a line per operation of a probe.

use anyhow::Context;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Writes lines; after the first that fails no more are, and the end says so.
#[derive(Debug)]
pub struct ProbeLog {
    path: PathBuf,
    file: File,
    failure: Option<std::io::Error>,
}

impl ProbeLog {
    /// A new file, in the place of an earlier one.
    pub fn create(path: &Path) -> anyhow::Result<ProbeLog> {
        let file =
            File::create(path).with_context(|| format!("cannot write probe log '{}'", path.display()))?;
        Ok(ProbeLog { path: path.to_owned(), file, failure: None })
    }

    /// Adds a line.
    pub fn write(&mut self, line: &str) {
        if self.failure.is_none() {
            self.failure = self.file.write_all(format!("{line}\n").as_bytes()).err();
        }
    }

    /// Whether all lines are there.
    pub fn finish(self) -> anyhow::Result<()> {
        let written = self.failure.map_or(Ok(()), Err);
        written.with_context(|| format!("cannot write probe log '{}'", self.path.display()))
    }
}
