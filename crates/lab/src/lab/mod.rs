//! Labs: hosts in network namespaces, links between them, real services on them; and hosts that are there already.
//!
//! Specified in `docs/reference/formats/lab.md`. Invariants, each with a test:
//! 1. whatever is made is in the journal, on the disk, before it is made;
//! 2. whatever is in no journal of a lab, or is another one than the journal says, is not taken away;
//! 3. after a death at any point of `up` or `down`, `down` leaves nothing;
//! 4. the network of the host is not touched: interfaces are made within namespaces; nothing is mounted but volumes, in
//!    the lab's folder;
//! 5. a process is signalled only if pid and start time are those of the journal, or it descends from one that is.

mod change;
mod check;
mod down;
mod file;
mod files;
mod found;
mod jars;
mod journal;
mod keeper;
mod link;
mod machine;
mod metrics;
mod namespace;
mod outside;
mod plan;
mod plan_links;
mod problem;
mod process;
mod question;
mod recipe;
mod relay;
mod service;
mod settings;
mod share;
mod stage;
mod status;
mod symptom;
mod up;
mod values;
mod variant;
mod volume;
mod whose;

pub use found::FoundHost;
pub use jars::JarSet;
pub use keeper::{KeeperSigns, keep};
pub use machine::{Missing, install, missing};
pub use metrics::{Metric, fastcgi_answer};
pub use outside::{Outside, Seat, ShareOf};
pub use plan::{Content, Data, LabPlan, Service, wrong_name};
pub use plan_links::{Address, End, Link, Relay};
pub(crate) use process::identify;
pub use recipe::{
    Check, Kind, Parameter, Recipe, StopSignal, TunableKey, find as find_recipe, names as recipe_names,
};
pub use relay::{Forwarded, forward};
pub use settings::{Kept, Part, Setting, part_of};
pub(crate) use share::Shares;
pub use share::{Needs, NeedsOf, ShareCall, ShareReply};
pub use stage::Stage;
pub use status::{HostStatus, LabStatus, LinkStatus, RelayStatus, ServiceLog, ServiceStatus};
pub use up::may_make;
pub use whose::LabHost;
pub(crate) use whose::whose;

use self::share::Reach;
use crate::agent::Ways;
use crate::error::LabError;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// Where state is kept unless something else is asked for.
const STATE: &str = "/var/lib/sysdyno";

/// How long another process is waited for that makes or takes away a lab.
const PATIENCE: Duration = Duration::from_secs(30);

/// The labs of this machine, below a state folder.
#[derive(Debug)]
pub struct Labs {
    path: PathBuf,
    /// Agents on hosts behind ssh, as far as they were met.
    reach: Mutex<Reach>,
    /// This program, which is started again as keepers.
    program: PathBuf,
    /// Its version.
    version: String,
}

/// What is to be put up.
#[derive(Clone, Debug)]
pub struct UpOrder {
    /// The lab.
    pub plan: LabPlan,
    /// The file that it was read from, as it was.
    pub text: String,
    /// The folder beside which sources of files lie.
    pub beside: PathBuf,
}

/// The lock of what labs share, held.
struct Lock {
    _file: File,
}

impl Labs {
    /// `lab` below a state folder; the state folder of the system if there is none. `ways` has this program, and how it
    /// reaches hosts behind ssh.
    pub fn below(state: Option<&Path>, ways: Ways, version: &str) -> Labs {
        let state = state.unwrap_or(Path::new(STATE));
        // Services run in other folders than this program.
        let path = std::path::absolute(state).unwrap_or_else(|_| state.to_owned()).join("lab");
        let (program, version) = (ways.program.clone(), version.to_owned());
        Labs { path, reach: Mutex::new(Reach::new(ways, &version)), program, version }
    }

    fn program(&self) -> &Path {
        &self.program
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn folder_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    fn journal_of(&self, name: &str) -> PathBuf {
        self.path.join(format!("{name}.wal"))
    }

    /// Says that a lab made the folder of names.
    fn root_mark(&self) -> PathBuf {
        self.path.join("netns")
    }

    /// Makes what is missing of the state folder, through which the accounts of services have to pass.
    fn prepare(&self) -> io::Result<()> {
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
                    "services cannot get through '{}', which others may not enter\nhint: chmod o+x it, or name another --state-dir",
                    closed.display()
                );
                Err(io::Error::other(cause))
            }
        }
    }

    fn lock(&self) -> io::Result<Lock> {
        let file = files::lock_by_name(&self.path.join("lock"), PATIENCE)?;
        Ok(Lock { _file: file })
    }

    fn unknown(&self, name: &str) -> LabError {
        let known = self.names().unwrap_or_default();
        let hint = match known.is_empty() {
            true => "there is none; `sysdyno lab up lab.toml` makes one".to_owned(),
            false => format!("there are {}", known.join(", ")),
        };
        LabError::Refused(format!(
            "cannot find lab '{}': there is no such lab\nhint: {hint}",
            name.escape_debug()
        ))
    }
}

/// Where a service's output goes.
fn log_of(folder: &Path, service: &str) -> PathBuf {
    folder.join("logs").join(format!("{service}.log"))
}

/// Where it is written how a service ended.
fn ended_of(folder: &Path, service: &str) -> PathBuf {
    folder.join("logs").join(format!("{service}.ended"))
}
