//! Letter groups: sides that share a letter cannot be told apart.
//!
//! All pairs are compared, their p adjusted by Holm's method. In the blocks of an experiment, a side is told from the first by its
//! interval, so that letters and words agree, and each side also from the best, by J. Hsu's multiple comparisons. Letters are given
//! by insertion and absorption (H.-P. Piepho, *Journal of Computational and Graphical Statistics* 13, 2004): one group of all sides
//! is split for each pair that differs, and groups within another are dropped. Sharing a letter is no proof that two are the same.

use super::blocks::Blocks;
use super::effect::{ALPHA, effect};
use super::metric::{ComparedMetric, MeasuredSide};
use std::collections::BTreeSet;
use sysdyno_stats::multiplicity::holm;

/// Letters by side; empty for sides without one, and no list at all with fewer than three to compare.
pub(super) fn letters(
    measured: &[MeasuredSide],
    refused: &[bool],
    metric: &ComparedMetric,
    blocks: Option<&Blocks>,
) -> Vec<String> {
    let is_usable = |side: &usize| {
        !refused[*side] && measured[*side].missing.is_none() && !measured[*side].runs.is_empty()
    };
    let mut sides: Vec<usize> = (0..measured.len()).filter(is_usable).collect();
    if sides.len() < 3 {
        return Vec::new();
    }
    // The best side has the letter a.
    let level = |side: usize| measured[side].logs().iter().sum::<f64>() / measured[side].runs.len() as f64;
    let sign = if metric.better == sysdyno_record::effect::Better::Higher { -1.0 } else { 1.0 };
    sides.sort_by(|one, other| (sign * level(*one)).total_cmp(&(sign * level(*other))));
    let pairs: Vec<[usize; 2]> =
        (0..sides.len()).flat_map(|one| (one + 1..sides.len()).map(move |other| [one, other])).collect();
    let p: Vec<f64> = pairs
        .iter()
        .map(|[one, other]| {
            let (one, other) = (sides[*one], sides[*other]);
            let by_runs = || effect(&measured[one], &measured[other], metric, metric.margin.value).p();
            blocks.and_then(|blocks| blocks.p(one, other)).or_else(by_runs).unwrap_or(1.0)
        })
        .collect();
    let beaten = blocks.map_or_else(Vec::new, |blocks| blocks.beaten(metric.better));
    let is_beaten = |[one, other]: &[usize; 2]| *one == 0 && beaten.contains(&sides[*other]);
    let is_different = |pair: &[usize; 2], p: f64| {
        let [one, other] = pair.map(|position| sides[position]);
        let by_interval =
            blocks.filter(|_| one.min(other) == 0).and_then(|blocks| blocks.is_apart(one.max(other)));
        by_interval.unwrap_or(p < ALPHA) || is_beaten(pair)
    };
    let different =
        pairs.iter().zip(holm(&p)).filter(|(pair, p)| is_different(pair, *p)).map(|(pair, _)| *pair);
    let groups = groups(sides.len(), different);
    let mut letters = vec![String::new(); measured.len()];
    for (letter, group) in ('a'..='z').zip(&groups) {
        group.iter().for_each(|position| letters[sides[*position]].push(letter));
    }
    letters
}

/// The greatest sets of positions in which no pair is different, in the order of their first members.
fn groups(count: usize, different: impl Iterator<Item = [usize; 2]>) -> Vec<BTreeSet<usize>> {
    let mut groups: Vec<BTreeSet<usize>> = vec![(0..count).collect()];
    for [one, other] in different {
        let mut split = Vec::new();
        for group in groups {
            if group.contains(&one) && group.contains(&other) {
                for left_out in [one, other] {
                    split.push(
                        group.iter().copied().filter(|member| *member != left_out).collect::<BTreeSet<_>>(),
                    );
                }
            } else {
                split.push(group);
            }
        }
        split.sort();
        split.dedup();
        let is_within =
            |group: &BTreeSet<usize>| split.iter().any(|wider| wider != group && group.is_subset(wider));
        groups = split.iter().filter(|group| !is_within(group)).cloned().collect();
    }
    groups.sort();
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(count: usize, different: &[[usize; 2]], expected: &[&[usize]]) {
        let expected: Vec<BTreeSet<usize>> =
            expected.iter().map(|group| group.iter().copied().collect()).collect();
        assert_eq!(groups(count, different.iter().copied()), expected);
    }

    #[test]
    fn sides_that_differ_share_no_letter_and_all_others_do() {
        check(3, &[], &[&[0, 1, 2]]);
        check(3, &[[0, 2]], &[&[0, 1], &[1, 2]]);
        check(3, &[[0, 1], [0, 2], [1, 2]], &[&[0], &[1], &[2]]);
        check(4, &[[0, 2], [0, 3], [1, 3]], &[&[0, 1], &[1, 2], &[2, 3]]);
        check(4, &[[0, 3], [1, 3], [2, 3]], &[&[0, 1, 2], &[3]]);
    }
}
