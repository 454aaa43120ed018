//! A network device, identified as in netlink: by its index in the network namespace of the calling thread, or of another one
//! that has a name.

use super::live_only;
use crate::journal::NetnsId;
use crate::netns;
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
    /// Where it is; `None`: in the namespace of the calling thread.
    netns: Option<NamedNetns>,
}

/// A network namespace, and its name when it was first looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NamedNetns {
    name: String,
    id: NetnsId,
}

impl NamedNetns {
    /// Understands `NAME/INODE.COOKIE`; the cookie is 0 where the kernel has none.
    fn parse(text: &str) -> Option<NamedNetns> {
        let (name, id) = text.split_once('/')?;
        let (inode, cookie) = id.split_once('.')?;
        let cookie = Some(cookie.parse().ok()?).filter(|cookie| *cookie > 0);
        Some(NamedNetns { name: name.into(), id: NetnsId { inode: inode.parse().ok()?, cookie } })
    }
}

impl fmt::Display for NamedNetns {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}.{}", self.name, self.id.inode, self.id.cookie.unwrap_or(0))
    }
}

impl NetworkDevice {
    /// Understands `INDEX:NAME`, and `NETNS/INODE.COOKIE/INDEX:NAME` of a device in another namespace.
    pub(super) fn parse(rest: &str) -> Option<NetworkDevice> {
        let (netns, device) = match rest.rsplit_once('/') {
            Some((netns, device)) => (Some(NamedNetns::parse(netns)?), device),
            None => (None, rest),
        };
        let (index, name) = device.split_once(':')?;
        Some(NetworkDevice { index: index.parse().ok()?, name: name.into(), netns })
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
        Ok(NetworkDevice { index, name: name.into(), netns: None })
    }

    /// The device of this name, or of `NETNS:NAME` in a namespace that has a name.
    ///
    /// # Errors
    /// There is no such namespace, or no such device in it.
    pub(super) fn find_in(name: &str, roots: &TuneRoots) -> Result<NetworkDevice, String> {
        // No device has a colon in its name.
        let Some((netns, device)) = name.rsplit_once(':') else { return NetworkDevice::find(name, roots) };
        live_only(roots)?;
        let found = netns::named(netns, |id| (id, socket().and_then(|socket| name_to_index(socket, device))));
        let (id, index) =
            found.map_err(|error| format!("cannot enter network namespace '{netns}': {error}"))?;
        let index = index
            .map_err(|_| format!("there is no network device '{device}' in network namespace '{netns}'"))?;
        let netns = Some(NamedNetns { name: netns.into(), id });
        Ok(NetworkDevice { index, name: device.into(), netns })
    }

    /// Does `work` where the device is.
    ///
    /// # Errors
    /// The namespace is gone (`NotFound`) or cannot be entered, or what `work` says.
    pub(super) fn within<T: Send>(&self, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        match &self.netns {
            None => work(),
            Some(netns) => {
                netns::within(netns.id, work)?.unwrap_or_else(|| Err(io::ErrorKind::NotFound.into()))
            }
        }
    }

    /// How a shell calls a program where the device is.
    pub(super) fn shell(&self, program: &str) -> String {
        match &self.netns {
            None => program.to_owned(),
            Some(netns) => format!("ip netns exec {} {program}", netns.name),
        }
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
        if let Some(netns) = &self.netns {
            write!(out, "{netns}/")?;
        }
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
