//! `sysdyno runs`: what was recorded, with what came of it; and taking runs away.

use super::record::is_living;
use super::show::find;
use crate::args::{RecordOptions, RunsArgs, RunsCommand, RunsSort, RunsVerdict};
use crate::exit::Exit;
use crate::settings::{SettingsFile, cache_folder};
use crate::ui::Ui;
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use sysdyno_index::{IndexedRun, RefreshMoment, RunIndex, RunQuery, RunSort};
use sysdyno_plan::options::Combine;
use sysdyno_record::analysis::VerdictStatus;
use sysdyno_record::effect::{Comparison, word_name};
use sysdyno_record::manifest::RunStatus;
use sysdyno_record::store::{RunListing, list};
use sysdyno_report::{escape, number};

/// Columns of a run's name.
const ID_COLUMNS: usize = 30;

/// Fewest columns in which a text says something beside the numbers.
const TEXT_COLUMNS: usize = 40;

pub fn runs(args: RunsArgs, ui: &Ui) -> anyhow::Result<Exit> {
    match args.command {
        None => print(args, ui),
        Some(RunsCommand::Rm { runs, record }) => remove(&runs, record, ui),
        Some(RunsCommand::Prune { keep, dry_run, record }) => prune(keep, dry_run, record, ui),
    }
}

fn listed(record: RecordOptions) -> anyhow::Result<(PathBuf, Vec<RunListing>)> {
    let folder = record.or(SettingsFile::read()?.record).folder()?;
    let cannot = || format!("cannot list '{}'", folder.display());
    let listed = if folder.try_exists().with_context(cannot)? { list(&folder)? } else { Vec::new() };
    Ok((folder, listed))
}

fn print(args: RunsArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let RunsArgs { record, json, sort, kind, verdict, contains, limit, .. } = args;
    let folder = record.or(SettingsFile::read()?.record).folder()?;
    let index = indexed(&folder, ui)?;
    let (verdict, word) = verdict.map_or((None, None), RunsVerdict::parts);
    let query = RunQuery {
        texts: contains.into_iter().collect(),
        kind: kind.map(|kind| kind.0),
        verdict,
        word,
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

/// The index of a folder, as the folder is now.
pub(super) fn indexed(folder: &Path, ui: &Ui) -> anyhow::Result<RunIndex> {
    let mut index = RunIndex::open(folder, cache_folder().as_deref())?;
    let moment = RefreshMoment { now: SystemTime::now(), living: &is_living };
    let mut left_count = index.refresh(&moment)?.left_count;
    if left_count > 0 {
        ui.note(&format!("reading {left_count} more runs, once"));
    }
    while left_count > 0 {
        left_count = index.refresh(&moment)?.left_count;
    }
    Ok(index)
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

/// What stopped it: in a run that is not to be trusted no limit that was seen, but what is wrong with it.
fn text(run: &IndexedRun) -> String {
    let found = run.answer.as_ref().map(|answer| answer.reason.as_ref().unwrap_or(&answer.limit).as_str());
    let found = found.filter(|found| !found.is_empty());
    escape::terminal(found.unwrap_or(&run.command), 2_000)
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

/// Takes runs away that are named.
fn remove(names: &[PathBuf], record: RecordOptions, ui: &Ui) -> anyhow::Result<Exit> {
    let (folder, listed) = listed(record)?;
    let meant = |name: &PathBuf| -> anyhow::Result<&RunListing> {
        let path = if name.is_dir() { name.clone() } else { find(Some(name), &folder)? };
        let same =
            |listing: &&RunListing| listing.path.file_name() == path.file_name() && is_in(&path, &folder);
        let found = listed.iter().find(same);
        found.with_context(|| {
            format!("cannot remove '{}': it is not a run in '{}'", path.display(), folder.display())
        })
    };
    // All are looked at before the first one goes.
    let meant = names.iter().map(meant).collect::<anyhow::Result<Vec<_>>>()?;
    if let Some(busy) = meant.iter().find(|listing| is_running(listing)) {
        bail!("cannot remove '{}': it is still running", busy.path.display());
    }
    for listing in meant {
        listing.remove()?;
        ui.note(&format!("removed {}", listing.path.display()));
    }
    Ok(Exit::Done)
}

fn is_in(path: &Path, folder: &Path) -> bool {
    let (path, folder) = (path.canonicalize(), folder.canonicalize());
    path.is_ok_and(|path| folder.is_ok_and(|folder| path.parent() == Some(&*folder)))
}

fn is_running(listing: &RunListing) -> bool {
    listing.manifest.as_ref().is_ok_and(|manifest| {
        manifest.status == RunStatus::Running && is_living(manifest.pid, manifest.pid_start_ticks)
    })
}

/// Takes all but the newest runs away.
fn prune(keep: usize, dry_run: bool, record: RecordOptions, ui: &Ui) -> anyhow::Result<Exit> {
    let (_, listed) = listed(record)?;
    let old = listed.iter().filter(|listing| listing.manifest.is_ok()).skip(keep);
    let old: Vec<&RunListing> = old.filter(|listing| !is_running(listing)).collect();
    for listing in &old {
        if !dry_run {
            listing.remove()?;
        }
        let did = if dry_run { "would remove" } else { "removed" };
        ui.note(&format!("{did} {}", listing.path.display()));
    }
    if old.is_empty() {
        ui.note(&format!("nothing to remove: there are {keep} runs or fewer"));
    }
    Ok(Exit::Done)
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
