//! The server's view of the runs on disk: the index, refreshed at most once a second.

use crate::Pages;
use crate::experiments::Experiments;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use sysdyno_index::{FoundRuns, IndexError, IndexedRun, RefreshMoment, RunIndex, RunQuery};

/// For how long the table is taken for what the folder is.
const FRESH: Duration = Duration::from_secs(1);

/// The runs of a folder. All of it blocks.
pub(crate) struct Shelf {
    runs_dir: PathBuf,
    pages: Arc<dyn Pages>,
    experiments: Experiments,
    table: Mutex<Table>,
}

struct Table {
    index: RunIndex,
    refreshed: Option<SystemTime>,
    left_count: usize,
}

/// What was found, and how much of the folder is not yet known.
pub(crate) struct Listed {
    pub(crate) found: FoundRuns,
    pub(crate) unreadable_count: usize,
    /// Folders that the index has not read yet.
    pub(crate) left_count: usize,
}

impl Shelf {
    pub(crate) fn open(
        runs_dir: &Path,
        experiments_dir: Option<PathBuf>,
        cache: Option<&Path>,
        pages: Arc<dyn Pages>,
    ) -> Result<Shelf, IndexError> {
        let index = RunIndex::open(runs_dir, cache)?;
        let table = Mutex::new(Table { index, refreshed: None, left_count: 0 });
        let experiments = Experiments::new(experiments_dir);
        let shelf = Shelf { runs_dir: runs_dir.to_owned(), pages, experiments, table };
        drop(shelf.table(FRESH)?);
        Ok(shelf)
    }

    pub(crate) fn runs_dir(&self) -> &Path {
        &self.runs_dir
    }

    pub(crate) fn pages(&self) -> &dyn Pages {
        &*self.pages
    }

    pub(crate) fn experiments(&self) -> &Experiments {
        &self.experiments
    }

    pub(crate) fn list(&self, query: &RunQuery) -> Result<Listed, IndexError> {
        let table = self.table(FRESH)?;
        let found = table.index.find(query)?;
        let unreadable_count = table.index.unreadable()?.len();
        Ok(Listed { found, unreadable_count, left_count: table.left_count })
    }

    /// A run with its folder; `None`: there is none of this name.
    pub(crate) fn run(&self, name: &str) -> Result<Option<(IndexedRun, PathBuf)>, IndexError> {
        let known = self.table(FRESH)?.index.run(name)?;
        // A run that has just begun is known as soon as somebody asks for it.
        let run = if known.is_some() { known } else { self.table(Duration::ZERO)?.index.run(name)? };
        // A row has the name of an entry of the folder, so that it cannot lead anywhere else.
        Ok(run.map(|run| (run, self.runs_dir.join(name))))
    }

    /// The table, refreshed if it is as old as this.
    fn table(&self, age_max: Duration) -> Result<MutexGuard<'_, Table>, IndexError> {
        // A thread that panicked left a table that is refreshed like any other.
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.pages.now();
        let age = table.refreshed.map(|at| now.duration_since(at).unwrap_or(age_max));
        if table.left_count > 0 || age.is_none_or(|age| age >= age_max) {
            let living = |pid, start_ticks| self.pages.is_living(pid, start_ticks);
            let refreshed = table.index.refresh(&RefreshMoment { now, living: &living })?;
            table.refreshed = Some(now);
            table.left_count = refreshed.left_count;
        }
        Ok(table)
    }
}
