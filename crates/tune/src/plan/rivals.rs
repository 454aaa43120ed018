//! What else sets a setting: files that are read at boot, and programs that tune.
//!
//! Precedence of the files is that of `sysctl.d(5)`: a file hides those of the same name in later folders, files are
//! read in the order of their names, and the last assignment counts; `/etc/sysctl.conf` is read last.

use crate::roots::TuneRoots;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// Folders, by precedence.
const FOLDERS: [&str; 5] =
    ["/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d", "/lib/sysctl.d"];

/// The file that is read last.
const LAST: &str = "/etc/sysctl.conf";

/// Longest file that is read. Unit: bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// Programs that tune, by the name of their process: what their settings begin with, and what they do.
const PROGRAMS: &[(&str, &[&str], &str)] = &[
    ("tuned", &[""], "applies its profile at start and on every reload"),
    ("bpftune", &["net.", "vm."], "adjusts it at any time"),
    ("irqbalance", &["irq."], "rebalances it every ten seconds"),
    (
        "NetworkManager",
        &["net.ipv4.conf.", "net.ipv6.conf.", "net.ipv6.neigh."],
        "sets it when a connection comes up",
    ),
    ("sysctl", &["fs.", "kernel.", "net.", "vm."], "sets configured values"),
    (
        "systemd-sysctl",
        &["fs.", "kernel.", "net.", "vm."],
        "applies the files of sysctl.d at boot and when restarted",
    ),
    ("systemd-networkd", &["net.ipv4.conf.", "net.ipv6.conf."], "sets it when a link is configured"),
];

/// Who else sets a setting.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Rival {
    /// A file and line, or a program and its process.
    pub who: String,
    /// To what, or how.
    pub sets: String,
    /// Whether it has the last word at boot.
    pub is_last: bool,
}

/// Who else sets a setting.
pub(crate) fn rivals_of(key: &str, roots: &TuneRoots) -> Vec<Rival> {
    Rivals::find(roots).of(key)
}

/// All that was found.
pub(super) struct Rivals {
    lines: Vec<Line>,
    programs: Vec<(usize, u32)>,
}

struct Line {
    key: String,
    value: String,
    place: String,
}

impl Rivals {
    /// Looks at files and processes; what cannot be read is passed over.
    pub(super) fn find(roots: &TuneRoots) -> Rivals {
        Rivals { lines: lines(roots), programs: programs(roots) }
    }

    /// Those of one setting.
    pub(super) fn of(&self, key: &str) -> Vec<Rival> {
        let mut found: Vec<Rival> = self
            .lines
            .iter()
            .filter(|line| line.key == key)
            .map(|line| Rival { who: line.place.clone(), sets: line.value.clone(), is_last: false })
            .collect();
        if let Some(last) = found.last_mut() {
            last.is_last = true;
        }
        for (index, pid) in &self.programs {
            let (name, beginnings, how) = PROGRAMS[*index];
            if beginnings.iter().any(|beginning| key.starts_with(beginning)) {
                found.push(Rival {
                    who: format!("{name} (process {pid})"),
                    sets: how.into(),
                    is_last: false,
                });
            }
        }
        found
    }
}

/// Lines of all files, in the order in which they are read.
fn lines(roots: &TuneRoots) -> Vec<Line> {
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for folder in FOLDERS {
        for entry in fs::read_dir(roots.place(folder)).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            // Debian reads /etc/sysctl.conf through a link of this name.
            let is_link_to_last =
                fs::read_link(entry.path()).is_ok_and(|target| target.ends_with("sysctl.conf"));
            if name.ends_with(".conf") && !is_link_to_last {
                files.entry(name.clone()).or_insert_with(|| format!("{folder}/{name}"));
            }
        }
    }
    let paths = files.into_values().chain([LAST.to_owned()]);
    paths.flat_map(|path| parse(&path, &bounded(&roots.place(&path)))).collect()
}

fn bounded(path: &Path) -> String {
    let mut bytes = Vec::new();
    // What cannot be read sets nothing that could be shown.
    let _ = File::open(path).map(|file| file.take(MAX_BYTES).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

fn parse(path: &str, text: &str) -> Vec<Line> {
    let line = |(index, line): (usize, &str)| {
        let line = line.trim();
        if line.starts_with(['#', ';']) {
            return None;
        }
        let (key, value) = line.split_once('=')?;
        let key = key.trim().trim_start_matches('-');
        let key = if key.contains('/') { key.replace('/', ".") } else { key.to_owned() };
        let place = format!("{path}:{}", index + 1);
        Some(Line { key, value: value.trim().chars().take(200).collect(), place })
    };
    text.lines().enumerate().filter_map(line).collect()
}

/// Programs of the table that run.
fn programs(roots: &TuneRoots) -> Vec<(usize, u32)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(roots.place("/proc")).into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let name = bounded(&entry.path().join("comm"));
        let is_it = |(program, _, _): &(&str, &[&str], &str)| {
            name.trim() == program.chars().take(15).collect::<String>()
        };
        found.extend(PROGRAMS.iter().position(is_it).map(|index| (index, pid)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_at_boot_is_named_by_file_and_line() {
        let root = tempfile::tempdir().expect("a folder");
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("is in a folder")).expect("makes");
            fs::write(path, text).expect("writes");
        };
        write("usr/lib/sysctl.d/50-default.conf", "net.core.somaxconn = 1\n");
        write("usr/lib/sysctl.d/10-hidden.conf", "net.core.somaxconn = 2\n");
        write("etc/sysctl.d/10-hidden.conf", "# nothing\n");
        write("etc/sysctl.d/60-own.conf", "\n# a comment\n-net/core/somaxconn=3\nvm.swappiness=1\n");
        write("etc/sysctl.d/70-other.txt", "net.core.somaxconn = 4\n");
        write("proc/77/comm", "tuned\n");
        write("proc/78/comm", "NetworkManager\n");
        let rivals = Rivals::find(&TuneRoots::at(root.path())).of("net.core.somaxconn");
        let rival = |who: &str, sets: &str, is_last| Rival { who: who.into(), sets: sets.into(), is_last };
        let expected = [
            rival("/usr/lib/sysctl.d/50-default.conf:1", "1", false),
            rival("/etc/sysctl.d/60-own.conf:3", "3", true),
            rival("tuned (process 77)", PROGRAMS[0].2, false),
        ];
        assert_eq!(rivals, expected);
    }
}
