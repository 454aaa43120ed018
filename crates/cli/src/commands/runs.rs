//! `sysdyno runs`: what was recorded, with what came of it; and taking runs away.

use super::record::is_living;
use super::show::find;
use crate::args::{RecordOptions, RunsArgs, RunsCommand, RunsSort, RunsVerdict};
use crate::exit::Exit;
use crate::settings::SettingsFile;
use crate::ui::Ui;
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use sysdyno_plan::options::Combine;
use sysdyno_record::effect::{Comparison, word_name};
use sysdyno_record::manifest::{Manifest, RunStatus};
use sysdyno_record::store::{RunAnswer, RunListing, list};
use sysdyno_report::{escape, number};

/// Columns of a run's name.
const ID_COLUMNS: usize = 30;

/// Fewest columns in which a text says something beside the numbers.
const TEXT_COLUMNS: usize = 40;

/// A run with what came of it.
struct Row {
    manifest: Manifest,
    is_incomplete: bool,
    answer: Option<RunAnswer>,
}

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
    let (folder, listed) = listed(record)?;
    let is_any = !listed.is_empty();
    let (mut rows, mut unreadable) = (Vec::new(), Vec::new());
    for listing in listed {
        let answer = listing.answer();
        match listing.manifest {
            Ok(manifest) => {
                let is_running = manifest.status == RunStatus::Running;
                let is_incomplete = is_running && !is_living(manifest.pid, manifest.pid_start_ticks);
                rows.push(Row { manifest, is_incomplete, answer });
            }
            Err(error) => unreadable.push(format!("{}  unreadable: {error}", listing.path.display())),
        }
    }
    rows.retain(|row| {
        kind.is_none_or(|kind| row.manifest.kind == kind.0)
            && verdict.is_none_or(|verdict| verdict.is_of(row.answer.as_ref()))
            && contains.as_deref().is_none_or(|text| row.contains(text))
    });
    sort_rows(&mut rows, sort);
    rows.truncate(limit.unwrap_or(usize::MAX));
    if json {
        ui.print_json(&rows.iter().map(Row::document).collect::<Vec<_>>())?;
        return Ok(Exit::Done);
    }
    if rows.is_empty() && unreadable.is_empty() {
        let which = if is_any { "no matching runs" } else { "no runs" };
        ui.note(&format!("{which} in {}", folder.display()));
        return Ok(Exit::Done);
    }
    let style = ui.style();
    // Lines of a terminal are cut at its edge, as those of ps are; a pipe gets all of them.
    let columns = if style.rows.is_some() { style.width() } else { usize::MAX };
    let rows = rows.iter().flat_map(|row| below(row.numbers(), row.text(), columns));
    let lines = below(heading(), "bottleneck or problem".to_owned(), columns)
        .into_iter()
        .chain(rows)
        .chain(unreadable);
    let shown = lines.map(|line| style.characters(&escape::terminal(&style.characters(&line), columns)));
    ui.print(&shown.collect::<Vec<_>>().join("\n"));
    Ok(Exit::Done)
}

fn sort_rows(rows: &mut [Row], sort: RunsSort) {
    let rate = |row: &Row| row.answer.as_ref().and_then(|answer| answer.rate_hz).unwrap_or(f64::NEG_INFINITY);
    let p99 = |row: &Row| row.answer.as_ref().and_then(|answer| answer.p99_ns).unwrap_or(u64::MAX);
    let verdict = |row: &Row| row.answer.as_ref().and_then(|answer| answer.verdict);
    match sort {
        // The newest is first already.
        RunsSort::Time => {}
        RunsSort::Rate => rows.sort_by(|one, other| rate(other).total_cmp(&rate(one))),
        RunsSort::P99 => rows.sort_by_key(p99),
        RunsSort::Verdict => rows.sort_by_key(|row| std::cmp::Reverse(verdict(row))),
    }
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

impl Row {
    fn numbers(&self) -> String {
        let answer = self.answer.clone().unwrap_or_default();
        let rate = answer.rate_hz.map_or(number::MISSING.to_owned(), number::rate);
        let p99 = answer.p99_ns.map_or(number::MISSING.to_owned(), number::duration_ns);
        let padded = |text: &str, columns: usize| {
            format!("{}{text}", " ".repeat(columns.saturating_sub(escape::width(text))))
        };
        format!(
            "{:ID_COLUMNS$}  {:<10}  {}  {}",
            self.manifest.id,
            self.word(&answer),
            padded(&rate, 12),
            padded(&p99, 8)
        )
    }

    /// What stopped it: in a run that is not to be trusted no limit that was seen, but what is wrong with it.
    fn text(&self) -> String {
        let found =
            self.answer.as_ref().map(|answer| answer.reason.as_ref().unwrap_or(&answer.limit).as_str());
        let found = found.filter(|found| !found.is_empty());
        escape::terminal(&found.map_or_else(|| self.command(), str::to_owned), 2_000)
    }

    /// The verdict, or how far the run came.
    fn word(&self, answer: &RunAnswer) -> &'static str {
        let is_running = self.manifest.status == RunStatus::Running;
        match (answer.verdict, answer.word) {
            _ if self.is_incomplete => "incomplete",
            _ if is_running => "running",
            (Some(verdict), _) => verdict.name(),
            (None, Some(word)) => word_name(word),
            (None, None) => match self.manifest.status {
                RunStatus::Interrupted => "stopped",
                RunStatus::Failed => "failed",
                RunStatus::Complete | RunStatus::Running => number::MISSING,
            },
        }
    }

    fn command(&self) -> String {
        self.manifest.command.iter().skip(1).cloned().collect::<Vec<_>>().join(" ")
    }

    fn contains(&self, text: &str) -> bool {
        let said = |answer: &RunAnswer| {
            answer.limit.contains(text) || answer.reason.as_ref().is_some_and(|reason| reason.contains(text))
        };
        self.manifest.id.contains(text)
            || self.command().contains(text)
            || self.answer.as_ref().is_some_and(said)
    }

    /// The manifest, as it always was, and what came of the run.
    fn document(&self) -> serde_json::Value {
        let mut document = serde_json::json!(self.manifest);
        document["answer"] = serde_json::json!(self.answer);
        document
    }
}

impl RunsVerdict {
    fn is_of(self, answer: Option<&RunAnswer>) -> bool {
        let verdict = answer.and_then(|answer| answer.verdict).map(|verdict| verdict.name());
        let word = answer.and_then(|answer| answer.word);
        match self {
            RunsVerdict::Valid => verdict == Some("VALID"),
            RunsVerdict::Suspect => verdict == Some("SUSPECT"),
            RunsVerdict::Invalid => verdict == Some("INVALID"),
            RunsVerdict::Better => word == Some(Comparison::Better),
            RunsVerdict::Worse => word == Some(Comparison::Worse),
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
