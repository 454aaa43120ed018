//! What an agent says of itself: its name, labels, version, what it may be used for, and what its host is.

use crate::gate::Permission;
use crate::message::FLEET_PROTOCOL;
use serde::{Deserialize, Serialize};
use sysdyno_observe::{Roots, facts};
use sysdyno_record::fleet::{FleetLabels, is_fleet_name};
use sysdyno_run::agent::wire::PROTOCOL;

/// Longest card. Unit: bytes.
const MAX_CARD_BYTES: usize = 16 << 10;

/// Longest text on it, in characters.
const MAX_TEXT: usize = 120;

/// An agent, as it describes itself. Untrusted text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentCard {
    /// Its name, which is also in the subject that it may publish on.
    pub name: String,
    /// Version of its program.
    pub version: String,
    /// The protocol of a fleet that it speaks.
    pub fleet_protocol: u32,
    /// The protocol of agents that it speaks.
    pub agent_protocol: u32,
    /// Its labels.
    pub labels: FleetLabels,
    /// What it may be used for.
    pub allows: Vec<Permission>,
    /// CPUs that are online.
    pub cpus_count: Option<u32>,
    /// Memory. Unit: bytes.
    pub memory_bytes: Option<u64>,
    /// Model of its CPU.
    pub cpu: Option<String>,
    /// Release of its kernel.
    pub kernel: Option<String>,
    /// How busy its CPUs were since its last answer. Unit: ratio. `None`: not known.
    #[serde(default)]
    pub busy_ratio: Option<f64>,
    /// Who uses it; `None`: nobody.
    pub leased_to: Option<String>,
}

impl AgentCard {
    /// The card of this host.
    pub(crate) fn of_host(
        name: &str,
        version: &str,
        labels: FleetLabels,
        allows: Vec<Permission>,
    ) -> AgentCard {
        let facts = facts(&Roots::host());
        AgentCard {
            name: name.to_owned(),
            version: version.to_owned(),
            fleet_protocol: FLEET_PROTOCOL,
            agent_protocol: PROTOCOL,
            labels,
            allows,
            cpus_count: facts.number("cpu.online_count").map(|count| count as u32),
            memory_bytes: facts.number("memory.total_bytes").map(|bytes| bytes as u64),
            cpu: facts.text("cpu.model").map(bounded),
            kernel: facts.text("kernel.release").map(bounded),
            busy_ratio: None,
            leased_to: None,
        }
    }

    /// The card that an agent of this name has sent; `None`: it is none, or not its own.
    pub(crate) fn parse(name: &str, bytes: &[u8]) -> Option<AgentCard> {
        if bytes.len() > MAX_CARD_BYTES {
            return None;
        }
        let mut card: AgentCard = serde_json::from_slice(bytes).ok()?;
        let is_sound = card.name == name && is_fleet_name(name) && card.labels.is_sound();
        card.version = bounded(&card.version);
        for text in [&mut card.cpu, &mut card.kernel, &mut card.leased_to] {
            *text = text.as_deref().map(bounded);
        }
        card.allows.truncate(Permission::ALL.len());
        card.busy_ratio = card.busy_ratio.filter(|ratio| (0.0..=1.0).contains(ratio));
        is_sound.then_some(card)
    }

    /// Why this version cannot use it; `None`: it can.
    pub fn incompatible(&self, version: &str) -> Option<String> {
        let is_same = self.fleet_protocol == FLEET_PROTOCOL
            && self.agent_protocol == PROTOCOL
            && self.version == version;
        (!is_same).then(|| {
            format!(
                "it runs version '{}' (protocols {} and {}), and this is version '{version}' ({FLEET_PROTOCOL} \
                 and {PROTOCOL})",
                self.version.escape_debug(),
                self.fleet_protocol,
                self.agent_protocol
            )
        })
    }
}

fn bounded(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(MAX_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_is_its_agents_own_and_bounded() {
        let card = AgentCard::of_host("web-1", "0.1.0", FleetLabels::default(), vec![Permission::Load]);
        let bytes = serde_json::to_vec(&card).expect("encodes");
        assert_eq!(AgentCard::parse("web-1", &bytes), Some(card.clone()));
        assert_eq!(AgentCard::parse("web-2", &bytes), None);
        let loud = AgentCard { version: "\u{1b}[2J".repeat(100), ..card.clone() };
        let read = AgentCard::parse("web-1", &serde_json::to_vec(&loud).expect("encodes")).expect("parses");
        assert!(!read.version.contains('\u{1b}') && read.version.chars().count() == MAX_TEXT);
        let long = AgentCard { kernel: Some("x".repeat(MAX_CARD_BYTES)), ..card.clone() };
        assert_eq!(AgentCard::parse("web-1", &serde_json::to_vec(&long).expect("encodes")), None);
        assert_eq!(AgentCard::parse("web-1", b"{}"), None);
        assert_eq!(card.incompatible("0.1.0"), None);
        assert!(card.incompatible("0.2.0").is_some_and(|text| text.contains("'0.1.0'")));
    }
}
