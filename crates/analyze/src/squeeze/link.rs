//! Links whose rate a queueing discipline limits: how much of it is used, and what takes a part of it away.

use crate::format::percent;
use crate::readings::Window;
use sysdyno_record::change::SettingChange;
use sysdyno_record::column;

/// A link that carried less of its rate than this has too much room for any depth to matter. Unit: ratio. House value.
const USED_MIN: f64 = 0.2;

/// What begins and ends the name of the setting, with the interface in between.
const SETTING: [&str; 2] = ["netdev.", ".rate_kbps"];

/// An interface that may send so much and no more.
pub(super) struct LimitedLink<'a> {
    /// Its name.
    pub(super) device: &'a str,
    /// Unit: megabits per second.
    pub(super) limit_mbps: f64,
    /// Unit: megabits per second.
    pub(super) used_mbps: f64,
}

/// The interfaces that sent something by a limit that stayed the same.
pub(super) fn limited_links<'a>(window: &Window<'a>) -> Vec<LimitedLink<'a>> {
    let link = |scope: &'a str| {
        let limit = window.level(column::QDISC_LIMIT, scope).filter(|limit| limit.last > 0.0)?;
        let sent_hz = window.growth(column::NETDEV_TX_BYTES, scope)?.per_second()?;
        let device = scope.strip_prefix("netdev:")?;
        Some(LimitedLink { device, limit_mbps: limit.last, used_mbps: sent_hz * 8.0 / 1e6 })
    };
    let links = window.scopes(column::QDISC_LIMIT).into_iter().filter_map(link);
    links.filter(|link| link.used_mbps > 0.0).collect()
}

impl LimitedLink<'_> {
    /// Why it need not be squeezed; `None`: it has to be.
    pub(super) fn left_out(&self) -> Option<String> {
        let used = self.used_mbps / self.limit_mbps;
        (used < USED_MIN)
            .then(|| format!("it carried only {} of its {:.0} Mbit/s", percent(used), self.limit_mbps))
    }

    /// What takes this part of its rate away; `device` is what settings call it.
    pub(super) fn slower(&self, device: &str, depth: f64) -> SettingChange {
        let [before, after] = SETTING;
        let value = (self.limit_mbps * (1.0 - depth) * 1e3).round().max(1.0);
        SettingChange { key: format!("{before}{device}{after}"), value: format!("{value:.0}") }
    }
}

/// The scope of the interface that a setting makes slower; `None`: it is another setting.
pub(super) fn slowed_scope(setting: &SettingChange) -> Option<String> {
    let device = setting.key.strip_prefix(SETTING[0])?.strip_suffix(SETTING[1])?;
    // What stands before a colon is the network namespace.
    let device = device.rsplit_once(':').map_or(device, |(_, device)| device);
    Some(format!("netdev:{device}"))
}
