//! The facts of one host, in groups.

use super::{Amount, column, cut, value};
use crate::escape;
use crate::number;
use crate::terminal::{Style, Tone};
use std::cmp::Reverse;
use sysdyno_record::facts::{Fact, HostFacts};

/// Facts that are printed unless all are asked for: those that matter most, which with their headings fit a screen.
pub const FACTS_MAX: usize = 15;

/// Most facts of one group among them: every kind of fact has its say.
const GROUP_FACTS_MAX: usize = 4;

/// Widest column of names.
const NAME_COLUMNS: usize = 44;

/// Groups in the order in which they are printed; those that are not here follow by name.
const GROUPS: &[&str] = &[
    "machine",
    "distribution",
    "kernel",
    "clock",
    "cpu",
    "numa",
    "memory",
    "cgroup",
    "limits",
    "load",
    "disk",
    "filesystem",
    "nic",
    "irq",
    "sysctl",
];

/// The facts of a host; on a screen those that weigh most, and how many there are besides. Ends with a newline.
pub fn sheet(facts: &HostFacts, amount: Amount, weight: &dyn Fn(&str) -> u8, style: &Style) -> String {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (name, fact) in &facts.facts {
        let (kind, rest) = name.split_once('.').unwrap_or(("", name));
        if groups.last().is_none_or(|group| group.kind != kind) {
            groups.push(Group { kind, rows: Vec::new() });
        }
        let group = groups.last_mut().expect("one was just pushed");
        if amount == Amount::All || !matches!(fact, Fact::Unavailable(_)) {
            group.rows.push(Row { name, rest, fact });
        }
    }
    let place =
        |group: &Group<'_>| GROUPS.iter().position(|kind| *kind == group.kind).unwrap_or(GROUPS.len());
    groups.sort_by_key(place);
    if amount == Amount::All {
        let texts: Vec<String> = groups.iter().map(|group| group.draw(style)).collect();
        return texts.join("\n");
    }
    keep_heaviest(&mut groups, weight);
    let shown: usize = groups.iter().map(|group| group.rows.len()).sum();
    let mut text: String = groups.iter().map(|group| group.draw(style)).collect();
    let left = facts.facts.len() - shown;
    if left > 0 {
        let line = format!(
            "{} more: --all prints all of them, --only 'cpu.*' one group",
            number::count(left as u64)
        );
        text.push_str(&format!("{}\n", style.dress(Tone::Quiet, &cut(&line, style.width(), style))));
    }
    text
}

/// Leaves the facts that weigh most, a few of each group.
fn keep_heaviest(groups: &mut Vec<Group<'_>>, weight: &dyn Fn(&str) -> u8) {
    for group in groups.iter_mut() {
        group.rows.sort_by_cached_key(|row| Reverse(weight(row.name)));
        group.rows.truncate(GROUP_FACTS_MAX);
    }
    let mut weights: Vec<u8> =
        groups.iter().flat_map(|group| &group.rows).map(|row| weight(row.name)).collect();
    weights.sort_unstable_by_key(|weight| Reverse(*weight));
    let least = weights.get(FACTS_MAX - 1).copied().unwrap_or(0);
    // Of those that weigh as little as the last one, as many as there is room for.
    let mut room = FACTS_MAX - weights.iter().filter(|weight| **weight > least).count().min(FACTS_MAX);
    for group in groups.iter_mut() {
        group.rows.retain(|row| {
            let has_room = weight(row.name) == least && room > 0;
            room -= usize::from(has_room);
            weight(row.name) > least || has_room
        });
        group.rows.sort_by_key(|row| row.name);
    }
    groups.retain(|group| !group.rows.is_empty());
}

/// Facts whose names begin alike.
struct Group<'a> {
    kind: &'a str,
    rows: Vec<Row<'a>>,
}

struct Row<'a> {
    name: &'a str,
    rest: &'a str,
    fact: &'a Fact,
}

impl Group<'_> {
    fn draw(&self, style: &Style) -> String {
        let width = style.width();
        let mut text = style.dress(Tone::Strong, &cut(self.kind, width, style));
        text.push('\n');
        let longest = self.rows.iter().map(|row| escape::width(&cut(row.rest, NAME_COLUMNS, style))).max();
        let name_columns = longest.unwrap_or(0);
        for row in &self.rows {
            let name = column(row.rest, name_columns, style);
            let shown = cut(&value::shown(row.name, row.fact), width - name_columns - 4, style);
            text.push_str(&format!("  {name}  {shown}\n"));
        }
        text
    }
}
