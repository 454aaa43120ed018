//! Listening sockets that may accept a connection to an endpoint.

use super::processes::owners_by_inode;
use crate::diag::{
    Family, FileId, InetQuestion, InetSocket, SOCK_DIAG_BY_FAMILY, SocketState, UnixQuestion, UnixSocket,
};
use crate::error::ObserveError;
use crate::roots::Roots;
use crate::source::{net_tcp, net_unix, read_once};
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use sysdyno_netlink::NetlinkSocket;
use sysdyno_record::plan::Endpoint;

/// A listening socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener {
    /// Its inode number, which its owners' descriptors name.
    pub inode: u64,
    /// Where it listens; a wildcard address stands for all of the host's.
    pub address: Endpoint,
    /// Connections that wait to be accepted; `None`: the kernel does not tell.
    pub queue_count: Option<u64>,
    /// The limit of that queue, which may hold one more; `None`: the kernel does not tell.
    pub limit_count: Option<u64>,
    /// Processes that hold it, smallest first; those that this user may not look into are missing.
    pub owners: Vec<u32>,
}

/// Listening sockets of this host that a connection to `endpoint` can end at; none if it is another host's.
///
/// Of several that match, those bound to the address itself win over wildcards, as they do in the kernel. *Source*:
/// `sock_diag`, or `/proc/net/tcp` and `/proc/net/unix` where it is not to be had. *Cost*: a walk over the descriptors
/// of all processes.
pub fn find_listeners(endpoint: &Endpoint) -> Result<Vec<Listener>, ObserveError> {
    let roots = Roots::host();
    let mut found = match endpoint {
        Endpoint::Tcp(address) => find_tcp(&roots, *address)?,
        Endpoint::Unix(path) => find_unix(&roots, path)?,
    };
    let inodes: Vec<u64> = found.iter().map(|listener| listener.inode).collect();
    for (inode, pid) in owners_by_inode(&roots, &inodes) {
        if let Some(listener) = found.iter_mut().find(|listener| listener.inode == inode) {
            listener.owners.push(pid);
        }
    }
    found.iter_mut().for_each(|listener| listener.owners.sort_unstable());
    Ok(found)
}

/// All listening TCP sockets of this host's network namespace, by port.
///
/// *Source*: `sock_diag`. *Cost*: a walk over the descriptors of all processes.
pub fn find_all_listeners() -> Result<Vec<Listener>, ObserveError> {
    let source = |source| ObserveError::SocketDiag { operation: "list listening sockets", source };
    let mut diag = NetlinkSocket::sock_diag().map_err(source)?;
    let mut found: Vec<Listener> = Vec::new();
    for family in [Family::V4, Family::V6] {
        let question = InetQuestion { family, state: SocketState::Listen, port: 0, with_times: false };
        let asked = diag.list(SOCK_DIAG_BY_FAMILY, &question.encode(), |payload| {
            found.extend(InetSocket::decode(payload).as_ref().map(from_diag));
        });
        match asked {
            // A kernel without IPv6 has no such sockets.
            Err(error) if family == Family::V6 && error.kind() == io::ErrorKind::NotFound => {}
            other => other.map_err(source)?,
        }
    }
    let inodes: Vec<u64> = found.iter().map(|listener| listener.inode).collect();
    for (inode, pid) in owners_by_inode(&Roots::host(), &inodes) {
        found
            .iter_mut()
            .filter(|listener| listener.inode == inode)
            .for_each(|listener| listener.owners.push(pid));
    }
    let port = |listener: &Listener| match &listener.address {
        Endpoint::Tcp(address) => Some(address.port()),
        Endpoint::Unix(_) => None,
    };
    found.sort_by_key(port);
    found.iter_mut().for_each(|listener| listener.owners.sort_unstable());
    Ok(found)
}

fn find_tcp(roots: &Roots, endpoint: SocketAddr) -> Result<Vec<Listener>, ObserveError> {
    if !is_local(endpoint.ip()) {
        return Ok(vec![]);
    }
    let mut sockets = Vec::new();
    match NetlinkSocket::sock_diag()
        .and_then(|mut diag| find_inet(&mut diag, endpoint, families(endpoint).iter().copied(), &mut sockets))
    {
        Ok(()) => Ok(sockets.iter().map(from_diag).collect()),
        Err(_) => find_tcp_in_table(roots, endpoint),
    }
}

fn from_diag(socket: &InetSocket) -> Listener {
    Listener {
        inode: u64::from(socket.inode),
        address: Endpoint::Tcp(socket.local),
        queue_count: Some(u64::from(socket.receive_queue)),
        limit_count: Some(u64::from(socket.send_queue)),
        owners: vec![],
    }
}

