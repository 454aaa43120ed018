//! Finds who is connected to whom on this host: listening addresses, their connections, and the sockets at the other ends.
//!
//! The kernel lists the sockets of one network namespace at a time, and a connection may cross two. The other end of a TCP
//! connection has the two addresses swapped, so it cannot be found behind address translation; the other end of a Unix
//! socket is known by its inode. Sources: `net/ipv4/inet_diag.c`, `net/unix/diag.c`.

use super::entrances::Entrance;
use crate::diag::{
    BothFamilies, Family, FileId, InetSocket, SOCK_DIAG_BY_FAMILY, SocketState, UdpQuestion, UnixQuestion,
    UnixSocket,
};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use sysdyno_netlink::NetlinkSocket;
use sysdyno_record::plan::{Endpoint, NAME_SERVICE_PORT};

/// An address that processes of this host listen at, and what is connected to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServedAddress {
    /// Where; a wildcard address stands for all of its namespace's.
    pub(crate) address: Endpoint,
    /// The inodes of the sockets that listen there.
    pub(crate) inodes: Vec<u64>,
    /// Connections that wait to be accepted.
    pub(crate) queue_count: u64,
    /// Sockets that have such.
    pub(crate) waiting_sockets_count: u64,
    /// The greatest limit of a queue.
    pub(crate) limit_count: u64,
    /// Connections that were accepted.
    pub(crate) established_count: u64,
    /// Those of them with bytes that nobody has read yet.
    pub(crate) unread_count: u64,
    /// Those of them of which an end that is on this host has sent a segment again, and waits for its acknowledgement.
    pub(crate) resending_count: u64,
    /// The sockets that were accepted, by inode.
    pub(crate) accepted: Vec<u64>,
    /// The sockets at the other ends, by inode.
    pub(crate) callers: Vec<u64>,
    /// TCP: what callers of this host connected to, each with the namespace that it is in; of a wildcard address, one of many.
    pub(crate) dialed: HashSet<(u64, SocketAddr)>,
}

/// All that listens and is connected, of several namespaces.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    served: Vec<ServedAddress>,
    /// TCP: positions in `served`, by namespace and port.
    by_port: HashMap<(u64, u16), Vec<usize>>,
    by_name: HashMap<Name, usize>,
    connections: Vec<Connection>,
    /// UDP sockets at which the answer of a name server is awaited, by inode, with its address.
    lookups: Vec<(u64, SocketAddr)>,
    /// Unix sockets that send datagrams to another one, by inode, each with the inode of that.
    datagrams: Vec<(u64, u32)>,
    /// Unix sockets that take datagrams, by inode.
    datagram_places: HashMap<u32, Endpoint>,
    /// Sockets of connections to the target that it has accepted, by inode, and those at the other ends.
    of_target: Vec<u64>,
    to_target: Vec<u64>,
    /// Addresses at which connections of a namespace begin or end.
    own: HashSet<(u64, IpAddr)>,
    /// The last one: thousands of connections in a row have the same.
    last_own: Option<(u64, IpAddr)>,
}

/// A TCP connection, as one of its ends sees it.
#[derive(Clone, Copy, Debug)]
struct Connection {
    namespace: u64,
    local: SocketAddr,
    remote: SocketAddr,
    inode: u64,
    is_unread: bool,
    /// It has sent a segment again, without an acknowledgement so far.
    is_resending: bool,
    /// Nobody has answered yet.
    is_connecting: bool,
}

/// What a listening Unix socket and those that it accepted have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Name {
    File(FileId),
    /// Of a namespace: abstract, or its file is not told.
    Text(u64, Vec<u8>),
}

impl Name {
    fn of(socket: &UnixSocket<'_>, namespace: u64) -> Option<Name> {
        let text = || (!socket.name.is_empty()).then(|| Name::Text(namespace, socket.name.to_vec()));
        socket.file.map(Name::File).or_else(text)
    }
}

