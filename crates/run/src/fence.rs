//! Decides before the first packet whether a load may begin, by asking every host that takes part.
//!
//! Each sending host says where packets to the target go, and the server's host says whether the address is its own;
//! otherwise sysdyno could load one host and read the counters of another.

use crate::agent::{Agent, Deaf, Fleet, LoadGuard, LocalAgent, RemoteAgent, RouteCall, RouteReport};
use crate::error::{RunError, escaped};
use std::net::IpAddr;
use sysdyno_load::LoadError;
use sysdyno_load::target::{FenceJudgement, url_at};
use sysdyno_record::plan::{Endpoint, Target};

/// Where a load is to go.
#[derive(Clone, Debug)]
pub struct Goal {
    /// The command, for hints.
    pub command: &'static str,
    /// The target.
    pub target: Target,
    /// Addresses that connections come from; empty: the kernel chooses.
    pub sources: Vec<IpAddr>,
}

/// The hosts that have a part in a load.
pub struct Parties<'a> {
    /// What may be loaded.
    pub guard: &'a LoadGuard,
    /// The hosts that send it; `None`: this process does.
    pub fleet: Option<&'a mut Fleet>,
    /// The host of the server, if that is read.
    pub server: Option<&'a mut RemoteAgent>,
}

/// Checks that a load may begin; a cause where it takes the user's word that the target is theirs.
///
/// # Errors
/// It may not, or a host does not answer.
pub fn check(goal: &Goal, parties: &mut Parties<'_>) -> Result<Option<String>, RunError> {
    let Endpoint::Tcp(endpoint) = goal.target.endpoint else { return Ok(None) };
    let call = RouteCall { address: endpoint.ip(), sources: goal.sources.clone() };
    let senders = parties.senders(&call)?;
    let mut asked = None;
    for sender in &senders {
        match sender.report.judge(call.address, &parties.guard.fence) {
            FenceJudgement::Passes => {}
            FenceJudgement::Asks { cause } => asked = asked.or_else(|| Some(sender.told(&cause))),
            FenceJudgement::Refused { cause } => {
                return Err(goal.refused(&sender.told(&cause), sender.lab_hint(goal, call.address)));
            }
        }
    }
    parties.check_server(goal, &call, &senders)?;
    Ok(asked)
}

/// A host that sends.
struct Sender {
    /// `None`: this process.
    host: Option<String>,
    report: RouteReport,
}

impl Sender {
    fn told(&self, cause: &str) -> String {
        let host = self.host.as_ref().map_or(String::new(), |host| format!("from host '{host}': "));
        // A host that is asked may say what it likes.
        format!("{host}{}", escaped(cause, 500))
    }

    /// What loads an address of a lab from within it.
    fn lab_hint(&self, goal: &Goal, address: IpAddr) -> Option<String> {
        let lab = self.report.lab.as_ref()?;
        let url = url_at(&goal.target, address);
        let (name, from, command) = (escaped(&lab.lab, 80), escaped(&lab.from, 80), goal.command);
        Some(format!("sudo sysdyno lab exec {name} {from} -- sysdyno {command} {url}"))
    }
}

impl Goal {
    fn refused(&self, cause: &str, hint: Option<String>) -> RunError {
        let hint = hint.map_or(String::new(), |hint| format!("\nhint: {hint}"));
        LoadError::Outside { url: self.target.url.clone(), cause: format!("{cause}{hint}") }.into()
    }
}

impl Parties<'_> {
    /// Each sending host's report on its way to an address.
    fn senders(&mut self, call: &RouteCall) -> Result<Vec<Sender>, RunError> {
        if let Some(fleet) = self.fleet.as_deref_mut() {
            let routes = fleet.routes(call)?.into_iter();
            return Ok(routes.map(|(host, report)| Sender { host: Some(host), report }).collect());
        }
        let report = LocalAgent::guarded(self.guard.clone()).route(call.clone(), &mut Deaf)?;
        // Its lists are those of the guard.
        Ok(vec![Sender { host: None, report: RouteReport { lists: Vec::new(), ..report } }])
    }

    /// Refuses a target that is not on the host that is read as the server's.
    fn check_server(&mut self, goal: &Goal, call: &RouteCall, senders: &[Sender]) -> Result<(), RunError> {
        let Some(server) = self.server.as_deref_mut() else { return Ok(()) };
        let here = RouteCall { address: call.address, sources: Vec::new() };
        let report = server.route(here, &mut Deaf)?;
        let host = server.host().to_owned();
        let is_elsewhere =
            |sender: &&Sender| sender.report.is_own() && !is_same(&sender.report.network, &report.network);
        let cause = if !report.is_own() {
            format!("the address does not belong to host '{host}', whose counters would be read")
        } else if let Some(sender) = senders.iter().find(is_elsewhere) {
            let own = sender.host.as_ref().map_or("this host".to_owned(), |host| format!("host '{host}'"));
            format!("{own} has this address itself, so the load would never reach host '{host}'")
        } else {
            return Ok(());
        };
        let hint = self.instead(goal, &host, &report)?;
        Err(goal.refused(&cause, hint))
    }

    /// The address of the server's host that would do.
    fn instead(&mut self, goal: &Goal, host: &str, report: &RouteReport) -> Result<Option<String>, RunError> {
        let is_seen = |address: &IpAddr| match address {
            IpAddr::V4(address) => !address.is_loopback() && !address.is_link_local(),
            IpAddr::V6(address) => !address.is_loopback() && !address.is_unicast_link_local(),
        };
        let addresses = report.addresses.iter().map(|one| one.address).filter(is_seen).take(MAX_TRIED);
        let mut hint = None;
        for address in addresses.collect::<Vec<_>>() {
            let senders = self.senders(&RouteCall { address, sources: goal.sources.clone() })?;
            let reaches = |sender: &Sender| {
                let is_there = !sender.report.is_own() || is_same(&sender.report.network, &report.network);
                sender.report.is_near() && is_there
            };
            if senders.iter().all(reaches) {
                let url = url_at(&goal.target, address);
                return Ok(Some(format!("host '{host}' has {address}: sysdyno {} {url}", goal.command)));
            }
            hint = hint.or_else(|| senders.iter().find_map(|sender| sender.lab_hint(goal, address)));
        }
        Ok(hint)
    }
}

/// Most addresses of the server's host that are tried.
const MAX_TRIED: usize = 16;

/// Whether two hosts are known to be in one network namespace.
fn is_same(one: &Option<String>, other: &Option<String>) -> bool {
    one.is_some() && one == other
}
