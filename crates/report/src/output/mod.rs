//! A result in the forms that other tools' users have scripts for: one line of a table per phase ([`csv`]), the text of
//! ApacheBench ([`ab`]), the percentile text of HdrHistogram ([`spectrum`]), lines of JSON while it lasts ([`lines`]).
//!
//! All of them hold numbers of the record only. Where a tool defines a number otherwise, the text says so, and where the
//! record does not have it, the line is left out: a script that misses it is told, one that reads another number is not.

pub mod ab;
pub mod csv;
pub mod lines;
pub mod spectrum;

use sysdyno_record::load::{LatencyKind, LatencySet};

/// The latency that a client felt: response time where there is one, else service time.
fn felt(latency: &LatencySet) -> LatencyKind {
    if latency.get(LatencyKind::Response).is_empty() { LatencyKind::Service } else { LatencyKind::Response }
}
