//! The load of one trial.

use super::arrival::{Arrival, Deadlines, HardStops, KeepAlive, PhasePlan};
use super::objective::Objective;
use super::request::{RequestSpec, Validators};
use super::target::Target;
use crate::origin::OriginPlan;
use crate::probe::{ProbePlan, ProbedTarget};
use crate::units::Bytes;
use crate::wire::WirePlan;
use crate::workload::Workload;
use serde::{Deserialize, Serialize};

/// The load of one trial: where to, what, how it arrives, in which phases, and when to give up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadPlan {
    /// The server under test.
    pub target: Target,
    /// The request, the same for every arrival unless `workload` says otherwise.
    pub request: RequestSpec,
    /// What a response must be like to count as ok.
    pub validators: Validators,
    /// How requests arrive.
    pub arrival: Arrival,
    /// Connections in all, over all generator threads.
    pub connections: u32,
    /// How long a connection is kept.
    pub keep_alive: KeepAlive,
    /// The phases, in order. Responses that arrive during the drain belong to the phase of their intended send.
    pub phases: Vec<PhasePlan>,
    /// When a request is given up.
    pub deadlines: Deadlines,
    /// Greatest body that is read to its end; a longer one is a failure.
    pub max_body: Bytes,
    /// When the whole trial is given up.
    pub hard_stops: HardStops,
    /// Generator threads; each is pinned to one CPU where the host has more than one.
    pub threads: u32,
    /// Seed of the arrival process.
    pub seed: u64,
    /// Checks of the result, as typed (`p99>20ms`); empty in the trials of a search, whose plan has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fail_if: Vec<String>,
    /// What a load that rises must meet; `None`: it does not rise, or the default counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<Objective>,
    /// The probe of the load's own target that runs beside it; `None` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<ProbePlan>,
    /// What else is probed beside the load.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<ProbedTarget>,
    /// How the generator talks to the kernel.
    #[serde(default)]
    pub io: IoChoice,
    /// Whether the generator spins rather than sleeps before what is due.
    #[serde(default)]
    pub spin: SpinChoice,
    /// Which instant counts as that of a response's last byte.
    #[serde(default)]
    pub stamps: StampChoice,
    /// Where connections come from.
    #[serde(default, skip_serializing_if = "OriginPlan::is_default")]
    pub origin: OriginPlan,
    /// What is sent instead of one request.
    #[serde(default, skip_serializing_if = "Workload::is_single")]
    pub workload: Workload,
    /// What is spoken on the connections.
    #[serde(default, skip_serializing_if = "WirePlan::is_plain")]
    pub wire: WirePlan,
}

impl LoadPlan {
    /// GET over one connection in a closed loop, with no phase yet and nothing of what can be asked for besides.
    pub fn plain(target: Target) -> LoadPlan {
        LoadPlan {
            target,
            request: RequestSpec {
                method: "GET".into(),
                headers: vec![],
                body: Default::default(),
                body_bytes: 0,
            },
            validators: Validators::default(),
            arrival: Arrival::Closed,
            connections: 1,
            keep_alive: KeepAlive::Unlimited,
            phases: vec![],
            deadlines: Deadlines::default(),
            max_body: Bytes(1 << 20),
            hard_stops: HardStops { connect_failures_in_a_row: None, failure_ratio: None },
            threads: 1,
            seed: 1,
            fail_if: vec![],
            objective: None,
            probe: None,
            probes: vec![],
            io: IoChoice::Auto,
            spin: SpinChoice::Auto,
            stamps: StampChoice::Kernel,
            origin: OriginPlan::default(),
            workload: Workload::default(),
            wire: WirePlan::default(),
        }
    }

    /// All that is probed beside the load, as replies number it: its own target first, if that is.
    pub fn probed(&self) -> Vec<ProbedTarget> {
        let own = self.probe.map(|plan| ProbedTarget {
            name: plan.kind.name().to_owned(),
            target: self.target.clone(),
            plan,
        });
        own.into_iter().chain(self.probes.iter().cloned()).collect()
    }

    /// Requests that can be in flight: one on each connection, or on each stream of HTTP/2.
    pub fn lanes(&self) -> u64 {
        u64::from(self.connections) * u64::from(self.streams())
    }

    /// Requests at a time on one connection.
    pub fn streams(&self) -> u32 {
        self.wire.http2.map_or(1, |http2| http2.streams.max(1))
    }
}

/// Which instant counts as that of a response's last byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StampChoice {
    /// When the kernel got the packet, so that the generator's own delays are not part of any latency; over TCP only.
    #[default]
    Kernel,
    /// When the generator read it.
    User,
}

/// Whether the generator spins rather than sleeps before what is due, in an open load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpinChoice {
    /// Where nothing else is meant to run on the CPUs of its threads.
    #[default]
    Auto,
    /// Until it is found that something else does run there.
    On,
    /// Never.
    Off,
}

/// How the generator talks to the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IoChoice {
    /// io_uring where the kernel has and allows it, else epoll.
    #[default]
    Auto,
    /// io_uring, or no load.
    Uring,
    /// epoll.
    Epoll,
}
