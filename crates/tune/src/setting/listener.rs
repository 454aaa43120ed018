//! The backlog of a listening TCP socket of a process that runs.
//!
//! The socket itself is borrowed by `pidfd_getfd(2)` and `listen(2)` is called on it again, which changes its backlog and
//! nothing else. A socket is named by its cookie, which the kernel never uses again in the same boot; its inode tells
//! where to look. What it is now comes from `TCP_INFO`, whose fields mean the accept queue for a listener
//! (`net/ipv4/tcp.c`, `tcp_get_info`).

use rustix::fd::{AsFd, OwnedFd};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// `TCP_LISTEN` in `/proc/net/tcp`.
const LISTEN: &str = "0A";

/// Names of the listeners on a port, or on an address and port: `8080`, `127.0.0.1:8080`, `[::1]:8080`.
///
/// # Errors
/// It is not of that form, there is none in this network namespace, or its process cannot be looked into.
pub(crate) fn listeners(wanted: &str) -> Result<Vec<String>, String> {
    let (address, port) = match wanted.rsplit_once(':') {
        None => (None, wanted),
        Some((address, port)) => (Some(address.trim_matches(['[', ']'])), port),
    };
    let port: u16 = port.parse().map_err(|_| format!("'{wanted}' is not a port"))?;
    let address = address.map(str::parse::<IpAddr>).transpose();
    let address = address.map_err(|_| format!("'{wanted}' is not an address and port"))?;
    let mut inodes = Vec::new();
    for file in ["/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"] {
        let text = fs::read_to_string(file).unwrap_or_default();
        inodes.extend(text.lines().skip(1).filter_map(|line| inode(line, address, port)));
    }
    if inodes.is_empty() {
        return Err(format!("nothing listens on '{wanted}' in this network namespace"));
    }
    inodes.sort_unstable();
    let name = |inode: u64| match borrow(inode) {
        Ok((_, cookie)) => Ok(format!("listener:{cookie}:{inode}")),
        Err(error) => Err(format!("cannot get at the socket that listens on '{wanted}': {error}")),
    };
    inodes.into_iter().map(name).collect()
}

/// The inode of a line of `/proc/net/tcp`, if it is a listener that is meant.
fn inode(line: &str, address: Option<IpAddr>, port: u16) -> Option<u64> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (local, local_port) = words.get(1)?.split_once(':')?;
    let is_meant = *words.get(3)? == LISTEN
        && u16::from_str_radix(local_port, 16) == Ok(port)
        && address.is_none_or(|address| parse_address(local) == Some(address));
    words.get(9)?.parse().ok().filter(|_| is_meant)
}

/// An address as `/proc/net/tcp` has it: words of 32 bits, each in the order of the host.
fn parse_address(text: &str) -> Option<IpAddr> {
    let word = |at: usize| u32::from_str_radix(text.get(at..at + 8)?, 16).ok().map(u32::to_ne_bytes);
    match text.len() {
        8 => Some(IpAddr::V4(Ipv4Addr::from(word(0)?))),
        32 => {
            let words = [word(0)?, word(8)?, word(16)?, word(24)?].concat();
            Some(IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(words).ok()?)))
        }
        _ => None,
    }
}

/// The text of a backlog.
pub(super) fn read(rest: &str) -> io::Result<String> {
    let socket = named(rest)?;
    let backlog = crate::sys::listen_backlog(socket.as_fd());
    backlog
        .map(|backlog| backlog.to_string())
        .ok_or_else(|| io::Error::other("it is not a listening TCP socket"))
}

/// Calls `listen` again.
pub(super) fn write(rest: &str, text: &str) -> io::Result<()> {
    let backlog = text.trim().parse().map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    Ok(rustix::net::listen(named(rest)?, backlog)?)
}

/// The socket of `COOKIE:INODE`.
fn named(rest: &str) -> io::Result<OwnedFd> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidInput);
    let (cookie, inode) = rest.split_once(':').ok_or_else(invalid)?;
    let (socket, found) = borrow(inode.parse().map_err(|_| invalid())?)?;
    if found.to_string() == cookie { Ok(socket) } else { Err(io::Error::from(io::ErrorKind::NotFound)) }
}

/// A descriptor of ours for the socket with this inode, and its cookie.
fn borrow(inode: u64) -> io::Result<(OwnedFd, u64)> {
    let wanted = format!("socket:[{inode}]");
    let mut refused = None;
    for process in fs::read_dir("/proc")?.flatten() {
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        for entry in fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten() {
            if fs::read_link(entry.path()).is_ok_and(|target| target.as_os_str() == wanted.as_str()) {
                let number = entry.file_name().to_str().and_then(|name| name.parse().ok());
                match take(pid, number.unwrap_or(-1)) {
                    Ok(socket) => {
                        let cookie = rustix::net::sockopt::socket_cookie(&socket)?;
                        return Ok((socket, cookie));
                    }
                    Err(error) => refused = Some(error),
                }
            }
        }
    }
    Err(refused.unwrap_or_else(|| io::Error::from(io::ErrorKind::NotFound)))
}

fn take(pid: i32, number: i32) -> io::Result<OwnedFd> {
    let pid = Pid::from_raw(pid).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
    let process = pidfd_open(pid, PidfdFlags::empty())?;
    Ok(pidfd_getfd(process, number, PidfdGetfdFlags::empty())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::eventually;
    use std::net::TcpListener;

    #[test]
    fn the_backlog_of_a_listener_that_runs_is_set_and_put_back() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("listens");
        let address = listener.local_addr().expect("has an address");
        let found = listeners(&address.to_string());
        // Another process may be asked for its sockets by the privileged only; this one may always be.
        let names = found.expect("finds its own");
        assert_eq!(names.len(), 1);
        let rest = names[0].strip_prefix("listener:").expect("is a listener");
        assert_eq!(read(rest).expect("reads"), "128");
        write(rest, "7").expect("sets");
        assert_eq!(read(rest).expect("reads"), "7");
        write(rest, "128").expect("sets");
        assert_eq!(read(rest).expect("reads"), "128");
        drop(listener);
        let gone = eventually(|| read(rest), Result::is_err);
        assert_eq!(gone.expect_err("is gone").kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn what_is_not_listened_on_is_said() {
        assert!(listeners("many").expect_err("is refused").contains("is not a port"));
        assert!(listeners("localhost:80").expect_err("is refused").contains("is not an address"));
        assert!(listeners("203.0.113.1:1").expect_err("is refused").contains("nothing listens"));
    }

    #[test]
    fn addresses_of_the_kernel_are_understood() {
        assert_eq!(parse_address("0100007F"), Some(IpAddr::V4(Ipv4Addr::LOCALHOST)));
        assert_eq!(parse_address("00000000000000000000000001000000"), Some(IpAddr::V6(Ipv6Addr::LOCALHOST)));
        assert_eq!(parse_address("7F"), None);
    }
}
