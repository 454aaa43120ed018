//! What a process was started with, and whether a file is the one that it sees.

use crate::roots::Roots;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Longest command line that is read. Unit: bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// The words that a process was started with, or the title that it gave itself, word by word; `None`: it is gone, hidden, or a
/// thread of the kernel. Untrusted text. Source: `/proc/PID/cmdline`.
pub fn process_words(pid: u32) -> Option<Vec<String>> {
    let file = std::fs::File::open(Roots::host().in_proc(&format!("{pid}/cmdline"))).ok()?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let words: Vec<String> =
        text.split(['\0', ' ']).filter(|word| !word.is_empty()).map(str::to_owned).collect();
    (!words.is_empty()).then_some(words)
}

/// Whether a path means the same file for a process as for this one: it does not in another container.
pub fn is_file_of(pid: u32, path: &Path) -> bool {
    let Ok(inner) = path.strip_prefix("/") else { return false };
    let there = Roots::host().in_proc(&format!("{pid}/root")).join(inner);
    match (std::fs::metadata(path), std::fs::metadata(there)) {
        (Ok(here), Ok(there)) => (here.dev(), here.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_words_and_sees_its_own_files() {
        let words = process_words(std::process::id()).expect("it runs");
        assert!(!words[0].is_empty(), "{words:?}");
        assert!(is_file_of(std::process::id(), Path::new("/etc/passwd")));
        assert!(!is_file_of(std::process::id(), Path::new("/no/such/file")));
        assert!(!is_file_of(std::process::id(), Path::new("relative")));
        assert_eq!(process_words(u32::MAX), None);
    }
}
