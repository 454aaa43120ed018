//! Traffic of the interfaces in the target's network namespace: `/proc/PID/net/dev`.
//!
//! An interface gets its columns after its first packet.

use super::file::{FileCollector, FilePlace, Format};
use super::{Collector, Table};
use crate::error::ParseError;
use crate::roots::Roots;
use crate::source::Shape;
use crate::source::net_dev::{self, NetDev};
use sysdyno_record::column;
use sysdyno_record::series::Column;

pub(crate) fn collector() -> Box<dyn Collector> {
    FileCollector::boxed(FilePlace::Net("dev"), NetdevFormat::default())
}

/// At most this many interfaces have columns.
const MAX_INTERFACES: usize = 256;
/// Columns of an interface.
const WIDTH: usize = 9;

#[derive(Default)]
struct NetdevFormat {
    /// Interfaces that have columns, in the order of the file.
    names: Vec<Vec<u8>>,
}

impl NetdevFormat {
    /// Sets the values; returns whether the interfaces are those that have columns.
    fn try_fill(&self, text: &[u8], table: &mut Table) -> Result<bool, ParseError> {
        let (mut index, mut is_same) = (0, true);
        net_dev::parse(text, |device| {
            if !is_used(&device) {
                return;
            }
            match self.names.get(index) {
                Some(name) if name == device.name => set(table, index * WIDTH, &device),
                Some(_) => is_same = false,
                None => is_same &= self.names.len() == MAX_INTERFACES,
            }
            index += 1;
        })?;
        Ok(is_same && index >= self.names.len())
    }

    fn learn(&mut self, text: &[u8], table: &mut Table) -> Result<(), ParseError> {
        let names = &mut self.names;
        names.clear();
        net_dev::parse(text, |device| {
            if is_used(&device) && names.len() < MAX_INTERFACES {
                names.push(device.name.to_vec());
            }
        })?;
        let scope = |name: &Vec<u8>| format!("netdev:{}", String::from_utf8_lossy(name));
        table.replace(names.iter().flat_map(|name| columns(&scope(name))).collect());
        Ok(())
    }
}

impl Format for NetdevFormat {
    fn fill(&mut self, text: &[u8], table: &mut Table, _roots: &Roots) -> Result<(), ParseError> {
        if !self.try_fill(text, table)? {
            self.learn(text, table)?;
            self.try_fill(text, table)?;
        }
        Ok(())
    }

    fn shape(&self) -> Shape {
        Shape::Records
    }

    fn absent(&self) -> Vec<Column> {
        columns("netdev:*").to_vec()
    }
}

fn is_used(device: &NetDev<'_>) -> bool {
    device.rx_packets_count > 0 || device.tx_packets_count > 0
}

fn set(table: &mut Table, position: usize, device: &NetDev<'_>) {
    let values: [u64; WIDTH] = [
        device.rx_bytes,
        device.tx_bytes,
        device.rx_packets_count,
        device.tx_packets_count,
        device.rx_dropped_count,
        device.tx_dropped_count,
        device.rx_errors_count,
        device.tx_errors_count,
        device.rx_fifo_count,
    ];
    values
        .into_iter()
        .enumerate()
        .for_each(|(offset, value)| table.set_count(position + offset, Some(value)));
}

fn columns(scope: &str) -> [Column; WIDTH] {
    [
        column::NETDEV_RX_BYTES.of(scope),
        column::NETDEV_TX_BYTES.of(scope),
        column::NETDEV_RX_PACKETS.of(scope),
        column::NETDEV_TX_PACKETS.of(scope),
        column::NETDEV_RX_DROPPED.of(scope),
        column::NETDEV_TX_DROPPED.of(scope),
        column::NETDEV_RX_ERRORS.of(scope),
        column::NETDEV_TX_ERRORS.of(scope),
        column::NETDEV_RX_FIFO.of(scope),
    ]
}
