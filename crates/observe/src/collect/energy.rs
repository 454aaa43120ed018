//! Energy of the processors and their memory, as the kernel's powercap counts it (RAPL): `/sys/class/powercap`.
//!
//! Zones of packages, and the memory's within them, are read; `core` and `uncore` are parts of a package, `psys` has packages in
//! it, and `intel-rapl-mmio` counts the same packages again. Counters wrap at their `max_energy_range_uj`; the column does not.
//! Only root may read them on most hosts, since they betray what is computed (CVE-2020-8694). A host without them, as virtual
//! machines are, has no columns. Source: `Documentation/power/powercap/powercap.rst`.

use super::{Collector, Pass, Table};
use crate::source::{decimal, read_once};
use std::path::{Path, PathBuf};
use sysdyno_record::column;

pub(crate) fn collector() -> Box<dyn Collector> {
    Box::new(EnergyCollector::default())
}

/// At most this many zones are read.
const MAX_ZONES: usize = 64;
/// Zones of the interface that is read.
const PREFIX: &str = "intel-rapl:";

#[derive(Default)]
struct EnergyCollector {
    table: Table,
    /// `None`: not looked for yet.
    zones: Option<Vec<Zone>>,
}

/// A counter that does not wrap.
struct Zone {
    scope: String,
    file: PathBuf,
    range_uj: u64,
    last_uj: Option<u64>,
    sum_uj: u64,
}

impl Zone {
    /// What was used since any time before the first reading. Unit: microjoules.
    fn add(&mut self, now_uj: u64) -> u64 {
        let grown = match self.last_uj {
            None => now_uj,
            Some(last) if now_uj < last => self.range_uj.saturating_sub(last).saturating_add(now_uj),
            Some(last) => now_uj - last,
        };
        self.last_uj = Some(now_uj);
        self.sum_uj = self.sum_uj.saturating_add(grown);
        self.sum_uj
    }
}

impl Collector for EnergyCollector {
    fn read(&mut self, pass: &mut Pass<'_>) {
        self.table.clear();
        if !pass.is_look() {
            return;
        }
        if self.zones.is_none() {
            let found = find(&pass.scene.roots.in_sys("class/powercap"), pass.buffer);
            self.table.replace(found.iter().map(|zone| column::ENERGY_USED.of(&*zone.scope)).collect());
            self.zones = Some(found);
        }
        for (position, zone) in self.zones.iter_mut().flatten().enumerate() {
            match read_count(&zone.file, pass.buffer) {
                Ok(now_uj) => {
                    self.table.set_count(position, Some(zone.add(now_uj)));
                    self.table.explain(position, None);
                }
                Err(reason) => self.table.explain(position, Some(&reason)),
            }
        }
    }

    fn table(&mut self) -> &mut Table {
        &mut self.table
    }
}

/// The zones that are counted, each energy in one of them only.
fn find(folder: &Path, buffer: &mut Vec<u8>) -> Vec<Zone> {
    let Ok(entries) = std::fs::read_dir(folder) else { return vec![] };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.starts_with(PREFIX)).take(MAX_ZONES).collect();
    names.sort_unstable();
    names.into_iter().filter_map(|name| zone(folder, &name, buffer)).collect()
}

fn zone(folder: &Path, name: &str, buffer: &mut Vec<u8>) -> Option<Zone> {
    let place = folder.join(name);
    let called = called(&place, buffer)?;
    let scope = match name.strip_prefix(PREFIX)?.split_once(':') {
        None if called.starts_with("package") => called,
        Some((package, _)) if called == "dram" => {
            format!("{}/dram", self::called(&folder.join(format!("{PREFIX}{package}")), buffer)?)
        }
        _ => return None,
    };
    let range_uj = read_count(&place.join("max_energy_range_uj"), buffer).unwrap_or(0);
    let scope = format!("{}{scope}", column::ScopeKind::Energy.prefix());
    Some(Zone { scope, file: place.join("energy_uj"), range_uj, last_uj: None, sum_uj: 0 })
}

/// What a zone is called: `package-0`, `dram`.
fn called(zone: &Path, buffer: &mut Vec<u8>) -> Option<String> {
    let text = read_once(&zone.join("name"), buffer).ok()?.trim_ascii();
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    (!text.is_empty() && text.len() <= 40 && text.iter().all(is_plain))
        .then(|| String::from_utf8_lossy(text).into_owned())
}

fn read_count(file: &Path, buffer: &mut Vec<u8>) -> Result<u64, String> {
    let text = read_once(file, buffer).map_err(|error| error.to_string())?;
    decimal(text.trim_ascii()).ok_or_else(|| format!("'{}' holds no count", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, zone: &str, files: &[(&str, &str)]) {
        let place = folder.join(zone);
        std::fs::create_dir_all(&place).expect("makes a folder");
        files.iter().for_each(|(name, text)| std::fs::write(place.join(name), text).expect("writes"));
    }

    #[test]
    fn packages_and_their_memory_are_counted_once() {
        let folder = tempfile::tempdir().expect("makes a folder");
        for (zone, name) in [
            ("intel-rapl:0", "package-0\n"),
            ("intel-rapl:0:0", "core\n"),
            ("intel-rapl:0:2", "dram\n"),
            ("intel-rapl:1", "psys\n"),
            ("intel-rapl-mmio:0", "package-0\n"),
            ("intel-rapl:2", "package-\u{1b}\n"),
        ] {
            write(folder.path(), zone, &[("name", name), ("energy_uj", "5\n")]);
        }
        write(folder.path(), "intel-rapl", &[("enabled", "1\n")]);
        let scopes: Vec<String> =
            find(folder.path(), &mut Vec::new()).into_iter().map(|zone| zone.scope).collect();
        assert_eq!(scopes, ["energy:package-0", "energy:package-0/dram"]);
        assert!(find(&folder.path().join("none"), &mut Vec::new()).is_empty());
    }

    #[test]
    fn a_counter_that_wraps_goes_on() {
        let folder = tempfile::tempdir().expect("makes a folder");
        let files = [("name", "package-0\n"), ("energy_uj", "90\n"), ("max_energy_range_uj", "100\n")];
        write(folder.path(), "intel-rapl:0", &files);
        let mut zones = find(folder.path(), &mut Vec::new());
        let zone = zones.first_mut().expect("one");
        assert_eq!([90, 95, 5, 6].map(|now| zone.add(now)), [90, 95, 105, 106]);
        std::fs::write(&zone.file, "many\n").expect("writes");
        assert!(read_count(&zone.file, &mut Vec::new()).expect_err("no count").contains("holds no count"));
    }
}
