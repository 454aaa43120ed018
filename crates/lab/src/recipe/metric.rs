//! Metrics of a service: what each number in its answer means.

use serde::Deserialize;
use sysdyno_record::service::MetricKind;

/// Maximum number of numbers parsed per line.
const MAX_NUMBERS: usize = 32;

/// A number that a service tells.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServiceMetric {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// What it counts.
    pub does: String,
    /// How it goes.
    pub kind: MetricKind,
    /// The words before it, at the beginning of a line or after a blank.
    after: Option<String>,
    /// Which of the numbers behind them it is; `None`: the first.
    number: Option<usize>,
    /// Where it is in a JSON document (RFC 6901).
    pointer: Option<String>,
}

impl ServiceMetric {
    /// Whether it says one way to be found.
    #[cfg(test)]
    pub(super) fn is_complete(&self) -> bool {
        self.after.is_some() != self.pointer.is_some()
    }

    /// The number in an answer; `None` if it is not there.
    pub fn read(&self, answer: &str) -> Option<f64> {
        let number = match (&self.after, &self.pointer) {
            (Some(words), _) => behind(answer, words, self.number.unwrap_or(1)),
            (None, Some(pointer)) => {
                serde_json::from_str::<serde_json::Value>(answer).ok()?.pointer(pointer)?.as_f64()
            }
            (None, None) => None,
        };
        number.filter(|number| number.is_finite())
    }
}

/// The n-th number behind some words.
fn behind(answer: &str, words: &str, position: usize) -> Option<f64> {
    let is_word = |at: usize| answer[..at].chars().next_back().is_none_or(char::is_whitespace);
    let (at, _) = answer.match_indices(words).find(|(at, _)| is_word(*at))?;
    let rest = answer[at + words.len()..].split(|letter: char| letter.is_whitespace() || letter == ',');
    let words = rest.filter(|word| !word.is_empty()).take(MAX_NUMBERS);
    words.filter_map(|word| word.parse().ok()).nth(position.checked_sub(1)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NGINX: &str = "Active connections: 291 \nserver accepts handled requests\n 16630948 16630949 31070465 \nReading: 6 Writing: 179 Waiting: 106 \n";
    const PHP: &str = "pool:                 www\naccepted conn:        12\nlisten queue:         1\nmax listen queue:     7\nactive processes:     2\nmax active processes: 9\n";

    #[test]
    fn the_number_behind_words_is_found() {
        for (answer, words, position, expected) in [
            (NGINX, "Active connections:", 1, Some(291.0)),
            (NGINX, "server accepts handled requests", 1, Some(16_630_948.0)),
            (NGINX, "server accepts handled requests", 3, Some(31_070_465.0)),
            (NGINX, "Waiting:", 1, Some(106.0)),
            (NGINX, "aiting:", 1, None),
            (PHP, "listen queue:", 1, Some(1.0)),
            (PHP, "active processes:", 1, Some(2.0)),
            (PHP, "max active processes:", 1, Some(9.0)),
            (PHP, "slow requests:", 1, None),
            ("STAT get_hits 5\r\nSTAT bytes 7\r\nEND\r\n", "STAT get_hits ", 1, Some(5.0)),
            ("", "x", 1, None),
            ("x: 1", "x:", 0, None),
            ("x: 1e999 NaN", "x:", 1, Some(f64::INFINITY)),
        ] {
            assert_eq!(behind(answer, words, position), expected, "{words}");
        }
    }

    #[test]
    fn a_number_of_a_document_is_found_and_what_is_none_is_not_told() {
        let metric = |pointer: &str| ServiceMetric {
            name: "x".into(),
            unit: "x".into(),
            does: "x".into(),
            kind: MetricKind::Gauge,
            after: None,
            number: None,
            pointer: Some(pointer.into()),
        };
        let answer = r#"{"beans": [{"Live": 3, "Name": "x"}]}"#;
        assert_eq!(metric("/beans/0/Live").read(answer), Some(3.0));
        for wrong in ["/beans/0/Name", "/beans/1/Live", "Live"] {
            assert_eq!(metric(wrong).read(answer), None, "{wrong}");
        }
        assert_eq!(metric("/beans/0/Live").read("<html>"), None);
        let endless = ServiceMetric { after: Some("x:".into()), pointer: None, ..metric("") };
        assert_eq!(endless.read("x: 1e999"), None);
    }
}
