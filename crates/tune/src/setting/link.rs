//! A device of the network, as netlink knows it: by its index, in the network namespace of the calling thread.

use rustix::io::Errno;
use rustix::net::netdevice::name_to_index;
use rustix::net::{AddressFamily, SocketType};
use std::io;

/// A device of `INDEX:NAME`.
pub(super) struct Link<'a> {
    /// Its index, by which it is found.
    pub(super) index: u32,
    /// Its name when it was first looked at, for messages and shell lines.
    pub(super) name: &'a str,
}

impl<'a> Link<'a> {
    /// Understands `INDEX:NAME`.
    pub(super) fn of(rest: &'a str) -> io::Result<Link<'a>> {
        let invalid = || io::Error::from(io::ErrorKind::InvalidInput);
        let (index, name) = rest.split_once(':').ok_or_else(invalid)?;
        Ok(Link { index: index.parse().map_err(|_| invalid())?, name })
    }
}

/// `INDEX:NAME` of the device with this name.
///
/// # Errors
/// There is none in this network namespace.
pub(crate) fn link(name: &str) -> Result<String, String> {
    let absent = |_| format!("there is no network device '{name}' in this network namespace");
    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::DGRAM, None).map_err(absent)?;
    let index = name_to_index(socket, name).map_err(absent)?;
    Ok(format!("{index}:{name}"))
}

/// The name that the device of this index has now; `None` if there is none.
///
/// # Errors
/// It cannot be told: that is no device that is gone.
pub(super) fn link_name(index: u32) -> io::Result<Option<String>> {
    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::DGRAM, None)?;
    match rustix::net::netdevice::index_to_name(socket, index) {
        Ok(name) => Ok(Some(name)),
        Err(Errno::NODEV | Errno::NXIO) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
