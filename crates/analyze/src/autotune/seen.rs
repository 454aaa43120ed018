//! What an analysis and the facts of a host say of a server that is to be tuned.

use super::table::REMEDIES;
use std::collections::BTreeSet;
use sysdyno_record::analysis::{Analysis, Confidence};
use sysdyno_record::autotune::{SeenFinding, SeenServer, SeenSetting};
use sysdyno_record::facts::{Fact, HostFacts};

/// Most diagnoses that are kept.
const MAX_FINDINGS: usize = 12;

/// The server as a run under a full load saw it, without the settings of its services.
pub fn seen(analysis: &Analysis, facts: &HostFacts) -> SeenServer {
    let is_seen = |confidence: Confidence| confidence > Confidence::Excluded;
    let findings = analysis.findings.iter().filter(|finding| is_seen(finding.confidence)).take(MAX_FINDINGS);
    let mut commands: Vec<String> = analysis.path.iter().map(|tier| tier.name.clone()).collect();
    commands.dedup();
    SeenServer {
        findings: findings
            .map(|finding| SeenFinding {
                id: finding.id.clone(),
                title: finding.title.clone(),
                confidence: finding.confidence,
            })
            .collect(),
        commands,
        settings: kernel_settings(facts),
        cpus_count: facts.number("cpu.online_count"),
        memory_bytes: facts.number("memory.total_bytes"),
    }
}

/// The kernel's settings that remedies change, as the facts of the host have them.
fn kernel_settings(facts: &HostFacts) -> Vec<SeenSetting> {
    let changed = REMEDIES.iter().flat_map(|remedy| remedy.changes).map(|change| change.setting);
    let ids: BTreeSet<&str> = changed.filter(|id| !id.contains([':', '*'])).collect();
    let value = |id: &str| match facts.facts.get(&format!("sysctl.{id}"))? {
        Fact::Number(number) => Some(number.to_string()),
        Fact::Text(text) => Some(text.clone()),
        Fact::Unavailable(_) => None,
    };
    let setting = |id: &str| {
        let value = value(id)?;
        Some(SeenSetting { id: id.into(), key: id.into(), value: Some(value), is_parameter: false })
    };
    ids.into_iter().filter_map(setting).collect()
}
