//! What the server calls and what its threads wait for: finds the tiers behind the server, reads the queue and the
//! connections of each address that they listen on, and takes a census of their threads.
//!
//! The columns of addresses have the names of the target's, the scope tells them apart. Those of [`super::behind`], which reads
//! the queues of known addresses more often, are left to it. The census is cheap, and a list of the connections takes milliseconds
//! wherever the kernel has room for many: each has a budget of its own. Where both are due, the census comes just before the
//! list, so that both are of one instant: many servers open a connection for a single request. A census without a new
//! list counts if it is known what the sockets are that threads wait at.

mod census;
mod counts;
mod look;

use super::{Collector, Pass, Table};
use crate::clock;
use crate::discover::{Connecting, ServedAddress, TierSearch};
use crate::threads::KINDS;
use crate::watch::Watchlist;
use census::Census;
use counts::TierCounts;
use look::Look;
use std::collections::HashMap;
use sysdyno_record::column::{self, Quantity, asking_scope, listener_scope, tier_scope};
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::plan::Endpoint;
use sysdyno_record::series::Column;
use sysdyno_record::units::MonoNs;

pub(crate) fn collector() -> Box<dyn Collector> {
    Box::new(TierCollector::default())
}

/// Of the time between two censuses, at most this part is spent on one.
const MAX_CENSUS_PART: u64 = 400;

/// Of the time between two searches once a tier is known, at most this part is spent on one.
const MAX_SEARCH_PART: u64 = 1000;

/// Between two searches while no tier is known, about: each takes some milliseconds, in which it may disturb a server that needs
/// the CPU. Unit: nanoseconds.
const SEARCH_INTERVAL_NS: u64 = 1_000_000_000;

/// The same where everything that a tier asks is seen at its connections, and starts a search. Unit: nanoseconds.
const WATCHED_SEARCH_INTERVAL_NS: u64 = 5_000_000_000;

/// The same for so many searches at the beginning. Unit: nanoseconds.
const FIRST_SEARCH_INTERVAL_NS: u64 = 200_000_000;
const FIRST_SEARCHES: u32 = 10;

/// Between two searches that are not due, because threads wait at sockets that nobody knows, and how many of these there are at
/// most: what they find is remembered. Unit: nanoseconds.
const URGENT_SEARCH_INTERVAL_NS: u64 = 500_000_000;
const URGENT_SEARCHES: u32 = 10;

#[derive(Default)]
struct TierCollector {
    table: Table,
    search: TierSearch,
    census: Census,
    /// CPU time of the last census. Unit: nanoseconds.
    census_cpu_ns: u64,
    next_pass: MonoNs,
    next_search: MonoNs,
    next_urgent_search: MonoNs,
    searches_count: u32,
    urgent_searches_count: u32,
    /// Places that were asked at when it was searched last.
    asked_count: usize,
    /// Connections of each tier when they were listed last.
    connections: HashMap<Endpoint, f64>,
    /// What has columns, in their order.
    shown: Vec<Shown>,
}

/// What has columns.
#[derive(Clone, Debug, PartialEq)]
enum Shown {
    /// An address that a tier listens at.
    Address(Endpoint),
    /// The threads of a tier; `None`: of the one that the load reaches.
    Threads(Option<Endpoint>),
    /// The threads of a tier that wait for another one.
    Asking(Option<Endpoint>, Endpoint),
}

impl Shown {
    fn columns(&self) -> Vec<Column> {
        let (quantities, scope): (&[Quantity], String) = match self {
            Shown::Address(address) => (&OF_ADDRESS, listener_scope(address)),
            Shown::Threads(address) => (&OF_THREADS, tier_scope(address.as_ref())),
            Shown::Asking(address, asked) => (&OF_ASKING, asking_scope(address.as_ref(), asked)),
        };
        quantities.iter().map(|quantity| quantity.of(&scope)).collect()
    }

    fn width(&self) -> usize {
        match self {
            Shown::Address(_) => OF_ADDRESS.len(),
            Shown::Threads(_) => OF_THREADS.len(),
            Shown::Asking(..) => OF_ASKING.len(),
        }
    }
}

const OF_ADDRESS: [Quantity; 7] = [
    column::LISTENER_QUEUE,
    column::LISTENER_LIMIT,
    column::LISTENER_SOCKETS,
    column::LISTENER_WAITING,
    column::CONNECTIONS_ESTABLISHED,
    column::CONNECTIONS_UNREAD,
    column::CONNECTIONS_RESENDING,
];

/// The second one is only known of a new list of connections.
const OF_ASKING: [Quantity; 2] = [column::WAITS_ASKING, column::ASKED_CONNECTING];

