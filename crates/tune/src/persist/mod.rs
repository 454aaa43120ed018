//! Keeps settings across reboots in sysdyno's own files, and removes them again.
//!
//! Sysctls are in one file; other persistent settings are in the files of `home`. Invariants: only files that begin with
//! sysdyno's first line are ever written or removed, and if one of them does not, none is touched; each file is replaced as a
//! whole, so that at any moment it has either its old or its new content; current values are never touched.

mod home;
mod own;
#[cfg(test)]
mod trees;

use crate::error::{Refusal, TuneError};
use crate::plan::{PlannedChange, Rival, plan, rivals_of};
use crate::roots::TuneRoots;
use crate::setting::AtBoot;
use crate::tunable::find;
use home::{Home, LINES, RULES};
use std::collections::BTreeMap;
use sysdyno_record::change::SettingChange;

/// The file of sysctls, from the root.
const FILE: &str = "/etc/sysctl.d/90-sysdyno.conf";

/// What is kept over a reboot now.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Persisted {
    /// The file of sysctls, from the root.
    pub file: &'static str,
    /// Its settings; without any there is no file.
    pub settings: BTreeMap<String, String>,
    /// sysdyno's files for settings that are not sysctls.
    pub others: Vec<PersistedFile>,
    /// Settings of these that another file sets again, after ours was read.
    pub overridden: Vec<Overridden>,
}

/// One of sysdyno's files for settings that are not sysctls.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PersistedFile {
    /// The file, from the root.
    pub file: String,
    /// Its lines, by the keys that take them out again.
    pub lines: BTreeMap<String, String>,
}

/// A setting that another file has the last word about.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Overridden {
    /// The setting.
    pub key: String,
    /// Who sets it.
    pub by: Rival,
}

/// Adds settings to the files, or changes them in them.
///
/// # Errors
/// A change is not in order, or cannot be kept; a file is not ours; one cannot be written.
pub fn persist(changes: &[SettingChange], roots: &TuneRoots) -> Result<Persisted, TuneError> {
    let planned = plan(changes, roots)?;
    let (sysctls, rest): (Vec<_>, Vec<_>) =
        planned.changes.into_iter().partition(|change| change.at_boot() == AtBoot::Sysctl);
    let homes = homes(&rest, roots)?;
    // All that is there is read before anything is written: one that is not ours stops the rest.
    let mut settings = read(roots)?;
    let mut others = others(roots)?;
    for Home { file, key, line } in homes {
        let kept = match others.iter_mut().position(|kept| kept.file == file) {
            Some(at) => &mut others[at],
            None => {
                own::read(&file, roots)?;
                others.push(PersistedFile { file, lines: BTreeMap::new() });
                others.last_mut().expect("one was pushed")
            }
        };
        kept.lines.insert(key, line);
    }
    if !sysctls.is_empty() {
        for change in sysctls {
            // Of two that exclude each other the file holds one, or the order of its lines would decide.
            if let Some(other) = change.counterpart {
                settings.remove(other);
            }
            settings.insert(change.key, change.new);
        }
        write(&settings, roots)?;
    }
    if !rest.is_empty() {
        others.iter().try_for_each(|kept| write_other(kept, roots))?;
    }
    Ok(persisted(settings, others, roots))
}

fn homes(changes: &[PlannedChange], roots: &TuneRoots) -> Result<Vec<Home>, TuneError> {
    let (mut homes, mut refusals) = (Vec::new(), Vec::new());
    for change in changes {
        let home = match change.survives_boot {
            true => Err("it survives reboots anyway: apply and commit it".to_owned()),
            false => home::home(change, roots),
        };
        match home {
            Ok(home) => homes.push(home),
            Err(cause) => refusals.push(Refusal::new(&change.key, cause)),
        }
    }
    if refusals.is_empty() { Ok(homes) } else { Err(TuneError::Refused(refusals)) }
}

/// Takes settings out of the files; all of them, and the files with them, if none is named.
///
/// # Errors
/// One of them is in none; a file is not ours; one cannot be written or removed.
pub fn forget(keys: &[String], roots: &TuneRoots) -> Result<Persisted, TuneError> {
    let mut settings = read(roots)?;
    let mut others = others(roots)?;
    let is_kept =
        |key: &String| settings.contains_key(key) || others.iter().any(|kept| kept.lines.contains_key(key));
    let missing = keys.iter().filter(|key| !is_kept(key));
    let refusals: Vec<Refusal> =
        missing.map(|key| Refusal::new(key, "it is not in any of sysdyno's files")).collect();
    if !refusals.is_empty() {
        return Err(TuneError::Refused(refusals));
    }
    let stays = |key: &String| !keys.is_empty() && !keys.contains(key);
    let count = settings.len();
    settings.retain(|key, _| stays(key));
    if settings.is_empty() && roots.place(FILE).exists() {
        own::remove(FILE, roots)?;
    } else if settings.len() != count {
        write(&settings, roots)?;
    }
    for kept in &mut others {
        kept.lines.retain(|key, _| stays(key));
        write_other(kept, roots)?;
    }
    others.retain(|kept| !kept.lines.is_empty());
    Ok(persisted(settings, others, roots))
}

