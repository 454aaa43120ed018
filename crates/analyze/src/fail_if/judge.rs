//! From a check and an analysis to an outcome: passed or failed, by how much, in a sentence.

use super::metric::{Measured, Reading};
use super::{CHECKS_MAX, FailIf, FailIfError, Operator};
use crate::format::percent;
use sysdyno_record::analysis::{Analysis, CheckOutcome};

/// The outcomes of these checks under an analysis, in their order.
///
/// A text that is not a check, as only a broken record holds it, has failed.
pub fn judge(texts: &[String], analysis: &Analysis) -> Vec<CheckOutcome> {
    let read = texts.iter().take(CHECKS_MAX).map(|text| text.parse::<FailIf>());
    read.zip(texts)
        .map(|(check, text)| match check {
            Ok(check) => outcome(&check, analysis),
            Err(error) => unreadable(text, &error),
        })
        .collect()
}

fn outcome(check: &FailIf, analysis: &Analysis) -> CheckOutcome {
    let reading = check.measure.read(analysis);
    let dimension = check.measure.dimension();
    let decision = decide(check.operator, &reading, check.limit);
    let said = match (&reading, decision) {
        (Err(why), _) => format!("undecided: {why}"),
        (Ok(measured), Decision::Open) => {
            format!("undecided: at least {}", dimension.write(measured.value))
        }
        (Ok(measured), _) => said(check, measured),
    };
    CheckOutcome {
        text: check.text.clone(),
        passed: decision == Decision::Passed,
        decided: decision != Decision::Open,
        metric: check.measure.resolved(analysis),
        operator: check.operator.name().to_owned(),
        measured: reading.as_ref().ok().map(|measured| measured.value),
        is_lower_bound: reading.is_ok_and(|measured| measured.is_lower_bound),
        limit: Some(check.limit),
        unit: dimension.unit().to_owned(),
        sentence: format!(
            "{} {} {}: {said}",
            check.measure.typed(),
            check.operator.name(),
            dimension.write_limit(check.limit)
        ),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Decision {
    Passed,
    Failed,
    /// Neither can be said.
    Open,
}

/// A lower bound decides only what no greater value could change.
fn decide(operator: Operator, reading: &Reading, limit: f64) -> Decision {
    let Ok(measured) = reading else { return Decision::Open };
    match (operator.holds(measured.value, limit), operator.is_ceiling(), measured.is_lower_bound) {
        (true, false, true) | (false, true, true) => Decision::Open,
        (true, ..) => Decision::Failed,
        (false, ..) => Decision::Passed,
    }
}

/// What was measured, how far that is from the limit, and whether the interval allows for the other side.
fn said(check: &FailIf, measured: &Measured) -> String {
    let dimension = check.measure.dimension();
    let bound = if measured.is_lower_bound { "at least " } else { "" };
    let mut text = format!("{bound}{}", dimension.write(measured.value));
    let distance = measured.value - check.limit;
    let side = if distance > 0.0 { "over" } else { "under" };
    if distance == 0.0 {
        text.push_str(", exactly the limit");
    } else if check.limit > 0.0 {
        text.push_str(&format!(", {} {side}", percent((distance / check.limit).abs())));
    }
    if let Some([low, high]) =
        measured.interval.filter(|[low, high]| *low < check.limit && check.limit < *high)
    {
        let ends = format!("{}–{}", dimension.write(low), dimension.write(high));
        text.push_str(&format!("; the limit is within the 95% interval {ends}"));
    }
    text
}

fn unreadable(text: &str, error: &FailIfError) -> CheckOutcome {
    let first = error.to_string();
    CheckOutcome {
        text: super::shorten(text),
        passed: false,
        decided: false,
        metric: String::new(),
        operator: String::new(),
        measured: None,
        is_lower_bound: false,
        limit: None,
        unit: String::new(),
        sentence: first.lines().next().unwrap_or_default().to_owned(),
    }
}