impl Snapshot {
    /// Adds the sockets of a namespace. Connections to `target` are left out: they are many, and known.
    ///
    /// # Errors
    /// The kernel does not answer.
    pub(crate) fn add(
        &mut self,
        namespace: u64,
        diag: &mut NetlinkSocket,
        target: Option<&Endpoint>,
    ) -> io::Result<()> {
        // A server that closes after each answer has no open connection while the answer is on the way.
        let states =
            [SocketState::Listen, SocketState::Established, SocketState::SynSent, SocketState::FinWait1];
        let question = BothFamilies(&states).encode();
        diag.list(BothFamilies::KIND, &question, |payload| match InetSocket::decode(payload) {
            Some(socket) if socket.is_listening => self.add_listening(namespace, &socket),
            Some(socket) => self.add_connection(namespace, &socket, target),
            None => {}
        })?;
        for family in [Family::V4, Family::V6] {
            // A kernel without `udp_diag`, or without IPv6, tells of none.
            let _ = diag.list(SOCK_DIAG_BY_FAMILY, &UdpQuestion(family).encode(), |payload| {
                let lookup =
                    InetSocket::decode(payload).filter(|socket| socket.remote.port() == NAME_SERVICE_PORT);
                self.lookups.extend(lookup.map(|socket| (u64::from(socket.inode), canonical(socket.remote))));
            });
        }
        let listening = UnixQuestion(SocketState::Listen).encode();
        diag.list(SOCK_DIAG_BY_FAMILY, &listening, |payload| {
            UnixSocket::decode(payload).into_iter().for_each(|socket| self.add_unix(namespace, &socket));
        })?;
        let connected = UnixQuestion(SocketState::Established).encode();
        diag.list(SOCK_DIAG_BY_FAMILY, &connected, |payload| {
            UnixSocket::decode(payload).into_iter().for_each(|socket| self.connect_unix(namespace, &socket));
        })
    }

    fn add_listening(&mut self, namespace: u64, socket: &InetSocket) {
        let address = Endpoint::Tcp(socket.local);
        let at_port = self.by_port.entry((namespace, socket.local.port())).or_default();
        let known = at_port.iter().find(|position| self.served[**position].address == address).copied();
        let position = known.unwrap_or(self.served.len());
        if known.is_none() {
            at_port.push(position);
            self.served.push(ServedAddress::at(address));
        }
        let (queue, limit) = (socket.receive_queue, socket.send_queue);
        self.served[position].listen(socket.inode, queue, limit);
    }

    /// Addresses of this host, each with the namespace that it is in.
    pub(crate) fn own(&self) -> impl Iterator<Item = (u64, IpAddr)> {
        self.own.iter().copied()
    }

    fn add_connection(&mut self, namespace: u64, socket: &InetSocket, target: Option<&Endpoint>) {
        let own = Some((namespace, socket.local.ip().to_canonical()));
        if self.last_own != own {
            self.own.extend(own);
            self.last_own = own;
        }
        match target.map(|target| [socket.local, socket.remote].map(|end| is_at(end, target))) {
            Some([true, _]) if socket.is_closing => {}
            Some([true, _]) => self.of_target.push(u64::from(socket.inode)),
            Some([_, true]) => self.to_target.push(u64::from(socket.inode)),
            Some([false, false]) | None => self.connections.push(connection(namespace, socket)),
        }
    }

    fn add_unix(&mut self, namespace: u64, socket: &UnixSocket<'_>) {
        let Some(name) = Name::of(socket, namespace) else { return };
        let position = *self.by_name.entry(name).or_insert(self.served.len());
        if position == self.served.len() {
            self.served.push(ServedAddress::at(Endpoint::Unix(path(socket.name))));
        }
        let (queue, limit) = (socket.queue_count.unwrap_or(0), socket.limit_count.unwrap_or(0));
        self.served[position].listen(socket.inode, queue, limit);
    }

