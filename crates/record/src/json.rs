//! JSON for people: one element per line.

use serde::Serialize;

/// `value` as JSON, indented by two spaces.
///
/// What is serialised is the compact form, which is then laid out anew: with a formatter for each, the code of each type's
/// serialisation would be there twice.
///
/// # Errors
/// The value has no JSON form: the key of a map is no text, or its own serialisation fails.
pub fn pretty(value: &impl Serialize) -> serde_json::Result<String> {
    let compact = serde_json::to_vec(value)?;
    let mut out = Vec::with_capacity(compact.len() * 2);
    let mut from = serde_json::Deserializer::from_slice(&compact);
    serde_transcode::transcode(&mut from, &mut serde_json::Serializer::pretty(&mut out))?;
    Ok(String::from_utf8(out).expect("what serde_json writes is UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::pretty;
    use serde_json::json;

    #[test]
    fn a_document_is_what_serde_json_would_lay_out() {
        let value = json!({
            "whole": u64::MAX, "negative": i64::MIN, "real": 5.0, "third": 1.0 / 3.0, "tiny": f64::MIN_POSITIVE, "zero": -0.0,
            "text": "a \"quoted\" line\n\u{0}\u{e4}\u{1f600}", "none": null, "yes": true,
            "list": [1, [], {}, ["x"]], "map": { "inner": {} }
        });
        assert_eq!(pretty(&value).expect("is JSON"), serde_json::to_string_pretty(&value).expect("is JSON"));
    }

    #[test]
    fn what_is_no_number_in_json_is_null() {
        assert_eq!(pretty(&[f64::NAN]).expect("is JSON"), "[\n  null\n]");
    }
}
