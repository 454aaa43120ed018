//! What people say of a run: tags and a note, in `label.json` of its folder.
//!
//! It is the only file that is written after a run has ended, and no result depends on it. The name of each folder whose label
//! changes is appended to `.labels` beside the folders, which tells whoever keeps a table of them which ones to read again.

use super::folder::Folder;
use super::{schema, verify};
use crate::RecordError;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

const LABEL: &str = "label.json";
const SCHEMA: &str = "sysdyno.label/1";
const CHANGES: &str = ".labels";

/// Most that is read of a label. Unit: bytes.
const MAX_LABEL_BYTES: u64 = 64 << 10;

/// Most names of changed folders that are read at a time. Unit: bytes.
const MAX_CHANGES_BYTES: u64 = 1 << 20;

/// Most tags of a run.
pub const MAX_TAGS: usize = 32;

/// Most characters of a tag.
pub const MAX_TAG_CHARACTERS: usize = 40;

/// Most characters of a note.
pub const MAX_NOTE_CHARACTERS: usize = 1_000;

/// The tags and the note of a run. Untrusted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunLabel {
    /// Words to find it by, in order, each once.
    #[serde(default)]
    pub tags: Vec<String>,
    /// A text; empty: none.
    #[serde(default)]
    pub note: String,
}

#[derive(Serialize)]
struct LabelDocument<'a> {
    schema: &'static str,
    #[serde(flatten)]
    label: &'a RunLabel,
}

impl RunLabel {
    /// Reads the label of a run folder; one without a label has an empty one.
    ///
    /// # Errors
    /// It cannot be read, or a newer program wrote it.
    pub fn read(path: &Path) -> Result<RunLabel, RecordError> {
        let folder = Folder::open(path)?;
        let Some(bytes) = folder.read_whole(LABEL, MAX_LABEL_BYTES)? else { return Ok(RunLabel::default()) };
        let found = schema::of_document(&bytes).unwrap_or_default();
        schema::check(&found, SCHEMA).map_err(|other| other.error(&folder.path_of(LABEL), SCHEMA, None))?;
        let label: RunLabel = serde_json::from_slice(&bytes).map_err(|error| RecordError::NotARun {
            path: path.to_owned(),
            cause: format!("cannot read '{LABEL}': {error}"),
        })?;
        Ok(label.bounded())
    }

    /// Writes it into a run folder. An empty one is no file.
    ///
    /// # Errors
    /// It cannot be written; then the one before is still there.
    pub fn write(&self, path: &Path) -> Result<(), RecordError> {
        let folder = Folder::open(path)?;
        if *self != RunLabel::default() {
            let document = LabelDocument { schema: SCHEMA, label: self };
            folder.replace(LABEL, &verify::document(&folder, LABEL, &document)?)?;
        } else if folder.open_file(LABEL)?.is_some() {
            folder.remove(LABEL)?;
            folder.sync()?;
        }
        tell_changed(path)
    }

    /// Adds a tag, if it is not there.
    ///
    /// # Errors
    /// It can be no tag, or there are too many: why, as a phrase.
    pub fn add_tag(&mut self, tag: &str) -> Result<(), String> {
        if tag.is_empty() || tag.chars().count() > MAX_TAG_CHARACTERS {
            return Err(format!("a tag has 1 to {MAX_TAG_CHARACTERS} characters"));
        }
        if tag.chars().any(|letter| letter.is_whitespace() || letter.is_control()) {
            return Err("a tag has no spaces".to_owned());
        }
        let Err(position) = self.tags.binary_search_by(|known| known.as_str().cmp(tag)) else {
            return Ok(());
        };
        if self.tags.len() == MAX_TAGS {
            return Err(format!("a run has at most {MAX_TAGS} tags"));
        }
        self.tags.insert(position, tag.to_owned());
        Ok(())
    }

    /// What this program would have written of it.
    fn bounded(self) -> RunLabel {
        let note = self.note.chars().take(MAX_NOTE_CHARACTERS).collect();
        let mut label = RunLabel { tags: Vec::new(), note };
        for tag in self.tags {
            let _ = label.add_tag(&tag);
        }
        label
    }
}