/// The threads, then [`KINDS`].
const OF_THREADS: [Quantity; 1 + KINDS.len()] = [
    column::WAITS_THREADS,
    column::WAITS_RUNNING,
    column::WAITS_LOCK,
    column::WAITS_PROCESS,
    column::WAITS_DISK,
    column::WAITS_TIMER,
    column::WAITS_STOPPED,
    column::WAITS_IDLE,
    column::WAITS_NETWORK,
    column::WAITS_OTHER,
];

impl TierCollector {
    /// Takes the census, and looks at who is connected to whom, if that is due or wanted. Returns whether it was.
    fn read_now(&mut self, scene: &mut Watchlist, is_due: bool, buffer: &mut Vec<u8>) -> bool {
        let begin = clock::monotonic();
        let cpu_ns = clock::thread_cpu_ns();
        let seen: Vec<_> = tiers(scene)
            .into_iter()
            .map(|(tier, processes)| self.census.look(scene, &tier, &processes, buffer))
            .collect();
        self.census_cpu_ns = clock::thread_cpu_ns().saturating_sub(cpu_ns);
        let is_search = is_due || self.is_urgent(&seen, begin);
        // Who may not ask finds no tiers; the columns of the listener say why.
        let mut served = if is_search { self.search.look(scene).unwrap_or_default() } else { Vec::new() };
        if is_search {
            let counts =
                served.iter().map(|served| (served.address.clone(), served.established_count as f64));
            self.connections = counts.collect();
        }
        let is_behind = |served: &ServedAddress| matches!(&served.address, Endpoint::Tcp(address) if scene.behind.contains(address));
        served.retain(|served| !is_behind(served));
        let mut values: Vec<(Shown, Vec<f64>)> = served.into_iter().map(of_address).collect();
        values.extend(self.counted(&seen, is_search));
        let connecting = self.search.ends().connecting.as_ref().filter(|_| is_search);
        connecting.into_iter().for_each(|connecting| add_connecting(&mut values, connecting));
        let is_connecting_known = connecting.is_some();
        self.write(&values, is_connecting_known);
        is_search
    }

    /// Whether a look at threads is lost unless it is searched now.
    fn is_urgent(&mut self, seen: &[Look], now: MonoNs) -> bool {
        let ends = self.search.ends();
        let is_lost = |look: &Look| !look.is_first && !self.census.knows_sockets(look, ends);
        let is_urgent = now >= self.next_urgent_search
            && self.urgent_searches_count < URGENT_SEARCHES
            && seen.iter().any(is_lost);
        if is_urgent {
            self.urgent_searches_count += 1;
            self.next_urgent_search = clock::about(now, URGENT_SEARCH_INTERVAL_NS);
        }
        is_urgent
    }

    /// What the threads of each tier did.
    fn counted(&mut self, seen: &[Look], is_search: bool) -> Vec<(Shown, Vec<f64>)> {
        let ends = self.search.ends();
        let mut asking: HashMap<Endpoint, f64> = HashMap::new();
        let mut values = Vec::new();
        for look in seen {
            self.census.learn(look, ends, is_search);
            // Of the tiers behind it, nobody knows then how many requests they have: a count of them alone would be of instants
            // at which nobody waits.
            if !(is_search || self.census.knows_sockets(look, ends)) {
                break;
            }
            if !look.can_count() {
                continue;
            }
            let listed = match &look.tier {
                Some(address) => self.connections.get(address).copied(),
                None => ends.target_count.map(|count| count as f64),
            };
            // The list may be of an instant when fewer asked.
            let asked = look.tier.as_ref().and_then(|address| asking.get(address)).copied();
            let connections = listed.into_iter().chain(asked).reduce(f64::max);
            let counts = self.census.count(look, ends, connections.map(|count| (count, is_search)));
            for (address, count) in counts.asking.values() {
                *asking.entry(address.clone()).or_default() += count;
            }
            values.extend(of_threads(&look.tier, counts));
        }
        values
    }

    fn write(&mut self, values: &[(Shown, Vec<f64>)], is_connecting_known: bool) {
        let new = values.iter().map(|(shown, _)| shown).filter(|shown| !self.shown.contains(shown));
        let new: Vec<Shown> = new.cloned().collect();
        if !new.is_empty() {
            // What is missing for a while keeps its columns.
            self.shown.extend(new);
            self.table.replace(self.shown.iter().flat_map(Shown::columns).collect());
        }
        let mut position = 0;
        for shown in &self.shown {
            let of_it = values.iter().find(|(other, _)| other == shown).map(|(_, values)| values.as_slice());
            // Nobody asked in this pass: that is a zero, once the tier was looked at.
            let is_asking = matches!(shown, Shown::Asking(..));
            let of_it = of_it.unwrap_or_default().iter().copied();
            let zeros = [true, is_connecting_known].into_iter().take_while(|is_known| is_asking && *is_known);
            let zeros = zeros.map(|_| 0.0).skip(of_it.len());
            for (offset, value) in of_it.chain(zeros).enumerate() {
                self.table.set(position + offset, value);
            }
            position += shown.width();
        }
    }
}

