//! The backlog of a listening TCP socket of a running process.
//!
//! `pidfd_getfd(2)` borrows the socket itself, and `listen(2)` is called on it again, which changes its backlog and nothing
//! else. A socket is named `listener:COOKIE:INODE`: the kernel never reuses a cookie during the same boot, and the inode
//! tells where to look. The current value comes from `TCP_INFO`, whose fields describe the accept queue for a listener
//! (`net/ipv4/tcp.c`, `tcp_get_info`).

use super::{Setting, SettingFamily, SettingPlace, live_only, read_file};
use crate::name::SettingName;
use crate::roots::TuneRoots;
use rustix::fd::{AsFd, OwnedFd};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use std::fmt;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// `TCP_LISTEN` in `/proc/net/tcp`.
const LISTEN: &str = "0A";

pub(super) const PREFIX: &str = "listener:";

/// Backlogs of the listeners on a port, or on an address and port: `8080`, `127.0.0.1:8080`, `[::1]:8080`.
#[derive(Debug)]
pub(crate) struct Backlogs;

impl SettingFamily for Backlogs {
    fn place(&self, _: &str) -> String {
        "listen(2) on the socket itself".into()
    }

    fn find(&self, name: &SettingName<'_>, roots: &TuneRoots) -> Result<Vec<SettingPlace>, String> {
        live_only(roots)?;
        Ok(listeners(name.first())?.into_iter().map(SettingPlace::of).collect())
    }
}

/// The backlog of one listener.
#[derive(Debug)]
pub(super) struct Backlog {
    cookie: u64,
    inode: u64,
}

impl Backlog {
    pub(super) fn parse(rest: &str) -> Option<Backlog> {
        let (cookie, inode) = rest.split_once(':')?;
        Some(Backlog { cookie: cookie.parse().ok()?, inode: inode.parse().ok()? })
    }

    /// This process's descriptor for its socket.
    fn socket(&self) -> io::Result<OwnedFd> {
        let (socket, found) = borrow(self.inode)?;
        if found == self.cookie { Ok(socket) } else { Err(io::ErrorKind::NotFound.into()) }
    }
}

impl fmt::Display for Backlog {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{PREFIX}{}:{}", self.cookie, self.inode)
    }
}

impl Setting for Backlog {
    fn read(&self, _: &TuneRoots) -> io::Result<String> {
        let backlog = crate::sys::listen_backlog(self.socket()?.as_fd());
        backlog
            .map(|backlog| backlog.to_string())
            .ok_or_else(|| io::Error::other("it is not a listening TCP socket"))
    }

    /// Calls `listen` again.
    fn write(&self, _: &TuneRoots, text: &str) -> io::Result<()> {
        let backlog = text.trim().parse().map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(rustix::net::listen(self.socket()?, backlog)?)
    }

    fn shell_line(&self, _: &TuneRoots, text: &str) -> String {
        format!("# no shell can set the backlog back to {text}: restart the server")
    }

    /// Refuses a backlog that the kernel would cut down to another setting.
    fn check_fits(&self, roots: &TuneRoots, text: &str) -> Result<(), String> {
        let ceiling = read_file(roots, "/proc/sys/net/core/somaxconn").map_err(|error| error.to_string())?;
        match (ceiling.trim().parse::<u64>(), text.parse::<u64>()) {
            (Ok(ceiling), Ok(wanted)) if wanted > ceiling => {
                Err(format!("the kernel caps it at net.core.somaxconn, which is {ceiling}: raise that first"))
            }
            _ => Ok(()),
        }
    }
}

/// The listeners on a port, or on an address and port.
///
/// # Errors
/// It is not of that form, there is none in this network namespace, or its process cannot be looked into.
fn listeners(wanted: &str) -> Result<Vec<Backlog>, String> {
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
    let named = |inode: u64| match borrow(inode) {
        Ok((_, cookie)) => Ok(Backlog { cookie, inode }),
        Err(error) => Err(format!("cannot access the socket that listens on '{wanted}': {error}")),
    };
    inodes.into_iter().map(named).collect()
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

/// This process's descriptor for the socket with this inode, and its cookie.
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
        let found = found.expect("finds its own");
        let [backlog] = &found[..] else { panic!("one listener") };
        let roots = TuneRoots::host();
        assert_eq!(backlog.read(&roots).expect("reads"), "128");
        for text in ["7", "128"] {
            backlog.write(&roots, text).expect("sets");
            assert_eq!(backlog.read(&roots).expect("reads"), text);
        }
        drop(listener);
        let gone = eventually(|| backlog.read(&roots), Result::is_err);
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