    /// Takes note of a connected Unix socket, if it was accepted from one that listens.
    fn connect_unix(&mut self, namespace: u64, socket: &UnixSocket<'_>) {
        if socket.is_datagram {
            // The kernel calls both ends connected.
            let place = (!socket.name.is_empty()).then(|| Endpoint::Unix(path(socket.name)));
            self.datagram_places.extend(place.map(|place| (socket.inode, place)));
            self.datagrams.extend(socket.peer.map(|peer| (u64::from(socket.inode), peer)));
            return;
        }
        let name = Name::of(socket, namespace);
        let Some(position) = name.and_then(|name| self.by_name.get(&name)) else { return };
        let is_unread = socket.queue_count.is_some_and(|bytes| bytes > 0);
        self.served[*position].connect(u64::from(socket.inode), is_unread, socket.peer.map(u64::from));
    }

    /// Where processes listen, each with the position of the address that it is of.
    pub(crate) fn entrances(&self) -> impl Iterator<Item = (Entrance, &ServedAddress)> {
        let at_ports = self.by_port.iter().flat_map(move |((namespace, port), positions)| {
            positions.iter().map(move |position| {
                let address = self.served[*position].own_ip();
                (Entrance::Tcp { namespace: *namespace, port: *port, address }, *position)
            })
        });
        let at_files = self.by_name.iter().filter_map(|(name, position)| match name {
            Name::File(file) => Some((Entrance::Unix(*file), *position)),
            Name::Text(..) => None,
        });
        at_ports.chain(at_files).map(|(entrance, position)| (entrance, &self.served[position]))
    }

    /// Connections that no socket of this host has accepted, those to name servers, and Unix sockets that send datagrams, each with
    /// the address at its other end.
    pub(crate) fn outward(&self) -> impl Iterator<Item = (u64, Endpoint)> {
        let is_accepted = |end: &&Connection| self.taker(end.namespace, end.local).is_some();
        let connections = self.connections.iter().filter(move |end| !is_accepted(end));
        let over_tcp = connections.map(|end| (end.inode, end.remote)).chain(self.lookups.iter().copied());
        let datagrams = self
            .datagrams
            .iter()
            .filter_map(|(inode, peer)| Some((*inode, self.datagram_places.get(peer)?.clone())));
        over_tcp.map(|(inode, remote)| (inode, Endpoint::Tcp(remote))).chain(datagrams)
    }

    /// Connections that are being made, without an answer so far, each with its namespace and the address that it is made to.
    pub(crate) fn connecting(&self) -> impl Iterator<Item = (u64, (u64, SocketAddr))> {
        let connecting = self.connections.iter().filter(|end| end.is_connecting);
        connecting.map(|end| (end.inode, (end.namespace, end.remote)))
    }

    /// Sockets of this host that are connected to the target, or about to be, by inode.
    pub(crate) fn to_target(&self) -> &[u64] {
        &self.to_target
    }

    /// Where connections to this address of a namespace end.
    fn taker(&self, namespace: u64, address: SocketAddr) -> Option<usize> {
        let positions = self.by_port.get(&(namespace, address.port()))?;
        positions.iter().find(|position| self.served[**position].takes(address)).copied()
    }

