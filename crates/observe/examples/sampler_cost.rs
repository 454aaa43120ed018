//! Measures what sampling costs: CPU time per sample, and its share of one core at ten samples a second.
//!
//! `sampler_cost [--threads=N | ENDPOINT] [SAMPLES [PERIOD_MS]]`: with an endpoint such as `127.0.0.1:80` or
//! `/run/a.sock`, its listeners and processes are watched too; with `--threads`, those of a server of so many threads
//! that is started here and kept lightly busy. Samples are spaced as in a real run, since a cold cache costs more than a
//! warm one, and since what is read once a second must have its share.
//!
//! As root the sampler also watches requests by a BPF program, whose time falls on whoever sends and receives them. The
//! kernel keeps it while this program asks for that.
//!
//! It also says in how many of the rows each kind of column has a value, since what is not read costs nothing.

mod target;

use aya::programs::loaded_programs;
use aya::sys::{Stats, enable_stats};
use std::collections::BTreeMap;
use std::io::Write;
use std::time::{Duration, Instant};
use sysdyno_observe::{ListenerFilter, Sampler, SamplerPlan, clock, describe_process};
use sysdyno_record::event::ProcessRole;
use sysdyno_record::series::{Column, Row, SeriesLine};
use target::LoadedServer;

/// The most that observing may take of one core, by the threads of the server: none, at most so many, more.
const MAX_SHARE_PERCENT: [f64; 3] = [0.5, 1.0, 2.0];
const FEW_THREADS: usize = 200;
/// Samples per second that the share is for.
const RATE_HZ: f64 = 10.0;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.peek().is_some_and(|first| first == target::SERVE_ARGUMENT) {
        return Ok(target::serve(arguments.nth(1).unwrap_or_default().parse()?)?);
    }
    let watched = arguments.next_if(|first| first.parse::<usize>().is_err()).unwrap_or_default();
    let threads = watched.strip_prefix("--threads=").map(str::parse::<usize>).transpose()?;
    let samples: u32 = arguments.next().map_or(Ok(600), |text| text.parse())?;
    let period = Duration::from_millis(arguments.next().map_or(Ok(100), |text| text.parse())?);
    let server = threads.map(LoadedServer::start).transpose()?;
    let endpoint = match &server {
        Some(server) => Some(ListenerFilter::Tcp(server.address)),
        None => (!watched.is_empty()).then(|| parse_endpoint(watched)),
    };
    let own = describe_process(std::process::id(), ProcessRole::Generator)?;
    let plan = SamplerPlan { watch: vec![own], target_port: endpoint, ..SamplerPlan::host() };
    let mut measured = Measured { threads, ..Measured::default() };
    let answers_before = server.as_ref().map(LoadedServer::answers_count);
    let start = Instant::now();
    measured.take_samples(plan, samples, period)?;
    let seconds = start.elapsed().as_secs_f64();
    if let (Some(server), Some(before)) = (&server, answers_before) {
        let rate_hz = (server.answers_count() - before) as f64 / seconds;
        writeln!(std::io::stdout(), "load:             {rate_hz:.0} requests per second")?;
    }
    Ok(measured.report()?)
}

fn parse_endpoint(text: String) -> ListenerFilter {
    match text.parse() {
        Ok(address) => ListenerFilter::Tcp(address),
        Err(_) => ListenerFilter::Unix(text.into()),
    }
}

/// What was measured.
#[derive(Default)]
struct Measured {
    /// Threads of the server that was started for it.
    threads: Option<usize>,
    /// CPU time of the BPF program. Unit: nanoseconds per second of wall time; `None`: there is none.
    bpf_ns_per_second: Option<f64>,
    /// CPU time of each sample. Unit: microseconds.
    costs_us: Vec<f64>,
    /// The kind of each column of the latest header.
    kinds: Vec<String>,
    /// Rows in which a kind of column had a value, and rows in which it had columns.
    rows: BTreeMap<String, [u64; 2]>,
}

