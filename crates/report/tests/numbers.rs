//! Vectors for the numbers of terminal and page: written here, checked on both sides.
//!
//! The page's own formatter reads `tests/golden/numbers.json` in `web/test/unit/number.test.ts`.

use crate::golden;
use serde_json::{Value, json};
use std::time::Duration;
use sysdyno_report::number;

fn vectors(inputs: &[f64], write: impl Fn(f64) -> String) -> Value {
    inputs.iter().map(|input| json!({ "input": [input], "text": write(*input) })).collect()
}

#[test]
fn terminal_and_page_write_numbers_alike() {
    let durations =
        [0.0, 1.0, 999.0, 1_000.0, 1_214.0, 999_499.0, 999_500.0, 41_250_000.0, 1e9, 12.345e9, 3_600e9];
    let counts = [0.0, 9_999.0, 10_000.0, 999_499.0, 999_500.0, 31_249_000_000.0, 1e15];
    let rates = [0.0, 0.041_23, 0.5, 12.345, 912.34, 4_000.0, 4_123.4, 9_999.96, 41_237.0, 327_114.0, 1e8];
    let ratios = [0.0, 1e-7, 1e-5, 0.000_55, 0.012, 0.0999, 0.1, 0.974_4, 0.998_99, 0.999_95, 1.0, 1.25];
    let sizes = [0.0, 512.0, 1_023.0, 1_024.0, 12_700.0, 1_047_552.0, 1_048_575.0, 3_328_599_654.0, 1.8e16];
    let spans = [0.3, 1.0, 41.2, 59.6, 60.0, 252.0, 3_599.0, 3_780.0, 90_000.0];
    let intervals =
        [[4_123.4, 4_052.0, 4_191.0], [51_747.0, 51_740.0, 51_751.0], [98.34, 95.1, 101.7], [4e3, 1e2, 9e4]];
    let interval = |[rate_hz, low_hz, high_hz]: [f64; 3]| {
        let written = number::rate_interval(rate_hz, low_hz, high_hz);
        let text = format!("{} ({}–{})", written.rate, written.low, written.high);
        json!({ "input": [rate_hz, low_hz, high_hz], "text": text })
    };
    let all = json!({
        "count": vectors(&[0.0, 7.0, 999.0, 1_000.0, 1_234_567.0], |value| number::count(value as u64)),
        "scaled": vectors(&counts, |value| number::scaled(value as u64)),
        "duration": vectors(&durations, |value| number::duration_ns(value as u64)),
        "rate": vectors(&rates, number::rate),
        "percent": vectors(&ratios, number::percent),
        "bytes": vectors(&sizes, |value| number::bytes(value as u64)),
        "span": vectors(&spans, |value| number::span(Duration::from_secs_f64(value))),
        "rate_interval": intervals.map(interval),
    });
    let text = serde_json::to_string_pretty(&all).expect("serialises");
    golden::compare("numbers.json", &(text + "\n"));
}
