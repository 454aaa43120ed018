//! A squeeze in sentences: made once, here, and shown unchanged everywhere.

use super::elasticity::best;
use crate::format::{cpus, percent, sentence};
use crate::tryout::effect_text;
use sysdyno_record::effect::Effect;
use sysdyno_record::squeeze::{
    Elasticity, ElasticitySum, ResourceKind, ResourceThreshold, RowWord, SqueezeRow, SumWord, may_be_in_list,
};

/// A change as a share with its sign.
fn change(ratio: f64) -> String {
    format!("{:+.1}%", (ratio - 1.0) * 100.0).replace('-', "−")
}

fn number(value: f64) -> String {
    format!("{value:.2}").replace('-', "−")
}

fn interval([low, high]: [f64; 2]) -> String {
    format!("[{}, {}]", number(low), number(high))
}

/// The result in one sentence.
pub(super) fn headline(
    rows: &[SqueezeRow],
    sum: Option<&ElasticitySum>,
    void: &[String],
    thresholds: &[ResourceThreshold],
) -> String {
    if let Some(reason) = void.first() {
        return format!("This says nothing about the server: {reason}");
    }
    let first = rows.iter().find(|row| row.kind.is_ranked() && best(row).is_some());
    let told = match first {
        Some(row) if matches!(row.word, RowWord::Limits | RowWord::Matters) => row.sentence.clone(),
        Some(_) if may_be_in_list(rows, sum) => {
            "Can't tell which resource limits the server: the intervals are too wide. Measure more pairs, or longer windows"
                .to_owned()
        }
        Some(_) => "No resource in the list limits the server".to_owned(),
        None => "No squeeze produced an interval".to_owned(),
    };
    match sum.filter(|sum| sum.word == SumWord::Missing) {
        Some(_) if first.is_none_or(|row| row.word != RowWord::Limits) => {
            format!("{told}; something that is not in it does: {}", missing(rows, thresholds))
        }
        _ => told,
    }
}

/// What can be missing from the list: requests that queue do not wait for a delay, nor for their clients.
fn missing(rows: &[SqueezeRow], thresholds: &[ResourceThreshold]) -> String {
    if let Some(reached) = thresholds.iter().find(|threshold| threshold.is_reached) {
        return reached.sentence.clone();
    }
    let connections = rows.iter().find(|row| row.kind == ResourceKind::Connections);
    match connections.map(|row| row.word) {
        Some(RowWord::Spare) => "a pool or a lock, for which requests queue".to_owned(),
        _ => "a pool, a lock, a delay, or the clients".to_owned(),
    }
}

/// A resource in a sentence.
pub(super) fn row(row: &SqueezeRow) -> String {
    let name = &row.name;
    let Some(found) = best(row) else {
        let void = row.elasticities.iter().find_map(|elasticity| elasticity.void.as_deref());
        return format!("{name}: {}", void.unwrap_or("not measured"));
    };
    if row.kind == ResourceKind::Connections {
        return connections(row.word, found);
    }
    let (depth, loss) = (percent(found.depth_ratio), found.effect.as_ref());
    let loss = loss.map_or_else(String::new, |effect| change(effect.point));
    let used = match (row.used, row.available) {
        (Some(used), Some(available)) if row.kind == ResourceKind::Link => {
            format!("; it carried {used:.0} of {available:.0} Mbit/s")
        }
        (Some(used), _) if row.kind == ResourceKind::Disk => {
            format!("; it did {} of what its limits allow", percent(used))
        }
        (Some(used), Some(available)) => format!("; it used {} of {}", cpus(used), cpus(available)),
        _ => String::new(),
    };
    // Names of programs keep their small letters.
    let name = &match row.kind {
        ResourceKind::Link | ResourceKind::Disk => sentence(name),
        _ => name.clone(),
    };
    match row.word {
        RowWord::Limits => {
            format!("{name} limits the server: {depth} less of it changes the rate by {loss}{used}")
        }
        RowWord::Matters => {
            format!("{name} matters in part: {depth} less of it changes the rate by {loss}{used}")
        }
        RowWord::Spare => format!("{name} has room: {depth} less of it changes the rate by {loss}{used}"),
        RowWord::CannotTell | RowWord::Void => {
            format!("{name}: {depth} less of it changes the rate by {loss}, within what trials vary by")
        }
    }
}

