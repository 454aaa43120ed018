//! Parses a ramp as typed, or its file line by line.

use crate::file;
use crate::options::Typed;
use anyhow::{Context, anyhow, bail, ensure};
use std::path::Path;
use sysdyno_load::workload::values::csv;
use sysdyno_record::ramp::RampOf;
use sysdyno_record::units::{RateHz, SpanNs};

/// Most lines and steps of a ramp: each is a phase with numbers of its own.
const MAX_SEGMENTS_COUNT: usize = 200;

/// Most clients.
const MAX_CLIENTS: f64 = 1_000_000.0;

pub(super) const HINT: &str = "hint: write 100/s..5k/s:60s, 9x(0..1k/s:1s,1k/s..0:1s), steps:100/s..1k/s:10x30s, 10..200:60s (clients), or a CSV file of time,rate";

/// A straight line of a ramp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RampLine {
    /// Rate per second, or clients, at its beginning and at its end.
    pub begin: f64,
    pub end: f64,
    /// How long it takes.
    pub span: SpanNs,
}

/// The lines of a ramp, and what they are of.
pub(super) fn read(typed: &str) -> anyhow::Result<(RampOf, Vec<RampLine>)> {
    let (of, lines) = read_any(typed)?;
    check_count(lines.len())?;
    Ok((of, lines))
}

fn read_any(typed: &str) -> anyhow::Result<(RampOf, Vec<RampLine>)> {
    if let Some(steps) = typed.strip_prefix("steps:") {
        return read_steps(steps).map_err(|error| hinted("steps", steps, &error));
    }
    if !typed.contains("..") || Path::new(typed).exists() {
        return Ok((RampOf::Rate, read_file(typed)?));
    }
    let mut all = Vec::new();
    let mut kinds = Vec::new();
    for part in parts(typed)? {
        let (of, line) = read_line(part).map_err(|error| hinted("ramp", part, &error))?;
        all.push(line);
        kinds.push(of);
    }
    ensure!(kinds.iter().all(|of| *of == kinds[0]), "cannot mix rates and clients in a ramp\n{HINT}");
    Ok((kinds[0], all))
}

/// The lines of a ramp, those in `30x(…)` as often as it says.
fn parts(typed: &str) -> anyhow::Result<Vec<&str>> {
    let mut parts = Vec::new();
    let mut rest = typed;
    loop {
        let end = rest.find([',', '(']).unwrap_or(rest.len());
        let (part, behind) = rest.split_at(end);
        rest = match behind.strip_prefix('(') {
            None => {
                parts.push(part);
                behind
            }
            Some(inside) => {
                let cannot = || anyhow!("cannot repeat '{part}(…)'\n{HINT}");
                let (lines, behind) = inside.split_once(')').ok_or_else(cannot)?;
                let times = part.trim().strip_suffix('x').and_then(|times| times.parse().ok());
                let times: usize = times.filter(|times| *times <= MAX_SEGMENTS_COUNT).ok_or_else(cannot)?;
                let lines: Vec<&str> = lines.split(',').take(MAX_SEGMENTS_COUNT + 1).collect();
                parts.extend((0..times).flat_map(|_| &lines));
                behind
            }
        };
        check_count(parts.len())?;
        match rest.strip_prefix(',') {
            Some(next) => rest = next,
            None if rest.is_empty() && !parts.is_empty() => return Ok(parts),
            None => bail!("cannot read ramp '{rest}'\n{HINT}"),
        }
    }
}

fn check_count(count: usize) -> anyhow::Result<()> {
    ensure!(
        count <= MAX_SEGMENTS_COUNT,
        "cannot use more than {MAX_SEGMENTS_COUNT} lines or steps in a ramp"
    );
    Ok(())
}

fn hinted(what: &str, typed: &str, error: &anyhow::Error) -> anyhow::Error {
    anyhow!("cannot read {what} '{typed}': {error:#}\n{HINT}")
}

/// `100/s..5k/s:60s`
fn read_line(text: &str) -> anyhow::Result<(RampOf, RampLine)> {
    let (range, span) = text.rsplit_once(':').context("it needs a time after ':'")?;
    let (of, [begin, end]) = read_range(range)?;
    Ok((of, RampLine { begin, end, span: read_span(span)? }))
}

/// `100/s..1k/s:10x30s`
fn read_steps(text: &str) -> anyhow::Result<(RampOf, Vec<RampLine>)> {
    let (range, times) = text.rsplit_once(':').context("they need a number and a time after ':'")?;
    let (count, span) = times.split_once('x').context("write their number and time as 10x30s")?;
    let count: usize = count.parse().context("their number cannot be read")?;
    ensure!((2..=MAX_SEGMENTS_COUNT).contains(&count), "use 2 to {MAX_SEGMENTS_COUNT} steps");
    let (of, [begin, end]) = read_range(range)?;
    let span = read_span(span)?;
    let step = |number: usize| {
        let height = begin + (end - begin) * number as f64 / (count - 1) as f64;
        let height = if of == RampOf::Clients { height.round() } else { height };
        RampLine { begin: height, end: height, span }
    };
    Ok((of, (0..count).map(step).collect()))
}

