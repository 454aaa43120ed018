//! Measures what sampling costs: CPU time per sample, and its share of one core at ten samples a second.
//!
//! `sampler_cost [ENDPOINT [SAMPLES [PERIOD_MS]]]`: with an endpoint such as `127.0.0.1:80` or `/run/a.sock`, its
//! listeners and processes are watched too. Samples are spaced as in a real run, since a cold cache costs more than a
//! warm one, and since what is read once a second must have its share.

use std::io::Write;
use std::time::{Duration, Instant};
use sysdyno_observe::{ListenerFilter, Sampler, SamplerPlan, clock, describe_process};
use sysdyno_record::event::ProcessRole;
use sysdyno_record::series::SeriesLine;

/// The most that a sampler may take of one core.
const MAX_SHARE_PERCENT: f64 = 0.5;
/// Samples per second that the share is for.
const RATE_HZ: f64 = 10.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let endpoint = arguments.next().filter(|text| !text.is_empty()).map(parse_endpoint);
    let samples: usize = arguments.next().map_or(Ok(200), |text| text.parse())?;
    let period = Duration::from_millis(arguments.next().map_or(Ok(100), |text| text.parse())?);
    let own = describe_process(std::process::id(), ProcessRole::Generator)?;
    let plan = SamplerPlan { watch: vec![own], target_port: endpoint, ..SamplerPlan::host() };
    let mut sampler = Sampler::new(plan)?;
    let (mut costs_us, mut lines, mut columns_count) = (Vec::new(), Vec::new(), 0);
    let start = Instant::now();
    for tick in 0..samples {
        let deadline = start + period * u32::try_from(tick)?;
        std::thread::sleep(deadline.saturating_duration_since(Instant::now()));
        let before = clock::thread_cpu_ns();
        sampler.sample(&mut lines);
        costs_us.push((clock::thread_cpu_ns() - before) as f64 / 1e3);
        for line in lines.drain(..) {
            if let SeriesLine::Header { columns } = line {
                columns_count = columns.len();
            }
        }
    }
    report(&mut costs_us, columns_count)?;
    Ok(())
}

fn parse_endpoint(text: String) -> ListenerFilter {
    match text.parse() {
        Ok(address) => ListenerFilter::Tcp(address),
        Err(_) => ListenerFilter::Unix(text.into()),
    }
}

fn report(costs_us: &mut [f64], columns_count: usize) -> std::io::Result<()> {
    costs_us.sort_by(f64::total_cmp);
    let mean_us = costs_us.iter().sum::<f64>() / costs_us.len().max(1) as f64;
    let share_percent = mean_us / 1e6 * RATE_HZ * 100.0;
    let at = |ratio: f64| costs_us[((costs_us.len() - 1) as f64 * ratio) as usize];
    let mut out = std::io::stdout().lock();
    writeln!(out, "columns:        {columns_count}")?;
    writeln!(out, "samples:        {}", costs_us.len())?;
    writeln!(out, "CPU per sample: mean {mean_us:.0} us, median {:.0} us, max {:.0} us", at(0.5), at(1.0))?;
    writeln!(out, "share at 10 Hz: {share_percent:.3} % of one core (limit {MAX_SHARE_PERCENT} %)")?;
    let verdict = if share_percent <= MAX_SHARE_PERCENT { "within the limit" } else { "ABOVE the limit" };
    writeln!(out, "{verdict}")
}
