//! One reference case: its input, and its expected values, each of which must be compared before the case passes.

use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeSet;

/// A vector of the file, with the leaves of its expectation that nobody has looked at yet.
pub struct Case<'a> {
    id: &'a str,
    input: &'a Value,
    expected: &'a Value,
    tolerance: f64,
    unseen: RefCell<BTreeSet<String>>,
}

impl<'a> Case<'a> {
    pub fn of(vector: &'a Value) -> Case<'a> {
        let expected = &vector["expected"];
        let mut leaves = BTreeSet::new();
        collect_leaves(expected, String::new(), &mut leaves);
        Case {
            id: vector["id"].as_str().expect("a vector has an id"),
            input: &vector["input"],
            expected,
            tolerance: vector["rel_tol"].as_f64().expect("a vector has a tolerance"),
            unseen: RefCell::new(leaves),
        }
    }

    pub fn id(&self) -> &'a str {
        self.id
    }

    /// The input at a JSON pointer.
    pub fn input(&self, pointer: &str) -> &'a Value {
        self.input.pointer(pointer).unwrap_or_else(|| panic!("{}: no input at {pointer}", self.id))
    }

    pub fn input_f64(&self, pointer: &str) -> f64 {
        self.input(pointer).as_f64().unwrap_or_else(|| panic!("{}: no number at {pointer}", self.id))
    }

    pub fn input_u64(&self, pointer: &str) -> u64 {
        self.input(pointer).as_u64().unwrap_or_else(|| panic!("{}: no whole number at {pointer}", self.id))
    }

    pub fn input_list(&self, pointer: &str) -> Vec<f64> {
        floats(self.input(pointer))
    }

    /// Number of elements of the input, when it is a list.
    pub fn input_count(&self) -> usize {
        self.input.as_array().map_or(0, Vec::len)
    }

    /// The expectation at a JSON pointer, for control flow; it does not count as compared.
    pub fn peek(&self, pointer: &str) -> &'a Value {
        self.expected.pointer(pointer).unwrap_or_else(|| panic!("{}: nothing expected at {pointer}", self.id))
    }

    fn take(&self, pointer: &str) -> &'a Value {
        let value = self.peek(pointer);
        self.unseen.borrow_mut().retain(|leaf| leaf != pointer && !leaf.starts_with(&format!("{pointer}/")));
        value
    }

    /// Compares one number within the vector's relative tolerance.
    pub fn number(&self, pointer: &str, actual: f64) {
        let expected = self.take(pointer).as_f64().unwrap_or_else(|| panic!("{}: {pointer}", self.id));
        self.close(pointer, actual, expected, self.tolerance);
    }

    /// Compares one number within an absolute tolerance of its own.
    pub fn number_within(&self, pointer: &str, actual: f64, tolerance: f64) {
        let expected = self.take(pointer).as_f64().unwrap_or_else(|| panic!("{}: {pointer}", self.id));
        assert!(
            (actual - expected).abs() <= tolerance,
            "{}{pointer}: {actual} instead of {expected}",
            self.id
        );
    }

    /// Compares a list of numbers.
    pub fn numbers(&self, pointer: &str, actual: &[f64]) {
        let expected = floats(self.take(pointer));
        assert_eq!(actual.len(), expected.len(), "{}{pointer}: {actual:?} instead of {expected:?}", self.id);
        for (actual, expected) in actual.iter().zip(expected) {
            self.close(pointer, *actual, expected, self.tolerance);
        }
    }

    /// Compares any other value.
    pub fn value(&self, pointer: &str, actual: impl Into<Value>) {
        assert_eq!(&actual.into(), self.take(pointer), "{}{pointer}", self.id);
    }

    /// Asserts that a value known to be wrong is not the one computed here.
    pub fn is_not(&self, pointer: &str, actual: &[f64]) {
        let wrong = self.take(pointer);
        let wrong = if wrong.is_number() { vec![wrong.as_f64().expect("a number")] } else { floats(wrong) };
        let is_near = actual.iter().zip(&wrong).all(|(a, b)| (a - b).abs() <= 1e-3 * b.abs());
        assert!(!is_near && actual.len() == wrong.len(), "{}{pointer}: the known mistake {wrong:?}", self.id);
    }

    /// Asserts that nothing of the expectation was left out.
    pub fn finish(self) {
        let unseen = self.unseen.into_inner();
        assert!(unseen.is_empty(), "{}: expected values that were not compared: {unseen:?}", self.id);
    }

    fn close(&self, pointer: &str, actual: f64, expected: f64, tolerance: f64) {
        // Values that cancel to nearly nothing keep the absolute precision of their terms.
        let allowed = (tolerance * expected.abs()).max(1e-15);
        assert!((actual - expected).abs() <= allowed, "{}{pointer}: {actual} instead of {expected}", self.id);
    }
}

/// The numbers of a list, of lists in it too.
pub fn floats(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(floats).collect(),
        other => vec![other.as_f64().unwrap_or_else(|| panic!("{other} is not a number"))],
    }
}

fn collect_leaves(value: &Value, pointer: String, leaves: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| {
                collect_leaves(
                    value,
                    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1")),
                    leaves,
                )
            });
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(at, value)| collect_leaves(value, format!("{pointer}/{at}"), leaves));
        }
        _ => {
            leaves.insert(pointer);
        }
    }
}
