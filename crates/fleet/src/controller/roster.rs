//! Which agents are at the broker: they are asked, and those that answer are there.

use crate::card::AgentCard;
use crate::nats::NatsClient;
use crate::subject;
use std::collections::BTreeMap;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;
use sysdyno_record::fleet::FleetSelector;
use sysdyno_run::clock;

/// Between two questions, for those that have just connected.
const AGAIN: Duration = Duration::from_millis(400);

/// Most agents that are listed.
const MAX_AGENTS: usize = 1024;

/// The agents that answer within `span`, by name; those that `wanted` names are waited for no longer than needed.
pub fn roster(client: &NatsClient, span: Duration, wanted: &[&str]) -> Vec<AgentCard> {
    let answers = client.subscribe(subject::HERE_OF_ALL);
    let mut found = BTreeMap::new();
    let end = clock::monotonic().after(span);
    let mut asked = None;
    while clock::monotonic() < end {
        let now = clock::monotonic();
        if asked.is_none_or(|at| now.since(at) > AGAIN.as_nanos() as u64) {
            client.publish(subject::WHO, b"");
            asked = Some(now);
        }
        match answers.recv_timeout(Duration::from_millis(20)) {
            Ok(message) => {
                let card = AgentCard::parse(subject::last_word(&message.subject), &message.payload);
                if let Some(card) = card.filter(|_| found.len() < MAX_AGENTS) {
                    found.insert(card.name.clone(), card);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if !wanted.is_empty() && wanted.iter().all(|name| found.contains_key(*name)) {
            break;
        }
    }
    found.into_values().collect()
}

/// Those of the agents that a selector means.
pub fn chosen<'a>(agents: &'a [AgentCard], selector: &FleetSelector) -> Vec<&'a AgentCard> {
    agents.iter().filter(|agent| selector.selects(&agent.name, &agent.labels)).collect()
}
