//! When requests reached the server's tiers, were read, and were answered, for each connection: the sums of a BPF program.
//!
//! An event loop looks idle in the census of threads, whatever its requests wait for. The kernel, however, sees when data
//! arrived at each connection, when the server read it, and when it wrote the response. It sees the same of the server's
//! outgoing requests, even to other hosts. The program (`bpf/requests.bpf.c`) sums these times for each tier and each
//! address that a tier calls; this collector tells the program which processes and places belong to which tier, and reads
//! the sums. It is loaded once: if the kernel refuses it at first, it will refuse it later. The kernel unloads it when this
//! process ends, however it ends.

mod party;
mod program;
mod sampling;
#[cfg(test)]
mod tests;

use super::{Collector, Pass, Table};
use crate::clock;
use crate::discover::Entrances;
use crate::watch::Watchlist;
use party::{ConnectionEnd, Party};
use program::{SocketProgram, Sums, WIDTH};
use sampling::{SumsRead, Then, Totals, WatchDue, WatchedShare};
use std::collections::HashMap;
use sysdyno_record::column::{self, Quantity, asking_scope, tier_scope};
use sysdyno_record::event::ProcessRole;
use sysdyno_record::plan::Endpoint;
use sysdyno_record::series::Column;

pub(crate) fn collector() -> Box<dyn Collector> {
    Box::new(RequestCollector::default())
}

/// Addresses that one sees asked, at most; of more, those that were asked first.
const MAX_ASKED: usize = 64;

#[derive(Default)]
struct RequestCollector {
    table: Table,
    program: Option<Result<SocketProgram, String>>,
    told: Told,
    sampling: WatchedShare,
    /// By the number of the sums. What a party is shown as may change: an address may turn out to be where a tier listens.
    estimates: HashMap<u32, Estimate>,
    /// What has columns, in their order.
    shown: Vec<Shown>,
}

/// What the program was told last.
#[derive(Default)]
struct Told {
    entrances: Entrances,
    /// The generation of the processes.
    generation: u64,
}

/// What has columns: what was asked of a tier, or what it asked at an address. `None`: the tier that the load reaches.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Shown {
    Requests(Option<Endpoint>),
    Asked(Option<Endpoint>, Endpoint),
}

impl Shown {
    fn columns(&self) -> Vec<Column> {
        match self {
            Shown::Requests(tier) => columns(&OF_REQUESTS, &tier_scope(tier.as_ref())),
            Shown::Asked(tier, asked) => columns(&OF_ASKED, &asking_scope(tier.as_ref(), asked)),
        }
    }

    /// The numbers of the sums that its columns show, in their order.
    fn order(&self) -> &'static [usize] {
        match self {
            Shown::Requests(_) => &[0, 1, 2, 3, 4, 7],
            Shown::Asked(..) => &[0, 1, 2, 4, 5, 6],
        }
    }
}

/// What the sums would be if all had been watched all the time.
#[derive(Default)]
struct Estimate {
    sums: [f64; WIDTH],
    /// The program's own, when they were read last.
    watched: Sums,
}

impl Estimate {
    /// Adds what was watched since then, which stands for so many times as much.
    fn add(&mut self, watched: Sums, times: f64) {
        for ((sum, now), before) in self.sums.iter_mut().zip(watched).zip(self.watched) {
            *sum += now.saturating_sub(before) as f64 * times;
        }
        self.watched = watched;
    }
}

const OF_REQUESTS: [Quantity; 6] = [
    column::REQUESTS_READ,
    column::REQUESTS_ANSWERED,
    column::REQUESTS_MERGED,
    column::REQUESTS_UNREAD_TIME,
    column::REQUESTS_INSIDE_TIME,
    column::REQUESTS_PARTIAL_TIME,
];

const OF_ASKED: [Quantity; 6] = [
    column::ASKED_SENT,
    column::ASKED_ANSWERED,
    column::ASKED_MERGED,
    column::ASKED_WAITING_TIME,
    column::ASKED_TRAILING_TIME,
    column::ASKED_UNREAD_TIME,
];

fn columns(quantities: &[Quantity], scope: &str) -> Vec<Column> {
    quantities.iter().map(|quantity| quantity.of(scope)).collect()
}