fn persisted(settings: BTreeMap<String, String>, others: Vec<PersistedFile>, roots: &TuneRoots) -> Persisted {
    let last = |key: &String| rivals_of(key, roots).into_iter().find(|rival| rival.is_last);
    let rivals = settings.keys().filter_map(|key| Some((key, last(key)?)));
    let rivals = rivals.filter(|(_, rival)| !rival.who.starts_with(FILE));
    let overridden = rivals.map(|(key, by)| Overridden { key: key.clone(), by }).collect();
    Persisted { file: FILE, settings, others, overridden }
}

/// The settings of the file of sysctls; none if it is not there.
fn read(roots: &TuneRoots) -> Result<BTreeMap<String, String>, TuneError> {
    let text = own::read(FILE, roots)?.unwrap_or_default();
    let line = |line: &str| line.split_once('=').map(|(key, value)| (key.trim().into(), value.trim().into()));
    Ok(text.lines().filter(|line| !line.starts_with('#')).filter_map(line).collect())
}

fn write(settings: &BTreeMap<String, String>, roots: &TuneRoots) -> Result<(), TuneError> {
    let mut text = String::new();
    for (key, value) in settings {
        let does = find(key).map_or("", |tunable| tunable.does);
        text.push_str(&format!("\n# {does}\n{key} = {value}\n"));
    }
    own::write(FILE, &text, roots)
}

/// Our other files that are there.
fn others(roots: &TuneRoots) -> Result<Vec<PersistedFile>, TuneError> {
    let files = [RULES.to_owned(), LINES.to_owned()].into_iter().chain(home::drop_ins(roots));
    let mut found = Vec::new();
    for file in files {
        if let Some(text) = own::read(&file, roots)? {
            found.push(PersistedFile { file, lines: home::parse(&text).into_iter().collect() });
        }
    }
    Ok(found)
}

fn write_other(kept: &PersistedFile, roots: &TuneRoots) -> Result<(), TuneError> {
    match kept.lines.is_empty() {
        true => own::remove(&kept.file, roots),
        false => own::write(&kept.file, &home::text(&kept.file, &kept.lines), roots),
    }
}

#[cfg(test)]
mod tests {
    use super::own::HEADER;
    use super::*;
    use crate::testing::{Host, changes};
    use std::fs;

    fn file(host: &Host) -> String {
        fs::read_to_string(host.roots.place(FILE)).expect("is there")
    }

    #[test]
    fn settings_are_kept_in_one_file_of_ours_and_taken_out_again() {
        let host = Host::new();
        let before = host.all();
        persist(&changes(&["vm.swappiness=10", "net.core.somaxconn=8192"]), &host.roots).expect("persists");
        let kept = persist(&changes(&["vm.swappiness=20"]), &host.roots).expect("persists");
        assert_eq!(kept.settings.len(), 2);
        assert!(
            file(&host).starts_with(HEADER) && file(&host).contains("\nvm.swappiness = 20\n"),
            "{}",
            file(&host)
        );
        assert_eq!(host.all(), before, "what is in force is not touched");
        forget(&["vm.swappiness".into()], &host.roots).expect("forgets");
        assert!(!file(&host).contains("swappiness"));
        assert!(forget(&["vm.swappiness".into()], &host.roots).is_err());
        forget(&[], &host.roots).expect("forgets");
        let left = fs::read_dir(host.roots.place("/etc/sysctl.d")).expect("is there").count();
        assert_eq!(left, 0);
    }

    #[test]
    fn a_file_that_is_not_ours_is_neither_written_nor_removed() {
        let host = Host::new();
        fs::create_dir_all(host.roots.place("/etc/sysctl.d")).expect("makes");
        fs::write(host.roots.place(FILE), "vm.swappiness = 1\n").expect("writes");
        assert!(persist(&changes(&["vm.swappiness=10"]), &host.roots).is_err());
        assert!(forget(&[], &host.roots).is_err());
        assert_eq!(file(&host), "vm.swappiness = 1\n");
    }

