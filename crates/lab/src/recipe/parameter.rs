//! Parameters of recipes: which values each accepts, and the text that replaces its name in a template.
//!
//! No value can contain a variable, a quote, a blank, or a control character, so that it stays one word in every file of
//! every service.

use serde::Deserialize;
use std::collections::BTreeMap;

/// Longest word. Unit: bytes.
const MAX_WORD: usize = 255;

/// Most words of a list, and the longest of them in bytes.
const MAX_WORDS: usize = 256;
const MAX_WORD_OF_LIST: usize = 4096;

/// What can be chosen.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// What it takes.
    pub kind: ParameterKind,
    /// What it is for.
    pub does: String,
    /// The value where none is given; `None`: it has to be given where it is used.
    pub default: Option<toml::Value>,
    /// The smallest integer.
    pub min: Option<i64>,
    /// The greatest integer.
    pub max: Option<i64>,
    /// The texts of choices.
    #[serde(default)]
    pub texts: BTreeMap<String, String>,
}

/// What a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParameterKind {
    /// An integer.
    Integer,
    /// True or false.
    Flag,
    /// One of the keys of its texts.
    Choice,
    /// One word.
    Word,
    /// An address with a port, or the name of a service of the lab.
    Endpoint,
    /// A folder by its whole path, or that of the data of a service of the lab.
    Folder,
    /// Arguments.
    Words,
}

/// A value that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ParameterValue {
    /// What stands for it, in which places are expanded once more if it is of the recipe.
    Text(String),
    /// Arguments.
    Words(Vec<String>),
    /// The name of a service, or an address with a port.
    Endpoint(String),
    /// The name of a service, or a path.
    Folder(String),
}

impl Parameter {
    /// Parses a value, or returns what is wrong with it.
    pub(crate) fn read(&self, value: &toml::Value) -> Result<ParameterValue, String> {
        match (self.kind, value) {
            (ParameterKind::Integer, toml::Value::Integer(number)) => {
                let is_within =
                    self.min.is_none_or(|min| *number >= min) && self.max.is_none_or(|max| *number <= max);
                if is_within { Ok(ParameterValue::Text(number.to_string())) } else { Err(self.takes()) }
            }
            (ParameterKind::Flag, toml::Value::Boolean(flag)) => self.choice(&flag.to_string()),
            (ParameterKind::Choice, toml::Value::String(choice)) => self.choice(choice),
            (ParameterKind::Word, toml::Value::String(word)) if is_word(word) => {
                Ok(ParameterValue::Text(word.clone()))
            }
            (ParameterKind::Endpoint, toml::Value::String(word)) if is_word(word) => {
                Ok(ParameterValue::Endpoint(word.clone()))
            }
            (ParameterKind::Folder, toml::Value::String(word)) if is_word(word) => {
                Ok(ParameterValue::Folder(word.clone()))
            }
            (ParameterKind::Words, toml::Value::Array(list)) => words(list).ok_or_else(|| self.takes()),
            _ => Err(self.takes()),
        }
    }

    /// The value where none is given; a word or folder of a recipe may hold places. `None`: there is none.
    pub(crate) fn read_default(&self) -> Option<Result<ParameterValue, String>> {
        match (self.kind, self.default.as_ref()?) {
            (ParameterKind::Word | ParameterKind::Folder, toml::Value::String(text)) => {
                Some(Ok(ParameterValue::Text(text.clone())))
            }
            (_, value) => Some(self.read(value)),
        }
    }

    fn choice(&self, choice: &str) -> Result<ParameterValue, String> {
        self.texts.get(choice).map(|text| ParameterValue::Text(text.clone())).ok_or_else(|| self.takes())
    }

    /// What it takes, as `sysdyno lab recipes` says it.
    pub fn takes(&self) -> String {
        match self.kind {
            ParameterKind::Integer => {
                let bound = |bound: Option<i64>| bound.map_or("…".to_owned(), |bound| bound.to_string());
                format!("it takes an integer from {} to {}", bound(self.min), bound(self.max))
            }
            ParameterKind::Flag => "it takes true or false".into(),
            ParameterKind::Choice => {
                let choices: Vec<String> = self.texts.keys().map(|key| format!("'{key}'")).collect();
                format!("it takes one of {}", choices.join(", "))
            }
            ParameterKind::Word => {
                "it takes a word with the characters A-Z a-z 0-9 . _ / : @ % + = , -".into()
            }
            ParameterKind::Endpoint => "it takes ADDRESS:PORT, or the name of a service".into(),
            ParameterKind::Folder => "it takes a path starting with '/', or the name of a service".into(),
            ParameterKind::Words => "it takes a list of texts".into(),
        }
    }

    /// Whether the recipe itself is in order.
    #[cfg(test)]
    pub(super) fn check_definition(&self) -> Result<(), String> {
        let has_texts = matches!(self.kind, ParameterKind::Flag | ParameterKind::Choice);
        if has_texts == self.texts.is_empty() {
            return Err("choices have texts, others do not".into());
        }
        if self.kind == ParameterKind::Integer && (self.min.is_none() || self.max.is_none()) {
            return Err("an integer has bounds".into());
        }
        self.read_default().map_or(Ok(()), |default| default.map(drop))
    }
}

fn is_word(word: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._/:@%+=,-".contains(&byte);
    (1..=MAX_WORD).contains(&word.len()) && word.bytes().all(is_allowed)
}

fn words(list: &[toml::Value]) -> Option<ParameterValue> {
    let text = |value: &toml::Value| {
        value
            .as_str()
            .filter(|text| text.len() <= MAX_WORD_OF_LIST && !text.contains('\0'))
            .map(str::to_owned)
    };
    let words = list.iter().map(text).collect::<Option<Vec<String>>>()?;
    (1..=MAX_WORDS).contains(&words.len()).then_some(ParameterValue::Words(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(text: &str) -> Parameter {
        toml::from_str(text).expect("is a parameter")
    }

    #[test]
    fn values_outside_of_type_and_range_are_refused() {
        let port = parameter("kind = 'integer'\ndoes = ''\nmin = 1\nmax = 65535");
        assert_eq!(port.read(&8080.into()), Ok(ParameterValue::Text("8080".into())));
        for wrong in [toml::Value::from(0), 65536.into(), "80".into(), true.into()] {
            assert_eq!(port.read(&wrong), Err("it takes an integer from 1 to 65535".into()), "{wrong}");
        }
        let word = parameter("kind = 'word'\ndoes = ''");
        assert!(word.read(&"on-disk_1.2".into()).is_ok());
        for wrong in ["", "a b", "a;b", "a\nb", "{{port}}", "\"", "$(id)", "ä"] {
            assert!(word.read(&wrong.into()).is_err(), "{wrong:?}");
        }
        let flag = parameter("kind = 'flag'\ndoes = ''\n[texts]\ntrue = 'on'\nfalse = 'off'");
        assert_eq!(flag.read(&false.into()), Ok(ParameterValue::Text("off".into())));
    }
}
