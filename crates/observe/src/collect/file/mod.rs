//! A collector of one file: opens it, reads it, and passes the text to a [`Format`].

use super::{Collector, Pass, Table};
use crate::error::{ObserveError, ParseError};
use crate::roots::Roots;
use crate::source::{KeptFile, Shape};
use crate::watch::Watchlist;
use std::path::PathBuf;
use sysdyno_record::event::ProcessRole;
use sysdyno_record::series::Column;

/// Turns the text of a file into values.
pub(crate) trait Format: Send {
    /// Sets the values of the table, and its columns when they are other ones than before.
    fn fill(&mut self, text: &[u8], table: &mut Table, roots: &Roots) -> Result<(), ParseError>;

    /// How the kernel hands the file out.
    fn shape(&self) -> Shape {
        Shape::Whole
    }

    /// The columns to list when the file could never be read.
    fn absent(&self) -> Vec<Column>;
}

/// Where the file is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FilePlace {
    /// Below `/proc`.
    Proc(&'static str),
    /// Below `/proc/PID/net` of the target, or `/proc/net` if no process of it is known.
    Net(&'static str),
}

impl FilePlace {
    fn path(self, scene: &Watchlist) -> PathBuf {
        match (self, scene.first(ProcessRole::Target)) {
            (FilePlace::Proc(name), _) => scene.roots.in_proc(name),
            (FilePlace::Net(name), Some(target)) => {
                scene.roots.in_proc(&format!("{}/net/{name}", target.pid))
            }
            (FilePlace::Net(name), None) => scene.roots.in_proc(&format!("net/{name}")),
        }
    }
}

/// A collector of one file.
pub(crate) struct FileCollector<F> {
    place: FilePlace,
    file: Option<KeptFile>,
    generation: u64,
    format: F,
    table: Table,
    is_failing: bool,
    /// Whether the columns are those of [`Format::absent`].
    shows_absent: bool,
}

impl<F: Format + 'static> FileCollector<F> {
    /// A collector of the file at `place`.
    pub(crate) fn boxed(place: FilePlace, format: F) -> Box<dyn Collector> {
        Box::new(FileCollector {
            place,
            file: None,
            generation: 0,
            format,
            table: Table::default(),
            is_failing: false,
            shows_absent: false,
        })
    }

    fn try_read(&mut self, pass: &mut Pass<'_>) -> Result<(), String> {
        let file =
            self.file.get_or_insert_with(|| KeptFile::new(self.place.path(pass.scene), self.format.shape()));
        let text = file.read(pass.buffer).map_err(|error| error.to_string())?;
        let absent = self.shows_absent.then(|| std::mem::take(&mut self.table));
        let parsed = self.format.fill(text, &mut self.table, &pass.scene.roots);
        if let Err(error) = parsed {
            self.table = absent.unwrap_or(std::mem::take(&mut self.table));
            return Err(ObserveError::malformed(file.path())(error).to_string());
        }
        if self.is_failing {
            self.table.renew();
        }
        (self.is_failing, self.shows_absent) = (false, false);
        self.table.explain_missing(|| format!("'{}' of this kernel does not have it", file.path().display()));
        Ok(())
    }

    /// The target may have moved to another network namespace together with its process.
    fn follow(&mut self, scene: &Watchlist) {
        if self.generation != scene.generation() {
            self.generation = scene.generation();
            let path = self.place.path(scene);
            self.file = self.file.take().filter(|file| file.path() == path);
        }
    }
}

impl<F: Format + 'static> Collector for FileCollector<F> {
    fn read(&mut self, pass: &mut Pass<'_>) {
        if self.is_failing && !pass.is_look() {
            return;
        }
        self.follow(pass.scene);
        self.table.clear();
        if let Err(reason) = self.try_read(pass) {
            self.is_failing = true;
            if self.table.columns().is_empty() {
                self.shows_absent = true;
                self.table.replace(self.format.absent());
            }
            self.table.clear();
            self.table.explain_all(Some(&reason));
        }
    }

    fn table(&mut self) -> &mut Table {
        &mut self.table
    }
}

#[cfg(test)]
mod tests;
