//! Queues of the target's listening sockets, and the connections accepted from them: `sock_diag`.
//!
//! Several sockets may listen on one address (`SO_REUSEPORT`), each with its own queue: a connection is refused when *its*
//! queue is full, so the fullest one is shown. A socket that is alone on its address is queried by that address; the kernel
//! has to walk its table only to find such sockets, and for several on one address. Connections are counted about once a
//! second, because the reply has a message for each, and less often where that takes more than 5 ms, so that the cost stays
//! below half a percent of a core. The kernel walks its whole table for it: 1 to 2 ms on a host with much memory, even if idle, and
//! a trial of 1.5 s has to have a count.

use super::{Collector, Pass, Table};
use crate::clock;
use crate::diag::{Family, InetQuestion, InetSocket, ListenerQuestion, SOCK_DIAG_BY_FAMILY, SocketState};
use crate::discover::{families, find_inet, find_unix_sockets, is_local};
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use sysdyno_netlink::NetlinkSocket;
use sysdyno_record::column::{self, listener_scope};
use sysdyno_record::plan::Endpoint;
use sysdyno_record::series::Column;
use sysdyno_record::units::MonoNs;

pub(crate) fn collector() -> Box<dyn Collector> {
    Box::new(ListenerCollector::default())
}

/// Of the time between two counts of the connections, at most this part is spent on one.
const MAX_COUNT_RATIO: u64 = 200;

/// Between two counts of the connections, about. Unit: nanoseconds.
const COUNT_INTERVAL_NS: u64 = 1_000_000_000;

/// While the known sockets are there, others are searched for this often. Unit: nanoseconds.
const SEARCH_INTERVAL_NS: u64 = 5_000_000_000;

#[derive(Default)]
struct ListenerCollector {
    table: Table,
    diag: Option<NetlinkSocket>,
    sockets: Vec<InetSocket>,
    queues: Vec<Queue>,
    /// Addresses that have columns, in their order.
    shown: Vec<Endpoint>,
    /// Whether each socket that was found last can be asked for by its address.
    are_alone: bool,
    /// When others are searched for at the latest.
    next_search: MonoNs,
    next_count: MonoNs,
    has_counted: bool,
    /// Of the address that was counted last.
    connections_count: u64,
    is_remote: Option<bool>,
}

/// The queue behind an address.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Queue {
    pub(super) address: Endpoint,
    inode: u64,
    pub(super) waiting_count: Option<u64>,
    pub(super) limit_count: Option<u64>,
    /// Sockets that listen at the address, and those of them that have connections waiting.
    sockets_count: [u64; 2],
}

/// Columns of an address: queue, limit, sockets, and those of them with a queue; then, if it is TCP, all, unread, unsent, and stuck
/// connections, and the time that these were held back.
const WIDTH: usize = 9;
/// Those of them that need no list of connections.
const OF_SOCKETS: usize = 4;

/// A connection that has sent its first segment again so often is stuck.
const STUCK_RETRANSMITS: u8 = 2;

/// A response that fits into a packet that every path carries is no sign of what happens to large ones. Unit: bytes. Source: RFC
/// 8200, section 5, 1,280 bytes, without the heads of IPv6 and TCP.
const SMALL_BYTES: u32 = 1220;

/// From so many connections on, none is asked for its times.
const MAX_TIMED: u64 = 1024;

/// Connections that have been sending for less than this together say nothing of it. Unit: microseconds.
const MIN_SENDING_US: u64 = 10_000;

impl ListenerCollector {
    fn try_read(&mut self, pass: &mut Pass<'_>, endpoint: &Endpoint) -> io::Result<()> {
        let diag = match &mut self.diag {
            Some(diag) => diag,
            None => self.diag.insert(NetlinkSocket::sock_diag()?),
        };
        self.queues.clear();
        match endpoint {
            Endpoint::Tcp(address) => {
                let now = clock::monotonic();
                let is_search = pass.is_look() && (now >= self.next_search || !self.are_alone);
                self.are_alone = self.are_alone && !is_search && ask_again(diag, &mut self.sockets);
                if !self.are_alone {
                    search(diag, *address, pass.is_look(), &mut self.sockets)?;
                    self.are_alone = pass.is_look() && are_alone(&self.sockets);
                    self.next_search = MonoNs(now.0.saturating_add(SEARCH_INTERVAL_NS));
                }
                self.queues.extend(self.sockets.iter().map(from_inet));
            }
            Endpoint::Unix(path) => find_unix(diag, path, &mut self.queues)?,
        }
        pass.scene.note_listeners(self.queues.iter().map(|queue| queue.inode));
        keep_fullest(&mut self.queues);
        self.lay_out(endpoint);
        for (index, queue) in self.queues.iter().enumerate() {
            self.table.set_count(index * WIDTH, queue.waiting_count);
            self.table.set_count(index * WIDTH + 1, queue.limit_count);
            self.table.set_count(index * WIDTH + 2, Some(queue.sockets_count[0]));
            self.table.set_count(index * WIDTH + 3, Some(queue.sockets_count[1]));
        }
        Ok(())
    }