impl Measured {
    fn take_samples(&mut self, plan: SamplerPlan, samples: u32, period: Duration) -> Result<(), Failure> {
        // Only as long as this is open; without the right to it there is no program either.
        let _stats = enable_stats(Stats::RunTime).ok();
        let (mut sampler, mut lines) = (Sampler::new(plan)?, Vec::new());
        let start = Instant::now();
        for tick in 0..samples {
            std::thread::sleep((start + period * tick).saturating_duration_since(Instant::now()));
            let before = clock::thread_cpu_ns();
            sampler.sample(&mut lines);
            self.costs_us.push((clock::thread_cpu_ns() - before) as f64 / 1e3);
            for line in lines.drain(..) {
                match line {
                    SeriesLine::Header { columns, .. } => self.kinds = columns.iter().map(kind).collect(),
                    SeriesLine::Row(row) => self.count(&row),
                }
            }
        }
        self.bpf_ns_per_second = bpf_ns().map(|ns| ns as f64 / start.elapsed().as_secs_f64());
        Ok(())
    }

    fn count(&mut self, row: &Row) {
        let mut has_value: BTreeMap<&str, bool> = BTreeMap::new();
        for (kind, value) in self.kinds.iter().zip(&row.values).filter(|(kind, _)| !kind.is_empty()) {
            *has_value.entry(kind).or_default() |= value.is_some();
        }
        for (kind, has_value) in has_value {
            let [rows_with_value, rows] = self.rows.entry(kind.to_owned()).or_default();
            *rows_with_value += u64::from(has_value);
            *rows += 1;
        }
    }

    fn report(mut self) -> std::io::Result<()> {
        self.costs_us.sort_by(f64::total_cmp);
        let count = self.costs_us.len().max(1);
        let mean_us = self.costs_us.iter().sum::<f64>() / count as f64;
        let sampler_percent = mean_us / 1e6 * RATE_HZ * 100.0;
        let bpf_percent = self.bpf_ns_per_second.map(|ns| ns / 1e9 * 100.0);
        let share_percent = sampler_percent + bpf_percent.unwrap_or(0.0);
        let [none, few, many] = MAX_SHARE_PERCENT;
        let limit = self.threads.map_or(none, |threads| if threads <= FEW_THREADS { few } else { many });
        let at = |ratio: f64| {
            self.costs_us.get((self.costs_us.len().saturating_sub(1) as f64 * ratio) as usize).unwrap_or(&0.0)
        };
        let mut out = std::io::stdout().lock();
        writeln!(out, "columns:          {}", self.kinds.len())?;
        writeln!(out, "samples:          {}", self.costs_us.len())?;
        let (median_us, max_us) = (at(0.5), at(1.0));
        writeln!(
            out,
            "CPU per sample:   mean {mean_us:.0} us, median {median_us:.0} us, max {max_us:.0} us"
        )?;
        let bpf = bpf_percent.map_or("not loaded".to_owned(), |percent| format!("{percent:.3}% of one core"));
        writeln!(out, "BPF program:      {bpf}")?;
        writeln!(out, "share at 10 Hz:   {share_percent:.3}% of one core (limit {limit}%)")?;
        let verdict = if share_percent <= limit { "within the limit" } else { "ABOVE the limit" };
        writeln!(out, "verdict:          {verdict}")?;
        for (kind, [rows_with_value, rows]) in &self.rows {
            let percent = *rows_with_value as f64 / *rows as f64 * 100.0;
            writeln!(out, "rows with value:  {percent:5.1}% {kind}")?;
        }
        Ok(())
    }
}

/// Names of the functions of the BPF program, as the kernel lists them.
const BPF_FUNCTIONS: [&str; 3] = ["data_ready", "received", "sent"];

/// The time that they took since they were loaded; `None`: they are not.
fn bpf_ns() -> Option<u128> {
    let ours = loaded_programs().filter_map(Result::ok);
    let ours = ours.filter(|found| found.name_as_str().is_some_and(|name| BPF_FUNCTIONS.contains(&name)));
    let times: Vec<u128> = ours.map(|found| found.run_time().as_nanos()).collect();
    (!times.is_empty()).then(|| times.iter().sum())
}

/// What a column is counted as: its own name where columns of one thing are read at different times, else what stands
/// before the point; empty if it cannot be read on this host.
fn kind(column: &Column) -> String {
    let first = column.name.split('.').next().unwrap_or_default();
    let is_mixed = ["process", "psi", "connections", "cgroup"].contains(&first);
    match column.unavailable {
        Some(_) => String::new(),
        None if is_mixed || column.name == "netdev.speed_mbps" => column.name.clone(),
        None => format!("{first}.*"),
    }
}