/// The processes of each tier, that of the load first.
fn tiers(scene: &Watchlist) -> Vec<(Option<Endpoint>, Vec<WatchedProcess>)> {
    let mut tiers: Vec<(Option<Endpoint>, Vec<WatchedProcess>)> = Vec::new();
    for process in scene.living(ProcessRole::Target).filter(|process| !process.is_log_reader) {
        let address = process.tier.as_ref().map(|tier| tier.address.clone());
        match tiers.iter_mut().find(|(other, _)| *other == address) {
            Some((_, processes)) => processes.push(process.clone()),
            None => tiers.push((address, vec![process.clone()])),
        }
    }
    tiers
}

fn of_address(served: ServedAddress) -> (Shown, Vec<f64>) {
    let counts = [
        served.queue_count,
        served.limit_count,
        served.inodes.len() as u64,
        served.waiting_sockets_count,
        served.established_count,
        served.unread_count,
        served.resending_count,
    ];
    (Shown::Address(served.address), counts.map(|count| count as f64).to_vec())
}

fn of_threads(tier: &Option<Endpoint>, counts: TierCounts) -> Vec<(Shown, Vec<f64>)> {
    let own = [counts.threads].into_iter().chain(counts.waits).collect();
    let asking =
        counts.asking.into_values().map(|(asked, count)| (Shown::Asking(tier.clone(), asked), vec![count]));
    std::iter::once((Shown::Threads(tier.clone()), own)).chain(asking).collect()
}

/// Adds the connections that tiers are making to what they ask.
fn add_connecting(values: &mut Vec<(Shown, Vec<f64>)>, connecting: &Connecting) {
    for ((tier, asked), count) in connecting {
        let shown = Shown::Asking(tier.clone(), asked.clone());
        match values.iter_mut().find(|(other, _)| *other == shown) {
            Some((_, values)) => values.push(*count as f64),
            // Of an event loop nobody sees a thread that waits for it.
            None => values.push((shown, vec![0.0, *count as f64])),
        }
    }
}

impl Collector for TierCollector {
    fn read(&mut self, pass: &mut Pass<'_>) {
        let (begin, cpu_ns) = (clock::monotonic(), clock::thread_cpu_ns());
        self.table.clear();
        // A server on another host, or hidden from this user, has no tiers here.
        let has_target = pass.scene.endpoint.is_some() && pass.scene.first(ProcessRole::Target).is_some();
        if !has_target || !pass.scene.roots.is_host() || begin < self.next_pass {
            return;
        }
        let asked_count = pass.scene.entrances.asked.len();
        let is_due = begin >= self.next_search || asked_count > self.asked_count;
        let is_search = self.read_now(pass.scene, is_due, pass.buffer);
        let interval_ns = self.census_cpu_ns.saturating_mul(MAX_CENSUS_PART);
        // From when it was due: samples come at a fixed period, and an interval that is always rounded up to whole ones would
        // meet something that happens once a second always, or never.
        let due = self.next_pass.max(MonoNs(begin.0.saturating_sub(interval_ns)));
        self.next_pass = clock::about(due, interval_ns);
        if is_search {
            // Not the time that others had the CPU, nor the walk over descriptors, which has its own limit.
            let spent_ns = clock::thread_cpu_ns().saturating_sub(cpu_ns);
            let spent_ns =
                spent_ns.saturating_sub(self.search.walk_cpu_ns()).saturating_sub(self.census_cpu_ns);
            (self.searches_count, self.asked_count) = (self.searches_count + 1, asked_count);
            let interval_ns = match self.searches_count <= FIRST_SEARCHES {
                true => FIRST_SEARCH_INTERVAL_NS,
                false if self.search.has_tiers() => spent_ns.saturating_mul(MAX_SEARCH_PART),
                false if pass.scene.entrances.is_watched => WATCHED_SEARCH_INTERVAL_NS,
                false => SEARCH_INTERVAL_NS.max(spent_ns.saturating_mul(MAX_SEARCH_PART)),
            };
            self.next_search = clock::about(begin, interval_ns);
        }
    }

    fn table(&mut self) -> &mut Table {
        &mut self.table
    }
}
