//! Finds the tiers behind the server: the processes at the other ends of its connections, the ones that these connect to in
//! turn, and so on.
//!
//! A connection leads from one tier to the next if a process of the tier holds one end, and the other end was accepted from
//! a listening socket of this host, TCP or Unix, in any network namespace. The search for connections is repeated, because
//! many servers open one for a single request. `/proc/PID/fd` tells which process holds an end, so only root sees those of
//! other users.

use super::connected::{ServedAddress, Snapshot};
use super::entrances::{Entrance, Host};
use super::namespaces::Namespaces;
use super::processes::{find_owners, held_by};
use crate::clock;
use crate::watch::Watchlist;
use std::collections::{HashMap, HashSet};
use std::io;
use std::net::SocketAddr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use sysdyno_record::event::{ProcessRole, Tier, WatchedProcess};
use sysdyno_record::plan::Endpoint;
use sysdyno_record::units::MonoNs;

/// Tiers behind the first one.
const MAX_DEPTH: u32 = 8;

/// Of the time between two walks over descriptors, at most this part is spent on one.
const MAX_WALK_RATIO: u64 = 100;

/// The same for so many walks at the beginning: until a tier is known, its threads are taken for those in front of it.
const FIRST_WALK_RATIO: u64 = 20;
const FIRST_WALKS: u32 = 10;

/// Other ends of connections to one address that are looked for at a time: one that is found is enough.
const MAX_CALLERS: usize = 32;

/// Connections without an answer whose holders are looked for at a time: more are no other fault.
const MAX_CONNECTING: usize = 256;

/// Sockets that are remembered for not being the server's.
const MAX_CHECKED: usize = 100_000;

/// What every service of a host talks to, whatever it is asked: the log and the message bus.
const OF_ALL_SERVICES: [&str; 4] = ["/run/systemd", "/run/dbus", "/var/run/dbus", "/run/user"];

/// The search, and what it has found so far.
#[derive(Debug, Default)]
pub(crate) struct TierSearch {
    namespaces: Namespaces,
    /// Inodes of the listening sockets of the tiers, of others of the processes that the load reaches, and of those that have been
    /// found to be neither.
    tiers: HashSet<u64>,
    own: HashSet<u64>,
    others: HashSet<u64>,
    /// Sockets that no process of the server holds.
    checked: HashSet<u64>,
    next_walk: MonoNs,
    walks_count: u32,
    /// CPU time of the walk in the last look. Unit: nanoseconds.
    walk_cpu_ns: u64,
    ends: ConnectionEnds,
}

/// How many connections each tier is making to each address.
pub(crate) type Connecting = HashMap<(Option<Endpoint>, Endpoint), u64>;

/// The ends of connections that are the server's, or anybody's, by inode.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ConnectionEnds {
    /// Those that the target and its tiers have accepted.
    pub(crate) accepted: HashSet<u64>,
    /// Those at which a tier asks another one, or the server asks itself, with the address of that.
    pub(crate) asked: HashMap<u64, Endpoint>,
    /// Those that lead somewhere else, whoever holds them, with the address there.
    pub(crate) outside: HashMap<u64, Endpoint>,
    /// Connections of a tier that are being made to an address, and were not answered so far; `None`: it was not looked who
    /// holds them.
    pub(crate) connecting: Option<Connecting>,
    /// The sockets at which they wait for connections.
    pub(crate) listening: HashSet<u64>,
    /// Connections to the target that it has accepted; `None`: it is a Unix socket, whose connections are not told apart.
    pub(crate) target_count: Option<usize>,
}

