//! Where settings and the files that set them at boot are: on the live host, or in a tree.

use crate::file_system::FileSystems;
use crate::service::Services;
use std::path::{Path, PathBuf};

/// The root below which everything is read and written, who has services look at their files there, and who
/// makes the journals of file systems.
#[derive(Clone, Debug)]
pub struct TuneRoots {
    root: PathBuf,
    services: Option<&'static dyn Services>,
    file_systems: Option<&'static dyn FileSystems>,
}

impl TuneRoots {
    /// The live host.
    pub fn host() -> TuneRoots {
        TuneRoots::at("/")
    }

    /// A tree with `proc`, `sys` and `etc` in it.
    pub fn at(root: impl Into<PathBuf>) -> TuneRoots {
        TuneRoots { root: root.into(), services: None, file_systems: None }
    }

    /// The same, with services that can be told.
    pub fn with_services(self, services: &'static dyn Services) -> TuneRoots {
        TuneRoots { services: Some(services), ..self }
    }

    /// The same, with file systems whose journals can be recreated.
    pub fn with_file_systems(self, file_systems: &'static dyn FileSystems) -> TuneRoots {
        TuneRoots { file_systems: Some(file_systems), ..self }
    }

    /// Who makes the journals of file systems; `None` if nobody is there.
    pub(crate) fn file_systems(&self) -> Option<&'static dyn FileSystems> {
        self.file_systems
    }

    /// Who has services look at their files; `None` if nobody is there.
    pub(crate) fn services(&self) -> Option<&'static dyn Services> {
        self.services
    }

    /// Whether this is the live host, which has namespaces and rights to be asked about.
    pub fn is_host(&self) -> bool {
        self.root == Path::new("/")
    }

    /// The root itself.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// The place in this tree of a path that begins with `/`.
    pub fn place(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }
}