    fn lay_out(&mut self, endpoint: &Endpoint) {
        if self.queues.is_empty() {
            self.show_nothing(endpoint, "nothing listens there");
        } else if !self.queues.iter().map(|queue| &queue.address).eq(&self.shown) {
            self.shown = self.queues.iter().map(|queue| queue.address.clone()).collect();
            self.table
                .replace(self.shown.iter().flat_map(|address| columns(&listener_scope(address))).collect());
            if matches!(endpoint, Endpoint::Unix(_)) {
                (OF_SOCKETS..WIDTH)
                    .for_each(|index| self.table.explain(index, Some("not counted for Unix sockets")));
            }
        }
    }

    fn show_nothing(&mut self, endpoint: &Endpoint, reason: &str) {
        self.shown.clear();
        let mut all = columns(&listener_scope(endpoint)).to_vec();
        all.iter_mut().for_each(|column| column.unavailable = Some(reason.to_owned()));
        self.table.replace(all);
    }

    /// Counts the connections of each listening address.
    fn count_connections(&mut self) -> io::Result<()> {
        let (begin, cpu_ns) = (clock::monotonic(), clock::thread_cpu_ns());
        let Some(diag) = &mut self.diag else { return Ok(()) };
        for (index, queue) in self.queues.iter().enumerate() {
            let Endpoint::Tcp(address) = queue.address else { continue };
            let with_times = self.connections_count < MAX_TIMED;
            let connections = Connections::count(diag, address, with_times)?;
            self.connections_count = connections.established_count;
            let of_connections = index * WIDTH + OF_SOCKETS;
            self.table.set_count(of_connections, Some(connections.established_count));
            self.table.set_count(of_connections + 1, Some(connections.unread_count));
            self.table.set_count(of_connections + 2, Some(connections.unsent_count));
            self.table.set_count(of_connections + 3, Some(connections.stuck_count));
            connections
                .held_back_ratio()
                .into_iter()
                .for_each(|ratio| self.table.set(of_connections + 4, ratio));
        }
        let spent = clock::thread_cpu_ns().saturating_sub(cpu_ns);
        // The first count is made when the columns are found out; the first sample follows it at once.
        if self.has_counted {
            let interval_ns = spent.saturating_mul(MAX_COUNT_RATIO).max(COUNT_INTERVAL_NS);
            self.next_count = clock::about(begin, interval_ns);
        }
        self.has_counted = true;
        Ok(())
    }
}

impl Collector for ListenerCollector {
    fn read(&mut self, pass: &mut Pass<'_>) {
        let Some(endpoint) = pass.scene.endpoint.take() else { return };
        self.read_for(pass, &endpoint);
        pass.scene.endpoint = Some(endpoint);
    }

    fn table(&mut self) -> &mut Table {
        &mut self.table
    }
}

impl ListenerCollector {
    fn read_for(&mut self, pass: &mut Pass<'_>, endpoint: &Endpoint) {
        if self.queues.is_empty() && !pass.is_look() {
            return;
        }
        self.table.clear();
        if !pass.scene.roots.is_host() {
            return self.show_nothing(endpoint, "a recorded tree has no sockets");
        }
        if let Endpoint::Tcp(address) = endpoint
            && *self.is_remote.get_or_insert_with(|| !is_local(address.ip()))
        {
            return self.show_nothing(endpoint, "it is on another host");
        }
        let mut result = self.try_read(pass, endpoint);
        if result.is_ok() && clock::monotonic() >= self.next_count {
            result = self.count_connections();
        }
        if let Err(error) = result {
            self.diag = None;
            self.queues.clear();
            self.show_nothing(endpoint, &format!("cannot ask sock_diag: {error}"));
        }
    }
}

/// Asks for each socket by its address; returns whether all of them are still there.
pub(super) fn ask_again(diag: &mut NetlinkSocket, sockets: &mut [InetSocket]) -> bool {
    sockets.iter_mut().all(|socket| {
        let question = ListenerQuestion { local: socket.local };
        let answer = diag.get_if_there(SOCK_DIAG_BY_FAMILY, &question.encode(), InetSocket::decode);
        let same = answer.ok().flatten().filter(|found| {
            // In its stead the kernel may give a wildcard's socket, or what a program of the administrator chose.
            (found.local, found.inode) == (socket.local, socket.inode)
        });
        same.map(|found| *socket = found).is_some()
    })
}

/// Walks all listening sockets; between looks only those of the families that were found before.
pub(super) fn search(
    diag: &mut NetlinkSocket,
    address: SocketAddr,
    is_look: bool,
    sockets: &mut Vec<InetSocket>,
) -> io::Result<()> {
    let known: Vec<Family> = sockets.iter().map(|socket| Family::of(&socket.local)).collect();
    let is_asked = |family: &Family| is_look || known.is_empty() || known.contains(family);
    find_inet(diag, address, families(address).iter().copied().filter(is_asked), sockets)
}

/// Whether there are sockets, and no two of them listen at one address.
pub(super) fn are_alone(sockets: &[InetSocket]) -> bool {
    let is_alone =
        |socket: &InetSocket| sockets.iter().filter(|other| other.local == socket.local).count() == 1;
    !sockets.is_empty() && sockets.iter().all(is_alone)
}

