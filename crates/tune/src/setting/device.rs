//! A network device, identified as in netlink: by its index in the network namespace of the calling thread.

use super::live_only;
use crate::roots::TuneRoots;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::netdevice::{index_to_name, name_to_index};
use rustix::net::{AddressFamily, SocketType};
use std::fmt;
use std::io;

/// Paths of files that are as they were as long as an interface is the same.
pub(crate) const INTERFACE: &[&str] = &["/sys/class/net/*/ifindex", "/sys/class/net/*/address"];

/// A device of the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NetworkDevice {
    /// Its index, by which it is found.
    pub(super) index: u32,
    /// Its name when it was first looked at, for messages and shell lines.
    pub(super) name: String,
}

impl NetworkDevice {
    /// Understands `INDEX:NAME`.
    pub(super) fn parse(rest: &str) -> Option<NetworkDevice> {
        let (index, name) = rest.split_once(':')?;
        Some(NetworkDevice { index: index.parse().ok()?, name: name.into() })
    }

    /// The device of this name.
    ///
    /// # Errors
    /// There is none in this network namespace, or `/sys` is not that of this namespace.
    pub(super) fn find(name: &str, roots: &TuneRoots) -> Result<NetworkDevice, String> {
        live_only(roots)?;
        let absent = |_| format!("there is no network device '{name}' in this network namespace");
        let index = socket().and_then(|socket| name_to_index(socket, name)).map_err(absent)?;
        check_shown(name, roots)?;
        Ok(NetworkDevice { index, name: name.into() })
    }

    /// Refuses an index that no device has.
    ///
    /// # Errors
    /// There is none (`NotFound`), or that cannot be told.
    pub(super) fn check_there(&self) -> io::Result<()> {
        match socket().and_then(|socket| index_to_name(socket, self.index)) {
            Ok(_) => Ok(()),
            Err(Errno::NODEV | Errno::NXIO) => Err(io::ErrorKind::NotFound.into()),
            Err(error) => Err(error.into()),
        }
    }
}

impl fmt::Display for NetworkDevice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.index, self.name)
    }
}

/// Refuses an interface that `/sys` shows and this network namespace does not have: `/sys` is then another one's.
pub(super) fn check_shown(name: &str, roots: &TuneRoots) -> Result<(), String> {
    if !roots.is_host() {
        return Ok(());
    }
    let shown = std::fs::read_to_string(format!("/sys/class/net/{name}/ifindex"));
    let shown = shown.map_err(|_| format!("there is no network device '{name}'"))?;
    match socket().and_then(|socket| name_to_index(socket, name)) {
        Ok(index) if index.to_string() == shown.trim() => Ok(()),
        _ => Err(format!("/sys shows '{name}' of another network namespace: mount /sys in this one first")),
    }
}

/// A socket for queries about devices.
fn socket() -> Result<OwnedFd, Errno> {
    rustix::net::socket(AddressFamily::UNIX, SocketType::DGRAM, None)
}