impl ConnectionEnds {
    /// Those of all processes of these namespaces. Where a connection leaves them, its address is at the other end.
    ///
    /// # Errors
    /// The kernel does not list its sockets for this process.
    pub(crate) fn of_all(namespaces: &mut Namespaces) -> io::Result<ConnectionEnds> {
        let mut snapshot = Snapshot::default();
        for (namespace, diag) in namespaces.sockets() {
            snapshot.add(namespace, diag, None)?;
        }
        let mut asked: HashMap<u64, Endpoint> = snapshot.outward().collect();
        let (served, _) = snapshot.into_served();
        for one in &served {
            asked.extend(one.callers.iter().map(|inode| (*inode, one.address.clone())));
        }
        Ok(ConnectionEnds {
            accepted: served.iter().flat_map(|one| one.accepted.iter().copied()).collect(),
            asked,
            listening: served.iter().flat_map(|one| one.inodes.iter().copied()).collect(),
            ..ConnectionEnds::default()
        })
    }
}

impl TierSearch {
    /// Looks who is connected to whom, adds the processes of tiers that were not known, and returns the addresses of all tiers.
    ///
    /// # Errors
    /// The kernel does not list its sockets for this process.
    pub(crate) fn look(&mut self, scene: &mut Watchlist) -> io::Result<Vec<ServedAddress>> {
        let now = clock::monotonic();
        self.namespaces.look(&scene.roots, now)?;
        let mut snapshot = Snapshot::default();
        for (namespace, diag) in self.namespaces.sockets() {
            snapshot.add(namespace, diag, scene.endpoint.as_ref())?;
        }
        let entrances: Vec<_> = snapshot
            .entrances()
            .map(|(entrance, served)| {
                (self.known_as(entrance), served.address.clone(), served.inodes.clone())
            })
            .collect();
        let own = snapshot.own().map(|(namespace, address)| (self.namespaces.inode_of(namespace), address));
        scene.entrances.note_own(own);
        let mut asked: HashMap<u64, Endpoint> = HashMap::new();
        let to_target = scene
            .endpoint
            .iter()
            .flat_map(|target| snapshot.to_target().iter().map(|inode| (*inode, target.clone())));
        asked.extend(to_target);
        let outside = snapshot.outward().collect();
        let dialed = |(namespace, at): (u64, SocketAddr)| {
            let known = scene.entrances.dialed.get(&(self.namespaces.inode_of(namespace), at));
            known.cloned().unwrap_or(Endpoint::Tcp(at))
        };
        let unanswered: HashMap<u64, Endpoint> =
            snapshot.connecting().map(|(inode, at)| (inode, dialed(at))).collect();
        let mut connecting = None;
        let (mut served, of_target) = snapshot.into_served();
        served.retain(|served| !is_of_all_services(&served.address) && !scene.is_listener(&served.inodes));
        self.walk_cpu_ns = 0;
        if now >= self.next_walk {
            let cpu_ns = clock::thread_cpu_ns();
            let is_any = self.find_more(&served, scene);
            connecting = Some(connecting_of(&unanswered, scene));
            self.walk_cpu_ns = clock::thread_cpu_ns().saturating_sub(cpu_ns);
            // Look at once for the tiers that a new tier calls, but not in a snapshot that is old by now.
            let spent = if is_any { 0 } else { self.walk_cpu_ns };
            self.walks_count += 1;
            let ratio = if self.walks_count <= FIRST_WALKS { FIRST_WALK_RATIO } else { MAX_WALK_RATIO };
            self.next_walk = MonoNs(now.0.saturating_add(spent.saturating_mul(ratio)));
        }
        // Each address once, whenever it is seen.
        self.find_asked(&entrances, &served, scene);
        let is_of_server = |inode: &u64| self.tiers.contains(inode) || self.own.contains(inode);
        served.retain(|served| served.inodes.iter().any(is_of_server));
        self.note_entrances(entrances, &served, scene);
        let accepted = served.iter().flat_map(|served| served.accepted.iter().copied());
        asked.extend(
            served
                .iter()
                .flat_map(|served| served.callers.iter().map(|inode| (*inode, served.address.clone()))),
        );
        let is_tcp = matches!(scene.endpoint, Some(Endpoint::Tcp(_)));
        self.ends = ConnectionEnds {
            target_count: is_tcp.then_some(of_target.len()),
            accepted: accepted.chain(of_target).collect(),
            asked,
            outside,
            connecting,
            listening: scene.listeners().iter().chain(&self.tiers).chain(&self.own).copied().collect(),
        };
        Ok(served)
    }

