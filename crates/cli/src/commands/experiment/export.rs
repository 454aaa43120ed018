//! `sysdyno experiment export`: an experiment as a folder that runs on another machine.

use crate::args::ExperimentExportArgs;
use crate::exit::Exit;
use crate::here::Here;
use crate::ui::Ui;
use anyhow::{Context, bail, ensure};
use std::fs;
use std::io;
use std::path::Path;
use sysdyno_plan::{ExperimentDraft, ExportedContent, ExportedFile};

/// Most that is copied. Unit: bytes.
const MAX_BYTES: u64 = 1 << 30;
/// How deep folders may be.
const MAX_DEPTH: u32 = 32;

pub(super) fn export(args: &ExperimentExportArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let draft = ExperimentDraft { file: args.file.clone(), is_quick: false };
    let export = draft.export(env!("CARGO_PKG_VERSION"), &Here)?;
    let folder = args.output.as_path();
    let cannot = || format!("cannot export to '{}'", folder.display());
    fs::create_dir(folder).with_context(cannot)?;
    let mut left_bytes = MAX_BYTES;
    for file in &export.files {
        write(folder, file, &mut left_bytes).with_context(cannot)?;
    }
    export.notes.iter().for_each(|note| ui.note(&format!("note: {note}")));
    ui.print(&format!(
        "exported to '{}': copy it to the other machine; its README.md says how to run it there",
        folder.display()
    ));
    Ok(Exit::Done)
}

fn write(folder: &Path, file: &ExportedFile, left_bytes: &mut u64) -> anyhow::Result<()> {
    let to = folder.join(&file.path);
    if let Some(above) = to.parent() {
        fs::create_dir_all(above).with_context(|| format!("cannot create '{}'", above.display()))?;
    }
    match &file.content {
        ExportedContent::Text(text) => {
            fs::write(&to, text).with_context(|| format!("cannot write '{}'", to.display()))
        }
        ExportedContent::Copy(from) => copy(from, &to, left_bytes, MAX_DEPTH),
    }
}

/// Copies a file, or a folder with the regular files in it.
fn copy(from: &Path, to: &Path, left_bytes: &mut u64, depth: u32) -> anyhow::Result<()> {
    let cannot = || format!("cannot copy '{}'", from.display());
    let known = fs::metadata(from).with_context(cannot)?;
    if known.is_file() {
        let left = left_bytes.checked_sub(known.len());
        *left_bytes = left.with_context(|| format!("{}: all files are larger than 1 GiB", cannot()))?;
        return fs::copy(from, to).map(drop).with_context(cannot);
    }
    ensure!(known.is_dir(), "{}: it is neither a file nor a folder", cannot());
    if depth == 0 {
        bail!("{}: it has more than {MAX_DEPTH} levels", cannot());
    }
    fs::create_dir(to).with_context(cannot)?;
    let mut names: Vec<_> = fs::read_dir(from)
        .and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<_>>())
        .with_context(cannot)?;
    names.sort_unstable();
    for name in names {
        let inside = from.join(&name);
        // Links and other things are left out, as labs leave them out.
        let is_kept = fs::symlink_metadata(&inside).is_ok_and(|known| known.is_file() || known.is_dir());
        if is_kept {
            copy(&inside, &to.join(&name), left_bytes, depth - 1)?;
        }
    }
    Ok(())
}
