//! Did the load reach the host whose readings were taken as the server's?
//!
//! An address may lead to a different host than its name suggests: another host with the same address, an address
//! translation, or a proxy. Then readings and load belong to different hosts. The counters of the server's kernel reveal
//! it: a host cannot have answered thousands of requests if it accepted none of the connections, received next to nothing,
//! and its server used no CPU. A host that forwards connections (containers behind a published port) does receive their
//! packets, so this check ignores it.

use super::check::{Check, Culprit, Examine, Observation};
use crate::format::{counted, name, whole};
use crate::threshold::{HOUSE, Threshold};
use crate::view::TrialView;
use sysdyno_record::column::{self, NETNS};
use sysdyno_record::event::ProcessRole;
use sysdyno_record::plan::Endpoint;

const RESPONSES: Threshold =
    Threshold::new("responses that a host cannot serve unnoticed", 100.0, "responses", HOUSE);
const TAKEN: Threshold = Threshold::new(
    "connections accepted by the host ÷ connections made, to have gone elsewhere",
    0.1,
    "ratio",
    HOUSE,
);
const PACKETS: Threshold = Threshold::new(
    "packets received by the host per response, below which it forwarded nothing",
    0.1,
    "packets",
    HOUSE,
);
const USED: Threshold = Threshold::new("CPU of an idle server", 0.005, "CPUs", HOUSE);

/// M23.
pub(super) const NOT_LOADED: Check = Check {
    id: "M23",
    name: "host-not-loaded",
    meaning: "The host given as the server's is not the one that answered.",
    thresholds: &[RESPONSES, TAKEN, PACKETS, USED],
    remedy: "find out what answers at this address (another host, NAT, or a proxy), and give its host with \
             --server",
    blame: Culprit::Environment,
    concerns: &[],
    examine: Examine::Trial(examine_reached),
};

fn examine_reached(view: &TrialView) -> Option<Observation> {
    let server = view.server.filter(|_| matches!(view.plan().target.endpoint, Endpoint::Tcp(_)))?;
    let total = &view.end.summary.total;
    let responses = total.ok.saturating_add(total.failed) as f64;
    let window = view.server_whole();
    // A short load may be over before a busy host is read again.
    let grown = |name| window.all_occurrences(name, NETNS);
    let opened =
        view.intervals.iter().map(|interval| interval.connections_opened).fold(0, u64::saturating_add);
    let opened = opened.max(view.measured().connections_opened) as f64;
    let (taken, received) = (grown(column::TCP_PASSIVE_OPENS)?, grown(column::IP_IN_RECEIVES).unwrap_or(0.0));
    let scopes = window.scopes(column::CONNECTIONS_ESTABLISHED);
    let has_connections = scopes
        .iter()
        .filter_map(|scope| window.level(column::CONNECTIONS_ESTABLISHED, scope))
        .any(|level| level.max > 0.0);
    let used = window.process_cpus(&view.processes(ProcessRole::Target)).unwrap_or(0.0);
    let is_elsewhere = responses >= RESPONSES.value
        && taken <= TAKEN.value * opened
        && received < PACKETS.value * responses
        && used < USED.value
        && !has_connections;
    if !is_elsewhere {
        return None;
    }
    Observation::invalid(format!(
        "{} did not serve this load: {} arrived, but it accepted {} of {}, and its server used {used:.2} \
         CPUs",
        name(&server.host.name),
        counted(responses, "response"),
        whole(taken),
        counted(opened, "connection")
    ))
}