impl RequestCollector {
    fn try_read(&mut self, scene: &mut Watchlist) -> Result<(), String> {
        let program = self.program.get_or_insert_with(|| SocketProgram::load(&scene.roots)).as_mut();
        let program = program.map_err(|reason| reason.clone())?;
        let due = self.sampling.due(clock::monotonic());
        if due == WatchDue::Nothing {
            return Ok(());
        }
        self.told.tell(program, scene)?;
        scene.entrances.is_watched = true;
        scene.handling.get_or_insert_with(|| program.handling());
        if let WatchDue::Attaching(words) = due {
            program.set_sampling(words)?;
            return program.attach();
        }
        let now = clock::monotonic();
        let (all, mut totals) = (program.sums()?, Totals::default());
        all.iter().for_each(|(party, of_party)| totals.add(party.role, of_party));
        let SumsRead { times, then } = self.sampling.read(now, totals);
        let mut shown_sums: HashMap<Shown, [f64; WIDTH]> = HashMap::new();
        for (party, watched) in all {
            let tier = program.tier(party.tier);
            if let (Some(entrance), Some(tier)) = (party.entrance(&scene.entrances), &tier) {
                scene.entrances.asked.entry(entrance).or_insert_with(|| tier.clone());
            }
            let estimate = self.estimates.entry(party.slot).or_default();
            estimate.add(watched, times);
            let Some(shown) = shown(&party, tier, scene) else { continue };
            let sums = shown_sums.entry(shown).or_insert([0.0; WIDTH]);
            sums.iter_mut().zip(estimate.sums).for_each(|(sum, of_party)| *sum += of_party);
        }
        match then {
            Then::Nothing => {}
            Then::Telling(words) => program.set_sampling(words)?,
            Then::Detaching => program.detach(),
        }
        self.write(&shown_sums);
        Ok(())
    }

    /// Writes the sums; what has columns and no sums any more has no values.
    fn write(&mut self, sums: &HashMap<Shown, [f64; WIDTH]>) {
        let new: Vec<&Shown> = sums.keys().filter(|shown| !self.shown.contains(shown)).collect();
        let room = (MAX_ASKED + 1).saturating_sub(self.shown.len());
        if !new.is_empty() && room > 0 {
            self.shown.extend(new.into_iter().take(room).cloned().collect::<Vec<_>>());
            self.table.replace(self.shown.iter().flat_map(Shown::columns).collect());
        }
        let values = self.shown.iter().flat_map(|shown| {
            let of_it = sums.get(shown);
            shown.order().iter().map(move |number| of_it.map(|sums| sums[*number] as u64))
        });
        for (position, value) in values.enumerate() {
            self.table.set_count(position, value);
        }
    }
}

impl Told {
    /// Tells the program which processes and places are whose, where that has changed.
    fn tell(&mut self, program: &mut SocketProgram, scene: &Watchlist) -> Result<(), String> {
        if self.entrances.hosts != scene.entrances.hosts {
            program.set_entrances(&scene.entrances)?;
            self.entrances.hosts.clone_from(&scene.entrances.hosts);
        }
        if self.generation != scene.generation() {
            let living = scene.living(ProcessRole::Target);
            let address = |tier: &sysdyno_record::event::Tier| tier.address.clone();
            program.set_processes(living.map(|process| (process.pid, process.tier.as_ref().map(address))))?;
            self.generation = scene.generation();
        }
        Ok(())
    }
}

/// What a party is shown as; `None`: as nothing.
fn shown(party: &Party, tier: Option<Option<Endpoint>>, scene: &Watchlist) -> Option<Shown> {
    match party.role {
        ConnectionEnd::Server => Some(Shown::Requests(tier?)),
        ConnectionEnd::Client => Some(Shown::Asked(tier?, party.asked(&scene.entrances)?)),
    }
}

impl Collector for RequestCollector {
    fn read(&mut self, pass: &mut Pass<'_>) {
        self.table.clear();
        // A server on another host, or hidden from this user, has no connections here.
        let has_target = pass.scene.endpoint.is_some() && pass.scene.first(ProcessRole::Target).is_some();
        if !has_target || !pass.scene.roots.is_host() {
            return;
        }
        if let Err(reason) = self.try_read(pass.scene) {
            if self.shown.is_empty() {
                self.shown = vec![Shown::Requests(None)];
                self.table.replace(self.shown.iter().flat_map(Shown::columns).collect());
            }
            self.table.explain_all(Some(&reason));
        }
    }

    fn table(&mut self) -> &mut Table {
        &mut self.table
    }
}
