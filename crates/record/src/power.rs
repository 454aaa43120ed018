//! Power of a machine over time, as a meter wrote it down: one line of time and watts for each reading.
//!
//! The time is in seconds since 1970, or written as RFC 3339; the first line may be a heading. A file is refused as a whole
//! where a line is malformed or times do not rise, since part of a file would give an energy that is too small.

use crate::units::WallNs;

/// More readings are refused.
const MAX_SAMPLES: usize = 1_000_000;
/// More power is refused. Unit: watts.
const MAX_WATTS: f64 = 1e6;
/// Readings that are further apart do not tell what was used in between. House value. Unit: nanoseconds.
const MAX_GAP_NS: u64 = 10_000_000_000;

/// What a meter wrote down, in order of time.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerLog {
    samples: Vec<PowerSample>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct PowerSample {
    at: WallNs,
    watts: f64,
}

/// Why a meter's file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {cause}")]
pub struct PowerLogError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub cause: &'static str,
}

impl PowerLog {
    /// Reads the text of a meter's file.
    ///
    /// # Errors
    /// The first line that cannot be used.
    pub fn parse(text: &str) -> Result<PowerLog, PowerLogError> {
        let mut samples: Vec<PowerSample> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let wrong = |cause| PowerLogError { line: index + 1, cause };
            if line.trim().is_empty() || (index == 0 && is_heading(line)) {
                continue;
            }
            let sample = parse_line(line).map_err(wrong)?;
            if samples.last().is_some_and(|last| last.at >= sample.at) {
                return Err(wrong("its time is not after that of the line before"));
            }
            if samples.len() == MAX_SAMPLES {
                return Err(wrong("it has more than 1,000,000 readings"));
            }
            samples.push(sample);
        }
        match samples.len() {
            0 | 1 => Err(PowerLogError { line: 1, cause: "it has fewer than two readings" }),
            _ => Ok(PowerLog { samples }),
        }
    }

    /// Energy between two instants, by straight lines between readings. Unit: joules.
    ///
    /// `None`: the meter did not read all of the time; its readings begin later, end before, or are more than 10 s apart.
    pub fn joules(&self, begin: WallNs, end: WallNs) -> Option<f64> {
        let first = self.samples.partition_point(|sample| sample.at <= begin).checked_sub(1)?;
        let last = self.samples.partition_point(|sample| sample.at < end);
        let within = self.samples.get(first..=last).filter(|within| within.len() > 1 && begin < end)?;
        within.windows(2).try_fold(0.0, |sum, pair| Some(sum + piece(pair[0], pair[1], [begin, end])?))
    }
}

/// Energy of the part of a line between two readings that lies in a span.
fn piece(from: PowerSample, to: PowerSample, [begin, end]: [WallNs; 2]) -> Option<f64> {
    let length_ns = to.at.0 - from.at.0;
    if length_ns > MAX_GAP_NS {
        return None;
    }
    let (low, high) = (from.at.max(begin), to.at.min(end));
    let watts =
        |at: WallNs| from.watts + (to.watts - from.watts) * ((at.0 - from.at.0) as f64 / length_ns as f64);
    Some(watts(low).midpoint(watts(high)) * ((high.0 - low.0) as f64 / 1e9))
}

fn is_heading(line: &str) -> bool {
    line.starts_with(|letter: char| letter.is_alphabetic())
}

fn parse_line(line: &str) -> Result<PowerSample, &'static str> {
    let (time, watts) = line.split_once(',').ok_or("it is not a time, a comma, and watts")?;
    let at = parse_time(time.trim()).ok_or("its time is neither seconds since 1970 nor RFC 3339")?;
    let watts: f64 = watts.trim().parse().map_err(|_| "its watts are not a number")?;
    if !(0.0..=MAX_WATTS).contains(&watts) {
        return Err("its watts are not between 0 and 1,000,000");
    }
    Ok(PowerSample { at, watts })
}

fn parse_time(text: &str) -> Option<WallNs> {
    if let Ok(seconds) = text.parse::<f64>() {
        return (0.0..1e10).contains(&seconds).then_some(WallNs((seconds * 1e9) as u64));
    }
    let since = humantime::parse_rfc3339_weak(text).ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    u64::try_from(since.as_nanos()).ok().map(WallNs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> WallNs {
        WallNs((seconds * 1e9) as u64)
    }

    fn refused(text: &str) -> String {
        PowerLog::parse(text).expect_err("is refused").to_string()
    }

    #[test]
    fn energy_is_the_area_below_the_readings() {
        let log = PowerLog::parse("time,watts\n100,10\n102,10\n104,20\n\n106,20\n").expect("reads");
        let joules = |begin, end| log.joules(at(begin), at(end));
        assert_eq!(joules(100.0, 106.0), Some(20.0 + 30.0 + 40.0));
        assert_eq!(joules(101.0, 103.0), Some(10.0 + 12.5));
        assert_eq!(joules(104.5, 105.5), Some(20.0));
        assert_eq!([joules(99.0, 101.0), joules(105.0, 106.5), joules(103.0, 103.0)], [None; 3]);
    }

    #[test]
    fn a_gap_or_a_later_start_gives_no_energy() {
        let log = PowerLog::parse("100,10\n102,10\n113,10\n114,10\n").expect("reads");
        assert_eq!(log.joules(at(100.0), at(114.0)), None);
        assert_eq!(log.joules(at(113.0), at(114.0)), Some(10.0));
    }

    #[test]
    fn times_are_written_in_two_ways() {
        let log = PowerLog::parse("2026-01-02T03:04:05Z, 7\n2026-01-02 03:04:06.5, 7\n").expect("reads");
        assert_eq!(log.joules(at(1_767_323_045.0), at(1_767_323_046.0)), Some(7.0));
    }

    #[test]
    fn a_line_that_cannot_be_used_is_named() {
        assert_eq!(
            refused("time,watts\n1,5\n1,6\n"),
            "line 3: its time is not after that of the line before"
        );
        assert_eq!(refused("1,5\n2;6\n"), "line 2: it is not a time, a comma, and watts");
        for line in ["x,5", "-1,5", "1e300,5", "3,nan", "3,-1", "3,1e9", "3,inf", "3,"] {
            assert!(refused(&format!("1,5\n2,5\n{line}\n")).starts_with("line 3: "), "{line}");
        }
        for text in ["", "1,5\n", "a\nb\n", "\u{0},\u{0}\n"] {
            assert!(refused(text).starts_with("line "), "{text:?}");
        }
    }
}
