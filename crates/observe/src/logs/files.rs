//! Decides which files of a process are logs: files open for writing that are named or used like one.
//!
//! Standard output and error count as logs, whatever the file's name. Access logs do not: the generator knows more about
//! each request. Databases append to files that are named like logs; these do not count either.

use crate::roots::Roots;
use crate::source::{decimal, fdinfo, read_once};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Descriptors of one process that are looked at; logs are opened before connections and have low numbers.
const MAX_DESCRIPTORS: usize = 256;

/// Standard output and standard error.
const STANDARD: [u64; 2] = [1, 2];

/// What names of logs contain, in lower case.
const LOG_NAMES: &[&[u8]] = &[b"log", b"err"];

/// What names of other files contain that are written like logs, in lower case.
const OTHER_NAMES: &[&[u8]] = &[
    b"access",
    // InnoDB, Aria, binary and relay logs of MariaDB.
    b"ib_logfile",
    b"aria_log",
    b"binlog",
    b"-bin.",
    b"relay-",
    // Redis, PostgreSQL, SQLite and others.
    b".aof",
    b"-wal",
    b".wal",
    b".ibd",
    b".rdb",
];

/// Trees whose files are none on a disk.
const NO_FILES: &[&[u8]] =
    &[b"/dev/", b"/proc/", b"/sys/", b"/memfd:", b"/anon_hugepage", b"/SYSV", b"/[aio]"];

/// What the kernel appends to the name of a file that has none any more.
const DELETED: &[u8] = b" (deleted)";

/// A log that a process has open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogFile {
    /// Its path as the process sees it. Untrusted bytes.
    pub(crate) path: Vec<u8>,
    /// Where it can be opened from here.
    pub(crate) link: PathBuf,
}

/// The logs of a process, by descriptor; empty if it is gone or hidden. *Cost*: a few system calls per descriptor.
pub(crate) fn find_logs(roots: &Roots, pid: u32, buffer: &mut Vec<u8>) -> Vec<LogFile> {
    let Ok(entries) = std::fs::read_dir(roots.in_proc(&format!("{pid}/fd"))) else { return vec![] };
    let mut found: Vec<LogFile> = Vec::new();
    for entry in entries.flatten().take(MAX_DESCRIPTORS) {
        let link = entry.path();
        let (Ok(path), Some(descriptor)) = (std::fs::read_link(&link), decimal(entry.file_name().as_bytes()))
        else {
            continue;
        };
        let path = path.as_os_str().as_bytes();
        let path = path.strip_suffix(DELETED).unwrap_or(path);
        let is_known = found.iter().any(|log| log.path == path);
        if !is_known && may_be_log(path) && is_log(roots, pid, descriptor, path, buffer) {
            found.push(LogFile { path: path.to_vec(), link });
        }
    }
    found
}

/// Whether a path may be that of a log, whatever it is open for.
fn may_be_log(path: &[u8]) -> bool {
    let lower = path.to_ascii_lowercase();
    path.starts_with(b"/")
        && !NO_FILES.iter().any(|tree| path.starts_with(tree))
        && !OTHER_NAMES.iter().any(|name| contains(name_of(&lower), name))
}

/// Whether it is open for writing, and to its end unless it is named or used like a log.
fn is_log(roots: &Roots, pid: u32, descriptor: u64, path: &[u8], buffer: &mut Vec<u8>) -> bool {
    let info = roots.in_proc(&format!("{pid}/fdinfo/{descriptor}"));
    let flags = read_once(&info, buffer).ok().and_then(|text| fdinfo::parse(text).ok());
    flags.is_some_and(|flags| {
        let is_used = flags.is_append || STANDARD.contains(&descriptor);
        flags.is_writable && (is_used || is_named(path))
    })
}

fn is_named(path: &[u8]) -> bool {
    let lower = path.to_ascii_lowercase();
    LOG_NAMES.iter().any(|name| contains(name_of(&lower), name))
}

/// The name of a file without its folders.
fn name_of(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// The mount namespace of a process, in which paths mean what it sees; `None`: it is gone or hidden.
pub(crate) fn mount_namespace(roots: &Roots, pid: u32) -> Option<PathBuf> {
    std::fs::read_link(Path::new(&roots.in_proc(&format!("{pid}/ns/mnt")))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::process::{Command, Stdio};

    #[test]
    fn names_tell_logs_from_what_is_written_like_them() {
        let check = |path: &str, is_log: bool| {
            let path = path.as_bytes();
            assert_eq!(may_be_log(path) && is_named(path), is_log, "{}", String::from_utf8_lossy(path));
        };
        check("/var/log/nginx/error.log", true);
        check("/var/log/php8.4-fpm.log", true);
        check("/srv/mysql/host.err", true);
        check("/var/log/nginx/access.log", false);
        check("/var/lib/mysql/ib_logfile0", false);
        check("/var/lib/mysql/mysql-bin.000001", false);
        check("/var/log/data.ibd", false);
        check("/dev/log", false);
        check("socket:[12]", false);
        check("pipe:[7]", false);
        check("/memfd:log", false);
    }

    /// Opens files as a server does, tells that it has, and waits.
    const SERVER: &str = "exec 3>>server.out 4>>access.log 5>>appendonly.aof 6>>gone 7>error.log 8>table.dat
        : >read.log; exec 9<read.log; rm gone; echo ready; exec sleep 60";

    #[test]
    fn logs_of_a_process_are_what_it_appends_to_or_names_so() {
        let folder = tempfile::tempdir().expect("makes a folder");
        let mut server = Command::new("sh")
            .args(["-c", SERVER])
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        let mut ready = [0; 6];
        server.stdout.take().expect("is piped").read_exact(&mut ready).expect("is ready");
        let found = find_logs(&Roots::host(), server.id(), &mut Vec::new());
        let has_namespace = mount_namespace(&Roots::host(), server.id()).is_some();
        server.kill().expect("ends it");
        server.wait().expect("has ended");
        let own = folder.path().as_os_str().as_bytes();
        let mut names: Vec<&[u8]> =
            found.iter().filter_map(|log| log.path.strip_prefix(own)?.strip_prefix(b"/")).collect();
        names.sort_unstable();
        assert_eq!(names, [&b"error.log"[..], b"gone", b"server.out"]);
        assert!(has_namespace);
        assert!(find_logs(&Roots::host(), u32::MAX, &mut Vec::new()).is_empty());
    }
}
