//! The list of what is squeezed, as it grows: resources, variants, and comparisons.

use super::disk::SqueezableDisk;
use super::link::LimitedLink;
use super::surroundings::ServerNetwork;
use super::tier::{SqueezedTier, slower};
use crate::readings::Window;
use sysdyno_record::change::SettingChange;
use sysdyno_record::squeeze::{
    BurnKind, BurnSpec, Contrast, LeftOutResource, ResourceKind, SqueezeAction, SqueezePlan,
    SqueezedResource, SqueezedResources,
};
use sysdyno_record::tryout::{Action, Variant};

/// How wide the interval of an elasticity may be when measuring ends. House value.
const WIDTH: f64 = 0.2;

/// Depth by whose precision the placebo is measured.
const PLACEBO_DEPTH: f64 = 0.1;

/// The list as it grows.
pub(super) struct List {
    pub(super) depths: Vec<f64>,
    only: Vec<ResourceKind>,
    pub(super) found: SqueezedResources,
}

impl List {
    pub(super) fn new(plan: &SqueezePlan) -> List {
        let mut depths = plan.depths.clone();
        depths.sort_by(|one, other| other.total_cmp(one));
        let found =
            SqueezedResources { variants: plan.tryout.variants.clone(), ..SqueezedResources::default() };
        List { depths, only: plan.only.clone(), found }
    }

    pub(super) fn is_wanted(&self, kind: ResourceKind) -> bool {
        // Without placebo and generator, nobody knows what the others are worth.
        let is_control = matches!(kind, ResourceKind::Placebo | ResourceKind::Generator);
        is_control || self.only.is_empty() || self.only.contains(&kind)
    }

    pub(super) fn leave_out(&mut self, name: &str, reason: &str) {
        self.found.left_out.push(LeftOutResource { name: name.into(), reason: reason.into() });
    }

    pub(super) fn variant(&mut self, name: String, action: Action) -> u32 {
        self.found.variants.push(Variant { name, action });
        self.found.variants.len() as u32 - 1
    }

    fn resource(&mut self, resource: SqueezedResource) -> usize {
        self.found.resources.push(resource);
        self.found.resources.len() - 1
    }

    fn contrast(&mut self, resource: usize, contrast: Contrast) {
        self.found.resources[resource].contrasts.push(self.found.contrasts.len() as u32);
        self.found.contrasts.push(contrast);
    }

    pub(super) fn tier(&mut self, tier: &SqueezedTier<'_>) -> usize {
        self.resource(SqueezedResource {
            kind: ResourceKind::Cpu,
            tier: Some(tier.name()),
            address: tier.address(),
            available: Some(tier.available()),
            used: tier.used_cpus,
            contrasts: Vec::new(),
        })
    }

    /// The busiest tier as it is squeezed, without anything being taken, against the host as it is.
    pub(super) fn placebo(&mut self, tier: &SqueezedTier<'_>, b: u32) {
        let resource = self.resource(SqueezedResource {
            kind: ResourceKind::Placebo,
            tier: Some(tier.name()),
            address: tier.address(),
            available: None,
            used: None,
            contrasts: Vec::new(),
        });
        let effect_ratio = precision(PLACEBO_DEPTH);
        self.contrast(resource, Contrast { a: 0, b, depth_ratio: 0.0, effect_ratio, after: None });
    }

    /// A comparison of a resource at a depth; shallower ones are only made where the deepest costs something.
    pub(super) fn squeeze(&mut self, resource: usize, (a, action): (u32, Action), depth: f64) {
        let of = &self.found.resources[resource];
        if !self.is_wanted(of.kind) {
            return;
        }
        let (after, name) =
            (of.contrasts.first().copied(), of.tier.clone().unwrap_or_else(|| of.kind.name().into()));
        let b = self.variant(format!("{name} −{:.0}%", depth * 100.0), action);
        self.contrast(resource, Contrast { a, b, depth_ratio: depth, effect_ratio: precision(depth), after });
    }

