//! A part of a load as sent to another host: the plan, plus the data that plans do not contain.

use serde::{Deserialize, Serialize};
use sysdyno_load::Part;
use sysdyno_record::plan::LoadPlan;

/// A part of a load for one host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartCall {
    /// Number of the trial in the run.
    pub trial: u32,
    /// Number of the host, from 0.
    pub host: u32,
    /// Number of hosts.
    pub hosts: u32,
    /// Threads of hosts before this one on the same machine.
    pub threads_before: u32,
    /// Threads of all hosts on the same machine.
    pub machine_threads: u32,
    /// Whether the user confirmed that the target may be loaded.
    #[serde(default)]
    pub is_target_mine: bool,
    /// The whole load.
    plan: LoadPlan,
    /// The body of its request.
    body: Vec<u8>,
    /// Those of the operations of a mix.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    operation_bodies: Vec<Vec<u8>>,
}

impl PartCall {
    /// A part of a plan.
    pub(super) fn new(trial: u32, part: Part, plan: LoadPlan, is_target_mine: bool) -> PartCall {
        let Part { host, hosts, threads_before, machine_threads } = part;
        let body = plan.request.body.to_vec();
        let operations = plan.workload.operations.iter();
        let operation_bodies = operations.map(|operation| operation.request.body.to_vec()).collect();
        PartCall {
            trial,
            host,
            hosts,
            threads_before,
            machine_threads,
            is_target_mine,
            plan,
            body,
            operation_bodies,
        }
    }

    /// The whole load, without the bodies of its requests.
    pub fn load_plan(&self) -> &LoadPlan {
        &self.plan
    }

    /// Which part it is.
    pub(super) fn part(&self) -> Part {
        let PartCall { host, hosts, threads_before, machine_threads, .. } = *self;
        Part { host, hosts, threads_before, machine_threads }
    }

    /// The whole load, with what it is sent with.
    pub(super) fn plan(&self) -> LoadPlan {
        let mut plan = self.plan.clone();
        plan.request.body = self.body.as_slice().into();
        let operations = plan.workload.operations.iter_mut().zip(&self.operation_bodies);
        operations.for_each(|(operation, body)| operation.request.body = body.as_slice().into());
        plan
    }
}
