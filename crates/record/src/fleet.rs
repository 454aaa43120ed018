//! Agents of a fleet as users name them: `fleet:NAME`, `fleet:KEY=VALUE+KEY=VALUE`, `fleet:all`.
//!
//! Names and labels become parts of subjects of the broker, so only letters, digits, `-`, and `_` are allowed in names.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Longest name of an agent, and longest key or value of a label. Unit: bytes.
pub const MAX_FLEET_WORD_BYTES: usize = 63;

/// Most labels of an agent.
pub const MAX_FLEET_LABELS: usize = 16;

/// Stands for every agent; no agent can have this name.
const ALL: &str = "all";

/// Which agents of a fleet are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FleetSelector {
    /// All of them.
    All,
    /// The one with this name.
    Name(String),
    /// Those that have all these labels.
    Labels(FleetLabels),
}

impl FleetSelector {
    /// The selector that a text names; `None`: it names none.
    pub fn parse(text: &str) -> Option<FleetSelector> {
        match text {
            ALL => Some(FleetSelector::All),
            _ if text.contains('=') => {
                FleetLabels::parse(text, '+').filter(|labels| !labels.0.is_empty()).map(FleetSelector::Labels)
            }
            _ => is_fleet_name(text).then(|| FleetSelector::Name(text.to_owned())),
        }
    }

    /// Whether an agent is meant.
    pub fn selects(&self, name: &str, labels: &FleetLabels) -> bool {
        match self {
            FleetSelector::All => true,
            FleetSelector::Name(wanted) => wanted == name,
            FleetSelector::Labels(wanted) => {
                wanted.0.iter().all(|(key, value)| labels.0.get(key) == Some(value))
            }
        }
    }
}

/// Labels of an agent: `site=a,cores=8`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct FleetLabels(pub BTreeMap<String, String>);

/// A text that is no list of labels.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{text}' is not a list of labels\nhint: use KEY=VALUE,… with letters, digits, '-', '_', and '.'; at most \
     {MAX_FLEET_LABELS} of them"
)]
pub struct NoFleetLabels {
    /// What was typed, escaped.
    text: String,
}

impl FleetLabels {
    fn parse(text: &str, separator: char) -> Option<FleetLabels> {
        let mut labels = BTreeMap::new();
        for label in text.split(separator).filter(|label| !label.is_empty()) {
            let (key, value) = label.split_once('=')?;
            if !is_label_word(key) || !is_label_word(value) || labels.len() == MAX_FLEET_LABELS {
                return None;
            }
            if labels.insert(key.to_owned(), value.to_owned()).is_some() {
                return None;
            }
        }
        Some(FleetLabels(labels))
    }

    /// Whether an agent can have these: labels also arrive from other hosts.
    pub fn is_sound(&self) -> bool {
        let is_word = |(key, value): (&String, &String)| is_label_word(key) && is_label_word(value);
        self.0.len() <= MAX_FLEET_LABELS && self.0.iter().all(is_word)
    }
}

impl FromStr for FleetLabels {
    type Err = NoFleetLabels;

    fn from_str(text: &str) -> Result<FleetLabels, NoFleetLabels> {
        let shown = || text.chars().take(80).collect::<String>().escape_debug().to_string();
        FleetLabels::parse(text, ',').ok_or_else(|| NoFleetLabels { text: shown() })
    }
}

impl fmt::Display for FleetLabels {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<String> = self.0.iter().map(|(key, value)| format!("{key}={value}")).collect();
        out.write_str(&all.join(","))
    }
}

/// Whether an agent can have this name.
pub fn is_fleet_name(text: &str) -> bool {
    text != ALL && is_word(text, "-_")
}

fn is_label_word(text: &str) -> bool {
    is_word(text, "-_.")
}

/// Letters, digits and these, beginning with a letter or a digit.
fn is_word(text: &str, others: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric();
    text.len() <= MAX_FLEET_WORD_BYTES
        && text.chars().next().is_some_and(is_plain)
        && text.chars().all(|letter| is_plain(letter) || others.contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(text: &str) -> FleetLabels {
        text.parse().expect("labels")
    }

    #[test]
    fn a_selector_selects_a_name_or_all_of_its_labels() {
        let here = labels("site=a,cores=8");
        let selects = |text: &str| FleetSelector::parse(text).expect("a selector").selects("web-1", &here);
        assert!(selects("all") && selects("web-1") && selects("site=a") && selects("cores=8+site=a"));
        assert!(!selects("web-2") && !selects("site=b") && !selects("site=a+cores=4") && !selects("rack=1"));
    }

    #[test]
    fn nothing_that_means_something_to_a_broker_is_a_name_or_a_label() {
        for text in
            ["", "*", ">", "a.b", "a b", "a*", "-a", "ü", "a\n", "=", "a=", "=b", "a=b+a=b", "a=b,c=d"]
        {
            assert_eq!(FleetSelector::parse(text), None, "{text:?}");
        }
        assert_eq!(FleetSelector::parse(&"a".repeat(64)), None);
        assert!(!is_fleet_name("all"));
        assert!("site=*".parse::<FleetLabels>().is_err() && "site".parse::<FleetLabels>().is_err());
        let many: Vec<String> = (0..17).map(|number| format!("k{number}=v")).collect();
        assert!(many.join(",").parse::<FleetLabels>().is_err());
        assert!(!FleetLabels([("a b".to_owned(), "c".to_owned())].into()).is_sound());
    }
}
