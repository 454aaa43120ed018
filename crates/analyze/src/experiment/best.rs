//! The first sentence of an experiment: which variant is best by the deciding metric, and what remains open.

use crate::format;
use sysdyno_record::comparison::{ComparedSide, MetricComparison, RunsComparison};
use sysdyno_record::effect::Better;

/// Which variant is best; `None`: fewer than three can be compared, or none with the first.
pub(super) fn headline(comparison: &RunsComparison) -> Option<String> {
    let metric = comparison.operations.first()?.metrics.first()?;
    headline_of(&comparison.sides, metric)
}

fn headline_of(sides: &[ComparedSide], metric: &MetricComparison) -> Option<String> {
    // Without a letter: refused, or without a value.
    let compared: Vec<usize> =
        (0..metric.letters.len()).filter(|side| !metric.letters[*side].is_empty()).collect();
    if sides.first()?.is_refused || compared.len() < 3 {
        return None;
    }
    let (side, median) = best(metric, &compared)?;
    let alike: Vec<String> = compared
        .iter()
        .filter(|other| **other != side && share_a_letter(metric, side, **other))
        .map(|other| sides[*other].letter.clone())
        .collect();
    let without_count = sides.len() - compared.len();
    if alike.len() + 1 == sides.len() {
        return Some(format!("No variant differs from the best in {}", metric.title));
    }
    let rest = match (alike.as_slice(), without_count) {
        ([], 0) => "all others differ from it".to_owned(),
        ([], _) => "all comparable others differ from it".to_owned(),
        (alike, _) => format!("{} cannot be told apart from it", format::list(alike)),
    };
    let without = match without_count {
        0 => String::new(),
        count => format!("; {count} of {} were not comparable", sides.len()),
    };
    let at_least = if metric.sides[side].is_lower_bound { "at least " } else { "" };
    let value = match (metric.unit, metric.metric) {
        ("hz", "operations") => format!("{at_least}{} operations/s", format::rate(median)),
        ("hz", _) => format!("{at_least}{} req/s", format::rate(median)),
        _ => format::duration(median),
    };
    let direction = if metric.better == Better::Higher { "highest" } else { "lowest" };
    let (title, letter, name) = (metric.title, &sides[side].letter, format::name(&sides[side].name));
    Some(format!("The {title} is {direction} in {letter}, {name}: {value}; {rest}{without}"))
}

/// The best of these sides with its median.
fn best(metric: &MetricComparison, compared: &[usize]) -> Option<(usize, f64)> {
    let sign = if metric.better == Better::Higher { 1.0 } else { -1.0 };
    // What is at least so much may be any more: it is the highest, or it is not the lowest.
    let can_be = |side: &&usize| {
        let is_bound = metric.sides.get(**side).is_some_and(|values| values.is_lower_bound);
        !is_bound || metric.better == Better::Higher
    };
    let known = compared.iter().filter(can_be);
    let medians = known.filter_map(|side| Some((*side, metric.sides.get(*side)?.median?)));
    medians.max_by(|one, other| (sign * one.1).total_cmp(&(sign * other.1)))
}

fn share_a_letter(metric: &MetricComparison, one: usize, other: usize) -> bool {
    metric.letters[one].chars().any(|letter| metric.letters[other].contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::comparison::SideValues;

    /// The sentence on variants of these medians and letters; without a letter: refused.
    fn told(better: Better, variants: &[(f64, &str)]) -> Option<String> {
        told_of(["goodput", "goodput"], better, variants)
    }

    fn told_of(
        [metric, title]: [&'static str; 2],
        better: Better,
        variants: &[(f64, &str)],
    ) -> Option<String> {
        let sides = ('A'..).zip(variants).map(|(letter, (_, group))| ComparedSide {
            letter: letter.into(),
            name: format!("v{letter}"),
            is_refused: group.is_empty(),
            runs: Vec::new(),
        });
        let values = variants.iter().map(|(median, _)| SideValues {
            median: Some(*median),
            is_lower_bound: false,
            runs: Vec::new(),
            missing: None,
        });
        let letters: Vec<String> = variants.iter().map(|(_, group)| (*group).to_owned()).collect();
        let metric = MetricComparison {
            metric,
            title,
            unit: "hz",
            better,
            margin_ratio: 0.03,
            sides: values.collect(),
            effects: Vec::new(),
            scatter: None,
            letters,
        };
        headline_of(&sides.collect::<Vec<_>>(), &metric)
    }

    #[test]
    fn the_best_is_named_with_what_cannot_be_told_from_it() {
        let check = |variants: &[(f64, &str)], text: &str| {
            assert_eq!(told(Better::Higher, variants).as_deref(), Some(text));
        };
        check(
            &[(10.0, "c"), (30.0, "a"), (20.0, "b")],
            "The goodput is highest in B, vB: 30.0 req/s; all others differ from it",
        );
        check(
            &[(10.0, "b"), (30.0, "a"), (29.0, "ab")],
            "The goodput is highest in B, vB: 30.0 req/s; C cannot be told apart from it",
        );
        check(&[(10.0, "a"), (30.0, "a"), (29.0, "a")], "No variant differs from the best in goodput");
        let users = told_of(
            ["operations", "rate of operations"],
            Better::Higher,
            &[(10.0, "b"), (30.0, "a"), (20.0, "b")],
        );
        let text = "The rate of operations is highest in B, vB: 30.0 operations/s; all others differ from it";
        assert_eq!(users.as_deref(), Some(text));
        let least = told(Better::Lower, &[(10.0, "a"), (30.0, "b"), (20.0, "b")]);
        assert!(least.is_some_and(|text| text.starts_with("The goodput is lowest in A")));
    }

    #[test]
    fn what_is_refused_is_not_the_best_and_is_counted() {
        let told = |variants| told(Better::Higher, variants);
        let three = [(10.0, "b"), (30.0, "a"), (20.0, "b"), (99.0, "")];
        assert_eq!(
            told(&three).as_deref(),
            Some(
                "The goodput is highest in B, vB: 30.0 req/s; all comparable others differ from it; 1 of 4 \
                 were not comparable"
            )
        );
        assert_eq!(
            told(&[(10.0, ""), (30.0, "a"), (20.0, "b"), (5.0, "c")]),
            None,
            "all are seen from the first"
        );
        assert_eq!(told(&[(10.0, "a"), (30.0, ""), (20.0, "")]), None);
    }
}
