//! Counters of the IP protocols in the target's network namespace: `snmp` and `netstat`.
//!
//! Every counter of the chosen protocols gets a column under the kernel's own name. Settings that are not counts, such as
//! `Tcp.RtoMin`, are left out.

use super::file::{FileCollector, FilePlace, Format};
use super::{Collector, Table};
use crate::error::ParseError;
use crate::roots::Roots;
use crate::source::snmp;
use sysdyno_record::column::{self, NETNS, Quantity, TCP_CURR_ESTAB};
use sysdyno_record::series::Column;

pub(crate) fn snmp() -> Box<dyn Collector> {
    FileCollector::boxed(FilePlace::Net("snmp"), ProtocolFormat::new(&[column::IP, column::TCP, column::UDP]))
}

pub(crate) fn netstat() -> Box<dyn Collector> {
    FileCollector::boxed(FilePlace::Net("netstat"), ProtocolFormat::new(&[column::TCP_EXT, column::IP_EXT]))
}

/// Values that are settings.
const SETTINGS: &[&str] = &[
    "Ip.Forwarding",
    "Ip.DefaultTTL",
    "Ip.ReasmTimeout",
    "Tcp.RtoAlgorithm",
    "Tcp.RtoMin",
    "Tcp.RtoMax",
    "Tcp.MaxConn",
];

#[derive(Default)]
struct ProtocolFormat {
    protocols: &'static [Quantity],
    /// The lines of names that the columns were made from, one after the other.
    names: Vec<u8>,
    /// For each value of the chosen protocols whether it has a column.
    is_kept: Vec<bool>,
    scratch: Vec<Option<u64>>,
}

impl ProtocolFormat {
    fn new(protocols: &'static [Quantity]) -> ProtocolFormat {
        ProtocolFormat { protocols, ..ProtocolFormat::default() }
    }

    /// Sets the values; returns whether the names are those that the columns were made from.
    fn try_fill(&mut self, text: &[u8], table: &mut Table) -> Result<bool, ParseError> {
        let (mut names, mut kept, mut position) = (self.names.as_slice(), self.is_kept.iter(), 0);
        let mut is_known = !names.is_empty();
        snmp::parse(text, &mut self.scratch, |section| {
            if !is_known || family(self.protocols, &section).is_none() {
                return;
            }
            let Some(rest) = names.strip_prefix(section.names_line) else {
                is_known = false;
                return;
            };
            names = rest;
            for (value, is_kept) in section.values.iter().zip(kept.by_ref()) {
                if *is_kept {
                    table.set_count(position, *value);
                    position += 1;
                }
            }
        })?;
        Ok(is_known && names.is_empty())
    }

    fn learn(&mut self, text: &[u8], table: &mut Table) -> Result<(), ParseError> {
        let (mut names, mut is_kept, mut columns) = (Vec::new(), Vec::new(), Vec::new());
        snmp::parse(text, &mut self.scratch, |section| {
            let Some(family) = family(self.protocols, &section) else { return };
            names.extend_from_slice(section.names_line);
            for name in section.names() {
                let counter = family.member(&String::from_utf8_lossy(name), NETNS);
                let is_setting = SETTINGS.contains(&counter.name.as_str());
                is_kept.push(!is_setting);
                if counter.name == TCP_CURR_ESTAB.name {
                    columns.push(TCP_CURR_ESTAB.of(NETNS));
                } else if !is_setting {
                    columns.push(counter);
                }
            }
        })?;
        if columns.is_empty() {
            return Err(ParseError::at(0, "a line of the protocols"));
        }
        (self.names, self.is_kept) = (names, is_kept);
        table.replace(columns);
        Ok(())
    }
}

/// The columns of a section; `None`: it is not chosen.
fn family<'a>(protocols: &'a [Quantity], section: &snmp::Section<'_>) -> Option<&'a Quantity> {
    protocols.iter().find(|protocol| protocol.field.as_bytes() == section.protocol)
}

impl Format for ProtocolFormat {
    fn fill(&mut self, text: &[u8], table: &mut Table, _roots: &Roots) -> Result<(), ParseError> {
        if !self.try_fill(text, table)? {
            self.learn(text, table)?;
            self.try_fill(text, table)?;
        }
        Ok(())
    }

    fn absent(&self) -> Vec<Column> {
        self.protocols.iter().map(|protocol| protocol.of(NETNS)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_keeps_its_name_when_the_order_changes() {
        let roots = Roots::host();
        let (mut format, mut table) = (ProtocolFormat::new(&[column::TCP]), Table::default());
        let mut read = |text: &str| {
            format.fill(text.as_bytes(), &mut table, &roots).expect("parses");
            let values = table.columns().iter().zip(table.values());
            values.map(|(column, value)| format!("{}={value:?}", column.name)).collect::<Vec<_>>().join(" ")
        };
        let first = "Ip: Forwarding\nIp: 1\nTcp: RtoMin MaxConn InSegs OutRsts\nTcp: 200 -1 7 8\n";
        assert_eq!(read(first), "Tcp.InSegs=Some(7.0) Tcp.OutRsts=Some(8.0)");
        assert_eq!(read(&first.replace(" 7 ", " 9 ")), "Tcp.InSegs=Some(9.0) Tcp.OutRsts=Some(8.0)");
        let other = "Tcp: OutRsts New InSegs\nTcp: 1 2 3\n";
        assert_eq!(read(other), "Tcp.OutRsts=Some(1.0) Tcp.New=Some(2.0) Tcp.InSegs=Some(3.0)");
    }

    #[test]
    fn a_file_without_the_protocol_is_an_error() {
        let roots = Roots::host();
        let mut format = ProtocolFormat::new(&[column::TCP]);
        assert!(format.fill(b"Udp: A\nUdp: 1\n", &mut Table::default(), &roots).is_err());
    }
}
