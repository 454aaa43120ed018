//! Lists the differences between two hosts, the ones most likely to matter to a workload first.
//!
//! Facts are compared by name, after names that are assigned by chance have been aligned (`aligned`). An object (interface,
//! disk, file system, interrupt) that only one host has counts as one difference, however many facts it has. Facts without
//! a rule come last. Only meaningless facts are dropped ([`LEFT_OUT`]), and they are counted.

mod aligned;
mod left_out;
mod pattern;
mod rules;

#[cfg(test)]
mod tests;

pub use left_out::{LEFT_OUT, LeftOut};
pub use pattern::matches;
pub use rules::{FACT_RULES, FactRule, Weights};

use aligned::{aligned, object};

use crate::threshold::{HOUSE, Threshold};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use sysdyno_record::facts::{Fact, FactDifference, FactsComparison, HostFacts, HostUse, LeftOutFact};

/// Numbers that are closer than this weigh 1: firmware takes some of the memory of like machines.
pub const NEARLY_SAME: Threshold =
    Threshold::new("difference between two numbers that hardly matters", 0.01, "ratio", HOUSE);

/// A difference with its place among those of the same weight.
struct Ranked {
    difference: FactDifference,
    place: usize,
}

/// Compares the facts of two hosts.
pub fn compare(a: &HostFacts, b: &HostFacts, workload: HostUse) -> FactsComparison {
    let [a, b] = aligned(a, b);
    let (objects_a, objects_b) = (objects(&a), objects(&b));
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let mut ranked = Vec::new();
    let mut left_out = Vec::new();
    let mut same_count = 0;
    for name in names {
        let (one, other) = (a.get(name), b.get(name));
        let is_of_lone_object = object(name)
            .is_some_and(|object| objects_a.contains_key(object) != objects_b.contains_key(object));
        if is_same(one, other) {
            same_count += 1;
        } else if let Some(reason) = left_out::reason(name) {
            left_out.push(LeftOutFact { name: name.clone(), reason });
        } else if !is_of_lone_object {
            ranked.push(rank(name, one.cloned(), other.cloned(), workload));
        }
    }
    for (object, facts_count) in lone(&objects_a, &objects_b) {
        ranked.push(rank(object, Some(there(facts_count)), None, workload));
    }
    for (object, facts_count) in lone(&objects_b, &objects_a) {
        ranked.push(rank(object, None, Some(there(facts_count)), workload));
    }
    ranked.sort_by_cached_key(|ranked| {
        (Reverse(ranked.difference.weight), ranked.place, ranked.difference.name.clone())
    });
    let differences = ranked.into_iter().map(|ranked| ranked.difference).collect();
    FactsComparison { workload, differences, same_count, left_out }
}

/// How much a difference of this fact would matter to a workload, from 0 to 10.
pub fn weight(name: &str, workload: HostUse) -> u8 {
    rules::find(name).map_or(0, |(_, rule)| rule.weights.of(workload))
}

/// Objects of the one host of which something is known and that the other lacks.
fn lone<'a>(
    ours: &'a BTreeMap<&str, u64>,
    theirs: &'a BTreeMap<&str, u64>,
) -> impl Iterator<Item = (&'a str, u64)> {
    let lone = ours.iter().filter(|(object, count)| **count > 0 && !theirs.contains_key(*object));
    lone.map(|(object, count)| (*object, *count))
}

fn there(facts_count: u64) -> Fact {
    Fact::Text(if facts_count == 1 { "1 fact".into() } else { format!("{facts_count} facts") })
}

/// A fact that is missing on both sides is the same, whatever the reasons.
fn is_same(a: Option<&Fact>, b: Option<&Fact>) -> bool {
    let known = |fact: Option<&Fact>| fact.filter(|fact| !matches!(fact, Fact::Unavailable(_))).cloned();
    known(a) == known(b)
}

fn rank(name: &str, a: Option<Fact>, b: Option<Fact>, workload: HostUse) -> Ranked {
    let found = rules::find(name);
    let full = found.map_or(0, |(_, rule)| rule.weights.of(workload));
    let is_unavailable = |fact: &Option<Fact>| matches!(fact, Some(Fact::Unavailable(_)));
    let weight = match (&a, &b) {
        (Some(Fact::Number(one)), Some(Fact::Number(other))) if is_near(*one, *other) => full.min(1),
        // It may be the same, and only not to be read.
        _ if is_unavailable(&a) || is_unavailable(&b) => full.div_ceil(2),
        _ => full,
    };
    let known = found.map(|(_, rule)| rule.known);
    let place = found.map_or(usize::MAX, |(place, _)| place);
    Ranked { difference: FactDifference { name: name.to_owned(), a, b, weight, known }, place }
}

fn is_near(one: f64, other: f64) -> bool {
    (one - other).abs() <= NEARLY_SAME.value * one.abs().max(other.abs())
}

/// Objects, and how many facts that are known each has.
fn objects(facts: &BTreeMap<String, Fact>) -> BTreeMap<&str, u64> {
    let mut found = BTreeMap::new();
    for (name, fact) in facts {
        if let Some(object) = object(name) {
            *found.entry(object).or_default() += u64::from(!matches!(fact, Fact::Unavailable(_)));
        }
    }
    found
}
