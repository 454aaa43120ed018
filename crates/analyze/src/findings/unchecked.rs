//! Lists the rules that stay silent because their readings are missing: their bottleneck is neither present nor excluded.

use super::{RULES, Rule, Scene};
use crate::format::name;
use sysdyno_record::analysis::{Finding, Unchecked};
use sysdyno_record::column::CGROUP_GENERATOR;

/// What no rule could say anything about, and why, in the order of the rules.
pub(crate) fn unchecked(scene: &Scene, findings: &[Finding]) -> Vec<Unchecked> {
    let is_silent = |rule: &&&Rule| findings.iter().all(|finding| finding.id != rule.id);
    RULES.iter().filter(is_silent).filter_map(|rule| missing(rule, scene)).collect()
}

/// The first reading that a rule needs and that the server's host did not give.
fn missing(rule: &Rule, scene: &Scene) -> Option<Unchecked> {
    let series = scene.focus.server_series();
    let window = scene.focus.server_whole();
    rule.needs.iter().find_map(|needed| {
        // Those of the generator say nothing about the server.
        let columns = || {
            let all = series.columns().iter();
            all.filter(|column| column.name == needed.name && column.scope != CGROUP_GENERATOR)
        };
        // A column may have become readable after its header was written.
        let is_read = columns().any(|column| window.level(*needed, &column.scope).is_some());
        let reason = columns().filter(|_| !is_read).find_map(|column| column.unavailable.as_deref())?;
        Some(Unchecked {
            id: rule.id.to_owned(),
            name: rule.name.to_owned(),
            column: needed.name.to_owned(),
            reason: name(reason),
        })
    })
}
