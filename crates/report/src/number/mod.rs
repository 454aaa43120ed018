//! Formats numbers: three or four significant digits, with their unit.
//!
//! All text of this crate gets its numbers from here, so that the same value looks the same everywhere. A value that is
//! missing is written as `–`, never as 0.

mod effect;

pub use self::effect::{effect, effect_bound, margin};
use std::time::Duration;
use sysdyno_record::tryout::Metric;
use sysdyno_record::units::rounding_step;

/// What stands for a value that there is not.
pub const MISSING: &str = "–";

/// A whole number with thousands separators: `120,034`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// So many things: `1 sample`, `2,004 samples`.
pub fn counted(value: u64, noun: &str) -> String {
    let ending = if value == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", count(value))
}

/// A count too large to be read digit by digit, with three digits: `31.2 G`; below 10,000 as it is.
pub fn scaled(value: u64) -> String {
    const SCALES: [(f64, &str); 4] = [(1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T")];
    if value < 10_000 {
        return count(value);
    }
    let value = value as f64;
    let (scale, unit) = SCALES.into_iter().find(|(scale, _)| value < 999.5 * scale).unwrap_or(SCALES[3]);
    format!("{} {unit}", significant(value / scale, 3))
}

/// A decimal number with so many significant digits, thousands separated: `4,123`, `41.2`, `0.0412`.
pub fn significant(value: f64, digits: u32) -> String {
    if !value.is_finite() {
        return MISSING.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let digits = i32::try_from(digits).unwrap_or(i32::MAX).clamp(1, 15);
    let exponent = value.abs().log10().floor() as i32;
    let step = 10f64.powi(exponent - digits + 1);
    // Rounding 9.996 up makes 10.0, which has a digit more before the point and so one less after it.
    let has_carried = (value.abs() / step).round() >= 10f64.powi(digits);
    stepped(value, if has_carried { step * 10.0 } else { step })
}

/// A decimal number rounded to a multiple of `step`, which is a power of ten, without digits below it.
fn stepped(value: f64, step: f64) -> String {
    let decimals = (-step.log10().round()).clamp(0.0, 15.0) as usize;
    let rounded = format!("{:.decimals$}", (value / step).round() * step);
    let (whole, fraction) = rounded.split_once('.').unwrap_or((&rounded, ""));
    let (sign, whole) = whole.strip_prefix('-').map_or(("", whole), |whole| ("-", whole));
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), count);
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

/// A duration with three significant digits and the unit that fits: `850 ns`, `41.2 ms`, `1.02 s`.
pub fn duration_ns(value_ns: u64) -> String {
    const UNITS: [(f64, &str); 3] = [(1e3, "µs"), (1e6, "ms"), (1e9, "s")];
    let value = value_ns as f64;
    if value < 999.5 {
        return format!("{value_ns} ns");
    }
    // 999.7 µs would be written as 1,000 µs: the next unit begins where three digits end.
    let (scale, unit) = UNITS.into_iter().find(|(scale, _)| value < 999.5 * scale).unwrap_or(UNITS[2]);
    format!("{} {unit}", significant(value / scale, 3))
}

/// A duration with its interval, all in one unit: `3.21 ms [3.10, 3.35]`.
pub fn duration_interval_ns(value_ns: u64, interval_ns: [u64; 2]) -> String {
    let value = duration_ns(value_ns);
    let scale = match value.rsplit_once(' ') {
        Some((_, "µs")) => 1e3,
        Some((_, "ms")) => 1e6,
        Some((_, "s")) => 1e9,
        _ => 1.0,
    };
    let [low, high] = interval_ns.map(|end_ns| significant(end_ns as f64 / scale, 3));
    format!("{value} [{low}, {high}]")
}

/// A duration, or `–`.
pub fn duration_or_missing(value_ns: Option<u64>) -> String {
    value_ns.map_or_else(|| MISSING.to_owned(), duration_ns)
}

/// A rate in requests per second with four significant digits: `4,123 req/s`.
pub fn rate(value_hz: f64) -> String {
    format!("{} req/s", significant(value_hz, 4))
}

/// A rate with its interval, rounded to what the interval supports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateInterval {
    /// The estimate: `4,120`.
    pub rate: String,
    /// Lower end: `4,050`.
    pub low: String,
    /// Upper end: `4,190`.
    pub high: String,
}

/// Rounds a rate and its interval so that the last digit is worth at least a tenth of the interval's half width.
pub fn rate_interval(rate_hz: f64, low_hz: f64, high_hz: f64) -> RateInterval {
    let step = rounding_step(rate_hz, (high_hz - low_hz).abs() / 2.0);
    RateInterval { rate: stepped(rate_hz, step), low: stepped(low_hz, step), high: stepped(high_hz, step) }
}

/// A decimal number without zeros behind its point.
pub(crate) fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// A value of a metric with its unit.
pub fn metric(metric: Metric, value: f64) -> String {
    match metric.unit() {
        _ if !value.is_finite() => MISSING.to_owned(),
        "ns" => duration_ns(value.max(0.0) as u64),
        "s" => duration_ns((value.max(0.0) * 1e9) as u64),
        "hz" => rate(value),
        "bytes" => bytes(value.max(0.0) as u64),
        _ => percent(value),
    }
}

/// A share as a percentage: `0.05 %`, `97 %`, `100 %`.
///
/// Only a share of exactly 1 is written as 100 % and only one of exactly 0 as 0 %.
pub fn percent(ratio: f64) -> String {
    let value = ratio * 100.0;
    match value {
        _ if !value.is_finite() => MISSING.to_owned(),
        0.0 => "0%".to_owned(),
        _ if value > 99.9 && value < 100.0 => "> 99.9%".to_owned(),
        _ if value > 0.0 && value < 0.001 => "< 0.001%".to_owned(),
        _ if value >= 10.0 => format!("{}%", significant(value, 3)),
        _ => format!("{}%", significant(value, 2)),
    }
}

/// A length of time as people say it: `41 s`, `4 min 12 s`, `1 h 03 min`.
pub fn span(duration: Duration) -> String {
    let seconds = duration.as_secs_f64().round() as u64;
    match seconds {
        0 => format!("{} s", significant(duration.as_secs_f64(), 1)),
        1..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// Time on a clock that runs down: `0:42`, `12:07`, `1:02:03`.
pub fn clock(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds % 3600 / 60, seconds % 60);
    if hours == 0 { format!("{minutes}:{seconds:02}") } else { format!("{hours}:{minutes:02}:{seconds:02}") }
}

/// An amount of data in binary units: `512 B`, `12.4 KiB`, `3.10 GiB`.
pub fn bytes(value: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if value < 1024 {
        return format!("{value} B");
    }
    let mut scaled = value as f64 / 1024.0;
    let mut unit = 0;
    while scaled >= 1023.5 && unit + 1 < UNITS.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    let digits = if scaled >= 999.5 { 4 } else { 3 };
    format!("{} {}", significant(scaled, digits), UNITS[unit])
}

/// An objective in the user's notation, spaced for reading: `p99<50ms` becomes `p99 < 50 ms`.
pub fn objective(notation: &str) -> String {
    let Some((percentile, limit)) = notation.split_once('<') else { return notation.to_owned() };
    let limit = limit.trim();
    let unit = limit.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(limit.len());
    let (number, unit) = limit.split_at(unit);
    format!("{} < {} {}", percentile.trim(), number.trim(), unit).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_keep_three_digits_and_change_unit_where_they_end() {
        let check = |value_ns: u64, text: &str| assert_eq!(duration_ns(value_ns), text, "{value_ns}");
        check(0, "0 ns");
        check(850, "850 ns");
        check(999, "999 ns");
        check(1_000, "1.00 µs");
        check(1_214, "1.21 µs");
        check(41_250_000, "41.3 ms");
        check(999_499_999, "999 ms");
        check(999_500_000, "1.00 s");
        check(131_000_000, "131 ms");
        check(12_345_000_000, "12.3 s");
        check(3_600_000_000_000, "3,600 s");
        assert_eq!(duration_or_missing(None), "–");
        assert_eq!(duration_interval_ns(3_214_000, [3_101_000, 3_352_000]), "3.21 ms [3.10, 3.35]");
        assert_eq!(duration_interval_ns(999_600, [950_000, 1_100_000]), "1.00 ms [0.950, 1.10]");
        assert_eq!(duration_interval_ns(850, [840, 870]), "850 ns [840, 870]");
    }

    #[test]
    fn rates_have_four_digits_and_separators() {
        let check = |value: f64, text: &str| assert_eq!(significant(value, 4), text, "{value}");
        check(0.0, "0");
        check(4_123.4, "4,123");
        check(41_237.0, "41,240");
        check(327_114.0, "327,100");
        check(912.34, "912.3");
        check(12.345, "12.35");
        check(0.041_23, "0.04123");
        check(9_999.96, "10,000");
        check(-1_234.5, "-1,235");
        check(f64::NAN, "–");
        assert_eq!(rate(4_000.0), "4,000 req/s");
        assert_eq!(count(0), "0");
        assert_eq!(count(1_234_567), "1,234,567");
    }

    #[test]
    fn an_interval_decides_how_many_digits_the_rate_has() {
        let check = |values: [f64; 3], texts: [&str; 3]| {
            let written = rate_interval(values[0], values[1], values[2]);
            assert_eq!([written.rate, written.low, written.high], texts.map(str::to_owned), "{values:?}");
        };
        check([4_123.4, 4_052.0, 4_191.0], ["4,120", "4,050", "4,190"]);
        check([51_747.0, 51_320.0, 52_220.0], ["51,700", "51,300", "52,200"]);
        check([51_747.0, 51_740.0, 51_751.0], ["51,750", "51,740", "51,750"]);
        check([98.34, 95.1, 101.7], ["98", "95", "102"]);
        check([4_000.0, 4_000.0, 4_000.0], ["4,000", "4,000", "4,000"]);
        check([4_000.0, 100.0, 90_000.0], ["4,000", "0", "90,000"]);
    }

    #[test]
    fn a_share_is_never_rounded_to_all_or_nothing() {
        let check = |ratio: f64, text: &str| assert_eq!(percent(ratio), text, "{ratio}");
        check(0.0, "0%");
        check(1.0, "100%");
        check(0.999_95, "> 99.9%");
        check(0.000_000_1, "< 0.001%");
        check(0.000_55, "0.055%");
        check(0.974_4, "97.4%");
        check(0.012, "1.2%");
    }

    #[test]
    fn a_value_of_a_metric_has_its_unit() {
        assert_eq!(metric(Metric::Cpu, 39_720.4), "39.7 µs");
        assert_eq!(metric(Metric::Time, 1.5), "1.50 s");
        assert_eq!(metric(Metric::Goodput, 4_000.0), "4,000 req/s");
        assert_eq!(metric(Metric::Errors, 0.0005), "0.050%");
        assert_eq!(metric(Metric::Memory, 1_048_576.0), "1.00 MiB");
    }

    #[test]
    fn data_is_written_in_binary_units() {
        let check = |value: u64, text: &str| assert_eq!(bytes(value), text, "{value}");
        check(512, "512 B");
        check(12_700, "12.4 KiB");
        check(1_047_552, "1,023 KiB");
        check(1_048_575, "1.00 MiB");
        check(3_328_599_654, "3.10 GiB");
        check(u64::MAX, "16,780,000 TiB");
    }

    #[test]
    fn spans_and_clocks_read_as_people_say_them() {
        let check = |seconds: f64, text: &str| assert_eq!(span(Duration::from_secs_f64(seconds)), text);
        check(0.3, "0.3 s");
        check(41.2, "41 s");
        check(252.0, "4 min 12 s");
        check(3_780.0, "1 h 03 min");
        assert_eq!(clock(Duration::from_secs(42)), "0:42");
        assert_eq!(clock(Duration::from_secs(3_723)), "1:02:03");
        assert_eq!(objective("p99<50ms"), "p99 < 50 ms");
        assert_eq!(objective("p99.9 < 1.5s"), "p99.9 < 1.5 s");
        assert_eq!(objective("nothing"), "nothing");
    }
}
