//! Queues in front of the interfaces in the target's network namespace: their drops, backlog, and rate limit. Source:
//! rtnetlink, `RTM_GETQDISC`.

mod codec;
mod device;

use super::rtnetlink::{RTM_GETLINK, TargetSocket, link_name, link_question};
use super::{Collector, Pass, Table};
use codec::{HierarchyClass, Qdisc, QdiscKind, RTM_GETQDISC, RTM_GETTCLASS, traffic_question};
use device::{Device, ceiling, devices};
use std::io;
use sysdyno_netlink::NetlinkSocket;
use sysdyno_record::column::{self, Quantity};

pub(crate) fn collector() -> Box<dyn Collector> {
    Box::new(QdiscCollector::default())
}

/// At most this many devices have columns.
const MAX_DEVICES: usize = 64;
/// At most this many disciplines are looked at: some devices have one for each of their queues.
const MAX_QDISCS: usize = 4096;
/// The same of classes of an `htb`.
const MAX_CLASSES: usize = 1024;

/// Columns of a device; its limit follows where there is one.
const OF_DEVICE: [Quantity; 4] =
    [column::QDISC_DROPS, column::QDISC_OVERLIMITS, column::QDISC_BACKLOG, column::QDISC_BACKLOG_PACKETS];

#[derive(Default)]
struct QdiscCollector {
    table: Table,
    socket: TargetSocket,
    /// What has columns, in their order.
    shown: Vec<Shown>,
    is_failing: bool,
}

/// A device that has columns.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Shown {
    index: u32,
    name: String,
    /// Unit: bytes per second. `None`: nothing limits it, or not as a whole.
    limit: Option<u64>,
}

impl QdiscCollector {
    fn try_read(&mut self, pass: &Pass<'_>) -> io::Result<()> {
        if self.socket.follow(pass)? {
            self.shown.clear();
        }
        let Some(socket) = self.socket.socket() else { return Ok(()) };
        let mut found = Vec::new();
        socket.list(RTM_GETQDISC, &traffic_question(0), |body| {
            found.extend(Qdisc::decode(body).filter(|_| found.len() < MAX_QDISCS));
        })?;
        let mut devices = devices(&found);
        devices.truncate(MAX_DEVICES);
        let is_same =
            devices.iter().map(|device| device.index).eq(self.shown.iter().map(|shown| shown.index));
        if !is_same || pass.is_look() || self.is_failing {
            let before = std::mem::take(&mut self.shown);
            self.shown =
                devices.iter().map(|device| show(socket, device, &before)).collect::<io::Result<_>>()?;
            self.table.replace(self.shown.iter().flat_map(Shown::columns).collect());
        }
        self.write(&devices);
        Ok(())
    }

    fn write(&mut self, devices: &[Device]) {
        let mut position = 0;
        for (device, shown) in devices.iter().zip(&self.shown) {
            let counts = device.counts;
            let values = [
                counts.drops_count,
                counts.overlimits_count,
                counts.backlog_bytes,
                counts.backlog_packets_count,
            ];
            for value in values {
                self.table.set_count(position, Some(value));
                position += 1;
            }
            if let Some(limit) = shown.limit {
                self.table.set(position, limit as f64 * 8.0 / 1e6);
                position += 1;
            }
        }
    }
}

impl Shown {
    fn columns(&self) -> Vec<sysdyno_record::series::Column> {
        let scope = format!("netdev:{}", self.name);
        let limit = self.limit.map(|_| column::QDISC_LIMIT);
        OF_DEVICE.into_iter().chain(limit).map(|quantity| quantity.of(&scope)).collect()
    }
}

impl Collector for QdiscCollector {
    fn read(&mut self, pass: &mut Pass<'_>) {
        if !pass.scene.roots.is_host() || self.is_failing && !pass.is_look() {
            return;
        }
        self.table.clear();
        let read = self.try_read(pass);
        self.is_failing = read.is_err();
        if let Err(error) = read {
            self.socket.close();
            self.shown.clear();
            self.table.replace(OF_DEVICE.map(|quantity| quantity.of("netdev:*")).to_vec());
            self.table.explain_all(Some(&format!("cannot list queueing disciplines: {error}")));
        }
    }

    fn table(&mut self) -> &mut Table {
        &mut self.table
    }
}

/// Asks for the limit of a device, and for its name if it was not among those shown `before`.
fn show(socket: &mut NetlinkSocket, device: &Device, before: &[Shown]) -> io::Result<Shown> {
    let known = before.iter().find(|shown| shown.index == device.index).map(|shown| shown.name.clone());
    let name = match known {
        Some(name) => name,
        None => socket
            .get_if_there(RTM_GETLINK, &link_question(device.index), link_name)?
            // It has gone meanwhile, or its name cannot be shown.
            .unwrap_or_else(|| device.index.to_string()),
    };
    let limit = match device.kind {
        QdiscKind::TokenBucket(rate) => rate,
        QdiscKind::Hierarchy { default_class } => {
            let mut classes = Vec::new();
            socket.list(RTM_GETTCLASS, &traffic_question(device.index), |body| {
                classes.extend(HierarchyClass::decode(body).filter(|_| classes.len() < MAX_CLASSES));
            })?;
            ceiling(&classes, default_class)
        }
        QdiscKind::NoQueue | QdiscKind::MultiQueue | QdiscKind::Other => None,
    };
    Ok(Shown { index: device.index, name, limit })
}

#[cfg(test)]
mod tests;
