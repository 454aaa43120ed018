//! `runs rm` and `runs prune`: taking runs away, but none that is still running.

use super::folder;
use crate::args::RecordOptions;
use crate::commands::record::is_living;
use crate::exit::Exit;
use crate::ui::Ui;
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use sysdyno_record::manifest::RunStatus;
use sysdyno_record::store::{RunListing, list};

/// Takes runs away that are named.
pub(super) fn named(names: &[PathBuf], record: RecordOptions, ui: &Ui) -> anyhow::Result<Exit> {
    let (folder, listed) = listed(record)?;
    let meant = |name: &PathBuf| -> anyhow::Result<&RunListing> {
        let path = super::named(name, &folder)?;
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
pub(super) fn old(keep: usize, dry_run: bool, record: RecordOptions, ui: &Ui) -> anyhow::Result<Exit> {
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

fn listed(record: RecordOptions) -> anyhow::Result<(PathBuf, Vec<RunListing>)> {
    let folder = folder(record)?;
    let cannot = || format!("cannot list '{}'", folder.display());
    let listed = if folder.try_exists().with_context(cannot)? { list(&folder)? } else { Vec::new() };
    Ok((folder, listed))
}
