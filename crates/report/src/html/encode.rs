//! Long rows of numbers in few characters, without loss.
//!
//! A counter of twelve digits that grows by four needs one character per reading if differences are written. The page sums
//! them up again (`web/src/record/decode.ts`). A value that never changed is written once.

use serde::Serialize;

/// The values of one column.
#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Encoded {
    /// The same value, or no value, in every row.
    Constant(Option<Number>),
    /// Differences to the last value that there was, the first one to 0; `null` where there is no value.
    Deltas(Vec<Option<i64>>),
    /// The values themselves, where they are not whole numbers.
    Plain(Vec<Option<f64>>),
}

/// A number that is written without `.0` where it is whole.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum Number {
    /// A whole number.
    Whole(i64),
    /// Any other.
    Real(f64),
}

/// Whole numbers up to this are exact in JavaScript.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

fn whole(value: f64) -> Option<i64> {
    (value.fract() == 0.0 && value.abs() <= EXACT_MAX).then_some(value as i64)
}

fn number(value: f64) -> Number {
    whole(value).map_or(Number::Real(value), Number::Whole)
}

/// Encodes the values of one column.
pub(super) fn encode(values: impl Iterator<Item = Option<f64>>) -> Encoded {
    let values: Vec<_> = values.map(|value| value.filter(|value| value.is_finite())).collect();
    let first = values.first().copied().flatten();
    if values.iter().all(|value| *value == first) {
        return Encoded::Constant(first.map(number));
    }
    match deltas(&values) {
        Some(deltas) => Encoded::Deltas(deltas),
        None => Encoded::Plain(values),
    }
}

/// Differences; `None` if some value is not a whole number.
fn deltas(values: &[Option<f64>]) -> Option<Vec<Option<i64>>> {
    let mut last = 0;
    let delta = |value: &Option<f64>| match value {
        None => Some(None),
        Some(value) => whole(*value).map(|value| Some(value - std::mem::replace(&mut last, value))),
    };
    values.iter().map(delta).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[Option<f64>], json: &str) {
        let encoded = encode(values.iter().copied());
        assert_eq!(serde_json::to_string(&encoded).expect("serialises"), json);
    }

    #[test]
    fn counters_are_written_as_differences_and_constants_once() {
        check(
            &[Some(1e12), Some(1e12 + 4.0), None, Some(1e12 + 9.0)],
            r#"{"deltas":[1000000000000,4,null,5]}"#,
        );
        check(&[Some(5.0), Some(2.0)], r#"{"deltas":[5,-3]}"#);
        check(&[Some(7.0), Some(7.0)], r#"{"constant":7}"#);
        check(&[None, None], r#"{"constant":null}"#);
        check(&[], r#"{"constant":null}"#);
        check(&[Some(0.5), Some(1.0), None], r#"{"plain":[0.5,1.0,null]}"#);
        check(&[Some(0.5), Some(0.5)], r#"{"constant":0.5}"#);
        check(&[Some(1.0), Some(1e300)], r#"{"plain":[1.0,1e+300]}"#);
        check(&[Some(1.0), Some(f64::INFINITY)], r#"{"deltas":[1,null]}"#);
    }
}
