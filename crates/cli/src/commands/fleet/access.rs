//! A controller's access to a fleet: the broker, the credentials, and the agents that the options mean.

use crate::settings::fleet_folder;
use anyhow::{Context, anyhow, ensure};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use sysdyno_fleet::{
    AgentCard, Broker, BrokerUrl, Credentials, FleetOrder, NatsClient, Permission, chosen, open_tunnel,
    roster,
};
use sysdyno_plan::options::{BrokerOptions, FleetOptions, ServerOptions, Typed};
use sysdyno_record::fleet::FleetSelector;
use sysdyno_record::place::{HostPlace, HostWay};
use sysdyno_report::escape;
use sysdyno_run::RunError;
use sysdyno_run::agent::{AgentConnection, FleetWay};

/// The version of this program.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Names the state folder, as `--state-dir` does.
const STATE_VARIABLE: &str = "SYSDYNO_STATE_DIR";

/// How long agents may take to answer.
const ANSWERS: Duration = Duration::from_secs(2);

/// Leases that agents give.
const LEASES: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(5)];

/// Without a word of the controller, agents stop within a second.
const LEASE: Duration = Duration::from_millis(800);

/// The state folder of the fleet of this user.
pub(super) fn own_folder() -> anyhow::Result<PathBuf> {
    let state = std::env::var_os(STATE_VARIABLE).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    fleet_folder(state.as_deref())
}

/// The fleet that options name. Its broker is reached when one of its agents is first asked for.
#[derive(Debug)]
pub struct NamedFleet {
    options: FleetOptions,
    access: Mutex<Option<FleetAccess>>,
}

impl NamedFleet {
    pub fn new(options: &FleetOptions) -> NamedFleet {
        NamedFleet { options: options.clone(), access: Mutex::new(None) }
    }
}

impl FleetWay for NamedFleet {
    fn open(&self, place: &HostPlace) -> Result<AgentConnection, RunError> {
        let said = |error: anyhow::Error| RunError::Refused(error.to_string());
        let mut access = self.access.lock().unwrap_or_else(PoisonError::into_inner);
        let access = match &mut *access {
            Some(access) => access,
            none => none.insert(FleetAccess::connect(&self.options).map_err(said)?),
        };
        access.open(place).map_err(said)
    }
}

/// A controller at a broker.
pub(super) struct FleetAccess {
    client: Arc<NatsClient>,
    order: FleetOrder,
}

impl FleetAccess {
    /// Logs in to the broker.
    fn connect(options: &FleetOptions) -> anyhow::Result<FleetAccess> {
        let lease = options.fleet_lease.as_ref().map(|lease| lease.0.duration());
        FleetAccess::connect_below(&own_folder()?, &options.broker, lease)
    }

    /// The same with the state folder of a fleet; agents that have heard nothing for `lease` stop a load.
    pub(super) fn connect_below(
        folder: &Path,
        options: &BrokerOptions,
        lease: Option<Duration>,
    ) -> anyhow::Result<FleetAccess> {
        let file = match &options.nats_creds {
            Some(file) => file.clone(),
            None => Broker::below(folder)?.controller_file(),
        };
        ensure!(
            options.nats_creds.is_some() || file.exists(),
            "cannot use a fleet: there are no credentials in '{}'\nhint: `sysdyno fleet up` starts a broker here; \
             --nats-creds names the credentials for another one",
            file.display()
        );
        let credentials = Credentials::read(&file, None).map_err(|error| anyhow!("{error}"))?;
        let typed = options.nats.as_deref().map(str::parse::<BrokerUrl>).transpose()?;
        let url = typed.or(credentials.broker).context(
            "cannot use a fleet: its credentials name no broker\nhint: --nats tls://HOST:PORT names it",
        )?;
        let lease = lease.unwrap_or(LEASE);
        ensure!(
            LEASES[0] <= lease && lease <= LEASES[1],
            "cannot use a lease of {} ms: it is 500ms to 5s long",
            lease.as_millis()
        );
        let order = FleetOrder {
            key: Arc::clone(&credentials.login.key),
            version: VERSION.to_owned(),
            controller: controller(),
            lease,
        };
        let client = NatsClient::connect(&url, credentials.login, "sysdyno controller");
        Ok(FleetAccess { client: Arc::new(client.map_err(|error| anyhow!("{error}"))?), order })
    }

