//! What is squeezed: the plan, what was found to squeeze, and what a variant takes away.

use super::{Contrast, ResourceThreshold};
use crate::named::named;
use crate::tryout::{TryPlan, Variant};
use serde::{Deserialize, Serialize};

/// A squeeze, before it begins; the content of `plan.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SqueezePlan {
    /// What a trial is, and when comparisons end. Its only variant is the host as it is; the others are found by the pilot.
    pub tryout: TryPlan,
    /// How much of a resource is taken away, the most first. Unit: ratio of what there is.
    pub depths: Vec<f64>,
    /// Kinds of resources that are squeezed; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<ResourceKind>,
}

named! {
    /// A kind of resource.
    ResourceKind {
        /// CPU time of the processes of one tier.
        Cpu "cpu";
        /// CPU time of the whole host, from everybody at once: what the CPU time of tiers and generator has to sum up to.
        HostCpu "host-cpu";
        /// What an interface may send by a queueing discipline that limits it.
        Link "link";
        /// What control groups let a disk do: requests and bytes per second.
        Disk "disk";
        /// Connections of the load, which is closed: how many requests its clients have on their way at once. It is no rate,
        /// but says what kind of resource is missing where the rates sum up to less than 1.
        Connections "connections";
        /// CPU time of the generator.
        Generator "generator";
        /// Nothing: the tier is only put into the group that squeezes are made with.
        Placebo "placebo";
    }
}

impl ResourceKind {
    /// Whether it is a rate that belongs to the sum of elasticities.
    pub fn is_in_sum(self) -> bool {
        self == ResourceKind::Generator || self.is_of_server_rate()
    }

    /// Whether it is a rate of the server.
    fn is_of_server_rate(self) -> bool {
        matches!(self, ResourceKind::Cpu | ResourceKind::Link | ResourceKind::Disk)
    }

    /// Whether it can be what limits the rate; the others check the method.
    pub fn is_ranked(self) -> bool {
        self == ResourceKind::Connections || self.is_of_server_rate()
    }
}

/// What the pilot found to squeeze, and how; a line of `experiment.jsonl`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SqueezedResources {
    /// The resources.
    pub resources: Vec<SqueezedResource>,
    /// Everything that a trial can be under; the first is the host as it is.
    pub variants: Vec<Variant>,
    /// The comparisons, in the order in which they are made.
    pub contrasts: Vec<Contrast>,
    /// Resources that cannot be squeezed here.
    pub left_out: Vec<LeftOutResource>,
    /// Resources that are no rates, the fullest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<ResourceThreshold>,
}

impl SqueezedResources {
    /// Drops the comparisons of resources that are not there any more, and numbers the others anew.
    pub fn drop_unused(&mut self) {
        let mut numbers: Vec<u32> =
            self.resources.iter().flat_map(|resource| resource.contrasts.iter().copied()).collect();
        numbers.sort_unstable();
        let new = |old: u32| numbers.iter().position(|number| *number == old).map(|at| at as u32);
        for resource in &mut self.resources {
            resource.contrasts = resource.contrasts.iter().filter_map(|old| new(*old)).collect();
        }
        let kept = numbers.iter().filter_map(|number| self.contrasts.get(*number as usize));
        let renumbered = kept.map(|contrast| Contrast { after: contrast.after.and_then(new), ..*contrast });
        self.contrasts = renumbered.collect();
    }
}

/// A resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SqueezedResource {
    /// What it is.
    pub kind: ResourceKind,
    /// Whose it is: the first process of the tier; of a link the interface, of a disk its name. Untrusted text. `None`: the host's, or the
    /// generator's.
    pub tier: Option<String>,
    /// Where the tier listens; `None`: the load is sent to it, or it is no tier's. Untrusted text.
    pub address: Option<String>,
    /// How much of it there was in the pilot. Unit: CPUs; of a link megabits per second; of a disk 1; of connections
    /// their count.
    pub available: Option<f64>,
    /// How much of that was used. Unit: as above. `None`: not known.
    pub used: Option<f64>,
    /// Comparisons of it, by their positions; the deepest first.
    pub contrasts: Vec<u32>,
}

/// A resource that is not squeezed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOutResource {
    /// What it is, in words. Untrusted text.
    pub name: String,
    /// Why not, in a sentence without its subject.
    pub reason: String,
}
