//! The facts of one host, in groups.

use super::{Amount, column, cut, value};
use crate::escape;
use crate::number;
use crate::terminal::{Style, Tone};
use std::cmp::Reverse;
use sysdyno_record::facts::{Fact, HostFacts};

/// Most facts of a group that are printed unless all are asked for: a group fits a screen.
pub const GROUP_LINES: usize = 20;

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

/// The facts of a host. Of a group that fits no screen, those that weigh most are printed.
/// Ends with a newline.
pub fn sheet(facts: &HostFacts, amount: Amount, weight: &dyn Fn(&str) -> u8, style: &Style) -> String {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (name, fact) in &facts.facts {
        let (kind, rest) = name.split_once('.').unwrap_or(("", name));
        if groups.last().is_none_or(|group| group.kind != kind) {
            groups.push(Group { kind, rows: Vec::new(), missing_count: 0, left_count: 0 });
        }
        let group = groups.last_mut().expect("one was just pushed");
        if amount == Amount::Screen && matches!(fact, Fact::Unavailable(_)) {
            group.missing_count += 1;
        } else {
            group.rows.push(Row { name, rest, fact });
        }
    }
    let place =
        |group: &Group<'_>| GROUPS.iter().position(|kind| *kind == group.kind).unwrap_or(GROUPS.len());
    groups.sort_by_key(place);
    if amount == Amount::Screen {
        groups.iter_mut().for_each(|group| group.shorten(weight));
    }
    let texts: Vec<String> = groups.iter().map(|group| group.draw(style)).collect();
    texts.join("\n")
}

/// Facts whose names begin alike.
struct Group<'a> {
    kind: &'a str,
    rows: Vec<Row<'a>>,
    /// Facts that could not be read and are not printed.
    missing_count: usize,
    /// Facts that are not printed for want of room.
    left_count: usize,
}

struct Row<'a> {
    name: &'a str,
    rest: &'a str,
    fact: &'a Fact,
}

impl Group<'_> {
    fn shorten(&mut self, weight: &dyn Fn(&str) -> u8) {
        if self.rows.len() <= GROUP_LINES {
            return;
        }
        self.left_count = self.rows.len() - GROUP_LINES;
        self.rows.sort_by_cached_key(|row| Reverse(weight(row.name)));
        self.rows.truncate(GROUP_LINES);
        self.rows.sort_by_key(|row| row.name);
    }

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
        text.push_str(&self.rest(style));
        text
    }

    /// What is not printed.
    fn rest(&self, style: &Style) -> String {
        let told = [(self.left_count, "more"), (self.missing_count, "not available")];
        let parts: Vec<String> = told
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{} {what}", number::count(*count as u64)))
            .collect();
        if parts.is_empty() {
            return String::new();
        }
        let line = format!("  … {}; --only '{}.*' prints all", parts.join(", "), self.kind);
        format!("{}\n", style.dress(Tone::Quiet, &cut(&line, style.width(), style)))
    }
}
