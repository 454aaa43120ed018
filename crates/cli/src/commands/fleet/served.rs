//! The agents of a fleet for the pages of `serve`: a thread asks every few seconds who is there.

use super::access::{FleetAccess, own_folder};
use super::list::{allows, state};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use sysdyno_fleet::{AgentCard, Broker};
use sysdyno_plan::options::BrokerOptions;
use sysdyno_serve::ServedAgent;

/// How long agents may take to answer.
const ANSWERS: Duration = Duration::from_secs(1);

/// Between two questions.
const BETWEEN: Duration = Duration::from_secs(4);

/// Before a broker that cannot be reached is tried again.
const AGAIN: Duration = Duration::from_secs(10);

/// The agents as they were last seen; none where there are no credentials for a fleet.
#[derive(Clone, Default)]
pub struct FleetShown(Arc<Mutex<Vec<ServedAgent>>>);

impl FleetShown {
    /// Follows the fleet that options name, or the one whose broker was started here.
    ///
    /// # Errors
    /// It is not known where this user keeps the state of a fleet.
    pub fn follow(options: &BrokerOptions) -> anyhow::Result<FleetShown> {
        let shown = FleetShown::default();
        let folder = own_folder()?;
        let is_there = options.nats_creds.is_some()
            || Broker::below(&folder).is_ok_and(|broker| broker.controller_file().exists());
        if is_there {
            let (own, options) = (shown.clone(), options.clone());
            std::thread::spawn(move || own.ask(&folder, &options));
        }
        Ok(shown)
    }

    /// Those that answered, and those that did before and do not any more.
    pub fn agents(&self) -> Vec<ServedAgent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn ask(&self, folder: &Path, options: &BrokerOptions) -> ! {
        let mut seen = BTreeMap::new();
        loop {
            let Ok(access) = FleetAccess::connect_below(folder, options, None) else {
                std::thread::sleep(AGAIN);
                continue;
            };
            loop {
                self.keep(&mut seen, access.roster_for(ANSWERS));
                std::thread::sleep(BETWEEN);
            }
        }
    }

    fn keep(&self, seen: &mut BTreeMap<String, ServedAgent>, answered: Vec<AgentCard>) {
        for agent in seen.values_mut() {
            agent.state = "silent".to_owned();
            agent.busy_ratio = None;
        }
        seen.extend(answered.iter().map(|card| (card.name.clone(), served(card))));
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = seen.values().cloned().collect();
    }
}

fn served(card: &AgentCard) -> ServedAgent {
    ServedAgent {
        name: card.name.clone(),
        state: state(card),
        labels: card.labels.to_string(),
        allows: allows(card),
        cpus_count: card.cpus_count,
        busy_ratio: card.busy_ratio,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn who_does_not_answer_any_more_is_silent() {
        let card = |name: &str| -> AgentCard {
            let card = json!({
                "name": name, "version": super::super::access::VERSION, "labels": {"site": "east"}, "allows": ["load"],
                "fleet_protocol": sysdyno_fleet::FLEET_PROTOCOL, "agent_protocol": sysdyno_run::agent::wire::PROTOCOL,
                "cpus_count": 8, "memory_bytes": null, "cpu": null, "kernel": null, "busy_ratio": 0.25, "leased_to": null,
            });
            serde_json::from_value(card).expect("a card")
        };
        let (shown, mut seen) = (FleetShown::default(), BTreeMap::new());
        shown.keep(&mut seen, vec![card("web1"), card("web2")]);
        shown.keep(&mut seen, vec![card("web2")]);
        let told: Vec<_> =
            shown.agents().into_iter().map(|agent| (agent.name, agent.state, agent.busy_ratio)).collect();
        let expected = [("web1", "silent", None), ("web2", "free", Some(0.25))];
        assert_eq!(told, expected.map(|(name, state, busy)| (name.to_owned(), state.to_owned(), busy)));
    }
}
