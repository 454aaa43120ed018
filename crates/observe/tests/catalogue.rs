//! One catalogue of columns: what the collectors list is in it, and the page of the format describes it and nothing else. Rules
//! name columns by its constants only.

use std::path::PathBuf;
use sysdyno_observe::{Roots, Sampler, SamplerPlan};
use sysdyno_record::column::{self, QUANTITIES, Quantity};
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::plan::Endpoint;
use sysdyno_record::series::{Column, ReadingKind, SeriesLine};

fn here() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The columns of a recorded tree with one process.
fn columns(tree: &str, pid: u32, start_ticks: u64) -> Vec<Column> {
    let process = WatchedProcess::new(pid, start_ticks, "x", ProcessRole::Target);
    let roots = Roots::at(here().join("tests/fixtures").join(tree));
    let plan = SamplerPlan {
        roots,
        watch: vec![process],
        target_port: Some(Endpoint::Tcp(([127, 0, 0, 1], 80).into())),
        ..SamplerPlan::host()
    };
    let mut lines = Vec::new();
    Sampler::new(plan).expect("a tree can be sampled").sample(&mut lines);
    let header = lines.into_iter().find_map(|line| match line {
        SeriesLine::Header { columns, .. } => Some(columns),
        SeriesLine::Row(_) => None,
    });
    header.expect("a header comes first")
}

/// A row of the page: the names in it, and its other cells.
struct Described {
    names: Vec<String>,
    scope: String,
    unit: String,
    kind: String,
    source: String,
}

/// The rows of the page, with shortened names written out and "the same" replaced by what is meant.
fn described() -> Vec<Described> {
    let page = here().join("../../docs/reference/formats/series.md");
    let text = std::fs::read_to_string(page).expect("the page is there");
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    let mut all: Vec<Described> = Vec::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [names, scope, unit, kind, source] = cells[..] else { panic!("a row of five cells: {row}") };
        let before = all.last();
        let scope = match before {
            Some(before) if scope == "the same" => before.scope.clone(),
            _ => scope.to_owned(),
        };
        let source = match before {
            Some(before) if source.contains("the same") => before.source.clone(),
            _ => source.to_owned(),
        };
        let names = written_out(names);
        all.push(Described { names, scope, unit: unit.to_owned(), kind: kind.to_owned(), source });
    }
    all
}

/// The names between backticks; one that begins with a dot has the first word of that before it.
fn written_out(cell: &str) -> Vec<String> {
    let own = cell.split('(').next().unwrap_or_default();
    let mut names: Vec<String> = Vec::new();
    for name in own.split('`').skip(1).step_by(2) {
        let stem = names.last().and_then(|before| before.split('.').next()).unwrap_or_default();
        names.push(if name.starts_with('.') { format!("{stem}{name}") } else { name.to_owned() });
    }
    names
}

fn check(described: &Described, name: &str, quantity: &Quantity) {
    let kind = match quantity.kind {
        ReadingKind::Counter => "counter",
        ReadingKind::Gauge => "gauge",
    };
    assert_eq!(described.kind, kind, "{name}");
    assert!(described.unit.split(", ").any(|unit| unit == quantity.unit), "{name}: {}", described.unit);
    assert!(described.scope.contains(quantity.scope.prefix()), "{name}: {}", described.scope);
    assert!(described.source.contains(quantity.file), "{name}: {}", described.source);
}

#[test]
fn collectors_and_the_page_of_the_format_agree_with_the_catalogue() {
    let trees = [("linux-6.18-vm", 100, 356_925), ("linux-4.18-server", 900, 5900), ("garbage", 66, 1)];
    for column in trees.into_iter().flat_map(|(tree, pid, start_ticks)| columns(tree, pid, start_ticks)) {
        let quantity = column::find(&column.name).unwrap_or_else(|| panic!("unknown: {column:?}"));
        assert_eq!((column.unit.as_str(), column.kind), (quantity.unit, quantity.kind), "{column:?}");
        assert!(column.scope.starts_with(quantity.scope.prefix()), "{column:?}");
    }
    let described = described();
    for row in &described {
        for name in &row.names {
            let quantity = column::find(name).unwrap_or_else(|| panic!("not in the catalogue: {name}"));
            check(row, name, quantity);
        }
    }
    for quantity in QUANTITIES {
        let is_described = |row: &Described| {
            let families = row.names.iter().filter_map(|name| column::find(name));
            families.into_iter().any(|family| family.has(quantity.name))
        };
        assert!(described.iter().any(is_described), "the page does not describe {}", quantity.name);
    }
}

#[test]
fn every_quantity_has_a_name_of_its_own() {
    for (index, quantity) in QUANTITIES.iter().enumerate() {
        assert_eq!(column::find(quantity.name), Some(quantity));
        assert!(QUANTITIES[..index].iter().all(|other| other.name != quantity.name), "{}", quantity.name);
    }
}