/// What fewer connections say.
fn connections(word: RowWord, found: &Elasticity) -> String {
    let loss = found.effect.as_ref().map_or_else(String::new, |effect| change(effect.point));
    let fewer = format!("{} fewer change the rate by {loss}", percent(found.depth_ratio));
    match word {
        RowWord::Limits => format!("The load has too few connections to fill the server: {fewer}"),
        RowWord::Matters => format!("The number of connections matters in part: {fewer}"),
        RowWord::Spare => format!("There are enough connections: {fewer}"),
        RowWord::CannotTell | RowWord::Void => {
            format!("connections: {fewer}, within what trials vary by")
        }
    }
}

/// What the sum of elasticities says.
pub(super) fn sum(word: SumWord, point: f64, ends: [f64; 2]) -> String {
    let sum = format!("the elasticities sum to {} {}", number(point), interval(ends));
    match word {
        SumWord::Complete => format!("{sum}: the list holds what limits the server"),
        SumWord::Missing => format!(
            "{sum}, less than 1: a resource is missing from the list, such as a lock, a pool, a delay, or the clients"
        ),
        SumWord::Several => format!("{sum}, more than 1: several resources bind at once"),
        SumWord::CannotTell => format!("{sum}, too wide to tell whether a resource is missing"),
    }
}

/// Why a generator that matters makes the run void.
pub(super) fn generator(depth: f64, effect: Option<&Effect>) -> String {
    let loss = effect.map_or_else(String::new, |effect| format!(" by {}", change(effect.point)));
    format!(
        "the generator matters itself: {} less CPU for it changes the rate{loss}; give it other CPUs than the server",
        percent(depth)
    )
}

/// What the placebo says.
pub(super) fn placebo(effect: &Effect, is_warning: bool) -> String {
    let told = effect_text(effect);
    match is_warning {
        true => format!(
            "being put into a control group alone changed the rate: {told}; the squeezes are compared with that"
        ),
        false => format!("being put into a control group alone made no difference that matters: {told}"),
    }
}

/// How the sum compares with the CPUs of the host.
pub(super) fn check(host: [f64; 2], parts: [f64; 2], is_apart: bool) -> String {
    let (host, parts) = (interval(host), interval(parts));
    match is_apart {
        true => {
            format!("all CPUs at once have an elasticity of {host}, but those of their users sum to {parts}")
        }
        false => {
            format!("all CPUs at once have an elasticity of {host}, as those of their users sum to {parts}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_disks_begin_a_sentence_and_programs_keep_their_names() {
        let begins = |kind: ResourceKind, name: &str| {
            let found = Elasticity {
                depth_ratio: 0.2,
                point: Some(1.0),
                interval: Some([0.9, 1.1]),
                effect: None,
                counted: 8,
                dropped: 0,
                stop: None,
                bites: vec![],
                void: None,
            };
            let (available, used) = (Some(100.0), Some(0.95));
            let row = SqueezeRow {
                name: name.into(),
                kind,
                available,
                used,
                elasticities: vec![found],
                word: RowWord::Limits,
                sentence: String::new(),
                gain_at_most_ratio: None,
            };
            let sentence = super::row(&row);
            sentence.split_once(" limits the server: 20% less of it ").map(|(begin, _)| begin.to_owned())
        };
        assert_eq!(begins(ResourceKind::Link, "link eth0").as_deref(), Some("Link eth0"));
        assert_eq!(begins(ResourceKind::Disk, "disk sda").as_deref(), Some("Disk sda"));
        assert_eq!(begins(ResourceKind::Cpu, "nginx CPU").as_deref(), Some("nginx CPU"));
    }
}