fn find_tcp_in_table(roots: &Roots, endpoint: SocketAddr) -> Result<Vec<Listener>, ObserveError> {
    let (mut buffer, mut best) = (Vec::new(), Best::default());
    for name in ["net/tcp", "net/tcp6"] {
        let path = roots.in_proc(name);
        let text = match read_once(&path, &mut buffer) {
            Err(ObserveError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => continue,
            other => other?,
        };
        for socket in net_tcp::parse(text).map_err(ObserveError::malformed(&path))? {
            let listener = Listener {
                inode: socket.inode,
                address: Endpoint::Tcp(socket.address),
                queue_count: Some(socket.queue_count),
                limit_count: None,
                owners: vec![],
            };
            best.offer(rank(endpoint, socket.address, None), listener);
        }
    }
    Ok(best.found)
}

fn find_unix(roots: &Roots, path: &Path) -> Result<Vec<Listener>, ObserveError> {
    let listener = |inode: u64, queue_count: Option<u32>, limit_count: Option<u32>| Listener {
        inode,
        address: Endpoint::Unix(path.to_path_buf()),
        queue_count: queue_count.map(u64::from),
        limit_count: limit_count.map(u64::from),
        owners: vec![],
    };
    let mut found = Vec::new();
    let asked = NetlinkSocket::sock_diag().and_then(|mut diag| {
        find_unix_sockets(&mut diag, path, |socket| {
            found.push(listener(u64::from(socket.inode), socket.queue_count, socket.limit_count));
        })
    });
    if asked.is_ok() {
        return Ok(found);
    }
    let (table, mut buffer) = (roots.in_proc("net/unix"), Vec::new());
    let text = read_once(&table, &mut buffer)?;
    let inodes = net_unix::parse_listening(text, path.as_os_str().as_bytes());
    let inodes = inodes.map_err(ObserveError::malformed(&table))?;
    Ok(inodes.into_iter().map(|inode| listener(inode, None, None)).collect())
}

/// Asks for the listening Unix sockets of a path: those bound to the same file, by whatever name, or to this name.
pub(crate) fn find_unix_sockets(
    diag: &mut NetlinkSocket,
    path: &Path,
    mut each: impl FnMut(UnixSocket<'_>),
) -> io::Result<()> {
    let (name, file) = (path.as_os_str().as_bytes(), file_id(path));
    diag.list(SOCK_DIAG_BY_FAMILY, &UnixQuestion(SocketState::Listen).encode(), |payload| {
        let socket = UnixSocket::decode(payload);
        let is_it = |socket: &UnixSocket<'_>| socket.name == name || file.is_some() && socket.file == file;
        if let Some(socket) = socket.filter(is_it) {
            each(socket);
        }
    })
}

fn file_id(path: &Path) -> Option<FileId> {
    let stat = rustix::fs::stat(path).ok()?;
    let (major, minor) = (rustix::fs::major(stat.st_dev), rustix::fs::minor(stat.st_dev));
    // The kernel gives the lower halves.
    Some(FileId { inode: stat.st_ino as u32, device: major << 20 | minor })
}

/// The families that listening sockets of an endpoint can have: IPv6 sockets may take IPv4 connections.
pub(crate) fn families(endpoint: SocketAddr) -> &'static [Family] {
    if endpoint.ip().to_canonical().is_ipv4() { &[Family::V4, Family::V6] } else { &[Family::V6] }
}

/// Asks for the listening TCP sockets of these families that a connection to `endpoint` can end at.
pub(crate) fn find_inet(
    diag: &mut NetlinkSocket,
    endpoint: SocketAddr,
    families: impl IntoIterator<Item = Family>,
    out: &mut Vec<InetSocket>,
) -> io::Result<()> {
    let mut best = Best { found: std::mem::take(out), ..Best::default() };
    best.found.clear();
    for family in families {
        let question =
            InetQuestion { family, state: SocketState::Listen, port: endpoint.port(), with_times: false };
        let asked = diag.list(SOCK_DIAG_BY_FAMILY, &question.encode(), |payload| {
            if let Some(socket) = InetSocket::decode(payload) {
                best.offer(rank(endpoint, socket.local, socket.is_v6_only), socket);
            }
        });
        match asked {
            // A kernel without IPv6 has no such sockets.
            Err(error) if family == Family::V6 && error.kind() == io::ErrorKind::NotFound => {}
            other => other?,
        }
    }
    *out = best.found;
    Ok(())
}

/// The candidates of the highest rank.
#[derive(Debug)]
struct Best<T> {
    rank: u8,
    found: Vec<T>,
}

impl<T> Default for Best<T> {
    fn default() -> Best<T> {
        Best { rank: 1, found: vec![] }
    }
}

impl<T> Best<T> {
    fn offer(&mut self, rank: u8, candidate: T) {
        if rank > self.rank {
            self.rank = rank;
            self.found.clear();
        }
        if rank == self.rank {
            self.found.push(candidate);
        }
    }
}

/// How well a listening socket fits an endpoint, as the kernel scores it; 0 if it does not take its connections.
fn rank(endpoint: SocketAddr, listening: SocketAddr, is_v6_only: Option<bool>) -> u8 {
    let (wanted, bound) = (endpoint.ip().to_canonical(), listening.ip().to_canonical());
    if endpoint.port() != listening.port() {
        0
    } else if wanted == bound {
        3
    } else if listening.ip().is_unspecified() && wanted.is_ipv4() == listening.is_ipv4() {
        2
    } else if listening.ip().is_unspecified() && wanted.is_ipv4() && is_v6_only != Some(true) {
        1
    } else {
        0
    }
}

/// Whether an address is one of this host's. Nothing is sent: the kernel is asked for the source address of a route.
pub(crate) fn is_local(address: IpAddr) -> bool {
    let address = address.to_canonical();
    if address.is_loopback() || address.is_unspecified() {
        return true;
    }
    let any: SocketAddr = if address.is_ipv4() { ([0; 4], 0).into() } else { ([0u16; 8], 0).into() };
    let source = UdpSocket::bind(any).and_then(|socket| {
        socket.connect(SocketAddr::new(address, DISCARD_PORT))?;
        socket.local_addr()
    });
    source.is_ok_and(|source| source.ip() == address)
}

/// Any port would do: no packet is sent.
const DISCARD_PORT: u16 = 9;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::eventually;
    use std::net::TcpListener;
    use std::os::unix::net::{UnixListener, UnixStream};

    #[test]
    fn the_socket_that_the_kernel_would_choose_has_the_highest_rank() {
        let check = |endpoint: &str, listening: &str, only: Option<bool>, expected: u8| {
            let parse = |text: &str| text.parse::<SocketAddr>().expect("is an address");
            assert_eq!(rank(parse(endpoint), parse(listening), only), expected, "{endpoint} at {listening}");
        };
        check("127.0.0.1:80", "127.0.0.1:80", None, 3);
        check("127.0.0.1:80", "[::ffff:127.0.0.1]:80", Some(false), 3);
        check("127.0.0.1:80", "0.0.0.0:80", None, 2);
        check("127.0.0.1:80", "[::]:80", Some(false), 1);
        check("127.0.0.1:80", "[::]:80", Some(true), 0);
        check("127.0.0.1:80", "10.0.0.1:80", None, 0);
        check("127.0.0.1:80", "127.0.0.1:81", None, 0);
        check("[::1]:80", "[::]:80", Some(true), 2);
        check("[::1]:80", "0.0.0.0:80", None, 0);
    }

    #[test]
    fn a_bound_address_wins_over_a_wildcard() {
        let mut best = Best::default();
        let offers = [(0, 'x'), (1, 'a'), (3, 'b'), (2, 'c'), (3, 'd')];
        offers.into_iter().for_each(|(rank, name)| best.offer(rank, name));
        assert_eq!(best.found, ['b', 'd']);
    }

    /// What is found, once a process that another test is just starting has no copy of the socket any more.
    fn found_with_one_owner(endpoint: &Endpoint) -> Vec<Listener> {
        let has_one = |found: &Vec<Listener>| found.iter().all(|listener| listener.owners.len() == 1);
        eventually(|| find_listeners(endpoint).expect("finds"), has_one)
    }

    #[test]
    fn a_tcp_listener_is_found_with_its_owner() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
        let address = listener.local_addr().expect("is bound");
        let found = found_with_one_owner(&Endpoint::Tcp(address));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].address, Endpoint::Tcp(address));
        assert_eq!((found[0].queue_count, found[0].owners.as_slice()), (Some(0), &[std::process::id()][..]));
        let in_table = find_tcp_in_table(&Roots::host(), address).expect("reads");
        assert_eq!((in_table[0].inode, in_table.len()), (found[0].inode, 1));
    }

    #[test]
    fn a_unix_listener_is_found_with_its_queue() {
        let folder = tempfile::tempdir().expect("makes a folder");
        let path = folder.path().join("a socket");
        let _listener = UnixListener::bind(&path).expect("binds");
        let _waiting = UnixStream::connect(&path).expect("connects");
        let found = found_with_one_owner(&Endpoint::Unix(path.clone()));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].queue_count, found[0].owners.as_slice()), (Some(1), &[std::process::id()][..]));
        assert!(find_listeners(&Endpoint::Unix(folder.path().join("other"))).expect("finds").is_empty());
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).expect("links");
        let by_link = find_listeners(&Endpoint::Unix(link)).expect("finds");
        assert_eq!(
            by_link.first().map(|listener| listener.inode),
            Some(found[0].inode),
            "another name of the file"
        );
    }

    #[test]
    fn addresses_of_other_hosts_are_not_ours() {
        assert!(is_local("127.0.0.5".parse().expect("is one")));
        assert!(is_local("::1".parse().expect("is one")));
        // 192.0.2.0/24 is for documentation, RFC 5737.
        assert!(!is_local("192.0.2.1".parse().expect("is one")));
    }
}
