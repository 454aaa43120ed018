//! A result in the forms that other tools' users have scripts for: one line of a table per phase ([`csv`]), the text of
//! ApacheBench ([`ab`]), the percentile text of HdrHistogram ([`spectrum`]), lines of JSON while it lasts ([`lines`]).
//!
//! All of them contain only numbers of the record. If a tool defines a number differently, the text says so; if the record
//! does not have a number, its line is left out: a script notices a missing line, but not a line with a different number.

pub mod ab;
pub mod csv;
pub mod lines;
pub mod spectrum;

use sysdyno_record::load::{LatencyKind, LatencySet};

/// The latency that a client felt: response time where there is one, else service time.
fn felt(latency: &LatencySet) -> LatencyKind {
    if latency.get(LatencyKind::Response).is_empty() { LatencyKind::Service } else { LatencyKind::Response }
}
