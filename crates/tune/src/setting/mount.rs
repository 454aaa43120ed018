//! Options of a mount: those of the mount itself, and those of its file system that can be changed while in use.
//!
//! A mount is named `mount:NAMESPACE:ID:MAJOR:MINOR:PATH`, from its line in `/proc/self/mountinfo` and the inode of its
//! mount namespace. Its text is `TYPE OPTIONS OPTIONS`: those of the mount, in the kernel's order, and those of the file
//! system, sorted. Options of the mount alone are changed without touching the file system (`MS_REMOUNT | MS_BIND`); a
//! remount keeps options that it does not name, so only the differences are named. Sources: mount(2),
//! proc_pid_mountinfo(5), `admin-guide/ext4.rst`, `fs/proc_namespace.c`.

use super::{Setting, SettingFamily, SettingPlace, live_only, quoted};
use crate::name::SettingName;
use crate::roots::TuneRoots;
use rustix::mount::{MountFlags, mount_remount};
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;

pub(super) const PREFIX: &str = "mount:";

/// Where the mounts of this namespace are listed.
const MOUNTS: &str = "/proc/thread-self/mountinfo";

/// Options of a mount, in the kernel's order, with their flags.
const FLAGS: &[(&str, MountFlags)] = &[
    ("ro", MountFlags::RDONLY),
    ("nosuid", MountFlags::NOSUID),
    ("nodev", MountFlags::NODEV),
    ("noexec", MountFlags::NOEXEC),
    ("noatime", MountFlags::NOATIME),
    ("nodiratime", MountFlags::NODIRATIME),
    ("relatime", MountFlags::RELATIME),
    ("nosymfollow", MountFlags::NOSYMFOLLOW),
];

/// Options of a file system that are flags of the call rather than separate words.
const SUPER_FLAGS: &[(&str, MountFlags)] = &[
    ("ro", MountFlags::RDONLY),
    ("sync", MountFlags::SYNCHRONOUS),
    ("dirsync", MountFlags::DIRSYNC),
    ("lazytime", MountFlags::LAZYTIME),
    ("mand", MountFlags::PERMIT_MANDATORY_FILE_LOCKING),
];

/// When the time of the last access is kept; of the mount.
const ACCESS_TIMES: [&str; 3] = ["noatime", "relatime", "strictatime"];

/// An option of a file system.
#[derive(Clone, Copy)]
enum Choice {
    /// Shown where it is not what it is by itself: what is shown, and what takes it back.
    Switch(&'static str, &'static str),
    /// A number, shown where it is not this one.
    Number(&'static str, u32),
}

/// Options of ext3 and ext4, which are one driver. Source: `fs/ext4/super.c`, `_ext4_show_options`.
const EXT: &[Choice] = &[
    Choice::Switch("nobarrier", "barrier"),
    Choice::Switch("discard", "nodiscard"),
    Choice::Switch("noauto_da_alloc", "auto_da_alloc"),
    Choice::Number("commit", 5),
    Choice::Number("max_batch_time", 15_000),
    Choice::Number("min_batch_time", 0),
];

/// Those of a type; none where they cannot be taken back with certainty.
fn options(kind: &str) -> &'static [Choice] {
    if matches!(kind, "ext3" | "ext4") { EXT } else { &[] }
}

/// One line of the list.
struct Mount {
    id: String,
    device: String,
    path: String,
    text: Text,
}

/// A parsed text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Text {
    kind: String,
    own: Vec<String>,
    of_file_system: Vec<String>,
}

impl Text {
    fn parse(text: &str) -> Option<Text> {
        let mut parts = text.split_whitespace();
        let list = |part: &str| part.split(',').map(str::to_owned).collect::<Vec<_>>();
        let (kind, own, of_file_system) = (parts.next()?, list(parts.next()?), list(parts.next()?));
        Some(Text { kind: kind.into(), own, of_file_system })
    }

    fn shown(&self) -> String {
        let mut sorted = self.of_file_system.clone();
        sorted.sort_unstable();
        format!("{} {} {}", self.kind, self.own.join(","), sorted.join(","))
    }

    fn has(list: &[String], word: &str) -> bool {
        list.iter().any(|known| known == word)
    }

