//! What collectors that ask rtnetlink share: a socket in the target's network namespace, and the messages about links.
//!
//! Another namespace is queried through a socket that a dedicated thread opens there; the socket is closed when the
//! target's process ends, because it would keep the namespace alive. Sources: rtnetlink(7),
//! `include/uapi/linux/{rtnetlink,if_link}.h`.

use super::Pass;
use crate::discover::in_namespace;
use crate::roots::Roots;
use std::io;
use std::os::unix::fs::MetadataExt;
use sysdyno_netlink::{NetlinkSocket, find, text, word};
use sysdyno_record::event::ProcessRole;

/// The type of questions for a link.
pub(super) const RTM_GETLINK: u16 = 18;

/// `struct ifinfomsg`. Unit: bytes.
const LINK_BYTES: usize = 16;

const IFLA_IFNAME: u16 = 3;
const IFLA_CARRIER_DOWN_COUNT: u16 = 48;

/// The question for a link; 0: for all of them.
pub(super) fn link_question(device: u32) -> [u8; LINK_BYTES] {
    let mut question = [0; LINK_BYTES];
    question[4..8].copy_from_slice(&device.to_ne_bytes());
    question
}

/// The name in the payload of a link; `None` if it is no link, or the name cannot be shown.
pub(super) fn link_name(payload: &[u8]) -> Option<String> {
    find(payload.get(LINK_BYTES..)?, IFLA_IFNAME)
        .and_then(text)
        .filter(|name| !name.contains(char::is_control))
        .map(str::to_owned)
}

/// How often the carrier of a link was lost since there is the link; `None`: the kernel does not say.
pub(super) fn carrier_downs(payload: &[u8]) -> Option<u64> {
    find(payload.get(LINK_BYTES..)?, IFLA_CARRIER_DOWN_COUNT).and_then(|count| word(count, 0)).map(u64::from)
}

/// A socket in the target's network namespace.
#[derive(Default)]
pub(super) struct TargetSocket(Option<OpenSocket>);

/// A socket, and the namespace that it is in by the inode of its file.
struct OpenSocket {
    namespace: u64,
    socket: NetlinkSocket,
}

impl TargetSocket {
    /// Opens a socket in the target's namespace; keeps the one that there is if it is in it. Returns whether it is another one.
    ///
    /// # Errors
    /// The namespace is gone, or cannot be entered.
    pub(super) fn follow(&mut self, pass: &Pass<'_>) -> io::Result<bool> {
        if !pass.is_look() && self.0.is_some() {
            return Ok(false);
        }
        let roots = &pass.scene.roots;
        let own = namespace(roots, "thread-self")?;
        let target = pass.scene.first(ProcessRole::Target).map(|process| process.pid.to_string());
        let wanted = target.as_deref().map_or(Ok(own), |pid| namespace(roots, pid));
        let wanted = wanted.inspect_err(|_| self.close())?;
        if self.0.as_ref().is_some_and(|open| open.namespace == wanted) {
            return Ok(false);
        }
        self.close();
        let socket = match target {
            Some(pid) if wanted != own => {
                in_namespace(roots.in_proc(&format!("{pid}/ns/net")), NetlinkSocket::route)
            }
            _ => NetlinkSocket::route(),
        };
        self.0 = Some(OpenSocket { namespace: wanted, socket: socket? });
        Ok(true)
    }

    /// The socket, while it is open.
    pub(super) fn socket(&mut self) -> Option<&mut NetlinkSocket> {
        self.0.as_mut().map(|open| &mut open.socket)
    }

    pub(super) fn close(&mut self) {
        self.0 = None;
    }
}

fn namespace(roots: &Roots, process: &str) -> io::Result<u64> {
    Ok(std::fs::metadata(roots.in_proc(&format!("{process}/ns/net")))?.ino())
}
