//! The sum test: the elasticities of all rates sum up to 1 where capacity is smooth.

use super::elasticity::{best, is_idle};
use super::sentence;
use sysdyno_record::squeeze::{Elasticity, ElasticitySum, ResourceKind, SqueezeRow, SumWord};

/// How far from 1 the whole interval has to be for a sum to be less, or more. House value.
const APART: f64 = 0.15;

/// Within this distance of 1, the whole interval says that the sum is 1. House value.
const NEAR: f64 = 0.3;

/// The sum over rows; `None`: there is none to sum up, or one was not measured.
pub(super) fn sum(rows: &[SqueezeRow]) -> Option<ElasticitySum> {
    let rates: Vec<&SqueezeRow> = rows.iter().filter(|row| row.kind.is_in_sum()).collect();
    let known: Vec<&Elasticity> = rates.iter().filter_map(|row| best(row)).collect();
    // What uses no CPU cannot matter by it.
    let is_missing = |row: &&&SqueezeRow| best(row).is_none() && !row.elasticities.iter().any(is_idle);
    // The generator alone says nothing of the server.
    let is_of_server = rates.iter().any(|row| row.kind != ResourceKind::Generator);
    if known.is_empty() || !is_of_server || rates.iter().any(|row| is_missing(&row)) {
        return None;
    }
    let point: f64 = known.iter().filter_map(|one| one.point).sum();
    // Independent errors add up by their squares.
    let reach = |end: usize| {
        let squares = known.iter().filter_map(|one| Some((one.interval?[end] - one.point?).powi(2)));
        squares.sum::<f64>().sqrt()
    };
    let interval = [point - reach(0), point + reach(1)];
    let word = word(interval);
    let rates_count = known.len() as u32;
    let sentence = sentence::sum(word, point, interval);
    Some(ElasticitySum { point, interval, rates_count, word, sentence })
}

fn word([low, high]: [f64; 2]) -> SumWord {
    if high < 1.0 - APART {
        SumWord::Missing
    } else if low > 1.0 + APART {
        SumWord::Several
    } else if low >= 1.0 - NEAR && high <= 1.0 + NEAR {
        SumWord::Complete
    } else {
        SumWord::CannotTell
    }
}