    /// Sets one option as it is typed.
    fn set(&mut self, word: &str) -> Result<(), String> {
        if ACCESS_TIMES.contains(&word) {
            return self.set_own(|own| {
                own.retain(|known| !ACCESS_TIMES.contains(&known.as_str()));
                own.extend((word != "strictatime").then(|| word.to_owned()));
            });
        }
        if let "nodiratime" | "diratime" = word {
            return self.set_own(|own| {
                own.retain(|known| known != "nodiratime");
                own.extend((word == "nodiratime").then(|| word.to_owned()));
            });
        }
        let known = options(&self.kind);
        if let ("lazytime" | "nolazytime", false) = (word, known.is_empty()) {
            self.of_file_system.retain(|known| known != "lazytime");
            self.of_file_system.extend((word == "lazytime").then(|| word.to_owned()));
            return Ok(());
        }
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        let is_meant = |option: &&Choice| match **option {
            Choice::Switch(shown, hidden) => value.is_none() && (name == shown || name == hidden),
            Choice::Number(number, _) => value.is_some() && name == number,
        };
        let shown = match (known.iter().find(is_meant), value) {
            (Some(Choice::Switch(shown, _)), _) => (*shown, (name == *shown).then(|| word.to_owned())),
            (Some(Choice::Number(number, default)), Some(value)) => {
                let value: u32 = value.parse().map_err(|_| format!("'{value}' is not a number"))?;
                (*number, (value != *default).then(|| format!("{number}={value}")))
            }
            _ => {
                let kind = &self.kind;
                return Err(format!("'{word}' is not an option that can be changed and restored on {kind}"));
            }
        };
        self.of_file_system.retain(|known| known.split('=').next() != Some(shown.0));
        self.of_file_system.extend(shown.1);
        Ok(())
    }

    /// Changes options of the mount, and puts them into the kernel's order.
    fn set_own(&mut self, change: impl FnOnce(&mut Vec<String>)) -> Result<(), String> {
        change(&mut self.own);
        let place = |word: &String| FLAGS.iter().position(|(known, _)| known == word);
        self.own.sort_by_key(place);
        Ok(())
    }

    /// The flags of the mount.
    fn flags(&self) -> MountFlags {
        let mut flags = flags(&self.own, FLAGS);
        if !self.own.iter().any(|word| ACCESS_TIMES.contains(&word.as_str())) {
            flags |= MountFlags::STRICTATIME;
        }
        flags
    }

    /// The words that make a file system with the options of `now` one with these.
    fn data_since(&self, now: &Text) -> String {
        let (new, old) = (&self.of_file_system, &now.of_file_system);
        let word = |option: &Choice| match *option {
            Choice::Switch(shown, hidden) => {
                let is_on = Text::has(new, shown);
                (is_on != Text::has(old, shown))
                    .then(|| if is_on { shown.to_owned() } else { hidden.to_owned() })
            }
            Choice::Number(name, default) => {
                let value = |list: &[String]| {
                    let found =
                        list.iter().find_map(|word| word.split_once('=').filter(|(known, _)| *known == name));
                    found.map_or(default.to_string(), |(_, value)| value.to_owned())
                };
                let value_now = value(new);
                (value_now != value(old)).then(|| format!("{name}={value_now}"))
            }
        };
        options(&self.kind).iter().filter_map(word).collect::<Vec<_>>().join(",")
    }
}

fn flags(words: &[String], known: &[(&str, MountFlags)]) -> MountFlags {
    let is_set = |(word, _): &&(&str, MountFlags)| Text::has(words, word);
    known.iter().filter(is_set).fold(MountFlags::empty(), |all, (_, flag)| all | *flag)
}

/// The lines of the list; those that cannot be understood are left out.
fn parse(list: &str) -> Vec<Mount> {
    let line = |line: &str| {
        let (before, after) = line.split_once(" - ")?;
        let words: Vec<&str> = before.split(' ').collect();
        let mut rest = after.split(' ');
        let (kind, of_file_system) = (rest.next()?, rest.nth(1)?);
        let mut text = Text::parse(&format!("{kind} {} {of_file_system}", words.get(5)?))?;
        // Whether it can be written to is not among what is changed; the word for yes says nothing.
        text.own.retain(|word| word != "rw");
        text.own.insert(0, if Text::has(&text.own, "ro") { "ro" } else { "rw" }.into());
        text.own.dedup();
        Some(Mount {
            id: (*words.first()?).to_owned(),
            device: (*words.get(2)?).to_owned(),
            path: unescaped(words.get(4)?),
            text,
        })
    };
    list.lines().filter_map(line).collect()
}