    /// Takes note of who listens where, and of what the tiers are called by those that ask them.
    fn note_entrances(
        &self,
        found: Vec<(Entrance, Endpoint, Vec<u64>)>,
        tiers: &[ServedAddress],
        scene: &mut Watchlist,
    ) {
        let mut hosts: HashMap<Entrance, Host> = HashMap::new();
        for (entrance, address, inodes) in found {
            let host = if scene.is_listener(&inodes) {
                Host::Tier(None)
            } else if inodes.iter().any(|inode| self.tiers.contains(inode)) {
                Host::Tier(Some(address))
            } else {
                Host::Foreign
            };
            // Of several that share an address, the server's.
            let known = hosts.entry(entrance).or_insert(Host::Foreign);
            if *known == Host::Foreign {
                *known = host;
            }
        }
        scene.entrances.hosts = hosts;
        let dialed = tiers
            .iter()
            .flat_map(|tier| tier.dialed.iter().map(move |(namespace, at)| (*namespace, *at, &tier.address)));
        for (namespace, at, address) in dialed {
            let key = (self.namespaces.inode_of(namespace), at);
            scene.entrances.dialed.entry(key).or_insert_with(|| address.clone());
        }
    }

    /// An entrance with its namespace by inode, as the kernel tells it of connections.
    fn known_as(&self, entrance: Entrance) -> Entrance {
        match entrance {
            Entrance::Tcp { namespace, port, address } => {
                Entrance::Tcp { namespace: self.namespaces.inode_of(namespace), port, address }
            }
            Entrance::Unix(file) => Entrance::Unix(file),
        }
    }

    /// Whether it is not known who listens there.
    fn is_open(&self, inode: &u64) -> bool {
        [&self.tiers, &self.own, &self.others].iter().all(|known| !known.contains(inode))
    }

    /// Whether the server was seen calling another service.
    pub(crate) fn has_tiers(&self) -> bool {
        !self.tiers.is_empty()
    }

    /// CPU time that the last look spent on walking over descriptors. Unit: nanoseconds.
    pub(crate) fn walk_cpu_ns(&self) -> u64 {
        self.walk_cpu_ns
    }

    /// The ends of the server's connections when it was looked last.
    pub(crate) fn ends(&self) -> &ConnectionEnds {
        &self.ends
    }

    /// One step from the processes that are known; returns whether there were others.
    fn find_more(&mut self, served: &[ServedAddress], scene: &mut Watchlist) -> bool {
        let is_open = |inode: &u64| self.is_open(inode);
        let open = served.iter().enumerate().filter(|(_, served)| served.inodes.iter().all(is_open));
        let ends = open.flat_map(|(position, served)| {
            let unchecked = served.callers.iter().filter(|inode| !self.checked.contains(inode));
            unchecked.take(MAX_CALLERS).map(move |inode| (*inode, position))
        });
        let ends: HashMap<u64, usize> = ends.collect();
        let inodes: Vec<u64> = ends.keys().copied().collect();
        let mut askers: HashMap<usize, WatchedProcess> = HashMap::new();
        for asker in scene.living(ProcessRole::Target).filter(|_| !inodes.is_empty()) {
            for (inode, _) in held_by(&scene.roots, asker.pid, &inodes) {
                askers.entry(ends[&inode]).or_insert_with(|| asker.clone());
            }
        }
        let mut is_any = false;
        for (position, asker) in askers {
            is_any |= self.take_up(&served[position], &asker, scene);
        }
        if is_any {
            // What a new tier asks was nobody's until now.
            self.checked.clear();
        } else if self.checked.len() < MAX_CHECKED {
            self.checked.extend(inodes);
        }
        is_any
    }

