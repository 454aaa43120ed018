//! Speed of the links: `/sys/class/net/NAME/speed`, of links that have one.
//!
//! Asking a device for its speed takes the kernel's lock of all interfaces, and the speed rarely changes, so it is read
//! every ten seconds. `/sys` shows the interfaces of this process's network namespace; there are no speeds for another one.

use super::{Collector, Pass, Table};
use crate::roots::Roots;
use crate::source::{decimal, read_once};
use std::path::Path;
use sysdyno_record::column;
use sysdyno_record::event::ProcessRole;

pub(crate) fn collector() -> Box<dyn Collector> {
    Box::new(LinkCollector::default())
}

/// Looks between two readings.
const LOOKS: u32 = 10;
/// At most this many interfaces are asked.
const MAX_INTERFACES: usize = 64;

#[derive(Default)]
struct LinkCollector {
    table: Table,
    /// Looks until the next reading.
    wait: u32,
    speeds: Vec<Speed>,
}

#[derive(Clone, Debug, PartialEq)]
struct Speed {
    name: String,
    mbps: u64,
}

impl Collector for LinkCollector {
    fn read(&mut self, pass: &mut Pass<'_>) {
        self.table.clear();
        if !pass.is_look() {
            return;
        }
        if self.wait > 0 {
            self.wait -= 1;
            return;
        }
        self.wait = LOOKS - 1;
        let roots = &pass.scene.roots;
        let target = pass.scene.first(ProcessRole::Target).map(|process| process.pid);
        let shares = target.is_none_or(|pid| is_same_namespace(roots, pid));
        self.speeds = if shares { read_speeds(&roots.in_sys("class/net"), pass.buffer) } else { vec![] };
        let column = |speed: &Speed| column::NETDEV_SPEED.of(format!("netdev:{}", speed.name));
        self.table.replace(self.speeds.iter().map(column).collect());
        for (position, speed) in self.speeds.iter().enumerate() {
            self.table.set_count(position, Some(speed.mbps));
        }
    }

    fn table(&mut self) -> &mut Table {
        &mut self.table
    }
}

/// Whether a process is in the network namespace of this one.
pub(super) fn is_same_namespace(roots: &Roots, pid: u32) -> bool {
    let namespace = |process: &str| std::fs::read_link(roots.in_proc(&format!("{process}/ns/net"))).ok();
    let own = namespace("self");
    own.is_some() && own == namespace(&pid.to_string())
}

fn read_speeds(folder: &Path, buffer: &mut Vec<u8>) -> Vec<Speed> {
    let Ok(entries) = std::fs::read_dir(folder) else { return vec![] };
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names.truncate(MAX_INTERFACES);
    let mut speed = |name: String| {
        // A link without a speed gives an error or -1.
        let text = read_once(&folder.join(&name).join("speed"), buffer).ok()?;
        let mbps = decimal(text.trim_ascii()).filter(|mbps| *mbps > 0 && *mbps < u64::from(u32::MAX))?;
        Some(Speed { name, mbps })
    };
    names.into_iter().filter_map(&mut speed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_links_with_a_speed_are_listed() {
        let folder = tempfile::tempdir().expect("makes a folder");
        for (name, speed) in [("eth0", "10000\n"), ("lo", "-1\n"), ("tun0", "4294967295\n"), ("wlan0", "x")] {
            std::fs::create_dir(folder.path().join(name)).expect("makes a folder");
            std::fs::write(folder.path().join(name).join("speed"), speed).expect("writes");
        }
        std::fs::create_dir(folder.path().join("bond0")).expect("makes a folder");
        let expected = [Speed { name: "eth0".into(), mbps: 10_000 }];
        assert_eq!(read_speeds(folder.path(), &mut Vec::new()), expected);
    }
}
