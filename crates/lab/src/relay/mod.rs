//! Links with delay and loss: a sysdyno process between two pairs of interfaces relays their frames.
//!
//! Its ends are in a separate network namespace (`sysdyno-LAB-link.N`), which the journal records as a host; the process has a
//! keeper, like a service. No host or service can have such a name.

mod forward;
mod way;

pub use forward::forward;

use super::journal::LabJournal;
use super::keeper::KeeperOrder;
use super::link::{self, EndPlace, Role};
use super::paths::{ended_of, log_of};
use super::plan::LabPlan;
use super::plan_links::{End, LabLink, Relay};
use super::recipe::{HealthCheck, StopSignal};
use super::service::Site;
use super::{check, namespace};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use sysdyno_run::RunError;

/// Interfaces of a relay, on the sides of the ends of its link.
const ENDS: [&str; 2] = ["a", "b"];

/// What its process says once frames go through.
const READY: &str = "forwarding";

/// Longest file of counts that is read. Unit: bytes.
const MAX_COUNTS: u64 = 4096;

/// What became of the frames that came from one end of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forwarded {
    /// They came to the other end.
    pub forwarded_count: u64,
    /// They were lost, as configured.
    pub lost_count: u64,
    /// They found no room to wait, or the other end did not take them.
    pub overflowed_count: u64,
}

/// Of both ends, in the order of the link.
type Told = [Forwarded; 2];

/// What the process of a relay is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Order {
    relay: Relay,
    /// Where it writes its counts down.
    counts: PathBuf,
}

/// What the journal, logs and namespaces call the relay of the link at a place of the plan.
pub(super) fn name_of(position: usize) -> String {
    format!("link.{position}")
}

/// Names of all relays of a lab.
pub(super) fn names(plan: &LabPlan) -> impl Iterator<Item = String> {
    plan.own_links().filter(move |position| plan.links[*position].relay.is_some()).map(name_of)
}

fn counts_of(folder: &Path, name: &str) -> PathBuf {
    folder.join("logs").join(format!("{name}.counts"))
}

/// What a relay has counted; `None` if it has written nothing yet.
pub(super) fn counts(folder: &Path, name: &str) -> Option<Told> {
    let text = check::tail(&counts_of(folder, name), MAX_COUNTS).ok()?;
    serde_json::from_str(&text).ok()
}

/// Makes both pairs of a link whose relay has its namespace already, and starts its process between them.
pub(super) fn make(
    site: &Site<'_>,
    position: usize,
    places: [EndPlace<'_>; 2],
    journal: &mut LabJournal,
) -> Result<(), RunError> {
    let link = &site.order.plan.links[position];
    let name = name_of(position);
    let cannot = |source| RunError::Process { operation: "start", object: format!("relay '{name}'"), source };
    let path = namespace::path_of(&site.order.plan.name, &name);
    for (side, place) in places.into_iter().enumerate() {
        let inner = End { host: name.clone(), interface: ENDS[side].to_owned(), address: None };
        let half = LabLink { ends: [link.ends[side].clone(), inner], ..link.clone() };
        link::make(&half, [place, EndPlace { namespace: &path, role: Role::Relay }]).map_err(cannot)?;
    }
    let Some(relay) = link.relay else { return Ok(()) };
    let order = order(site, &name, &relay).map_err(|error| cannot(error.into()))?;
    let ready = HealthCheck { log: Some(READY.to_owned()), ..HealthCheck::default() };
    let keeper = site.keep(&name, &order, journal)?;
    let subject = check::Subject {
        namespace: &path,
        address: std::net::Ipv4Addr::LOCALHOST.into(),
        port: None,
        log: &order.log,
    };
    site.wait(&order, &ready, &subject, &keeper).map_err(cannot)
}

fn order(site: &Site<'_>, name: &str, relay: &Relay) -> serde_json::Result<KeeperOrder> {
    let counts = counts_of(site.folder, name);
    let own = serde_json::to_string(&Order { relay: *relay, counts })?;
    let program = site.program.display().to_string();
    Ok(KeeperOrder {
        lab: site.order.plan.name.clone(),
        service: name.to_owned(),
        namespace: namespace::path_of(&site.order.plan.name, name),
        folder: site.folder.to_owned(),
        log: log_of(site.folder, name),
        ended: ended_of(site.folder, name),
        prepare: Vec::new(),
        argv: [program, "lab".into(), "relay".into(), own].into(),
        cpus: Vec::new(),
        limits: Vec::new(),
        stop: StopSignal::Term,
        stop_within_ms: 1000,
    })
}