    /// A resource that is squeezed by burning CPU time alone, at the deepest level.
    pub(super) fn burnt(&mut self, kind: ResourceKind, cpus: &[u32], burn: BurnKind) {
        let Some(depth) = self.depths.first().copied().filter(|_| self.is_wanted(kind)) else { return };
        if cpus.is_empty() {
            let name =
                if kind == ResourceKind::Generator { "the generator's CPU" } else { "CPU of the host" };
            return self.leave_out(name, "its CPUs are not known");
        }
        let resource = self.resource(SqueezedResource {
            kind,
            tier: None,
            address: None,
            available: Some(cpus.len() as f64),
            used: None,
            contrasts: Vec::new(),
        });
        let ratio = if burn == BurnKind::Duty { depth } else { slower(depth) };
        let action = |ratio: f64| {
            let burn = BurnSpec { kind: burn.clone(), ratio, cpus: cpus.to_vec() };
            Action::Squeeze(Box::new(SqueezeAction { burn: Some(burn), ..SqueezeAction::default() }))
        };
        let a = self.variant(kind.name().into(), action(0.0));
        self.squeeze(resource, (a, action(ratio)), depth);
    }

    /// What an interface may send.
    pub(super) fn link(&mut self, link: &LimitedLink<'_>, network: &ServerNetwork) {
        let device = match (link.left_out(), network) {
            (Some(reason), _) => return self.leave_out(&format!("link {}", link.device), &reason),
            (None, ServerNetwork::Own) => link.device.to_owned(),
            (None, ServerNetwork::Named(name)) => format!("{name}:{}", link.device),
            (None, ServerNetwork::Unnamed) => {
                let reason = "it is in another network namespace: name that by --server netns:NAME";
                return self.leave_out(&format!("link {}", link.device), reason);
            }
        };
        let resource = SqueezedResource {
            kind: ResourceKind::Link,
            tier: Some(link.device.to_owned()),
            address: None,
            available: Some(link.limit_mbps),
            used: Some(link.used_mbps),
            contrasts: Vec::new(),
        };
        self.set(resource, |depth| vec![link.slower(&device, depth)]);
    }

    /// What control groups let a disk do.
    pub(super) fn disk(&mut self, disk: &SqueezableDisk, window: &Window) {
        // One that was not read, or did nothing, is none of the server's.
        let Some(used) = disk.used(window).filter(|used| *used > 0.0) else { return };
        if let Some(reason) = disk.left_out(used) {
            return self.leave_out(&format!("disk {}", disk.disk), &reason);
        }
        let resource = SqueezedResource {
            kind: ResourceKind::Disk,
            tier: Some(disk.disk.clone()),
            address: None,
            available: Some(1.0),
            used: Some(used),
            contrasts: Vec::new(),
        };
        self.set(resource, |depth| disk.settings(depth));
    }

    /// A resource that is squeezed by settings alone.
    fn set(&mut self, resource: SqueezedResource, settings: impl Fn(f64) -> Vec<SettingChange>) {
        let resource = self.resource(resource);
        for depth in self.depths.clone() {
            let action = SqueezeAction { settings: settings(depth), ..SqueezeAction::default() };
            self.squeeze(resource, (0, Action::Squeeze(Box::new(action))), depth);
        }
    }

    /// The connections of the load, of which only whole ones can be taken away.
    pub(super) fn connections(&mut self, count: u32) {
        if !self.is_wanted(ResourceKind::Connections) {
            return;
        }
        let mut left: Vec<u32> =
            self.depths.iter().map(|depth| (f64::from(count) * (1.0 - depth)).round() as u32).collect();
        left.retain(|left| (1..count).contains(left));
        left.dedup();
        if left.is_empty() {
            return self.leave_out("connections", "the load has too few to take one away");
        }
        let resource = self.resource(SqueezedResource {
            kind: ResourceKind::Connections,
            tier: None,
            address: None,
            available: Some(f64::from(count)),
            used: None,
            contrasts: Vec::new(),
        });
        for left in left {
            let fewer = SqueezeAction { connections: Some(left), ..SqueezeAction::default() };
            let depth = 1.0 - f64::from(left) / f64::from(count);
            self.squeeze(resource, (0, Action::Squeeze(Box::new(fewer))), depth);
        }
    }
}

/// The effect that the interval of a comparison has to be narrower than, so that its elasticity is known well enough.
fn precision(depth: f64) -> f64 {
    (-(1.0 - depth).ln() * WIDTH).exp_m1()
}