/// Names of folders whose labels changed, and where the next ones begin, after what was read before. Each may be there several
/// times, and be the name of nothing.
pub fn changed_labels(runs_dir: &Path, after_bytes: u64) -> (Vec<OsString>, u64) {
    let read = || {
        let mut options = OpenOptions::new();
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let mut file = options.read(true).custom_flags(flags.bits() as i32).open(runs_dir.join(CHANGES))?;
        let length = file.metadata().map(|found| if found.is_file() { found.len() } else { 0 })?;
        let from =
            if length < after_bytes { 0 } else { after_bytes }.max(length.saturating_sub(MAX_CHANGES_BYTES));
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(length - from).read_to_end(&mut bytes)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |position| position + 1);
        bytes.truncate(whole);
        Ok::<_, std::io::Error>((bytes, from + whole as u64))
    };
    let (bytes, end) = read().unwrap_or_default();
    let names = bytes.split(|byte| *byte == b'\n').filter(|name| !name.is_empty());
    (names.map(|name| OsString::from_vec(name.to_vec())).collect(), end)
}

fn tell_changed(path: &Path) -> Result<(), RecordError> {
    // A path may end in `..`, or be a link.
    let path = path.canonicalize().map_err(RecordError::io("open", path))?;
    let Some((runs_dir, name)) = path.parent().zip(path.file_name()) else { return Ok(()) };
    let changes = runs_dir.join(CHANGES);
    let mut line = name.as_bytes().to_vec();
    line.push(b'\n');
    let mut options = OpenOptions::new();
    let flags = rustix::fs::OFlags::NOFOLLOW.bits() as i32;
    let file = options.append(true).create(true).mode(0o600).custom_flags(flags).open(&changes);
    file.and_then(|mut file| file.write_all(&line)).map_err(RecordError::io("write", &changes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A folder of runs with an empty folder in it.
    fn runs() -> (tempfile::TempDir, std::path::PathBuf) {
        let runs = tempfile::tempdir().expect("a folder");
        let run = runs.path().join("run");
        fs::create_dir(&run).expect("is created");
        (runs, run)
    }

    #[test]
    fn tags_and_note_come_back_and_an_empty_label_is_no_file() {
        let (runs, run) = runs();
        assert_eq!(RunLabel::read(&run).expect("can be read"), RunLabel::default());
        let mut label = RunLabel { note: "before the new kernel".into(), ..RunLabel::default() };
        for tag in ["v2", "baseline", "v2"] {
            label.add_tag(tag).expect("is a tag");
        }
        assert_eq!(label.tags, ["baseline", "v2"]);
        label.write(&run).expect("can be written");
        assert_eq!(RunLabel::read(&run).expect("can be read"), label);
        let (names, end) = changed_labels(runs.path(), 0);
        assert_eq!((names, end), (vec![OsString::from("run")], 4));
        RunLabel::default().write(&run).expect("can be removed");
        assert_eq!(fs::read_dir(&run).expect("is there").count(), 0);
        assert_eq!(changed_labels(runs.path(), end), (vec![OsString::from("run")], 8));
        assert_eq!(changed_labels(runs.path(), 8), (vec![], 8));
        fs::write(runs.path().join(CHANGES), "run\nru").expect("writes");
        assert_eq!(changed_labels(runs.path(), 8), (vec![OsString::from("run")], 4), "another file");
    }

    #[test]
    fn what_is_no_tag_is_refused() {
        let mut label = RunLabel::default();
        for wrong in ["", "two words", "a\nb", "\u{1b}[31m", &"x".repeat(41)] {
            assert!(label.add_tag(wrong).is_err(), "{wrong:?}");
        }
        for number in 0..MAX_TAGS {
            label.add_tag(&format!("tag{number}")).expect("is a tag");
        }
        assert!(label.add_tag("one-more").is_err());
        assert!(label.add_tag("tag1").is_ok(), "it is there");
    }

    #[test]
    fn a_hostile_label_is_bounded_and_a_newer_one_is_left_alone() {
        let (_runs, run) = runs();
        let write = |text: String| fs::write(run.join(LABEL), text).expect("writes");
        let tags: Vec<String> = (0..100).map(|number| format!("\"t{number}\"")).collect();
        let note = "n".repeat(5_000);
        write(format!(
            "{{\"schema\":\"{SCHEMA}\",\"tags\":[\"a b\",{}],\"note\":\"{note}\"}}",
            tags.join(",")
        ));
        let label = RunLabel::read(&run).expect("can be read");
        assert_eq!((label.tags.len(), label.note.len()), (MAX_TAGS, MAX_NOTE_CHARACTERS));
        write("{\"schema\":\"sysdyno.label/2\"}".into());
        assert!(matches!(RunLabel::read(&run), Err(RecordError::NewerFormat { .. })));
        write("{".into());
        assert!(RunLabel::read(&run).is_err());
        fs::remove_file(run.join(LABEL)).expect("is removed");
        std::os::unix::fs::symlink("/etc/passwd", run.join(LABEL)).expect("is made");
        assert!(RunLabel::read(&run).is_err(), "links are not followed");
    }
}
