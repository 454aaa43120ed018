//! What a shared machine does to a run, and what is therefore no fault of the program.

use serde_json::Value;

/// Reasons of a verdict that tell of a machine that did something else.
pub const DISTURBANCES: &[&str] = &["M01", "M11", "M12", "V06"];

/// Those of them that no fault of the program can bring about: other processes, and the hypervisor.
const FROM_OUTSIDE: &[&str] = &["M11", "M12"];

/// The ids of what lowered the verdict of this analysis, each with whether it made the run INVALID.
pub fn lowered(analysis: &Value) -> Vec<(String, bool)> {
    let reasons = analysis["verdict"]["reasons"].as_array().into_iter().flatten();
    let lowered = reasons.filter(|reason| reason["status"] != "VALID");
    lowered
        .filter_map(|reason| Some((reason["id"].as_str()?.to_owned(), reason["status"] == "INVALID")))
        .collect()
}

/// Whether other processes or the hypervisor made the run INVALID, whatever else speaks against it.
#[allow(dead_code, reason = "each program of tests uses its part")]
pub fn is_spoilt(lowered: &[(String, bool)]) -> bool {
    lowered.iter().any(|(id, is_invalid)| *is_invalid && FROM_OUTSIDE.contains(&id.as_str()))
}

/// Whether the machine did something else, and nothing besides makes the run INVALID. A generator that is late by itself stays a
/// failure: one of the reasons has to be from outside.
pub fn is_from_outside(lowered: &[(String, bool)]) -> bool {
    let mut invalid = lowered.iter().filter(|(_, is_invalid)| *is_invalid).peekable();
    invalid.peek().is_some()
        && lowered.iter().any(|(id, _)| FROM_OUTSIDE.contains(&id.as_str()))
        && invalid.all(|(id, _)| DISTURBANCES.contains(&id.as_str()))
}
