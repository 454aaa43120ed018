//! The files of an image: by path and in order, each with what it is and whose it is, and without any time.
//!
//! Paths have no slash in front. Where this machine has `/bin`, `/lib`, and the like as links into `/usr`, so has the image, and
//! files below them are where the links lead to.

use super::super::files;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// Folders that may be links into `/usr`.
const MERGED: [&str; 6] = ["bin", "lib", "lib32", "lib64", "libx32", "sbin"];

/// Files by path.
#[derive(Clone, Debug, Default)]
pub(super) struct RootTree {
    nodes: BTreeMap<String, Node>,
    merged: BTreeMap<String, String>,
}

/// A file, a folder, or a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) kind: NodeKind,
    /// Permissions.
    pub(super) mode: u32,
    /// User and group.
    pub(super) owner: (u32, u32),
}

/// What it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NodeKind {
    Folder,
    /// To this path, as it is written in the link.
    Link(String),
    File(NodeContent),
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NodeContent {
    Bytes(Vec<u8>),
    /// What a file of this machine holds.
    Copy {
        from: PathBuf,
        length_bytes: u64,
    },
    /// So many bytes that do not compress.
    Generated(u64),
}

const ROOT: (u32, u32) = (0, 0);

impl RootTree {
    /// An empty one, with the links into `/usr` that this machine has.
    pub(super) fn new() -> RootTree {
        let mut tree = RootTree::default();
        for name in MERGED {
            let to = fs::read_link(Path::new("/").join(name)).ok();
            let to = to.and_then(|to| Some(to.to_str()?.trim_start_matches('/').to_owned()));
            if let Some(to) = to.filter(|to| to.starts_with("usr/")) {
                tree.link(name, &to);
                tree.merged.insert(name.to_owned(), to);
            }
        }
        tree
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = (&String, &Node)> {
        self.nodes.iter()
    }

    /// These and those of the other, which win.
    pub(super) fn with(&self, other: &RootTree) -> RootTree {
        let mut both = self.clone();
        both.nodes.extend(other.nodes.clone());
        both
    }

    /// Files, and the bytes in them.
    pub(super) fn size(&self) -> (u64, u64) {
        self.nodes.values().fold((0, 0), |(count, bytes), node| match &node.kind {
            NodeKind::File(content) => (count + 1, bytes + content.length_bytes()),
            NodeKind::Folder | NodeKind::Link(_) => (count, bytes),
        })
    }

    /// Adds a folder; one that is there stays as it is.
    pub(super) fn folder(&mut self, path: &str, mode: u32, owner: (u32, u32)) {
        let path = self.place(Path::new(path)).unwrap_or_default();
        self.folder_at(path, mode, owner);
    }

    fn folder_at(&mut self, path: String, mode: u32, owner: (u32, u32)) {
        if path.is_empty() {
            return;
        }
        self.parents(&path);
        self.nodes.entry(path).or_insert(Node { kind: NodeKind::Folder, mode, owner });
    }

    /// Adds a file that root owns and everybody may read.
    pub(super) fn text(&mut self, path: &str, text: impl Into<Vec<u8>>, mode: u32) {
        self.file(path, NodeContent::Bytes(text.into()), mode);
    }

    pub(super) fn file(&mut self, path: &str, content: NodeContent, mode: u32) {
        self.insert(Path::new(path), Node { kind: NodeKind::File(content), mode, owner: ROOT });
    }

    pub(super) fn link(&mut self, path: &str, to: &str) {
        let kind = NodeKind::Link(to.to_owned());
        self.insert(Path::new(path), Node { kind, mode: 0o777, owner: ROOT });
    }

    /// Adds what this machine has at a path, but not what is in a folder; nothing if it has nothing there, or neither a file,
    /// a folder, nor a link.
    pub(super) fn host(&mut self, path: &Path) -> io::Result<()> {
        let known = match fs::symlink_metadata(path) {
            Ok(known) => known,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        let kind = if known.is_dir() {
            let Some(place) = self.place(path) else { return Ok(()) };
            // Some packages list a link into /usr as the folder that it was.
            if !self.merged.contains_key(&place) {
                self.folder_at(place, known.mode() & 0o7777, (known.uid(), known.gid()));
            }
            return Ok(());
        } else if known.is_symlink() {
            let to = fs::read_link(path)?;
            NodeKind::Link(to.to_string_lossy().into_owned())
        } else if known.is_file() {
            NodeKind::File(NodeContent::Copy { from: path.to_owned(), length_bytes: known.len() })
        } else {
            return Ok(());
        };
        let node = Node { kind, mode: known.mode() & 0o7777, owner: (known.uid(), known.gid()) };
        self.insert(path, node);
        Ok(())
    }

    fn insert(&mut self, path: &Path, node: Node) {
        let Some(place) = self.place(path) else { return };
        if !place.is_empty() && !self.merged.contains_key(&place) {
            self.parents(&place);
            self.nodes.insert(place, node);
        }
    }

    fn parents(&mut self, path: &str) {
        for (end, _) in path.match_indices('/') {
            let node = Node { kind: NodeKind::Folder, mode: 0o755, owner: ROOT };
            self.nodes.entry(path[..end].to_owned()).or_insert(node);
        }
    }

    /// Where a path of this machine is in the image; `None`: its name is not text, or leads upwards.
    pub(super) fn place(&self, path: &Path) -> Option<String> {
        let mut names = Vec::new();
        for component in path.components() {
            match component {
                Component::Normal(name) => names.push(name.to_str()?),
                Component::RootDir | Component::CurDir => {}
                Component::ParentDir | Component::Prefix(_) => return None,
            }
        }
        let merged = names.first().filter(|_| names.len() > 1).and_then(|first| self.merged.get(*first));
        if let (Some(to), Some(first)) = (merged, names.first_mut()) {
            *first = to;
        }
        Some(names.join("/"))
    }
}

impl NodeContent {
    pub(super) fn length_bytes(&self) -> u64 {
        match self {
            NodeContent::Bytes(bytes) => bytes.len() as u64,
            NodeContent::Copy { length_bytes, .. } | NodeContent::Generated(length_bytes) => *length_bytes,
        }
    }

    /// Writes it, no more and no less than its length.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            NodeContent::Bytes(bytes) => out.write_all(bytes),
            NodeContent::Generated(length_bytes) => files::generate(*length_bytes, out),
            NodeContent::Copy { from, length_bytes } => {
                let cannot = |error: io::Error| {
                    io::Error::new(error.kind(), format!("cannot read '{}': {error}", from.display()))
                };
                let mut file = File::open(from).map_err(cannot)?;
                let copied =
                    io::copy(&mut Read::by_ref(&mut file).take(*length_bytes), out).map_err(cannot)?;
                let is_more = file.read(&mut [0]).map_err(cannot)? > 0;
                if copied < *length_bytes || is_more {
                    return Err(cannot(io::Error::other("it changed meanwhile")));
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(tree: &RootTree) -> Vec<&str> {
        tree.nodes().map(|(path, _)| path.as_str()).collect()
    }

    #[test]
    fn files_bring_the_folders_above_them_and_go_where_links_into_usr_lead() {
        let mut tree = RootTree::default();
        tree.link("lib", "usr/lib");
        tree.merged.insert("lib".into(), "usr/lib".into());
        tree.text("/lib/x/y", "text", 0o644);
        tree.folder("/usr/lib/x", 0o700, (1, 1));
        assert_eq!(paths(&tree), ["lib", "usr", "usr/lib", "usr/lib/x", "usr/lib/x/y"]);
        assert_eq!(tree.nodes["usr/lib/x"].mode, 0o755, "a folder that is there stays");
        assert_eq!(tree.place(Path::new("/lib/../etc")), None);
        assert_eq!(tree.size(), (1, 4));
    }

    #[test]
    fn what_this_machine_has_is_taken_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "hello").expect("writes");
        std::os::unix::fs::symlink("file", at("link")).expect("links");
        let mut tree = RootTree::default();
        for name in ["file", "link", "none"] {
            tree.host(&at(name)).expect("takes");
        }
        let node = |name: &str| tree.nodes.get(&tree.place(&at(name)).expect("a place"));
        assert_eq!(node("link").map(|node| &node.kind), Some(&NodeKind::Link("file".into())));
        assert_eq!(node("none"), None);
        let Some(Node { kind: NodeKind::File(content), .. }) = node("file") else { panic!("{tree:?}") };
        let mut copied = Vec::new();
        content.write(&mut copied).expect("copies");
        assert_eq!(copied, b"hello");
        fs::write(at("file"), "hello!").expect("writes");
        let error = content.write(&mut Vec::new()).expect_err("has grown").to_string();
        assert!(error.ends_with("it changed meanwhile"), "{error}");
    }
}
