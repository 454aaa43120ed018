//! The machines that one experiment ran on: what each has, and what differs between them.

use crate::escape;
use crate::facts::pair;
use crate::number;
use crate::terminal::{Rank, Screen, Tone};
use sysdyno_record::comparison::{HostShown, HostsShown, PowerSource, RunsComparison};
use sysdyno_record::facts::{Fact, FactDifference};

/// Differences that are printed for each machine.
const DIFFERENCES_MAX: usize = 6;
/// Columns of a fact's value.
const VALUE_COLUMNS: usize = 60;
/// Columns of a machine's name.
const NAME_COLUMNS: usize = 40;

/// Each machine with its name and its size.
pub(super) fn draw(comparison: &RunsComparison, shown: &HostsShown, screen: &mut Screen) {
    screen.row(
        Rank::Useful,
        (Tone::Quiet, "Experiment"),
        &[(Tone::Plain, &escape::terminal(&shown.experiment, NAME_COLUMNS))],
    );
    for host in &shown.hosts {
        let Some(side) = comparison.sides.get(host.side) else { continue };
        let name = escape::terminal(&side.name, NAME_COLUMNS);
        screen.sentence(
            Rank::Needed,
            (Tone::Strong, &side.letter),
            (Tone::Plain, &format!("{name}: {}", described(host))),
        );
    }
    screen.gap();
}

/// `AMD EPYC, x86_64, 0.5 of 2 cores, 2.45 GHz, power by RAPL`.
fn described(host: &HostShown) -> String {
    let cores = match (host.cores_count, host.cpus_count) {
        (Some(cores), Some(cpus)) => {
            format!("{} for the server, of a machine with {}", counted(cores, "core"), counted(cpus, "CPU"))
        }
        (None, Some(cpus)) => counted(cpus, "CPU"),
        (_, None) => "unknown number of CPUs".to_owned(),
    };
    let emulator = host.emulator.as_ref().map(|emulator| format!("emulated: {emulator}"));
    let frequency = match (host.frequency_ghz, &host.emulator) {
        (Some(ghz), _) => format!("{} GHz", number::significant(ghz, 3)),
        (None, Some(_)) => "no frequency".to_owned(),
        (None, None) => "unknown frequency".to_owned(),
    };
    let power = match host.power {
        Some(PowerSource::Rapl) => "power by RAPL",
        Some(PowerSource::Meter) => "power by a meter",
        None => "no power readings",
    };
    let parts = [
        emulator,
        host.cpu.clone(),
        host.architecture.clone(),
        Some(cores),
        Some(frequency),
        Some(power.to_owned()),
        host.kernel.as_ref().map(|kernel| format!("Linux {kernel}")),
    ];
    parts.into_iter().flatten().collect::<Vec<String>>().join(", ")
}

fn counted(count: f64, noun: &str) -> String {
    let plural = if count == 1.0 { "" } else { "s" };
    let digits =
        if count.fract() == 0.0 { number::count(count as u64) } else { number::significant(count, 2) };
    format!("{digits} {noun}{plural}")
}

/// The differences that are most likely to matter, each with the reason.
pub(super) fn draw_differences(comparison: &RunsComparison, screen: &mut Screen) {
    for machine in &comparison.machines {
        let letter = &comparison.sides[machine.side].letter;
        let noun = if machine.count == 1 { "fact differs" } else { "facts differ" };
        let text =
            format!("{} {noun} between A and {letter}, most important first", number::count(machine.count));
        screen.sentence(Rank::Useful, (Tone::Quiet, "Machines"), (Tone::Plain, &text));
        // A fact that only one machine tells says less than two that differ: those are in the report.
        let both = |one: &&FactDifference| is_known(one.a.as_ref()) && is_known(one.b.as_ref());
        let ranked = machine.differences.iter().filter(|one| one.weight > 0).filter(both);
        for difference in ranked.take(DIFFERENCES_MAX) {
            let [a, b] = pair(&difference.name, difference.a.as_ref(), difference.b.as_ref())
                .map(|value| escape::terminal(&value, VALUE_COLUMNS));
            let why = difference.known.map_or(String::new(), |known| format!(": {}", known.why));
            let text = format!("{}: A {a} · {letter} {b}{why}", difference.name);
            screen.sentence(Rank::Extra, (Tone::Plain, ""), (Tone::Plain, &text));
        }
    }
    if !comparison.machines.is_empty() {
        screen.gap();
    }
}

fn is_known(fact: Option<&Fact>) -> bool {
    fact.is_some_and(|fact| !matches!(fact, Fact::Unavailable(_)))
}
