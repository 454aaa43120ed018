//! How well a diagnosis identified a known fault.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a diagnosis was worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiagnosisGrade {
    /// The fault is the first of what is likely; or all is well, and nothing is alleged.
    Right,
    /// The fault is the first of what is possible, and nothing is likely.
    Suspected,
    /// The fault is named, and something else before it.
    Second,
    /// Nothing is named.
    Silent,
    /// Only something else is named, and it is possible at most; or all is well, and something is called possible.
    Doubtful,
    /// Something else is called likely, and the fault is not named; or all is well, and something is called likely.
    Wrong,
}

impl DiagnosisGrade {
    /// All, best first.
    pub const ALL: [DiagnosisGrade; 6] = [
        DiagnosisGrade::Right,
        DiagnosisGrade::Suspected,
        DiagnosisGrade::Second,
        DiagnosisGrade::Silent,
        DiagnosisGrade::Doubtful,
        DiagnosisGrade::Wrong,
    ];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            DiagnosisGrade::Right => "right",
            DiagnosisGrade::Suspected => "suspected",
            DiagnosisGrade::Second => "second",
            DiagnosisGrade::Silent => "silent",
            DiagnosisGrade::Doubtful => "doubtful",
            DiagnosisGrade::Wrong => "wrong",
        }
    }
}

/// A load with a planted fault, or healthy, and its diagnosis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgedCase {
    /// What it is called.
    pub name: String,
    /// The fault; `None`: all was well.
    pub fault: Option<String>,
    /// Its intensity, from 1; 0: all was well.
    pub level: usize,
    /// Ids of the diagnoses that are right.
    pub planted: Vec<String>,
    /// The ID listed first; `None` if nothing is named.
    pub named: Option<String>,
    /// What the diagnosis was worth.
    pub grade: DiagnosisGrade,
    /// The bottleneck in a sentence.
    pub limit: String,
    /// Where the run is.
    pub run: PathBuf,
}
