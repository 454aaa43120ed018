//! The differences between two hosts, the most important line first.

use super::{Amount, cut, value};
use crate::escape;
use crate::number;
use crate::terminal::{Style, Tone, wrap};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use sysdyno_record::facts::{COMPARISON_SCHEMA, FactDifference, FactsComparison, HostUse};

/// Differences that are printed unless all are asked for.
const SCREEN_DIFFERENCES: usize = 10;
/// Columns of the rank before a name.
const RANK_COLUMNS: usize = 5;

/// The differences between hosts of these names, most likely to matter first, and what was not printed. Ends with a
/// newline.
pub fn differences(comparison: &FactsComparison, names: [&str; 2], amount: Amount, style: &Style) -> String {
    let all = &comparison.differences;
    let shown_count = if amount == Amount::All { all.len() } else { all.len().min(SCREEN_DIFFERENCES) };
    let mut told = BTreeSet::new();
    let mut text = String::new();
    for (index, difference) in all[..shown_count].iter().enumerate() {
        text.push_str(&draw(index + 1, difference, style));
        if let Some(known) = difference.known.filter(|known| told.insert(known.rule)) {
            let what = format!("{} {}: {} ({})", known.rule, known.what, known.why, known.source);
            for line in wrap(&style.characters(&what), style.width() - RANK_COLUMNS) {
                let line = style.dress(Tone::Quiet, &style.characters(&line));
                text.push_str(&format!("{:RANK_COLUMNS$}{line}\n", ""));
            }
        }
    }
    let mut line = |line: &str| text.push_str(&format!("{}\n", cut(line, style.width(), style)));
    if shown_count > 0 {
        line("");
    }
    line(&summary(comparison, all.len() - shown_count));
    for (letter, name) in ["A", "B"].iter().zip(names) {
        line(&format!("{letter} is {name}"));
    }
    text
}

fn draw(rank: usize, difference: &FactDifference, style: &Style) -> String {
    let width = style.width();
    let [a, b] = value::pair(&difference.name, difference.a.as_ref(), difference.b.as_ref());
    let rule = difference.known.map_or("no rule for it", |_| "");
    let name = cut(&difference.name, width - RANK_COLUMNS, style);
    let values = format!("A {a} · B {b}");
    let one_line = format!("{values}{}{rule}", if rule.is_empty() { "" } else { " · " });
    let left = (width - RANK_COLUMNS).saturating_sub(escape::width(&name) + 2);
    let dressed = style.dress(Tone::Strong, &name);
    let shown = style.characters(&escape::terminal(&one_line, usize::MAX));
    if escape::width(&shown) <= left {
        return format!("{rank:>3}  {dressed}  {shown}\n");
    }
    let side = |letter: &str, value: &str| {
        let value = cut(&format!("{letter} {value}"), width - RANK_COLUMNS, style);
        format!("{:RANK_COLUMNS$}{value}\n", "")
    };
    let rule = if escape::width(rule) <= left { rule } else { "" };
    format!("{}\n{}{}", format!("{rank:>3}  {dressed}  {rule}").trim_end(), side("A", &a), side("B", &b))
}

/// How many differences there are, and how many of what was not printed.
fn summary(comparison: &FactsComparison, left_count: usize) -> String {
    let count = |count: usize| number::count(count as u64);
    let mut text = match comparison.differences.len() {
        0 => "no differences".to_owned(),
        1 => "1 difference".to_owned(),
        many => format!("{} differences", count(many)),
    };
    text.push_str(&format!(", ranked for {}", workload(comparison.workload)));
    if left_count > 0 {
        text.push_str(&format!("; {} more with --all", count(left_count)));
    }
    text.push_str(&format!("; {} facts are equal", number::count(comparison.same_count)));
    if !comparison.left_out.is_empty() {
        text.push_str(&format!(", {} ignored", count(comparison.left_out.len())));
    }
    text
}

fn workload(workload: HostUse) -> &'static str {
    match workload {
        HostUse::Web => "a web server",
        HostUse::Files => "work with many files",
        HostUse::Memory => "an in-memory data server",
        HostUse::Any => "any workload",
    }
}

/// What `sysdyno facts A B --json` prints.
pub fn comparison_document(comparison: &FactsComparison, names: [&str; 2]) -> Value {
    json!({
        "schema": COMPARISON_SCHEMA,
        "a": names[0],
        "b": names[1],
        "workload": comparison.workload,
        "differences": comparison.differences,
        "same_count": comparison.same_count,
        "left_out": comparison.left_out,
    })
}
