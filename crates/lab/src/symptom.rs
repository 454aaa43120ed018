//! Symptoms: what a service reports about itself when it passes every check and still has a problem.
//!
//! A recipe says where to query a number, from which value on it is a symptom, and what it means. Answers are not trusted:
//! only numbers from them get into a text.

use super::check;
use super::recipe::{Symptom, TemplateValues};
use serde_json::Value;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

/// The current symptoms of a service; those that cannot be queried are left out.
pub(super) fn seen(
    symptoms: &[Symptom],
    values: &TemplateValues,
    namespace: &Path,
    address: IpAddr,
) -> Result<Vec<String>, String> {
    let ask = |port, path: &str| check::body(namespace, SocketAddr::new(address, port), path).ok();
    said(symptoms, values, &ask)
}

/// What they say by the answers that `ask` has for a port and a path.
fn said(
    symptoms: &[Symptom],
    values: &TemplateValues,
    ask: &dyn Fn(u16, &str) -> Option<Vec<u8>>,
) -> Result<Vec<String>, String> {
    let mut said = Vec::new();
    for symptom in symptoms {
        let port = values.expand(&symptom.port)?.parse().map_err(|_| "a symptom has no port")?;
        let hint = values.expand(&symptom.hint)?;
        let says = values.expand(&symptom.says)?;
        let document = ask(port, &symptom.http).and_then(|body| serde_json::from_slice::<Value>(&body).ok());
        let Some(document) = document else { continue };
        if number(&document, &symptom.number).is_some_and(|number| number > symptom.above) {
            said.push(format!("{}; {hint}", filled(&says, &document)));
        }
    }
    Ok(said)
}

/// The first number of this name, however deep.
fn number(document: &Value, name: &str) -> Option<i64> {
    match document {
        Value::Object(fields) => fields
            .get(name)
            .and_then(Value::as_i64)
            .or_else(|| fields.values().find_map(|value| number(value, name))),
        Value::Array(items) => items.iter().find_map(|item| number(item, name)),
        _ => None,
    }
}

/// A text in which `{NAME}` is replaced with a number of the document.
fn filled(text: &str, document: &Value) -> String {
    let (mut filled, mut rest) = (String::new(), text);
    while let Some((before, (name, after))) =
        rest.split_once('{').and_then(|(before, behind)| Some((before, behind.split_once('}')?)))
    {
        filled.push_str(before);
        filled.push_str(&number(document, name).map_or("?".to_owned(), |number| number.to_string()));
        rest = after;
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &str = r#"{"beans":[{"name":"x","UnderReplicatedBlocks":3,"NumLiveDataNodes":2}]}"#;

    fn asked(above: i64, answer: Option<&str>) -> Vec<String> {
        let mut values = TemplateValues::default();
        values.set("port", "9870");
        let symptom = Symptom {
            http: "/jmx".into(),
            port: "{{port}}".into(),
            number: "UnderReplicatedBlocks".into(),
            above,
            says: "{UnderReplicatedBlocks} blocks, {NumLiveDataNodes} live, {name}".into(),
            hint: "add one".into(),
        };
        let ask = |port, path: &str| {
            assert_eq!((port, path), (9870, "/jmx"));
            answer.map(|answer| answer.as_bytes().to_vec())
        };
        said(&[symptom], &values, &ask).expect("is in order")
    }

    #[test]
    fn a_number_above_what_it_should_be_is_said_with_others_of_the_same_answer() {
        assert_eq!(asked(0, Some(ANSWER)), ["3 blocks, 2 live, ?; add one"]);
        assert!(asked(3, Some(ANSWER)).is_empty());
    }

    #[test]
    fn what_cannot_be_asked_or_understood_says_nothing() {
        for answer in
            [None, Some(""), Some("<html>"), Some("[[3]]"), Some(r#"{"UnderReplicatedBlocks":"many"}"#)]
        {
            assert!(asked(0, answer).is_empty(), "{answer:?}");
        }
    }
}
