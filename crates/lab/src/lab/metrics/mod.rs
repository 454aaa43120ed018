//! What a service tells of itself, by the table of its recipe: where it is asked, and which of the numbers in its answer mean
//! what.
//!
//! The answer is bounded, and not believed: numbers are taken from it, and nothing else.

mod fastcgi;
mod fetch;
mod program;

pub use fastcgi::get as fastcgi_answer;

use super::plan::{LabPlan, Service};
use super::recipe::Recipe;
use super::{machine, namespace, values};
use serde::Deserialize;
use std::path::Path;
use sysdyno_record::service::{MetricKind, ServiceReading, ServiceValue};

/// Numbers of a line that are looked at.
const MAX_NUMBERS: usize = 32;

/// A number that a service tells.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// What it counts.
    pub does: String,
    /// How it goes.
    pub kind: MetricKind,
    /// The words that it stands behind, at the beginning of a line or behind a blank.
    after: Option<String>,
    /// Which of the numbers behind them it is; `None`: the first.
    number: Option<usize>,
    /// Where it is in a JSON document (RFC 6901).
    pointer: Option<String>,
}

impl Metric {
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

/// What all services of a lab on this machine tell just now, of those whose recipes say where they are asked. `folder` is the lab's.
pub(super) fn readings(plan: &LabPlan, folder: &Path) -> Vec<ServiceReading> {
    let told = plan.own_services().filter_map(|service| {
        let recipe = values::recipe_of(service).ok().filter(|recipe| !recipe.metric.is_empty())?;
        Some(reading(plan, folder, service, &recipe))
    });
    told.collect()
}

/// What one service tells just now.
pub(super) fn reading(plan: &LabPlan, folder: &Path, service: &Service, recipe: &Recipe) -> ServiceReading {
    let answer = ask(plan, folder, service, recipe);
    let value = |answer: &String| {
        let numbers = recipe.metric.iter().map(|metric| ServiceValue {
            name: metric.name.clone(),
            unit: metric.unit.clone(),
            kind: metric.kind,
            value: metric.read(answer),
        });
        numbers.collect()
    };
    ServiceReading {
        service: service.name.clone(),
        recipe: service.recipe.clone(),
        host: service.host.clone(),
        values: answer.as_ref().map(value).unwrap_or_default(),
        cause: answer.err(),
    }
}

fn ask(plan: &LabPlan, folder: &Path, service: &Service, recipe: &Recipe) -> Result<String, String> {
    let metrics = recipe.metrics.as_ref().ok_or("its recipe does not say where")?;
    let place = machine::place(plan, service, folder.join(&service.name))?;
    let values = values::of(plan, service, &place)?;
    let path = namespace::path_of(&plan.name, &service.host);
    let answer = match &metrics.url {
        Some(url) => {
            let url = values.expand(url)?;
            namespace::within(&path, || fetch::fetch(&url))
        }
        None => {
            let words = metrics.run.iter().map(|word| values.expand(word)).collect::<Result<Vec<_>, _>>()?;
            namespace::within(&path, || program::printed(&words))
        }
    };
    answer.map_err(|error| error.to_string())
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
        let metric = |pointer: &str| Metric {
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
        let endless = Metric { after: Some("x:".into()), pointer: None, ..metric("") };
        assert_eq!(endless.read("x: 1e999"), None);
    }
}
