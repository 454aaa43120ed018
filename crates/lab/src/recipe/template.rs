//! Texts with variables: `{{NAME}}` and nothing else.
//!
//! The text of a choice comes from the recipe and may itself contain variables; values from users cannot
//! ([`super::parameter`]). Words of a list are never searched for placeholders.

use super::parameter::ParameterValue;
use std::collections::BTreeMap;

/// How deep texts may lie in texts.
const MAX_DEPTH: u32 = 4;

/// The values of placeholders.
#[derive(Clone, Debug, Default)]
pub(crate) struct TemplateValues(BTreeMap<String, ParameterValue>);

impl TemplateValues {
    pub(crate) fn set(&mut self, name: &str, text: impl Into<String>) {
        self.0.insert(name.to_owned(), ParameterValue::Text(text.into()));
    }

    pub(crate) fn set_value(&mut self, name: &str, value: ParameterValue) {
        self.0.insert(name.to_owned(), value);
    }

    /// The text with all its places filled in, or what is wrong.
    pub(crate) fn expand(&self, text: &str) -> Result<String, String> {
        self.expand_at(text, 0)
    }

    fn expand_at(&self, text: &str, depth: u32) -> Result<String, String> {
        if depth > MAX_DEPTH {
            return Err("texts lie in texts without end".into());
        }
        let mut expanded = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let (name, behind) = after.split_once("}}").ok_or("'{{' without '}}'")?;
            expanded.push_str(before);
            match self.0.get(name) {
                Some(ParameterValue::Text(text)) => expanded.push_str(&self.expand_at(text, depth + 1)?),
                Some(ParameterValue::Endpoint(text) | ParameterValue::Folder(text)) => {
                    expanded.push_str(text)
                }
                Some(ParameterValue::Words(_)) => return Err(format!("'{name}' is a list, not a text")),
                None => return Err(format!("'{name}' is required")),
            }
            rest = behind;
        }
        expanded.push_str(rest);
        Ok(expanded)
    }

    /// Arguments with all their places filled in; one that is nothing but a list becomes its words.
    pub(crate) fn arguments(&self, arguments: &[String]) -> Result<Vec<String>, String> {
        let mut all = Vec::new();
        for argument in arguments {
            let name = argument.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
            match name.and_then(|name| self.0.get(name)) {
                Some(ParameterValue::Words(words)) => all.extend(words.iter().cloned()),
                _ => all.push(self.expand(argument)?),
            }
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_places_are_filled_in_and_nothing_else() {
        let mut values = TemplateValues::default();
        values.set("port", "80");
        values.set("site", "listen {{port}};");
        values.set_value("argv", ParameterValue::Words(vec!["a {{port}}".into(), "$(id)".into()]));
        assert_eq!(values.expand("x {{site}} $y ${z} {a}"), Ok("x listen 80; $y ${z} {a}".into()));
        assert_eq!(values.expand("{{user}}"), Err("'user' is required".into()));
        assert!(values.expand("{{port").is_err());
        let arguments = ["-p".to_owned(), "{{argv}}".into(), "{{port}}".into()];
        assert_eq!(
            values.arguments(&arguments),
            Ok(["-p", "a {{port}}", "$(id)", "80"].map(str::to_owned).into())
        );
    }

    #[test]
    fn texts_that_hold_themselves_are_an_error() {
        let mut values = TemplateValues::default();
        values.set("a", "{{a}}");
        assert!(values.expand("{{a}}").is_err());
    }
}