/// A path with `\040` and its like as the characters that they stand for.
fn unescaped(path: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(path.to_owned(), |path, (escaped, character)| path.replace(escaped, character))
}

/// The inode of the mount namespace of this thread.
fn namespace() -> io::Result<u64> {
    Ok(fs::metadata("/proc/thread-self/ns/mnt")?.ino())
}

/// Options of mounts, by the paths at which they are mounted.
#[derive(Debug)]
pub(crate) struct Mounts;

impl SettingFamily for Mounts {
    fn place(&self, _: &str) -> String {
        "mount(2): what is mounted at the path".into()
    }

    fn find(&self, name: &SettingName<'_>, roots: &TuneRoots) -> Result<Vec<SettingPlace>, String> {
        live_only(roots)?;
        Ok(vec![SettingPlace::of(MountOptions::find(name.first())?)])
    }
}

/// The options of one mount.
#[derive(Debug)]
pub(super) struct MountOptions {
    namespace: String,
    id: String,
    /// Numbers of its device, with a colon between them.
    device: String,
    path: String,
}

impl MountOptions {
    /// Those of what is mounted at a path.
    ///
    /// # Errors
    /// Nothing is, or it could not be put back.
    fn find(path: &str) -> Result<MountOptions, String> {
        let list = fs::read_to_string(MOUNTS).map_err(|error| format!("cannot read '{MOUNTS}': {error}"))?;
        let found = parse(&list).into_iter().rfind(|mount| mount.path == path);
        let found = found.ok_or_else(|| format!("nothing is mounted at '{path}'"))?;
        if Text::has(&found.text.own, "ro") != Text::has(&found.text.of_file_system, "ro") {
            return Err(
                "the mount is read-only but its file system is not, and a remount would change that".into()
            );
        }
        let namespace = namespace().map_err(|error| error.to_string())?.to_string();
        Ok(MountOptions { namespace, id: found.id, device: found.device, path: path.into() })
    }

    pub(super) fn parse(rest: &str) -> Option<MountOptions> {
        let mut parts = rest.splitn(5, ':');
        let mut part = || parts.next().map(str::to_owned);
        let (namespace, id, major, minor, path) = (part()?, part()?, part()?, part()?, part()?);
        Some(MountOptions { namespace, id, device: format!("{major}:{minor}"), path })
    }

    /// The mount as it is listed now, and whether it is what its path leads to.
    fn listed(&self) -> io::Result<(Mount, bool)> {
        let gone = || io::Error::from(io::ErrorKind::NotFound);
        if namespace()?.to_string() != self.namespace {
            return Err(if is_alive(&self.namespace) {
                io::Error::other("it is a mount of another mount namespace: recover from within it")
            } else {
                gone()
            });
        }
        let mut mounts = parse(&fs::read_to_string(MOUNTS)?);
        mounts.retain(|mount| mount.path == self.path);
        let is_it = |mount: &Mount| mount.id == self.id && mount.device == self.device;
        let is_on_top = mounts.last().is_some_and(|top| top.id == self.id);
        let found = mounts.into_iter().find(is_it).ok_or_else(gone)?;
        Ok((found, is_on_top))
    }
}

impl fmt::Display for MountOptions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{PREFIX}{}:{}:{}:{}", self.namespace, self.id, self.device, self.path)
    }
}

impl Setting for MountOptions {
    fn read(&self, _: &TuneRoots) -> io::Result<String> {
        self.listed().map(|(mount, _)| mount.text.shown())
    }

    fn write(&self, _: &TuneRoots, text: &str) -> io::Result<()> {
        let (now, is_on_top) = self.listed()?;
        if !is_on_top {
            return Err(io::Error::other("something else is mounted over it"));
        }
        let wanted = Text::parse(text).filter(|wanted| wanted.kind == now.text.kind);
        let wanted = wanted.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        let sorted = |text: &Text| text.shown().split(' ').nth(2).map(str::to_owned);
        if sorted(&wanted) == sorted(&now.text) {
            mount_remount(now.path.as_str(), MountFlags::BIND | wanted.flags(), "")?;
        } else {
            let flags = wanted.flags() | flags(&wanted.of_file_system, SUPER_FLAGS);
            mount_remount(now.path.as_str(), flags, wanted.data_since(&now.text))?;
        }
        Ok(())
    }