    /// The addresses with all that is connected to them, and the sockets that the target has accepted.
    pub(crate) fn into_served(mut self) -> (Vec<ServedAddress>, Vec<u64>) {
        let ends: HashMap<[SocketAddr; 2], &Connection> =
            self.connections.iter().map(|end| ([end.local, end.remote], end)).collect();
        for end in &self.connections {
            if end.is_connecting {
                // A queue that is full takes nobody in, and who waits for that waits for this tier.
                if let Some(position) = self.taker(end.namespace, end.remote) {
                    self.served[position].callers.push(end.inode);
                }
            } else if let Some(position) = self.taker(end.namespace, end.local) {
                let other = ends.get(&[end.remote, end.local]).copied();
                let is_resending = end.is_resending || other.is_some_and(|other| other.is_resending);
                self.served[position].resending_count += u64::from(is_resending);
                self.served[position].dialed.extend(other.map(|other| (other.namespace, end.local)));
                let caller = other.map(|other| other.inode).filter(|inode| *inode != 0);
                match end.inode {
                    // It waits to be accepted, or was closed: nobody has this end, and who has the other one waits for this tier all
                    // the same.
                    0 => self.served[position].callers.extend(caller),
                    inode => self.served[position].connect(inode, end.is_unread, caller),
                }
            }
        }
        (self.served, self.of_target)
    }
}

impl ServedAddress {
    fn at(address: Endpoint) -> ServedAddress {
        ServedAddress {
            address,
            inodes: vec![],
            queue_count: 0,
            waiting_sockets_count: 0,
            limit_count: 0,
            established_count: 0,
            unread_count: 0,
            resending_count: 0,
            accepted: vec![],
            callers: vec![],
            dialed: HashSet::new(),
        }
    }

    fn listen(&mut self, inode: u32, queue_count: u32, limit_count: u32) {
        self.inodes.push(u64::from(inode));
        self.queue_count += u64::from(queue_count);
        self.waiting_sockets_count += u64::from(queue_count > 0);
        self.limit_count = self.limit_count.max(u64::from(limit_count));
    }

    fn connect(&mut self, inode: u64, is_unread: bool, caller: Option<u64>) {
        self.established_count += 1;
        self.accepted.push(inode);
        self.unread_count += u64::from(is_unread);
        self.callers.extend(caller);
    }

    /// The address of this host that connections have to be made to; `None`: any, or it is a Unix socket.
    fn own_ip(&self) -> Option<IpAddr> {
        let Endpoint::Tcp(address) = &self.address else { return None };
        Some(address.ip().to_canonical()).filter(|ip| !ip.is_unspecified())
    }

    /// Whether connections to this address of its port end here.
    fn takes(&self, local: SocketAddr) -> bool {
        let Endpoint::Tcp(address) = &self.address else { return false };
        address.ip().is_unspecified() || address.ip().to_canonical() == local.ip()
    }
}

fn connection(namespace: u64, socket: &InetSocket) -> Connection {
    let (local, remote) = (canonical(socket.local), canonical(socket.remote));
    Connection {
        namespace,
        local,
        remote,
        inode: u64::from(socket.inode),
        is_unread: socket.receive_queue > 0,
        is_resending: socket.retransmits_count > 0,
        is_connecting: socket.is_connecting,
    }
}

fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Whether the end of a connection is the target's.
fn is_at(end: SocketAddr, target: &Endpoint) -> bool {
    matches!(target, Endpoint::Tcp(target) if canonical(end) == canonical(*target))
}

