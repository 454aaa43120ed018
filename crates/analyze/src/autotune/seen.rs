//! What an analysis and the facts of a host say of a server that is to be tuned.

use super::table::remedies;
use std::collections::BTreeSet;
use sysdyno_record::analysis::{Analysis, Confidence};
use sysdyno_record::autotune::{SeenFinding, SeenServer, SeenSetting};
use sysdyno_record::facts::{Fact, HostFacts};
use sysdyno_record::ranges::ranges;

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
        settings: kernel_settings(facts).into_iter().chain(device_settings(facts)).collect(),
        cpus_count: facts.number("cpu.online_count"),
        memory_bytes: facts.number("memory.total_bytes"),
    }
}

/// The kernel's settings that remedies change, as the facts of the host have them.
fn kernel_settings(facts: &HostFacts) -> Vec<SeenSetting> {
    let changed = remedies().flat_map(|remedy| remedy.changes).map(|change| change.setting);
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

/// The settings of network devices and disks that remedies change, as the facts of the host have them.
fn device_settings(facts: &HostFacts) -> Vec<SeenSetting> {
    let setting = |id: &str, key: String, value: String| SeenSetting {
        id: id.into(),
        key,
        value: Some(value),
        is_parameter: false,
    };
    let mut settings = Vec::new();
    for (name, fact) in &facts.facts {
        let Some((device, kind)) = name.rsplit_once('.') else { continue };
        match (device.split_once('.'), kind, fact) {
            (Some(("nic", nic)), "rps_cpus", Fact::Text(masks)) if is_up(facts, nic) => {
                let queues = masks.split(", ").flat_map(repeated).enumerate();
                settings.extend(queues.map(|(queue, mask)| {
                    let key = format!("netdev.{nic}.rx-{queue}.rps_cpus");
                    setting("netdev.*.rx-*.rps_cpus", key, cpu_list(mask))
                }));
            }
            (Some(("disk", disk)), "read_ahead_bytes", Fact::Number(bytes)) => {
                let kib = format!("{:.0}", bytes / 1024.0);
                settings.push(setting("block.*.read_ahead_kb", format!("block.{disk}.read_ahead_kb"), kib));
            }
            (Some(("disk", disk)), "scheduler", Fact::Text(word)) => {
                settings.push(setting("block.*.scheduler", format!("block.{disk}.scheduler"), word.clone()));
            }
            _ => {}
        }
    }
    settings
}

/// Whether a network device carries packets of others: loopback is received by who sends.
fn is_up(facts: &HostFacts, nic: &str) -> bool {
    nic != "lo"
        && matches!(facts.facts.get(&format!("nic.{nic}.state")), Some(Fact::Text(state)) if state == "up")
}

/// A value that the facts have as `VALUE ×TIMES`, so many times.
fn repeated(run: &str) -> impl Iterator<Item = &str> {
    /// Most queues of a device.
    const MOST: usize = 256;
    let (value, times) = run.split_once(" ×").unwrap_or((run, "1"));
    std::iter::repeat_n(value, times.parse().unwrap_or(1).min(MOST))
}

/// The CPUs of a mask of the kernel as a list: `0-3`, or `none`.
fn cpu_list(mask: &str) -> String {
    let digits = mask.bytes().rev().filter_map(|byte| char::from(byte).to_digit(16));
    let bits = digits.flat_map(|digit| (0..4).map(move |bit| digit >> bit & 1 == 1));
    let cpus = (0u32..).zip(bits).filter(|(_, is_set)| *is_set).map(|(cpu, _)| cpu);
    let list = ranges(cpus).join(",");
    if list.is_empty() { "none".to_owned() } else { list }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_found_with_what_is_set() {
        let text = |text: &str| Fact::Text(text.into());
        let mut facts = HostFacts::default();
        for (name, fact) in [
            ("nic.eth0.100.rps_cpus", text("0 ×2, 2d")),
            ("nic.eth0.100.state", text("up")),
            ("nic.lo.rps_cpus", text("0")),
            ("nic.lo.state", text("up")),
            ("nic.eth1.rps_cpus", text("0")),
            ("nic.eth1.state", text("down")),
            ("disk.vda.read_ahead_bytes", Fact::Number(131_072.0)),
            ("disk.vda.scheduler", text("none")),
        ] {
            facts.facts.insert(name.into(), fact);
        }
        let found = device_settings(&facts);
        let found: Vec<(&str, &str)> =
            found.iter().map(|one| (one.key.as_str(), one.value.as_deref().unwrap_or("–"))).collect();
        let expected = [
            ("block.vda.read_ahead_kb", "128"),
            ("block.vda.scheduler", "none"),
            ("netdev.eth0.100.rx-0.rps_cpus", "none"),
            ("netdev.eth0.100.rx-1.rps_cpus", "none"),
            ("netdev.eth0.100.rx-2.rps_cpus", "0,2-3,5"),
        ];
        assert_eq!(found, expected);
    }
}