    fn shell_line(&self, _: &TuneRoots, text: &str) -> String {
        let path = quoted(&self.path);
        let now = self.listed().map(|(mount, _)| mount.text).ok();
        let Some(wanted) = Text::parse(text) else { return format!("# the options of {path} were {text}") };
        let mut words: Vec<String> = vec!["remount".into()];
        words.extend(wanted.own.iter().filter(|word| *word != "rw").cloned());
        let is_strict = !wanted.own.iter().any(|word| ACCESS_TIMES.contains(&word.as_str()));
        words.extend(is_strict.then(|| "strictatime".to_owned()));
        words.extend((!Text::has(&wanted.own, "nodiratime")).then(|| "diratime".to_owned()));
        words.extend(now.map(|now| wanted.data_since(&now)).filter(|data| !data.is_empty()));
        if !options(&wanted.kind).is_empty() {
            let is_lazy = Text::has(&wanted.of_file_system, "lazytime");
            words.push(if is_lazy { "lazytime" } else { "nolazytime" }.into());
        }
        format!("mount -o {} {path}", words.join(","))
    }
}

/// Whether any process is in the mount namespace of this inode.
fn is_alive(namespace: &str) -> bool {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut inodes = processes.filter_map(|entry| fs::metadata(entry.path().join("ns/mnt")).ok());
    inodes.any(|found| found.ino().to_string() == namespace)
}

/// The text that a mount with the text `old` gets by options as they are typed, with commas between them.
///
/// # Errors
/// One of them is unknown, or could not be taken back.
pub(crate) fn typed(typed: &str, old: &str) -> Result<String, String> {
    let mut text = Text::parse(old).ok_or("its options cannot be parsed")?;
    typed.split(',').try_for_each(|word| text.set(word.trim()))?;
    Ok(text.shown())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
65 22 7:0 / /srv/my\\040data rw,nosuid,noatime - ext4 /dev/loop0 rw,nobarrier,commit=30
66 22 0:40 / /run rw,nosuid,nodev - tmpfs tmpfs rw,size=1g
";

    #[test]
    fn mounts_are_read_as_the_kernel_lists_them() {
        let mounts = parse(LIST);
        assert_eq!(mounts[1].path, "/srv/my data");
        assert_eq!(mounts[1].text.shown(), "ext4 rw,nosuid,noatime commit=30,nobarrier,rw");
        assert_eq!((mounts[2].id.as_str(), mounts[2].device.as_str()), ("66", "0:40"));
    }

    #[test]
    fn options_are_laid_over_those_that_are_there() {
        let old = "ext4 rw,nosuid,relatime commit=30,rw";
        let check =
            |text: &str, expected: &str| assert_eq!(typed(text, old).as_deref(), Ok(expected), "{text}");
        check("noatime", "ext4 rw,nosuid,noatime commit=30,rw");
        check("strictatime,nodiratime", "ext4 rw,nosuid,nodiratime commit=30,rw");
        check("commit=5", "ext4 rw,nosuid,relatime rw");
        check("nobarrier,lazytime", "ext4 rw,nosuid,relatime commit=30,lazytime,nobarrier,rw");
        check("barrier", old);
        for (text, old, cause) in [
            ("ro", old, "'ro' is not an option that can be changed"),
            ("commit=soon", old, "'soon' is not a number"),
            ("commit=9", "xfs rw,relatime rw", "on xfs"),
            ("lazytime", "tmpfs rw rw", "on tmpfs"),
            ("noatime", "ext4", "cannot be parsed"),
        ] {
            let refused = typed(text, old).expect_err("is refused");
            assert!(refused.contains(cause), "{text}: {refused}");
        }
    }

    #[test]
    fn only_what_differs_is_told_to_the_file_system() {
        let text = |text: &str| Text::parse(text).expect("is a text");
        let (old, new) = (text("ext4 rw commit=30,rw"), text("ext4 rw discard,nobarrier,rw"));
        assert_eq!(new.data_since(&old), "nobarrier,discard,commit=5");
        assert_eq!(old.data_since(&new), "barrier,nodiscard,commit=30");
        assert_eq!(old.data_since(&old), "");
    }
}