/// The path of a Unix socket; an abstract name is written with an `@`, as `ss` does.
fn path(name: &[u8]) -> PathBuf {
    match name.split_first() {
        Some((0, rest)) => PathBuf::from(OsStr::from_bytes(&[b"@", rest].concat())),
        _ => PathBuf::from(OsStr::from_bytes(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_question_to_a_name_server_leads_outward_and_other_datagrams_do_not() {
        let ask = |port: u16| {
            let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("binds");
            socket.connect(("127.0.0.1", port)).expect("connects");
            (
                std::fs::metadata(format!("/proc/self/fd/{}", socket.as_raw_fd())).expect("is open").ino(),
                socket,
            )
        };
        let (lookups, others) = (ask(NAME_SERVICE_PORT), ask(514));
        let mut snapshot = Snapshot::default();
        let mut diag = NetlinkSocket::sock_diag().expect("this kernel has sock_diag");
        snapshot.add(1, &mut diag, None).expect("answers");
        let outward: HashMap<u64, Endpoint> = snapshot.outward().collect();
        assert_eq!(outward.get(&lookups.0), Some(&Endpoint::Tcp(([127, 0, 0, 1], 53).into())));
        assert_eq!(outward.get(&others.0), None);
    }

    #[test]
    fn who_waits_for_the_rest_of_an_answer_calls_a_server_that_has_closed() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("binds");
        let at = listener.local_addr().expect("is bound");
        let client = std::net::TcpStream::connect(at).expect("connects");
        let (mut server, _) = listener.accept().expect("accepts");
        server.set_nonblocking(true).expect("is set");
        while std::io::Write::write(&mut server, &[0; 65_536]).is_ok() {}
        drop(server);
        let inode =
            std::fs::metadata(format!("/proc/self/fd/{}", client.as_raw_fd())).expect("is open").ino();
        let mut snapshot = Snapshot::default();
        let mut diag = NetlinkSocket::sock_diag().expect("this kernel has sock_diag");
        snapshot.add(1, &mut diag, None).expect("answers");
        let (served, _) = snapshot.into_served();
        let served = served.iter().find(|served| served.address == Endpoint::Tcp(at)).expect("it listens");
        assert_eq!((served.callers.as_slice(), served.established_count), ([inode].as_slice(), 0));
    }

    #[test]
    fn a_connection_of_which_either_end_sends_again_counts_once() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("binds");
        let at = listener.local_addr().expect("is bound");
        let ends = [(); 2].map(|()| {
            let client = std::net::TcpStream::connect(at).expect("connects");
            (client.local_addr().expect("is bound"), client, listener.accept().expect("accepts"))
        });
        let resending = |again: &[SocketAddr]| {
            let mut snapshot = Snapshot::default();
            let mut diag = NetlinkSocket::sock_diag().expect("this kernel has sock_diag");
            snapshot.add(1, &mut diag, None).expect("answers");
            let is_its = |end: &&mut Connection| again.contains(&end.local) && ends[0].0 != end.remote;
            snapshot.connections.iter_mut().filter(is_its).for_each(|end| end.is_resending = true);
            let (served, _) = snapshot.into_served();
            served
                .iter()
                .find(|served| served.address == Endpoint::Tcp(at))
                .expect("it listens")
                .resending_count
        };
        assert_eq!(resending(&[]), 0);
        assert_eq!(resending(&[ends[0].0]), 1, "a client");
        assert_eq!(resending(&[ends[0].0, at]), 2, "and the server to the other one");
        assert_eq!(resending(&[ends[1].0, at]), 1, "both ends of one");
    }

    #[test]
    fn of_several_sockets_at_an_address_those_count_in_which_connections_wait() {
        let mut served = ServedAddress::at(Endpoint::Tcp(([127, 0, 0, 1], 80).into()));
        [(1, 0), (2, 3), (3, 0)].into_iter().for_each(|(inode, queue)| served.listen(inode, queue, 128));
        assert_eq!((served.inodes.len(), served.waiting_sockets_count, served.queue_count), (3, 1, 3));
    }

    #[test]
    fn a_unix_socket_that_sends_datagrams_leads_to_who_takes_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("log");
        let _taker = std::os::unix::net::UnixDatagram::bind(&place).expect("binds");
        let sender = std::os::unix::net::UnixDatagram::unbound().expect("a socket");
        sender.connect(&place).expect("connects");
        let inode =
            std::fs::metadata(format!("/proc/self/fd/{}", sender.as_raw_fd())).expect("is open").ino();
        let mut snapshot = Snapshot::default();
        let mut diag = NetlinkSocket::sock_diag().expect("this kernel has sock_diag");
        snapshot.add(1, &mut diag, None).expect("answers");
        let outward: HashMap<u64, Endpoint> = snapshot.outward().collect();
        assert_eq!(outward.get(&inode), Some(&Endpoint::Unix(place)));
    }
}