fn read_range(text: &str) -> anyhow::Result<(RampOf, [f64; 2])> {
    let (begin, end) = text.split_once("..").context("it needs two rates separated by '..'")?;
    let of = if begin.contains('/') || end.contains('/') { RampOf::Rate } else { RampOf::Clients };
    let number = |text: &str| -> anyhow::Result<f64> {
        match of {
            RampOf::Rate if matches!(text.trim(), "0" | "0/s") => Ok(0.0),
            RampOf::Rate => Ok(text.parse::<Typed<RateHz>>()?.0.0),
            RampOf::Clients => {
                Ok(f64::from(text.trim().parse::<u32>().context("it is not a number of clients")?))
            }
        }
    };
    let ends = [number(begin)?, number(end)?];
    ensure!(
        of == RampOf::Rate || ends.iter().all(|end| *end <= MAX_CLIENTS),
        "the maximum is {MAX_CLIENTS} clients"
    );
    Ok((of, ends))
}

fn read_span(text: &str) -> anyhow::Result<SpanNs> {
    let span = text.parse::<Typed<SpanNs>>()?.0;
    ensure!(span.0 > 0, "its time is zero");
    Ok(span)
}

/// A file of points.
fn read_file(path: &str) -> anyhow::Result<Vec<RampLine>> {
    let cannot = || format!("cannot read ramp '{path}'");
    let text = file::read(Path::new(path)).map_err(|error| hinted("ramp", path, &error))?;
    points(path, &text).with_context(cannot)
}

/// Straight lines between the points of a table; two points at one time are a jump.
fn points(path: &str, text: &str) -> anyhow::Result<Vec<RampLine>> {
    let table = match csv::parse(path, text) {
        Ok(table) => table,
        Err(misread) => {
            let line = text[..misread.at].matches('\n').count() + 1;
            bail!("line {line}: {}", misread.cause);
        }
    };
    ensure!(table.columns == ["time", "rate"], "the first line is not 'time,rate'");
    let mut points: Vec<[f64; 2]> = Vec::new();
    for (row, line) in table.cells.lines.iter().enumerate() {
        let number = |column: usize| table.cells.cell(row, column).trim().parse::<f64>().ok();
        let most = [1e6, 1e8];
        let point = [number(0), number(1)].map(|number| number.unwrap_or(f64::NAN));
        let is_point = point.iter().zip(most).all(|(number, most)| (0.0..=most).contains(number));
        ensure!(is_point, "line {line}: expected a time in seconds and a rate per second");
        let is_later = points.last().is_none_or(|last| last[0] <= point[0]);
        ensure!(is_later, "line {line}: its time is earlier than on the line above");
        points.push(point);
    }
    let lines = points.windows(2).filter(|pair| pair[1][0] > pair[0][0]);
    let lines: Vec<RampLine> = lines
        .map(|pair| RampLine {
            begin: pair[0][1],
            end: pair[1][1],
            span: SpanNs(((pair[1][0] - pair[0][0]) * 1e9).round() as u64),
        })
        .collect();
    ensure!(!lines.is_empty(), "it needs two points at different times");
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(begin: f64, end: f64, seconds: u64) -> RampLine {
        RampLine { begin, end, span: SpanNs::from_secs(seconds) }
    }

    #[test]
    fn lines_steps_and_clients_are_read() {
        let check = |typed: &str, of: RampOf, expected: &[RampLine]| {
            assert_eq!(read(typed).expect(typed), (of, expected.to_vec()), "{typed}");
        };
        check("100/s..5k/s:60s", RampOf::Rate, &[segment(100.0, 5000.0, 60)]);
        check(
            "0..1k/s:10s,1k/s..1k/s:20s",
            RampOf::Rate,
            &[segment(0.0, 1000.0, 10), segment(1000.0, 1000.0, 20)],
        );
        check(
            "steps:100/s..300/s:3x2s",
            RampOf::Rate,
            &[segment(100.0, 100.0, 2), segment(200.0, 200.0, 2), segment(300.0, 300.0, 2)],
        );
        check("0x(1/s..1/s:1s),2x(1/s..1/s:1s,2/s..2/s:1s),3/s..3/s:1s", RampOf::Rate, &{
            let [one, two, three] = [1.0, 2.0, 3.0].map(|rate| segment(rate, rate, 1));
            [one, two, one, two, three]
        });
        check("10..200:60s", RampOf::Clients, &[segment(10.0, 200.0, 60)]);
        for wrong in [
            "100/s..5k/s",
            "100/s..x:60s",
            "..:1s",
            "1/s..2/s:0s",
            "steps:1/s..2/s:60s",
            "steps:1/s..2/s:1x60s",
            "1..2:1s,1/s..2/s:1s",
            "1..9999999:1s",
            "2x(1..2:1s",
            "x(1..2:1s)",
            "2x(1..2:1s)3x(1..2:1s)",
            "0x(1..2:1s)",
            "201x(1..2:1s)",
            "2x(2x(1..2:1s))",
            "150x(1..2:1s),150x(1..2:1s)",
            "/no/such/file",
            "",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn points_of_a_file_are_joined_and_what_is_wrong_has_its_line() {
        let read = |text: &str| points("x", text).map_err(|error| error.to_string());
        let expected = vec![segment(0.0, 100.0, 10), segment(500.0, 500.0, 5)];
        assert_eq!(read("time,rate\n0,0\n10,100\n10,500\n15,500\n"), Ok(expected));
        for (text, told) in [
            ("", "line 1"),
            ("a,b\n1,2\n", "the first line"),
            ("time,rate\n1,2\n", "it needs two points"),
            ("time,rate\n1,2\n0,2\n", "line 3: its time"),
            ("time,rate\n0,2\n1,-2\n", "line 3: expected"),
            ("time,rate\n0,2\n1,inf\n", "line 3: expected"),
            ("time,rate\n0\n", "line 2: it has 1 cells"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(told), "{text:?}: {error}");
        }
    }
}
