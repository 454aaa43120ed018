//! Where settings and the files that set them at boot lie: the live host, or a tree.

use std::path::{Path, PathBuf};

/// The root below which everything is read and written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots {
    root: PathBuf,
}

impl Roots {
    /// The live host.
    pub fn host() -> Roots {
        Roots { root: PathBuf::from("/") }
    }

    /// A tree with `proc`, `sys` and `etc` in it.
    pub fn at(root: impl Into<PathBuf>) -> Roots {
        Roots { root: root.into() }
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
