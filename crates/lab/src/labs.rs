//! The labs below a state folder: where their files are, and who may touch them.

use super::files;
use super::plan::LabPlan;
use super::share::ShareReach;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use sysdyno_run::RunError;
use sysdyno_run::agent::Ways;

/// The default state folder.
pub(crate) const STATE: &str = "/var/lib/sysdyno";

/// How long another process is waited for that makes or takes away a lab.
const PATIENCE: Duration = Duration::from_secs(30);

/// The labs of this machine, below a state folder.
#[derive(Debug)]
pub struct Labs {
    path: PathBuf,
    /// Agents on other machines that have been used so far.
    reach: Mutex<ShareReach>,
    /// This program, which is started again as keepers.
    program: PathBuf,
    /// Its version.
    pub(crate) version: String,
}

/// What is to be put up.
#[derive(Clone, Debug)]
pub struct UpOrder {
    /// The lab.
    pub plan: LabPlan,
    /// The file that it was read from, as it was.
    pub text: String,
    /// The path next to which sources of files are.
    pub beside: PathBuf,
}

/// The lock of what labs share, held.
pub(crate) struct LabsLock {
    _file: File,
}

impl Labs {
    /// `lab` below a state folder; the state folder of the system if there is none. `ways` has this program, and how it
    /// reaches other machines.
    pub fn below(state: Option<&Path>, ways: Ways, version: &str) -> Labs {
        let state = state.unwrap_or(Path::new(STATE));
        // Services run in other folders than this program.
        let path = std::path::absolute(state).unwrap_or_else(|_| state.to_owned()).join("lab");
        let (program, version) = (ways.program.clone(), version.to_owned());
        Labs { path, reach: Mutex::new(ShareReach::new(ways, &version)), program, version }
    }

    pub(crate) fn reach(&self) -> MutexGuard<'_, ShareReach> {
        self.reach.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn folder_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub(crate) fn journal_of(&self, name: &str) -> PathBuf {
        self.path.join(format!("{name}.wal"))
    }

    /// Says that a lab made the folder of names.
    pub(crate) fn root_mark(&self) -> PathBuf {
        self.path.join("netns")
    }

    /// Makes what is missing of the state folder, through which the accounts of services have to pass.
    pub(crate) fn prepare(&self) -> io::Result<()> {
        // What is wrong with the way there is said before anything is made.
        sysdyno_tune::judge_folder(&self.path)?;
        files::make_folders(&self.path)?;
        sysdyno_tune::judge_folder(&self.path)?;
        let state = self.path.parent().unwrap_or(&self.path);
        [state, &self.path].into_iter().try_for_each(files::let_pass)?;
        match files::closed_above(&self.path) {
            None => Ok(()),
            Some(closed) => {
                let cause = format!(
                    "services cannot pass through '{}', which other users may not enter\nhint: chmod o+x it, \
                     or use another --state-dir",
                    closed.display()
                );
                Err(io::Error::other(cause))
            }
        }
    }

    pub(crate) fn lock(&self) -> io::Result<LabsLock> {
        let file = files::lock_by_name(&self.path.join("lock"), PATIENCE)?;
        Ok(LabsLock { _file: file })
    }

    pub(crate) fn unknown(&self, name: &str) -> RunError {
        let known = self.names().unwrap_or_default();
        let hint = match known.is_empty() {
            true => "there are no labs; `sysdyno lab up lab.toml` creates one".to_owned(),
            false => format!("known labs: {}", known.join(", ")),
        };
        RunError::Refused(format!(
            "cannot find lab '{}': there is no such lab\nhint: {hint}",
            name.escape_debug()
        ))
    }
}
