//! A run as a row of the table: read from its folder, or from the row.

use rusqlite::{Row, Statement, params};
use serde::Serialize;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use sysdyno_record::analysis::VerdictStatus;
use sysdyno_record::effect::{Comparison, word_name};
use sysdyno_record::manifest::{Manifest, RunKind, RunStatus};
use sysdyno_record::store::{RunAnswer, RunLabel, RunListing};
use sysdyno_record::units::WallNs;

/// Most of a text that is kept. Unit: characters.
const TEXT_MAX: usize = 600;

/// What stands for no p99, so that such rows are last where the lowest is first.
const NO_P99: i64 = i64::MAX;

/// A run with what came of it. Texts are untrusted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IndexedRun {
    /// The name of its folder.
    pub name: String,
    /// Why its manifest cannot be read; `None`: it can.
    pub unreadable: Option<String>,
    /// The command that made it; `None`: unreadable.
    pub kind: Option<RunKind>,
    /// How far it got; `None`: unreadable.
    pub status: Option<RunStatus>,
    /// Whether it says that it goes on, but nobody writes it any more.
    pub is_incomplete: bool,
    /// Its start.
    pub started_unix_ns: WallNs,
    /// Its end; `None`: it goes on, or never ended.
    pub ended_unix_ns: Option<WallNs>,
    /// The command line, without the program.
    pub command: String,
    /// The URL under load; `None`: there was none, or it is not known.
    pub url: Option<String>,
    /// Its result; `None`: there is no conclusion.
    pub answer: Option<RunAnswer>,
    /// Its tags and its note.
    pub label: RunLabel,
}

/// The columns that [`IndexedRun`] is read from, in order.
pub(crate) const COLUMNS: &str = "name, unreadable, kind, status, is_living, started_ns, ended_ns, command, url, \
                                  verdict, word, rate_hz, p99_ns, bottleneck, reason, tags, note";

pub(crate) const INSERT: &str = "INSERT OR REPLACE INTO runs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, \
                                 ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)";

/// Data stored in addition to the run itself, to decide whether it must be read again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    /// Inode of the folder.
    pub(crate) inode: u64,
    /// When its manifest was last written. Unit: nanoseconds since 1970.
    pub(crate) changed_ns: i64,
    /// Whether it does not change any more.
    pub(crate) is_settled: bool,
    /// Whether somebody writes it.
    pub(crate) is_living: bool,
}

/// Puts the row of a folder in place of an earlier one.
pub(crate) fn write(insert: &mut Statement<'_>, listing: &RunListing, stamp: Stamp) -> rusqlite::Result<()> {
    let name = listing.path.file_name().unwrap_or_default();
    let manifest = listing.manifest.as_ref().ok();
    let unreadable = listing.manifest.as_ref().err().map(|error| cut(&error.to_string()));
    let answer = manifest.and_then(|_| listing.answer());
    let (url, command) = (listing.url().map(|url| cut(&url)), manifest.map(command_of));
    let of = answer.as_ref();
    let bottleneck = of.map(|answer| cut(&answer.limit));
    let reason = of.and_then(|answer| answer.reason.as_deref()).map(cut);
    let shown = name.to_string_lossy();
    // A label that cannot be read labels nothing; it is in the way only of another one.
    let RunLabel { tags, note } = RunLabel::read(&listing.path).unwrap_or_default();
    let texts = [Some(&*shown), command.as_deref(), url.as_deref(), bottleneck.as_deref(), reason.as_deref()];
    let labels = tags.iter().map(String::as_str).chain([note.as_str()]);
    let words = texts.into_iter().flatten().chain(labels).collect::<Vec<_>>().join("\n").to_lowercase();
    insert.execute(params![
        name.as_bytes(),
        stamp.inode as i64,
        stamp.changed_ns,
        stamp.is_settled,
        unreadable,
        manifest.map(|manifest| manifest.kind.name()),
        manifest.map(|manifest| status_name(manifest.status)),
        stamp.is_living,
        manifest.map_or(-1, |manifest| instant(manifest.started_unix_ns)),
        manifest.and_then(|manifest| manifest.ended_unix_ns).map(instant),
        command,
        url,
        of.and_then(|answer| answer.verdict).map(|verdict| verdict as i64),
        of.and_then(|answer| answer.word).map(word_name),
        of.and_then(|answer| answer.rate_hz),
        of.and_then(|answer| answer.p99_ns).and_then(|p99_ns| i64::try_from(p99_ns).ok()).unwrap_or(NO_P99),
        bottleneck,
        reason,
        words,
        listed(&tags),
        note,
    ])?;
    Ok(())
}

