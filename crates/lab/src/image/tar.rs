//! Writes tar archives without times and names of accounts: the same files give the same bytes.
//!
//! Format: POSIX.1-2001 (pax interchange); an extended header only where a name does not fit.

use super::tree::{Node, NodeKind, RootTree};
use std::io::{self, Write};

const BLOCK: usize = 512;
/// Longest name, longest target of a link, and longest number of the plain header.
const NAME_MAX: usize = 100;
const OCTAL_SIZE_MAX: u64 = 0o777_7777_7777;
const OCTAL_ID_MAX: u32 = 0o777_7777;

/// Writes all files of a tree, below a prefix that ends with a slash or is empty.
pub(super) fn tree(tree: &RootTree, prefix: &str, out: &mut dyn Write) -> io::Result<()> {
    tree.nodes().try_for_each(|(path, node)| entry(&format!("{prefix}{path}"), node, out))
}

/// Writes what ends an archive.
pub(super) fn end(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&[0; 2 * BLOCK])
}

/// Writes one file, folder, or link.
pub(super) fn entry(path: &str, node: &Node, out: &mut dyn Write) -> io::Result<()> {
    let (kind, target, content) = match &node.kind {
        NodeKind::Folder => (b'5', "", None),
        NodeKind::Link(target) => (b'2', target.as_str(), None),
        NodeKind::File(content) => (b'0', "", Some(content)),
    };
    let path = if kind == b'5' { format!("{path}/") } else { path.to_owned() };
    let head = Head {
        path: &path,
        target,
        kind,
        mode: node.mode,
        owner: node.owner,
        length_bytes: content.map_or(0, |content| content.length_bytes()),
    };
    head.write(out)?;
    let Some(content) = content else { return Ok(()) };
    content.write(out)?;
    pad(head.length_bytes, out)
}

/// Writes the header of a file that everybody may read, whose content the caller writes behind it, and then [`pad`].
pub(super) fn head(path: &str, length_bytes: u64, out: &mut dyn Write) -> io::Result<()> {
    Head { path, target: "", kind: b'0', mode: 0o644, owner: (0, 0), length_bytes }.write(out)
}

/// Fills the last block of a file.
pub(super) fn pad(length_bytes: u64, out: &mut dyn Write) -> io::Result<()> {
    let over = (length_bytes % BLOCK as u64) as usize;
    if over == 0 { Ok(()) } else { out.write_all(&[0; BLOCK][over..]) }
}

/// A header, before it is encoded.
struct Head<'a> {
    path: &'a str,
    target: &'a str,
    kind: u8,
    mode: u32,
    owner: (u32, u32),
    length_bytes: u64,
}

impl Head<'_> {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut records = String::new();
        if self.path.len() > NAME_MAX {
            records.push_str(&record("path", self.path));
        }
        if self.target.len() > NAME_MAX {
            records.push_str(&record("linkpath", self.target));
        }
        if self.length_bytes > OCTAL_SIZE_MAX {
            records.push_str(&record("size", &self.length_bytes.to_string()));
        }
        if !records.is_empty() {
            let length_bytes = records.len() as u64;
            let extended =
                Head { path: "PaxHeader", target: "", kind: b'x', mode: 0o644, owner: (0, 0), length_bytes };
            out.write_all(&extended.block()?)?;
            out.write_all(records.as_bytes())?;
            pad(length_bytes, out)?;
        }
        out.write_all(&self.block()?)
    }

    fn block(&self) -> io::Result<[u8; BLOCK]> {
        if self.owner.0.max(self.owner.1) > OCTAL_ID_MAX {
            return Err(io::Error::other(format!("the owner of '{}' has too large a number", self.path)));
        }
        let mut block = [0; BLOCK];
        put(&mut block, 0, cut(self.path));
        put(&mut block, 100, format!("{:07o}", self.mode).as_bytes());
        put(&mut block, 108, format!("{:07o}", self.owner.0).as_bytes());
        put(&mut block, 116, format!("{:07o}", self.owner.1).as_bytes());
        let length_bytes = if self.length_bytes > OCTAL_SIZE_MAX { 0 } else { self.length_bytes };
        put(&mut block, 124, format!("{length_bytes:011o}").as_bytes());
        put(&mut block, 136, b"00000000000");
        // The sum is of the block with blanks in its own place.
        put(&mut block, 148, b"        ");
        block[156] = self.kind;
        put(&mut block, 157, cut(self.target));
        put(&mut block, 257, b"ustar\x0000");
        let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
        put(&mut block, 148, format!("{sum:06o}\0 ").as_bytes());
        Ok(block)
    }
}

fn cut(text: &str) -> &[u8] {
    &text.as_bytes()[..text.len().min(NAME_MAX)]
}

fn put(block: &mut [u8; BLOCK], at: usize, bytes: &[u8]) {
    block[at..at + bytes.len()].copy_from_slice(bytes);
}

/// `LENGTH KEY=VALUE\n`, the length being that of all of it.
fn record(key: &str, value: &str) -> String {
    let rest = key.len() + value.len() + 3;
    let mut length = rest;
    while length != rest + length.to_string().len() {
        length = rest + length.to_string().len();
    }
    format!("{length} {key}={value}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    fn archive(of: &RootTree) -> Vec<u8> {
        let mut bytes = Vec::new();
        tree(of, "top/", &mut bytes).expect("writes");
        end(&mut bytes).expect("writes");
        bytes
    }

    #[test]
    fn a_record_counts_its_own_length() {
        assert_eq!(record("path", "x"), "9 path=x\n");
        for length in [1, 88, 89, 90, 91, 92, 988, 989, 990] {
            let text = record("path", &"x".repeat(length));
            assert_eq!(text.split(' ').next(), Some(text.len().to_string().as_str()));
        }
    }

    /// What tar(1) reads is what was written; Debian's tar is essential.
    #[test]
    fn tar_reads_names_of_any_length_links_and_modes() {
        let long = format!("{}/{}", "d".repeat(90), "f".repeat(120));
        let mut of = RootTree::default();
        of.text("etc/file", "hello", 0o640);
        of.text(&long, vec![b'x'; 1000], 0o755);
        of.link("link", &"t".repeat(150));
        let folder = tempfile::tempdir().expect("a folder");
        let mut tar = Command::new("tar")
            .args(["-x", "-f", "-", "-C"])
            .arg(folder.path())
            .stdin(Stdio::piped())
            .spawn()
            .expect("tar is there");
        tar.stdin.take().expect("piped").write_all(&archive(&of)).expect("is read");
        assert!(tar.wait().expect("ends").success());
        let top = folder.path().join("top");
        assert_eq!(std::fs::read(top.join("etc/file")).expect("reads"), b"hello");
        assert_eq!(std::fs::read(top.join(&long)).expect("reads").len(), 1000);
        assert_eq!(std::fs::read_link(top.join("link")).expect("reads").as_os_str().len(), 150);
        assert_eq!(archive(&of), archive(&of.clone()), "the same files give the same bytes");
    }
}