pub(super) fn from_inet(socket: &InetSocket) -> Queue {
    Queue {
        address: Endpoint::Tcp(socket.local),
        inode: u64::from(socket.inode),
        waiting_count: Some(u64::from(socket.receive_queue)),
        limit_count: Some(u64::from(socket.send_queue)),
        sockets_count: [1, u64::from(socket.receive_queue > 0)],
    }
}

fn find_unix(diag: &mut NetlinkSocket, path: &Path, out: &mut Vec<Queue>) -> io::Result<()> {
    find_unix_sockets(diag, path, |socket| {
        out.push(Queue {
            address: Endpoint::Unix(path.to_path_buf()),
            inode: u64::from(socket.inode),
            waiting_count: socket.queue_count.map(u64::from),
            limit_count: socket.limit_count.map(u64::from),
            sockets_count: [1, u64::from(socket.queue_count > Some(0))],
        });
    })
}

/// Leaves one queue per address, which counts the others: the one that is nearest to its limit, and of these the longest.
pub(super) fn keep_fullest(queues: &mut Vec<Queue>) {
    let mut kept: Vec<Queue> = Vec::with_capacity(queues.len());
    for queue in queues.drain(..) {
        match kept.iter_mut().find(|other| other.address == queue.address) {
            Some(other) => {
                let sum = [0, 1].map(|index| other.sockets_count[index] + queue.sockets_count[index]);
                if fullness(&queue) > fullness(other) {
                    *other = queue;
                }
                other.sockets_count = sum;
            }
            None => kept.push(queue),
        }
    }
    *queues = kept;
}

fn fullness(queue: &Queue) -> (f64, u64) {
    let waiting = queue.waiting_count.unwrap_or(0);
    (waiting as f64 / queue.limit_count.unwrap_or(0).max(1) as f64, waiting)
}

/// Connections of a listening address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Connections {
    established_count: u64,
    unread_count: u64,
    unsent_count: u64,
    /// Those of them whose first segment is sent again and again.
    stuck_count: u64,
    /// How long they have been sending, and for how much of that their send buffers were full. Unit: microseconds.
    sending_us: [u64; 2],
}

impl Connections {
    fn count(diag: &mut NetlinkSocket, listening: SocketAddr, with_times: bool) -> io::Result<Connections> {
        let family = Family::of(&listening);
        let state = SocketState::Established;
        let question = InetQuestion { family, state, port: listening.port(), with_times };
        let mut out = Connections::default();
        diag.list(SOCK_DIAG_BY_FAMILY, &question.encode(), |payload| {
            let socket = InetSocket::decode(payload);
            let is_its =
                |socket: &InetSocket| listening.ip().is_unspecified() || socket.local.ip() == listening.ip();
            if let Some(socket) = socket.filter(is_its) {
                out.established_count += 1;
                out.unread_count += u64::from(socket.receive_queue > 0);
                out.unsent_count += u64::from(socket.send_queue > 0);
                let is_stuck =
                    socket.retransmits_count >= STUCK_RETRANSMITS && socket.send_queue > SMALL_BYTES;
                out.stuck_count += u64::from(is_stuck);
                for (sum, time) in out.sending_us.iter_mut().zip(socket.sending_us.unwrap_or_default()) {
                    *sum = sum.saturating_add(time);
                }
            }
        })?;
        Ok(out)
    }

    fn held_back_ratio(&self) -> Option<f64> {
        let [sending, held_back] = self.sending_us;
        (sending >= MIN_SENDING_US).then(|| held_back as f64 / sending as f64)
    }
}

fn columns(scope: &str) -> [Column; WIDTH] {
    [
        column::LISTENER_QUEUE.of(scope),
        column::LISTENER_LIMIT.of(scope),
        column::LISTENER_SOCKETS.of(scope),
        column::LISTENER_WAITING.of(scope),
        column::CONNECTIONS_ESTABLISHED.of(scope),
        column::CONNECTIONS_UNREAD.of(scope),
        column::CONNECTIONS_UNSENT.of(scope),
        column::CONNECTIONS_STUCK.of(scope),
        column::CONNECTIONS_HELD_BACK.of(scope),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_queues_at_one_address_the_fullest_is_shown() {
        let queue = |port: u16, inode: u64, waiting: u64, limit: u64| Queue {
            address: Endpoint::Tcp(([0, 0, 0, 0], port).into()),
            inode,
            waiting_count: Some(waiting),
            limit_count: Some(limit),
            sockets_count: [1, u64::from(waiting > 0)],
        };
        let mut queues =
            vec![queue(80, 1, 50, 1000), queue(80, 2, 40, 128), queue(81, 3, 0, 128), queue(80, 4, 0, 1)];
        keep_fullest(&mut queues);
        assert_eq!(queues.iter().map(|queue| queue.inode).collect::<Vec<_>>(), [2, 3]);
        let sockets: Vec<[u64; 2]> = queues.iter().map(|queue| queue.sockets_count).collect();
        assert_eq!(sockets, [[3, 2], [1, 0]], "all of an address count");
    }
}
