//! The experiments of this project, with the mistakes of somebody who changes one line.

use crate::here::Here;
use std::path::{Path, PathBuf};
use sysdyno_plan::{AutotuneDraft, ExperimentDraft};
use tempfile::TempDir;

/// Lines that only files of these two commands have.
const KINDS: [&str; 3] = ["[[variant]]", "[[factor]]", "[autotune]"];

/// A copy of the files, so that a changed one finds those that it names.
struct Files(TempDir);

impl Files {
    fn new() -> Files {
        let files = Files(tempfile::tempdir().expect("a folder"));
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
        for entry in
            std::fs::read_dir(from).expect("is there").flatten().filter(|entry| entry.path().is_file())
        {
            std::fs::copy(entry.path(), files.0.path().join(entry.file_name())).expect("is copied");
        }
        files
    }

    /// Each file of `experiment` and `autotune`, and its text.
    fn texts(&self) -> Vec<(PathBuf, String)> {
        let paths = std::fs::read_dir(self.0.path()).expect("is there").flatten().map(|entry| entry.path());
        let texts = paths.map(|path| (path.clone(), std::fs::read_to_string(path).expect("is text")));
        let begins = |text: &str| text.lines().any(|line| KINDS.contains(&line));
        texts.filter(|(_, text)| begins(text)).collect()
    }

    /// Why a text is refused, or nothing.
    fn refusal(&self, text: &str) -> String {
        let file = self.0.path().join("changed.toml");
        std::fs::write(&file, text).expect("is written");
        let error = if text.contains("[autotune]") {
            let draft = AutotuneDraft { server: file.display().to_string(), ..AutotuneDraft::default() };
            draft.finish(&Here).err()
        } else {
            ExperimentDraft { file, is_quick: false }.finish(&Here).err()
        };
        error.map(|error| format!("{error:#}")).unwrap_or_default()
    }
}

/// A text with one more letter at the end of a key, and that key; each key in turn.
fn misspelled(text: &str) -> Vec<(String, String)> {
    let is_of_key = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let lines: Vec<&str> = text.lines().collect();
    let keys = lines.iter().enumerate().filter_map(|(index, line)| {
        let (key, value) = line.split_once(" = ")?;
        let changed = key.chars().all(is_of_key).then(|| format!("{key}x = {value}"))?;
        let text = [&lines[..index], &[changed.as_str()], &lines[index + 1..]].concat().join("\n");
        Some((text, format!("{}x", key.rsplit('.').next()?)))
    });
    keys.collect()
}

#[test]
fn a_misspelled_key_is_refused_by_its_name() {
    let files = Files::new();
    let mut count = 0;
    for (path, text) in files.texts() {
        assert_eq!(files.refusal(&text), "", "{}", path.display());
        for (changed, key) in misspelled(&text) {
            let error = files.refusal(&changed);
            // Without the other recipe that was meant, its parameters are unknown too, and one of them may be named.
            let is_named =
                error.contains(&key) || key == "recipex" && error.contains("has no such parameter");
            assert!(is_named, "{}: {key}: '{error}'", path.display());
            count += 1;
        }
    }
    assert!(count > 300, "{count}");
}

#[test]
fn a_mistake_in_the_short_version_is_refused_before_it_is_asked_for() {
    let files = Files::new();
    let whole =
        files.texts().into_iter().find(|(path, _)| path.ends_with("fs-journal.toml")).expect("is there").1;
    let error = files.refusal(&whole.replace("[quick]\nblocks = 1\n", "[quick]\nblocks = 0\n"));
    assert!(error.contains("[quick]: it has 0 blocks: use 1 to 100"), "'{error}'");
}

#[test]
fn a_setting_that_no_kernel_takes_is_refused_with_its_variant() {
    let files = Files::new();
    let whole = files
        .texts()
        .into_iter()
        .find(|(path, _)| path.ends_with("backlog-limits.toml"))
        .expect("is there")
        .1;
    let error = files.refusal(&whole.replace("net.core.somaxconn=8192", "net.core.somaxconn=-1"));
    assert!(error.contains("variant '"), "'{error}'");
    assert!(error.contains("cannot change 'net.core.somaxconn=-1': -1 is out of range (1 to "), "'{error}'");
}