/// The run of a row of [`COLUMNS`].
pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<IndexedRun> {
    let name: Vec<u8> = row.get(0)?;
    let (kind, status): (Option<String>, Option<String>) = (row.get(2)?, row.get(3)?);
    let status = status.and_then(|name| STATUSES.into_iter().find(|status| status_name(*status) == name));
    let (is_living, started_ns): (bool, i64) = (row.get(4)?, row.get(5)?);
    let (verdict, word): (Option<i64>, Option<String>) = (row.get(9)?, row.get(10)?);
    let p99_ns: i64 = row.get(12)?;
    let limit: Option<String> = row.get(13)?;
    let answer = limit.map(|limit| -> rusqlite::Result<RunAnswer> {
        Ok(RunAnswer {
            verdict: verdict
                .and_then(|verdict| VerdictStatus::ALL.into_iter().find(|known| *known as i64 == verdict)),
            word: word.and_then(|name| WORDS.into_iter().find(|word| word_name(*word) == name)),
            rate_hz: row.get(11)?,
            p99_ns: u64::try_from(p99_ns).ok().filter(|_| p99_ns != NO_P99),
            limit,
            reason: row.get(14)?,
        })
    });
    let wall = |ns: i64| WallNs(u64::try_from(ns).unwrap_or(0));
    Ok(IndexedRun {
        name: OsStr::from_bytes(&name).to_string_lossy().into_owned(),
        unreadable: row.get(1)?,
        kind: kind.and_then(|name| RunKind::ALL.into_iter().find(|kind| kind.name() == name)),
        status,
        is_incomplete: status == Some(RunStatus::Running) && !is_living,
        started_unix_ns: wall(started_ns),
        ended_unix_ns: row.get::<_, Option<i64>>(6)?.map(wall),
        command: row.get::<_, Option<String>>(7)?.unwrap_or_default(),
        url: row.get(8)?,
        answer: answer.transpose()?,
        label: RunLabel {
            tags: row.get::<_, String>(15)?.split_whitespace().map(str::to_owned).collect(),
            note: row.get(16)?,
        },
    })
}

/// Tags as they are in the table: each between spaces, which none contains.
pub(crate) fn listed(tags: &[String]) -> String {
    if tags.is_empty() { String::new() } else { format!(" {} ", tags.join(" ")) }
}

const WORDS: [Comparison; 4] =
    [Comparison::Better, Comparison::Worse, Comparison::Same, Comparison::CannotTell];

const STATUSES: [RunStatus; 4] =
    [RunStatus::Running, RunStatus::Complete, RunStatus::Interrupted, RunStatus::Failed];

fn status_name(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Running => "running",
        RunStatus::Complete => "complete",
        RunStatus::Interrupted => "interrupted",
        RunStatus::Failed => "failed",
    }
}

/// The command line as it is searched and shown.
pub(crate) fn command_of(manifest: &Manifest) -> String {
    cut(&manifest.command.iter().skip(1).map(String::as_str).collect::<Vec<_>>().join(" "))
}

fn cut(text: &str) -> String {
    text.chars().take(TEXT_MAX).collect()
}

fn instant(at: WallNs) -> i64 {
    i64::try_from(at.0).unwrap_or(i64::MAX)
}
