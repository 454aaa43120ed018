//! `latency.hlog`: histograms as an HdrHistogram interval log that the field's own tools open.
//!
//! Log format 1.3, payload V2 with DEFLATE in base64; other ports cannot read V2 without DEFLATE. Interval times are
//! absolute and there is no `BaseTime`: with one, the Java reader takes the first interval for the start. The maximum value
//! is in milliseconds (nanoseconds ÷ 10^6), as in the Java writer.
//!
//! The crate `hdrhistogram` writes, and parses lines and histograms. Its decoder trusts the lengths that a payload declares
//! (up to 4 GiB), so `hlog::payload` unpacks a payload first, within a bound, and adds up its counts before the crate sees
//! it.
//!
//! The log of the golden run was opened with HdrHistogram 2.2.2 for Java and hdrhistogram 0.10 for Python; tag, times,
//! count, p50, p99, and maximum of every histogram matched the values read here, and a test keeps them.
//!
//! Source: <https://github.com/HdrHistogram/HdrHistogram>, `HistogramLogWriter` and `HistogramLogReader`.

mod payload;

use crate::load::{LatencyKind, WindowStep};
use crate::plan::PhaseKind;
use crate::units::WallNs;
use base64::prelude::{BASE64_STANDARD, Engine};
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{
    IntervalLogHistogram, IntervalLogIterator, IntervalLogWriterBuilder, LogEntry, Tag,
};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;
use sysdyno_stats::histogram::LatencyHistogram;

/// What a histogram of the log holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogTag {
    /// The trial.
    pub trial: u32,
    /// The phase's kind.
    pub phase: PhaseKind,
    /// The kind of latency.
    pub kind: LatencyKind,
}

impl fmt::Display for LogTag {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "T{:04}:{}:{}", self.trial, self.phase.name(), self.kind.name())
    }
}

impl FromStr for LogTag {
    type Err = ();

    /// Errors: the tag is of another program, or of a newer version.
    fn from_str(text: &str) -> Result<LogTag, ()> {
        let mut parts = text.split(':');
        let mut part = || parts.next().ok_or(());
        let (trial, phase, kind) = (part()?, part()?, part()?);
        let digits =
            trial.strip_prefix('T').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let tag = LogTag {
            trial: digits.and_then(|digits| digits.parse().ok()).ok_or(())?,
            phase: PhaseKind::ALL.into_iter().find(|known| known.name() == phase).ok_or(())?,
            kind: LatencyKind::ALL.into_iter().find(|known| known.name() == kind).ok_or(())?,
        };
        if parts.next().is_some() { Err(()) } else { Ok(tag) }
    }
}

/// Turns histograms into lines of the log.
#[derive(Default)]
pub struct LogEncoder {
    serializer: V2DeflateSerializer,
}

impl fmt::Debug for LogEncoder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("LogEncoder")
    }
}

/// Nanoseconds in the unit of the log's greatest value, the millisecond.
const MAX_VALUE_DIVISOR: f64 = 1e6;

impl LogEncoder {
    /// The lines before the first histogram.
    pub fn header(start: WallNs) -> Vec<u8> {
        let seconds = start.0 as f64 / 1e9;
        let lines = [
            "#[Values are nanoseconds; Interval_Max is in milliseconds]".into(),
            "#[Histogram log format version 1.3]".into(),
            format!("#[StartTime: {seconds:.3} (seconds since epoch), {start}]"),
            "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n"
                .into(),
        ];
        lines.join("\n").into_bytes()
    }

    /// Appends the line of one histogram, taken over the interval from `span[0]` to `span[1]`, to `lines`.
    ///
    /// Errors: why the histogram has no form in the log.
    pub fn encode(
        &mut self,
        lines: &mut Vec<u8>,
        tag: LogTag,
        span: [WallNs; 2],
        histogram: &LatencyHistogram,
    ) -> Result<(), String> {
        let tag = tag.to_string();
        let tag = Tag::new(&tag).expect("a tag has no comma and no space");
        let mut written = Vec::new();
        IntervalLogWriterBuilder::new()
            .with_max_value_divisor(MAX_VALUE_DIVISOR)
            .begin_log_with(&mut written, &mut self.serializer)
            .map_err(|error| error.to_string())?
            .write_histogram(
                histogram.as_hdr(),
                Duration::from_nanos(span[0].0),
                Duration::from_nanos(span[1].0.saturating_sub(span[0].0)),
                Some(tag),
            )
            .map_err(|error| error.to_string())?;
        // The writer puts a comment with the divisor before the first histogram of what it takes for a log.
        let comment = written.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        lines.extend_from_slice(&written[comment..]);
        Ok(())
    }
}

/// One line of the log.
#[derive(Debug)]
pub enum Decoded {
    /// A comment, a time of the head, or the legend.
    Comment,
    /// A histogram that is tagged by somebody else.
    Foreign,
    /// A histogram with sysdyno's bounds.
    Entry(Entry),
}

/// A histogram of the log.
#[derive(Debug)]
pub struct Entry {
    /// What it holds.
    pub tag: LogTag,
    /// Begin of its interval, to the millisecond.
    pub start: WallNs,
    /// Length of its interval, to the millisecond.
    pub length: Duration,
    /// Its values, from least to greatest.
    pub steps: Vec<WindowStep>,
}

impl Entry {
    /// Adds its values to a histogram.
    pub fn add_to(&self, histogram: &mut LatencyHistogram) {
        self.steps.iter().for_each(|step| histogram.record_many(step.up_to_ns, step.count));
    }

    /// Its values as a histogram.
    pub fn histogram(&self) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::new();
        self.add_to(&mut histogram);
        histogram
    }
}

/// Reads one line, without its newline.
///
/// Errors: what is wrong with it, in words.
pub fn decode(line: &[u8]) -> Result<Decoded, String> {
    if line.starts_with(b"#") || line.starts_with(b"\"StartTimestamp\"") || line.is_empty() {
        return Ok(Decoded::Comment);
    }
    let mut terminated = line.to_vec();
    terminated.push(b'\n');
    let entry = IntervalLogIterator::new(&terminated).next();
    let Some(Ok(LogEntry::Interval(interval))) = entry else {
        return Err("not a line of an HdrHistogram log".into());
    };
    decode_interval(&interval)
}

fn decode_interval(interval: &IntervalLogHistogram<'_>) -> Result<Decoded, String> {
    let Some(Ok(tag)) = interval.tag().map(|tag| tag.as_str().parse()) else { return Ok(Decoded::Foreign) };
    let payload = BASE64_STANDARD.decode(interval.encoded_histogram());
    let payload = payload.map_err(|_| "the payload is not base64")?;
    Ok(Decoded::Entry(Entry {
        tag,
        start: WallNs(crate::units::nanoseconds(interval.start_timestamp())),
        length: interval.duration(),
        steps: payload::decode(&payload)?,
    }))
}

#[cfg(test)]
mod tests;
