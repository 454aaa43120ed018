//! Where the kernel's file systems are: `/proc` and `/sys`, or a recorded tree.

use std::path::{Path, PathBuf};

/// The roots below which everything is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots {
    /// Stands for `/proc`.
    pub proc: PathBuf,
    /// Stands for `/sys`.
    pub sys: PathBuf,
}

impl Roots {
    /// The live host.
    pub fn host() -> Roots {
        Roots { proc: PathBuf::from("/proc"), sys: PathBuf::from("/sys") }
    }

    /// A tree with `proc` and `sys` below `root`, as fixtures have it.
    pub fn at(root: impl Into<PathBuf>) -> Roots {
        let root = root.into();
        Roots { proc: root.join("proc"), sys: root.join("sys") }
    }

    /// Whether this is the live host, so that sockets may be asked about too.
    pub fn is_host(&self) -> bool {
        self.proc == Path::new("/proc") && self.sys == Path::new("/sys")
    }

    /// A path below `/proc`.
    pub fn in_proc(&self, path: &str) -> PathBuf {
        self.proc.join(path)
    }

    /// A path below `/sys`.
    pub fn in_sys(&self, path: &str) -> PathBuf {
        self.sys.join(path)
    }
}
