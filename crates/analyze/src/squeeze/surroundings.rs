//! What a pilot does not tell of where it took place.

use super::disk::SqueezableDisk;

/// Where the load is sent from.
#[derive(Clone, Debug)]
pub struct GeneratorCpus {
    /// The process.
    pub pid: u32,
    /// CPUs of its threads; empty: not known.
    pub cpus: Vec<u32>,
}

/// Where the interfaces of the server are, for those who change their settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerNetwork {
    /// In the network namespace of this process.
    Own,
    /// In the network namespace of this name.
    Named(String),
    /// In one that has no name here.
    Unnamed,
}

/// What a pilot does not tell of where it took place.
#[derive(Clone, Debug)]
pub struct PilotSurroundings {
    /// Where the load is sent from.
    pub generator: GeneratorCpus,
    /// Where the interfaces of the server are.
    pub network: ServerNetwork,
    /// Disks that control groups limit.
    pub disks: Vec<SqueezableDisk>,
}
