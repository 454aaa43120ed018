//! `sysdyno runs`: what was recorded, with what came of it; tags and notes; and taking runs away.

mod label;
mod remove;
mod table;

use super::record::is_living;
use super::show::find;
use crate::args::{RecordOptions, RunsArgs, RunsCommand};
use crate::exit::Exit;
use crate::settings::{SettingsFile, cache_folder};
use crate::ui::Ui;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use sysdyno_index::{RefreshMoment, RunIndex};
use sysdyno_plan::options::Combine;

pub fn runs(args: RunsArgs, ui: &Ui) -> anyhow::Result<Exit> {
    match args.command {
        None => table::print(args, ui),
        Some(RunsCommand::Rm { runs, record }) => remove::named(&runs, record, ui),
        Some(RunsCommand::Tag { run, tags, remove, record }) => label::tag(&run, &tags, &remove, record, ui),
        Some(RunsCommand::Note { run, note, record }) => label::note(&run, note, record, ui),
        Some(RunsCommand::Prune { keep, dry_run, record }) => remove::old(keep, dry_run, record, ui),
    }
}

/// The folder of the runs.
fn folder(record: RecordOptions) -> anyhow::Result<PathBuf> {
    record.or(SettingsFile::read()?.record).folder()
}

/// The run that is meant by a name or by its folder.
fn named(run: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    Ok(if run.is_dir() { run.to_owned() } else { find(Some(run), folder)? })
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
