//! Describes the host as one flat table of facts, so that two hosts can be compared line by line.
//!
//! Invariants: a fact that cannot be read is listed with the reason; texts are cut to a bounded length and contain no
//! control characters; anything that identifies a machine or a person (host name, addresses, serial numbers) is not read.

mod cpu;
mod ethtool;
mod filesystem;
mod host;
mod interrupts;
mod network;
mod sheet;
mod storage;
mod sysctl;

use crate::roots::Roots;
use sheet::Sheet;
use sysdyno_record::facts::HostFacts;

/// Reads the facts of a host. *Cost*: some thousand small files.
pub fn facts(roots: &Roots) -> HostFacts {
    let mut sheet = Sheet::new(roots);
    cpu::read(&mut sheet);
    host::read(&mut sheet);
    interrupts::read(&mut sheet);
    network::read(&mut sheet);
    storage::read(&mut sheet);
    filesystem::read(&mut sheet);
    sysctl::read(&mut sheet);
    sheet.into_facts()
}

/// The present value of a sysctl; `None`: this kernel does not have it, or it cannot be read.
pub fn sysctl(roots: &Roots, name: &str) -> Option<String> {
    let path = roots.in_proc(&format!("sys/{}", name.replace('.', "/")));
    Some(std::fs::read_to_string(path).ok()?.trim().to_owned())
}

#[cfg(test)]
mod tests;