    #[test]
    fn settings_of_devices_are_kept_in_files_of_the_programs_that_set_them_up() {
        let host = Host::new();
        host.put("/usr/bin/udevadm", "");
        host.put("/usr/bin/systemd-tmpfiles", "");
        host.put("/sys/block/sda/queue/scheduler", "none [mq-deadline]\n");
        host.put("/sys/block/sda/device/wwid", "naa.5000c500a1b2c3d4\n");
        host.put("/sys/class/net/eth0/tx_queue_len", "1000\n");
        host.put("/sys/class/net/eth0/address", "02:00:00:00:00:01\n");
        host.put("/sys/kernel/mm/transparent_hugepage/defrag", "always [madvise] never\n");
        let wanted = [
            "block.sda.scheduler=none",
            "netdev.eth0.tx_queue_len=500",
            "thp.defrag=never",
            "vm.swappiness=10",
        ];
        let kept = persist(&changes(&wanted), &host.roots).expect("persists");
        assert_eq!((kept.settings.len(), kept.others.len()), (1, 2));
        let text = |file: &str| fs::read_to_string(host.roots.place(file)).expect("is there");
        assert!(text(RULES).starts_with(HEADER));
        for line in [
            "ENV{DEVTYPE}==\"disk\", ATTRS{wwid}==\"naa.5000c500a1b2c3d4\", ATTR{queue/scheduler}=\"none\"\n",
            "KERNEL==\"eth0\", ATTR{address}==\"02:00:00:00:00:01\", ATTR{tx_queue_len}=\"500\"\n",
        ] {
            assert!(text(RULES).contains(line), "{}", text(RULES));
        }
        assert!(text(LINES).ends_with("\nw /sys/kernel/mm/transparent_hugepage/defrag - - - - never\n"));
        persist(&changes(&["netdev.eth0.tx_queue_len=600"]), &host.roots).expect("persists");
        assert!(text(RULES).contains("\"600\"") && !text(RULES).contains("\"500\""));
        forget(&["block.sda.scheduler".into(), "vm.swappiness".into()], &host.roots).expect("forgets");
        assert!(!text(RULES).contains("scheduler") && !host.roots.place(FILE).exists());
        assert!(forget(&["block.sda.scheduler".into()], &host.roots).is_err());
        forget(&[], &host.roots).expect("forgets");
        for file in [RULES, LINES, FILE] {
            let folder = host.roots.place(file).parent().expect("is in a folder").to_owned();
            assert_eq!(fs::read_dir(folder).expect("is there").count(), 0, "{file}");
        }
    }

    #[test]
    fn one_file_that_is_not_ours_stops_all_of_them() {
        let host = Host::new();
        host.put("/usr/bin/systemd-tmpfiles", "");
        host.put("/sys/kernel/mm/transparent_hugepage/defrag", "always [madvise] never\n");
        host.put(LINES, "w /sys/a - - - - 1\n");
        let wanted = changes(&["vm.swappiness=10", "thp.defrag=never"]);
        let refused = persist(&wanted, &host.roots).expect_err("is refused").to_string();
        assert!(refused.contains("was not written by sysdyno") && refused.contains(LINES), "{refused}");
        assert!(!host.roots.place(FILE).exists());
        assert!(forget(&[], &host.roots).is_err());
        assert_eq!(fs::read_to_string(host.roots.place(LINES)).expect("is there"), "w /sys/a - - - - 1\n");
    }

    #[test]
    fn what_cannot_be_kept_is_refused_by_name() {
        let host = Host::new();
        host.put("/proc/irq/9/smp_affinity_list", "0\n");
        host.put("/sys/devices/system/cpu/online", "0-1\n");
        let refused = persist(&changes(&["irq.9.cpus=1"]), &host.roots).expect_err("is refused").to_string();
        assert!(refused.contains("'irq.9.cpus'") && refused.contains("no mechanism to keep it"), "{refused}");
    }

    #[test]
    fn who_has_the_last_word_is_said() {
        let host = Host::new();
        fs::create_dir_all(host.roots.place("/etc/sysctl.d")).expect("makes");
        fs::write(host.roots.place("/etc/sysctl.d/95-later.conf"), "vm.swappiness = 1\n").expect("writes");
        fs::write(host.roots.place("/etc/sysctl.d/10-earlier.conf"), "net.core.somaxconn = 1\n")
            .expect("writes");
        let kept = persist(&changes(&["vm.swappiness=10", "net.core.somaxconn=8192"]), &host.roots)
            .expect("persists");
        assert_eq!(kept.overridden.len(), 1);
        assert_eq!(kept.overridden[0].by.who, "/etc/sysctl.d/95-later.conf:1");
    }
}