    /// The same of what the tiers were seen asking, where no connection lasts until its ends are looked for. *Cost*: a walk over all
    /// descriptors for an address that is new.
    fn find_asked(
        &mut self,
        entrances: &[(Entrance, Endpoint, Vec<u64>)],
        served: &[ServedAddress],
        scene: &mut Watchlist,
    ) {
        for (entrance, _, inodes) in entrances {
            let is_open = |inode: &u64| self.is_open(inode);
            let Some(tier) = scene.entrances.asked.get(entrance).filter(|_| inodes.iter().all(is_open))
            else {
                continue;
            };
            let of_tier =
                |process: &&WatchedProcess| process.tier.as_ref().map(|tier| &tier.address) == tier.as_ref();
            let asker = scene.living(ProcessRole::Target).find(of_tier).cloned();
            let served = served.iter().find(|served| served.inodes == *inodes);
            if let (Some(asker), Some(served)) = (asker, served) {
                self.take_up(served, &asker, scene);
            }
        }
    }

    /// Adds the processes that listen at an address as a tier behind that of `asker`; returns whether there were any.
    fn take_up(&mut self, served: &ServedAddress, asker: &WatchedProcess, scene: &mut Watchlist) -> bool {
        let depth = asker.tier.as_ref().map_or(0, |tier| tier.depth) + 1;
        let tier = Tier { depth, address: served.address.clone(), asked_by_pid: asker.pid };
        let owners = if depth <= MAX_DEPTH { find_owners(&scene.roots, &served.inodes) } else { vec![] };
        let is_any_owner = !owners.is_empty();
        let found = behind_first(owners, &tier, scene);
        let set = match (found.is_empty(), is_any_owner) {
            (false, _) => &mut self.tiers,
            (true, true) => &mut self.own,
            (true, false) => &mut self.others,
        };
        set.extend(&served.inodes);
        let is_any = !found.is_empty();
        scene.add(found);
        is_any
    }
}

/// Which tiers make these connections.
fn connecting_of(unanswered: &HashMap<u64, Endpoint>, scene: &Watchlist) -> Connecting {
    let inodes: Vec<u64> = unanswered.keys().copied().take(MAX_CONNECTING).collect();
    let mut connecting = Connecting::new();
    for process in scene.living(ProcessRole::Target).filter(|_| !inodes.is_empty()) {
        let tier = process.tier.as_ref().map(|tier| tier.address.clone());
        for (inode, _) in held_by(&scene.roots, process.pid, &inodes) {
            let key = (tier.clone(), unanswered[&inode].clone());
            *connecting.entry(key).or_default() += 1;
        }
    }
    connecting
}

/// Those of the processes that are a tier, without those of the first one: a server may ask itself.
fn behind_first(mut found: Vec<WatchedProcess>, tier: &Tier, scene: &Watchlist) -> Vec<WatchedProcess> {
    let first = scene.first_tier();
    found.retain(|process| !first.iter().any(|known| known.is_same(process)));
    found.iter_mut().for_each(|process| process.tier = Some(tier.clone()));
    found
}

/// Whether every service of a host talks to this address, whatever it is asked.
pub(crate) fn is_of_all_services(address: &Endpoint) -> bool {
    let Endpoint::Unix(path) = address else { return false };
    let is_abstract_bus = path.as_os_str().as_bytes().starts_with(b"@/tmp/dbus");
    is_abstract_bus || OF_ALL_SERVICES.iter().any(|folder| path.starts_with(Path::new(folder)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_and_the_bus_are_no_tiers() {
        let check = |path: &str, expected: bool| {
            assert_eq!(is_of_all_services(&Endpoint::Unix(path.into())), expected, "{path}");
        };
        check("/run/systemd/journal/stdout", true);
        check("/run/dbus/system_bus_socket", true);
        check("/run/php/php8.2-fpm.sock", false);
        check("/run/mysqld/mysqld.sock", false);
        assert!(!is_of_all_services(&Endpoint::Tcp(([127, 0, 0, 1], 3306).into())));
    }
}
