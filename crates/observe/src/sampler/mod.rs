//! Takes samples: one pass over all collectors, one row.

mod beats;
mod budget;
mod seat;

use crate::collect::{Beat, COLLECTORS, Pass};
use crate::error::ObserveError;
use crate::roots::Roots;
use crate::watch::Watchlist;
use crate::{ListenerFilter, clock, courtesy, discover};
use beats::Beats;
use budget::Budget;
use seat::Seat;
use std::net::SocketAddr;
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::series::{Column, Row, SeriesLine};
use sysdyno_record::units::MonoNs;

/// Samples per second that a plan may ask for, at most.
pub const MAX_RATE_HZ: f64 = 1000.0;

/// The objects to sample, and how often.
#[derive(Clone, Debug)]
pub struct SamplerPlan {
    /// Where `/proc` and `/sys` are.
    pub roots: Roots,
    /// Samples per second.
    pub hz: f64,
    /// Processes to watch. Without a target among them, those that hold the target's socket are.
    pub watch: Vec<WatchedProcess>,
    /// The listeners whose queues and connections are measured; `None` for none.
    pub target_port: Option<ListenerFilter>,
    /// Addresses of services behind the target, whose queues are measured too.
    pub behind: Vec<SocketAddr>,
    /// Whether other processes that use CPU are watched as soon as they are noticed; with a target they are in any case.
    pub finds_others: bool,
}

impl SamplerPlan {
    /// Ten samples per second of this host, without a target.
    pub fn host() -> SamplerPlan {
        SamplerPlan {
            roots: Roots::host(),
            hz: 10.0,
            watch: vec![],
            target_port: None,
            behind: vec![],
            finds_others: false,
        }
    }
}

/// Reads all collectors, one row at a time.
pub struct Sampler {
    scene: Watchlist,
    seats: Vec<Seat>,
    buffer: Vec<u8>,
    beats: Beats,
    is_header_due: bool,
    budget: Budget,
}

impl Sampler {
    /// Creates a sampler whose columns are known.
    ///
    /// *Errors*: the plan cannot be carried out. What the host does not have is no error: its columns say so.
    pub fn new(plan: SamplerPlan) -> Result<Sampler, ObserveError> {
        if !(plan.hz > 0.0 && plan.hz <= MAX_RATE_HZ) {
            return Err(ObserveError::Plan {
                cause: format!("rate '{}' is not in 0 to {MAX_RATE_HZ} Hz", plan.hz),
            });
        }
        if !plan.roots.proc.is_dir() {
            return Err(ObserveError::Plan {
                cause: format!("'{}' is not a folder", plan.roots.proc.display()),
            });
        }
        let has_target = plan.watch.iter().any(|process| process.role == ProcessRole::Target);
        let mut found = Vec::new();
        if let Some(endpoint) = plan.target_port.as_ref().filter(|_| !has_target && plan.roots.is_host()) {
            // A target that is not found now may be found later.
            found = discover::find_target_processes(endpoint).unwrap_or_default();
        }
        let period_ns = (1e9 / plan.hz).round() as u64;
        let mut scene = Watchlist::new(plan.roots, plan.target_port, plan.watch);
        scene.add(found);
        scene.behind = plan.behind;
        scene.finds_others = plan.finds_others;
        let mut sampler = Sampler {
            scene,
            seats: (0..)
                .zip(COLLECTORS)
                .map(|(number, (pace, make))| Seat::new(*pace, make()).placed(number, period_ns))
                .collect(),
            buffer: Vec::new(),
            beats: Beats::new(period_ns),
            is_header_due: true,
            budget: Budget::new(period_ns),
        };
        sampler.read();
        sampler.beats = Beats::new(period_ns);
        // The first sample has everything.
        sampler.seats.iter_mut().for_each(Seat::hasten);
        Ok(sampler)
    }

    /// The columns of the next row, unless something comes or goes until then.
    pub fn header(&mut self) -> Vec<Column> {
        self.seats.iter_mut().flat_map(|seat| seat.table().columns().to_vec()).collect()
    }

    /// Takes one sample: pushes a header if the columns are not those of the last one, then the row.
    pub fn sample(&mut self, out: &mut Vec<SeriesLine>) {
        let cpu_ns = clock::thread_cpu_ns();
        let [begin_mono_ns, end_mono_ns] = courtesy::within(|| self.read());
        if self.is_header_due {
            self.is_header_due = false;
            out.push(SeriesLine::Header { columns: self.header(), came: self.scene.take_came() });
        }
        let width = self.seats.iter_mut().map(|seat| seat.table().values().len()).sum();
        let mut values = Vec::with_capacity(width);
        for seat in &mut self.seats {
            values.extend_from_slice(seat.table().values());
        }
        let row = Row::sample(begin_mono_ns, end_mono_ns, values);
        out.push(SeriesLine::Row(Row { logged: self.scene.take_logged(), ..row }));
        let own_cpu_ns: u64 = self.seats.iter().map(Seat::own_cpu_ns).sum();
        let spent = clock::thread_cpu_ns().saturating_sub(cpu_ns);
        self.budget.settle(&mut self.seats, spent.saturating_sub(own_cpu_ns));
    }

    /// Takes one sample of everything, also of what is not due.
    pub(crate) fn sample_all(&mut self, out: &mut Vec<SeriesLine>) {
        self.beats.hasten();
        self.seats.iter_mut().for_each(Seat::hasten);
        self.sample(out);
    }

    /// Reads all collectors; returns the window.
    fn read(&mut self) -> [MonoNs; 2] {
        let now = clock::monotonic();
        let beat = self.beats.take(now);
        if beat == Beat::Second {
            self.scene.look(now, &mut self.buffer);
        }
        let mut pass = Pass { scene: &mut self.scene, buffer: &mut self.buffer, beat };
        let begin = clock::monotonic();
        for seat in &mut self.seats {
            self.is_header_due |= seat.read(&mut pass);
        }
        [begin, clock::monotonic()]
    }
}