    /// The agents that answer; those that `wanted` names are waited for no longer than needed.
    pub(super) fn roster(&self, wanted: &[&str]) -> Vec<AgentCard> {
        roster(&self.client, ANSWERS, wanted)
    }

    /// The agents that answer within a time.
    pub(super) fn roster_for(&self, span: Duration) -> Vec<AgentCard> {
        roster(&self.client, span, &[])
    }

    /// Reaches the agent of a place, which has its name.
    fn open(&self, place: &HostPlace) -> anyhow::Result<AgentConnection> {
        let HostWay::Fleet(FleetSelector::Name(name)) = &place.way else {
            return Err(anyhow!(
                "cannot reach '{}': it names no single agent\nhint: use fleet:NAME",
                place.name
            ));
        };
        open_tunnel(&self.client, name, place, &self.order).map_err(|error| anyhow!("{error}"))
    }
}

impl fmt::Debug for FleetAccess {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("FleetAccess").field("order", &self.order).finish_non_exhaustive()
    }
}

/// Who this is, for the agents' messages and logs.
fn controller() -> String {
    let host = rustix::system::uname();
    format!("{}, process {}", host.nodename().to_string_lossy(), std::process::id())
}

/// The same options with each selector replaced by the agents that it means.
///
/// # Errors
/// It means none, or one that cannot be used.
pub fn expanded(mut servers: ServerOptions) -> anyhow::Result<ServerOptions> {
    let is_fleet = |place: &Typed<HostPlace>| matches!(place.0.way, HostWay::Fleet(_));
    if !servers.load_from.iter().any(is_fleet) {
        return Ok(servers);
    }
    let access = FleetAccess::connect(&servers.fleet)?;
    let names = servers.load_from.iter().map(|place| match &place.0.way {
        HostWay::Fleet(FleetSelector::Name(name)) => Some(name.as_str()),
        HostWay::Fleet(_) => None,
        // It needs no answer.
        _ => Some(""),
    });
    let wanted: Vec<&str> = names.collect::<Option<Vec<_>>>().unwrap_or_default();
    let wanted: Vec<&str> = wanted.into_iter().filter(|name| !name.is_empty()).collect();
    let agents = access.roster(&wanted);
    let mut places: Vec<Typed<HostPlace>> = Vec::new();
    for place in &servers.load_from {
        let HostWay::Fleet(selector) = &place.0.way else {
            places.push(place.clone());
            continue;
        };
        let found = chosen(&agents, selector);
        ensure!(
            !found.is_empty(),
            "cannot send from '{}': no agent answers to that\nhint: `sysdyno fleet ls` lists those that answer",
            place.0.name
        );
        for agent in found {
            check(agent)?;
            let way = HostWay::Fleet(FleetSelector::Name(agent.name.clone()));
            let named = Typed(HostPlace { name: format!("fleet:{}", agent.name), way });
            // Two selectors may mean the same agent; typing a name twice is a mistake that the plan refuses.
            if *selector != FleetSelector::Name(agent.name.clone()) && places.contains(&named) {
                continue;
            }
            places.push(named);
        }
    }
    servers.load_from = places;
    Ok(servers)
}

/// Refuses an agent that could not send a load.
fn check(agent: &AgentCard) -> anyhow::Result<()> {
    let refused = |cause: String, hint: &str| {
        Err(anyhow!("cannot send from 'fleet:{}': {cause}\nhint: {hint}", agent.name))
    };
    if let Some(cause) = agent.incompatible(VERSION) {
        return refused(cause, "install the same version on all hosts of a fleet");
    }
    if !agent.allows.contains(&Permission::Load) {
        return refused(
            "its administrator does not allow loads".into(),
            "start the agent there with --allow load",
        );
    }
    match &agent.leased_to {
        Some(who) => refused(
            format!("it is used by {}", escape::terminal(who, 80)),
            "wait until that run is over, or leave the agent out",
        ),
        None => Ok(()),
    }
}
