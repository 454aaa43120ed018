//! The agents of a fleet for the pages of `serve`: a thread asks who is there while somebody looks.

use super::access::{FleetAccess, own_folder};
use super::list::{allows, state};
use anyhow::anyhow;
use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use sysdyno_fleet::{AgentCard, Broker, Credentials};
use sysdyno_plan::options::BrokerOptions;
use sysdyno_serve::ServedAgent;

/// How long agents may take to answer.
const ANSWERS: Duration = Duration::from_secs(1);

/// Between two questions, however many look.
const BETWEEN: Duration = Duration::from_secs(4);

/// The agents as they were last seen; none where there are no credentials for a fleet.
#[derive(Default)]
pub struct FleetShown {
    agents: Arc<Mutex<Vec<ServedAgent>>>,
    /// That somebody looks; `None`: there is no fleet.
    looks: Option<SyncSender<()>>,
}

impl FleetShown {
    /// The fleet that options name, or the one whose broker was started here. Its broker need not be reached yet.
    ///
    /// # Errors
    /// The credentials that were named cannot be read.
    pub fn new(options: &BrokerOptions) -> anyhow::Result<FleetShown> {
        if let Some(file) = &options.nats_creds {
            Credentials::read(file, None).map_err(|error| anyhow!("{error}"))?;
        }
        // Who has no place for the state of a fleet has no fleet either.
        let Ok(folder) = own_folder() else { return Ok(FleetShown::default()) };
        let is_own = || Broker::below(&folder).is_ok_and(|broker| broker.controller_file().exists());
        if options.nats_creds.is_none() && !is_own() {
            return Ok(FleetShown::default());
        }
        let (looks, looked) = mpsc::sync_channel(1);
        let shown = FleetShown { looks: Some(looks), ..FleetShown::default() };
        let (agents, options) = (Arc::clone(&shown.agents), options.clone());
        std::thread::spawn(move || {
            answer(&looked, &agents, || FleetAccess::connect_below(&folder, &options, None))
        });
        Ok(shown)
    }

    /// Those that answered when somebody last looked, and those that had before and did not then.
    pub fn agents(&self) -> Vec<ServedAgent> {
        // One look that is waiting is enough.
        let _ = self.looks.as_ref().map(|looks| looks.try_send(()));
        self.agents.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Asks for the agents whenever somebody has looked, until nobody can any more.
fn answer(
    looked: &Receiver<()>,
    agents: &Mutex<Vec<ServedAgent>>,
    connect: impl Fn() -> anyhow::Result<FleetAccess>,
) {
    let (mut access, mut seen) = (None, BTreeMap::new());
    while looked.recv().is_ok() {
        access = access.or_else(|| connect().ok());
        if let Some(access) = &access {
            keep(&mut seen, access.roster_for(ANSWERS));
            *agents.lock().unwrap_or_else(PoisonError::into_inner) = seen.values().cloned().collect();
        }
        std::thread::sleep(BETWEEN);
    }
}

fn keep(seen: &mut BTreeMap<String, ServedAgent>, answered: Vec<AgentCard>) {
    for agent in seen.values_mut() {
        agent.state = "silent".to_owned();
        agent.busy_ratio = None;
    }
    seen.extend(answered.iter().map(|card| (card.name.clone(), served(card))));
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
    use super::super::list::tests::agent;
    use super::*;

    #[test]
    fn who_does_not_answer_any_more_is_silent() {
        let mut seen = BTreeMap::new();
        keep(&mut seen, vec![agent("web1", "site=east", None), agent("web2", "", None)]);
        keep(&mut seen, vec![agent("web2", "", Some("ops1"))]);
        let told: Vec<_> = seen.values().map(|agent| (agent.name.as_str(), agent.state.as_str())).collect();
        assert_eq!(told, [("web1", "silent"), ("web2", "used by ops1")]);
        assert_eq!(seen["web1"].labels, "site=east", "what is known of it stays");
    }
}
