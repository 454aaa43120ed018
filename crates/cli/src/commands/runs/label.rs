//! `runs tag` and `runs note`: what people say of a run.

use super::{folder, named};
use crate::args::RecordOptions;
use crate::exit::Exit;
use crate::ui::Ui;
use anyhow::{anyhow, ensure};
use std::path::Path;
use sysdyno_record::store::{MAX_NOTE_CHARACTERS, RunLabel, RunListing};
use sysdyno_report::escape;

pub(super) fn tag(
    run: &Path,
    tags: &[String],
    removed: &[String],
    record: RecordOptions,
    ui: &Ui,
) -> anyhow::Result<Exit> {
    let change = |label: &mut RunLabel| {
        label.tags.retain(|tag| !removed.contains(tag));
        let cannot = |tag: &str, why| anyhow!("cannot set tag '{}': {why}", tag.escape_debug());
        tags.iter().try_for_each(|tag| label.add_tag(tag).map_err(|why| cannot(tag, why)))
    };
    relabel(run, record, change, ui)
}

pub(super) fn note(run: &Path, note: String, record: RecordOptions, ui: &Ui) -> anyhow::Result<Exit> {
    let is_short = note.chars().count() <= MAX_NOTE_CHARACTERS;
    ensure!(is_short, "cannot write the note: it has more than {MAX_NOTE_CHARACTERS} characters");
    let change = |label: &mut RunLabel| {
        label.note = note;
        Ok(())
    };
    relabel(run, record, change, ui)
}

/// Changes the tags or the note of a run.
fn relabel(
    run: &Path,
    record: RecordOptions,
    change: impl FnOnce(&mut RunLabel) -> anyhow::Result<()>,
    ui: &Ui,
) -> anyhow::Result<Exit> {
    let path = named(run, &folder(record)?)?;
    // Whatever else a folder is, it gets no label.
    RunListing::read(path.clone()).manifest?;
    let mut label = RunLabel::read(&path)?;
    change(&mut label)?;
    label.write(&path)?;
    let RunLabel { tags, note } = label;
    let tags = if tags.is_empty() { "no tags".to_owned() } else { format!("tags: {}", tags.join(" ")) };
    let note =
        if note.is_empty() { String::new() } else { format!("; note: {}", escape::terminal(&note, 2_000)) };
    ui.note(&format!("{}: {tags}{note}", path.display()));
    Ok(Exit::Done)
}
