//! Queries of the table.

use crate::row::{COLUMNS, IndexedRun, listed, read};
use crate::{IndexError, RunIndex};
use rusqlite::ToSql;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use sysdyno_record::analysis::VerdictStatus;
use sysdyno_record::effect::{Comparison, word_name};
use sysdyno_record::manifest::RunKind;

/// Which runs, and which of them first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunQuery {
    /// Each of these texts, in any case, in name, command line, URL, bottleneck, problem, tags, or note; empty: any.
    pub texts: Vec<String>,
    /// The command that made it; `None`: any.
    pub kind: Option<RunKind>,
    /// Its verdict; `None`: any.
    pub verdict: Option<VerdictStatus>,
    /// The word on B against A; `None`: any.
    pub word: Option<Comparison>,
    /// Has each of these tags; empty: any.
    pub tags: Vec<String>,
    /// What comes first.
    pub sort: RunSort,
    /// How many are passed over.
    pub offset: usize,
    /// How many are wanted; `None`: all.
    pub limit: Option<usize>,
}

/// What comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunSort {
    /// The newest.
    #[default]
    Time,
    /// The highest rate.
    Rate,
    /// The lowest p99.
    P99,
    /// The worst verdict.
    Verdict,
}

/// The result of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundRuns {
    /// The matching runs, in order.
    pub runs: Vec<IndexedRun>,
    /// The number of all runs, matching or not.
    pub total_count: u64,
}

impl RunSort {
    fn order(self) -> &'static str {
        match self {
            RunSort::Time => "started_ns DESC, name DESC",
            RunSort::Rate => "rate_hz DESC, started_ns DESC",
            RunSort::P99 => "p99_ns, started_ns DESC",
            RunSort::Verdict => "verdict DESC, started_ns DESC",
        }
    }
}

impl RunIndex {
    /// The runs that are readable and of which this is true.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn find(&self, query: &RunQuery) -> Result<FoundRuns, IndexError> {
        // Another process may write between the two questions.
        let _unchanged = self.db.unchecked_transaction()?;
        let (condition, values) = condition(query);
        let values: Vec<&dyn ToSql> = values.iter().map(AsRef::as_ref).collect();
        // All that a condition or an order needs is in this index, which is a fraction of the table.
        let order = query.sort.order();
        let text =
            format!("SELECT name FROM runs INDEXED BY runs_searched WHERE {condition} ORDER BY {order}");
        let mut select = self.db.prepare(&text)?;
        let mut rows = select.query(&*values)?;
        let end = query.limit.map_or(usize::MAX, |limit| query.offset.saturating_add(limit));
        let (mut names, mut count) = (Vec::new(), 0);
        while let Some(row) = rows.next()? {
            if (query.offset..end).contains(&count) {
                names.push(row.get::<_, Vec<u8>>(0)?);
            }
            count += 1;
        }
        let mut select = self.db.prepare(&format!("SELECT {COLUMNS} FROM runs WHERE name = ?1"))?;
        let runs = names.iter().map(|name| select.query_row([name], read)).collect::<Result<Vec<_>, _>>()?;
        Ok(FoundRuns { runs, total_count: count as u64 })
    }

    /// The run of this name; `None`: there is no such folder, or it is unreadable.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn run(&self, name: &str) -> Result<Option<IndexedRun>, IndexError> {
        let text = format!("SELECT {COLUMNS} FROM runs WHERE name = ?1 AND unreadable IS NULL");
        let mut select = self.db.prepare(&text)?;
        let mut rows = select.query_map([name.as_bytes()], read)?;
        Ok(rows.next().transpose()?)
    }

    /// Folders that hold no run that can be read, by name, each with the reason. Untrusted.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn unreadable(&self) -> Result<Vec<(OsString, String)>, IndexError> {
        let text = "SELECT name, unreadable FROM runs WHERE unreadable IS NOT NULL ORDER BY name DESC";
        let mut select = self.db.prepare(text)?;
        let rows = select.query_map([], |row| Ok((OsString::from_vec(row.get(0)?), row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// A condition with its parameters, in order. What was typed is always a parameter.
fn condition(query: &RunQuery) -> (String, Vec<Box<dyn ToSql>>) {
    let mut condition = String::from("unreadable IS NULL");
    let mut values: Vec<Box<dyn ToSql>> = Vec::new();
    let mut add = |test: &str, value: Box<dyn ToSql>| {
        condition.push_str(test);
        values.push(value);
    };
    for text in &query.texts {
        add(" AND instr(words, ?) > 0", Box::new(text.to_lowercase()));
    }
    for tag in &query.tags {
        add(" AND instr(tags, ?) > 0", Box::new(listed(std::slice::from_ref(tag))));
    }
    if let Some(kind) = query.kind {
        add(" AND kind = ?", Box::new(kind.name()));
    }
    if let Some(verdict) = query.verdict {
        add(" AND verdict = ?", Box::new(verdict as i64));
    }
    if let Some(word) = query.word {
        add(" AND word = ?", Box::new(word_name(word)));
    }
    (condition, values)
}
