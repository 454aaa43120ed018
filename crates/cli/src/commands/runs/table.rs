//! The table of the runs, and the same as JSON.

use super::{folder, indexed};
use crate::args::{RunsArgs, RunsSort, RunsVerdict};
use crate::exit::Exit;
use crate::ui::Ui;
use std::path::Path;
use sysdyno_index::{IndexedRun, RunQuery, RunSort};
use sysdyno_record::analysis::VerdictStatus;
use sysdyno_record::effect::{Comparison, word_name};
use sysdyno_record::manifest::RunStatus;
use sysdyno_record::store::{RunLabel, RunListing};
use sysdyno_report::{escape, number};

/// Columns of a run's name.
const ID_COLUMNS: usize = 30;

/// Fewest columns in which a text says something beside the numbers.
const TEXT_COLUMNS: usize = 40;

pub(super) fn print(args: RunsArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let RunsArgs { record, json, sort, kind, verdict, tags, contains, limit, .. } = args;
    let folder = folder(record)?;
    let index = indexed(&folder, ui)?;
    let (verdict, word) = verdict.map_or((None, None), RunsVerdict::parts);
    let query = RunQuery {
        texts: contains.into_iter().collect(),
        kind: kind.map(|kind| kind.0),
        verdict,
        word,
        tags,
        sort: sort.into(),
        offset: 0,
        limit,
    };
    let rows = index.find(&query)?.runs;
    if json {
        let documents = rows.iter().filter_map(|row| document(&folder.join(&row.name)));
        ui.print_json(&documents.collect::<Vec<_>>())?;
        return Ok(Exit::Done);
    }
    let unreadable = index.unreadable()?;
    if rows.is_empty() && unreadable.is_empty() {
        let is_any = !index.find(&RunQuery { limit: Some(1), ..RunQuery::default() })?.runs.is_empty();
        let which = if is_any { "no matching runs" } else { "no runs" };
        ui.note(&format!("{which} in {}", folder.display()));
        return Ok(Exit::Done);
    }
    let style = ui.style();
    // Lines of a terminal are cut at its edge, as those of ps are; a pipe gets all of them.
    let columns = if style.rows.is_some() { style.width() } else { usize::MAX };
    let rows = rows.iter().flat_map(|row| below(numbers(row), text(row), columns));
    let unreadable = unreadable
        .iter()
        .map(|(name, error)| format!("{}  unreadable: {error}", folder.join(name).display()));
    let lines = below(heading(), "bottleneck or problem".to_owned(), columns)
        .into_iter()
        .chain(rows)
        .chain(unreadable);
    let shown = lines.map(|line| style.characters(&escape::terminal(&style.characters(&line), columns)));
    ui.print(&shown.collect::<Vec<_>>().join("\n"));
    Ok(Exit::Done)
}

fn heading() -> String {
    format!("{:ID_COLUMNS$}  {:<10}  {:>12}  {:>8}", "run", "verdict", "rate", "p99")
}

/// Numbers and text in one line, or in two where the terminal leaves the text too few columns to say anything.
fn below(numbers: String, text: String, columns: usize) -> Vec<String> {
    let room = columns.saturating_sub(escape::width(&numbers) + 2);
    if room >= TEXT_COLUMNS.min(escape::width(&text)) {
        return vec![format!("{numbers}  {text}")];
    }
    vec![numbers, format!("  {text}")]
}

fn numbers(run: &IndexedRun) -> String {
    let answer = run.answer.clone().unwrap_or_default();
    let rate = answer.rate_hz.map_or(number::MISSING.to_owned(), number::rate);
    let p99 = answer.p99_ns.map_or(number::MISSING.to_owned(), number::duration_ns);
    let padded = |text: &str, columns: usize| {
        format!("{}{text}", " ".repeat(columns.saturating_sub(escape::width(text))))
    };
    format!("{:ID_COLUMNS$}  {:<10}  {}  {}", run.name, word(run), padded(&rate, 12), padded(&p99, 8))
}

/// Its tags, its note, and what stopped it: in a run that is not to be trusted no limit that was seen, but what is wrong with it.
fn text(run: &IndexedRun) -> String {
    let found = run.answer.as_ref().map(|answer| answer.reason.as_ref().unwrap_or(&answer.limit).as_str());
    let found = found.filter(|found| !found.is_empty()).unwrap_or(&run.command);
    let RunLabel { tags, note } = &run.label;
    let tags = tags.iter().map(|tag| format!("#{tag} "));
    let note = if note.is_empty() { String::new() } else { format!("“{note}” ") };
    escape::terminal(&(tags.collect::<String>() + &note + found), 3_000)
}

/// The verdict, or how far the run came.
fn word(run: &IndexedRun) -> &'static str {
    let answer = run.answer.as_ref();
    match (answer.and_then(|answer| answer.verdict), answer.and_then(|answer| answer.word)) {
        _ if run.is_incomplete => "incomplete",
        _ if run.status == Some(RunStatus::Running) => "running",
        (Some(verdict), _) => verdict.name(),
        (None, Some(word)) => word_name(word),
        (None, None) => match run.status {
            Some(RunStatus::Interrupted) => "stopped",
            Some(RunStatus::Failed) => "failed",
            _ => number::MISSING,
        },
    }
}

/// The manifest, as it always was, and what came of the run; `None`: its folder is gone meanwhile.
fn document(folder: &Path) -> Option<serde_json::Value> {
    let listing = RunListing::read(folder.to_owned());
    let mut document = serde_json::json!(listing.manifest.as_ref().ok()?);
    document["answer"] = serde_json::json!(listing.answer());
    document["label"] = serde_json::json!(RunLabel::read(&listing.path).unwrap_or_default());
    Some(document)
}

impl RunsVerdict {
    /// The verdict that is meant, or the word.
    fn parts(self) -> (Option<VerdictStatus>, Option<Comparison>) {
        match self {
            RunsVerdict::Valid => (Some(VerdictStatus::Valid), None),
            RunsVerdict::Suspect => (Some(VerdictStatus::Suspect), None),
            RunsVerdict::Invalid => (Some(VerdictStatus::Invalid), None),
            RunsVerdict::Better => (None, Some(Comparison::Better)),
            RunsVerdict::Worse => (None, Some(Comparison::Worse)),
        }
    }
}

impl From<RunsSort> for RunSort {
    fn from(sort: RunsSort) -> RunSort {
        match sort {
            RunsSort::Time => RunSort::Time,
            RunsSort::Rate => RunSort::Rate,
            RunsSort::P99 => RunSort::P99,
            RunsSort::Verdict => RunSort::Verdict,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stopped_a_run_has_a_line_of_its_own_on_a_narrow_terminal() {
        let of = |columns| below("x".repeat(66), "The accept queue of nginx overflowed".to_owned(), columns);
        assert_eq!(of(usize::MAX).len(), 1);
        assert_eq!(of(104).len(), 1);
        assert_eq!(of(80), ["x".repeat(66), "  The accept queue of nginx overflowed".to_owned()]);
        assert_eq!(below("x".repeat(66), "no".to_owned(), 80).len(), 1);
    }
}
