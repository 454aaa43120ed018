//! Disks whose rate control groups limit: how near they are to their limits, and what takes a part of these away.

use crate::format::percent;
use crate::readings::Window;
use std::collections::BTreeMap;
use sysdyno_record::change::SettingChange;
use sysdyno_record::column::{self, Quantity};
use sysdyno_record::squeeze::{BiteCounter, SqueezeBite};

/// A disk that did less of what it may has too much room for any depth to matter. Unit: ratio. House value.
const USED_MIN: f64 = 0.2;

/// The limits of disks: what their settings are called after the disk, and what counts against them.
const LIMITS: [(&str, Quantity); 4] = [
    ("read_iops", column::DISK_READS),
    ("write_iops", column::DISK_WRITES),
    ("read_bps", column::DISK_READ_BYTES),
    ("write_bps", column::DISK_WRITTEN_BYTES),
];

/// What control groups let a disk do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqueezableDisk {
    /// Its name.
    pub disk: String,
    /// Its limits by the names of their settings: `write_iops`. Unit: count or bytes, per second.
    pub limits: BTreeMap<&'static str, u64>,
}

impl SqueezableDisk {
    /// How much of what it may the disk did, where it came nearest to a limit; `None`: it was not read. Unit: ratio.
    pub(super) fn used(&self, window: &Window<'_>) -> Option<f64> {
        let used = self.settings(0.0).into_iter().filter_map(|setting| used(window, &setting));
        used.map(|bite| bite.moved / bite.of).max_by(f64::total_cmp)
    }

    /// Why it need not be squeezed; `None`: it has to be.
    pub(super) fn left_out(&self, used: f64) -> Option<String> {
        (used < USED_MIN).then(|| format!("it did only {} of what its limits allow", percent(used)))
    }

    /// What takes this part of all its limits away.
    pub(super) fn settings(&self, depth: f64) -> Vec<SettingChange> {
        let setting = |(name, limit): (&&str, &u64)| SettingChange {
            key: format!("block.{}.{name}", self.disk),
            value: format!("{:.0}", (*limit as f64 * (1.0 - depth)).round().max(1.0)),
        };
        self.limits.iter().map(setting).collect()
    }
}

/// How much a disk did of what a setting lets it do; `None`: it is no such setting, or the disk was not read.
pub(super) fn used(window: &Window<'_>, setting: &SettingChange) -> Option<SqueezeBite> {
    let rest = setting.key.strip_prefix("block.")?;
    let (disk, counter) = LIMITS
        .iter()
        .find_map(|(name, counter)| Some((rest.strip_suffix(name)?.strip_suffix('.')?, *counter)))?;
    let done = window.growth(counter, &format!("disk:{disk}"))?;
    let limit: f64 = setting.value.parse().ok()?;
    Some(SqueezeBite { counter: BiteCounter::DiskUsed, moved: done.amount, of: limit * done.seconds })
        .filter(|bite| bite.of > 0.0)
}
