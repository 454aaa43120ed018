//! Finds what can be squeezed, from a pilot that loaded the server as much as it takes.

use crate::path::address_text;
use crate::readings::Window;
use crate::view::TrialView;
use std::collections::BTreeSet;
use sysdyno_record::change::SettingChange;
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::plan::Endpoint;
use sysdyno_record::squeeze::{
    BurnKind, BurnSpec, Contrast, LeftOutResource, ResourceKind, SqueezeAction, SqueezePlan,
    SqueezedResource, SqueezedResources,
};
use sysdyno_record::tryout::{Action, Variant};

/// How wide the interval of an elasticity may be when measuring ends. House value.
const WIDTH: f64 = 0.2;

/// A thread counts as one that can use a CPU if it used this much of one. Unit: ratio. House value.
const BUSY_MIN: f64 = 0.02;

/// Depth by whose precision the placebo is measured.
const PLACEBO_DEPTH: f64 = 0.1;

/// Where the load is sent from.
#[derive(Clone, Debug)]
pub struct GeneratorCpus {
    /// The process.
    pub pid: u32,
    /// CPUs of its threads; empty: not known.
    pub cpus: Vec<u32>,
}

/// A tier of the server.
struct SqueezedTier<'a> {
    address: Option<&'a Endpoint>,
    processes: Vec<&'a WatchedProcess>,
    /// CPUs that it may use.
    cpus: Vec<u32>,
    /// Processes that started the others, with the number of CPUs that each and its children can use at once.
    roots: Vec<(u32, f64)>,
    used_cpus: Option<f64>,
}

/// What a plan can squeeze of the server that a pilot loaded.
pub fn find(view: &TrialView, plan: &SqueezePlan, generator: &GeneratorCpus) -> SqueezedResources {
    let mut list = List::new(plan);
    let window = view.server_steady();
    let online = online(&window);
    let mut tiers = tiers(view, &window, &online);
    if tiers.is_empty() {
        list.leave_out(
            "the server's CPU",
            "its processes are not known: run as root, or name one with --watch-pid",
        );
    }
    tiers.sort_by(|one, other| other.used_cpus.unwrap_or(0.0).total_cmp(&one.used_cpus.unwrap_or(0.0)));
    let placed: Vec<u32> =
        tiers.iter().map(|tier| list.variant(format!("{} placed", tier.name()), tier.action(0.0))).collect();
    if let (Some(first), Some(a)) = (tiers.first(), placed.first()) {
        list.placebo(first, *a);
    }
    let all: BTreeSet<u32> = tiers.iter().flat_map(|tier| tier.cpus.iter().copied()).collect();
    list.burnt(ResourceKind::Generator, &generator.cpus, BurnKind::Follow(vec![generator.pid]));
    let wanted = if list.is_wanted(ResourceKind::Cpu) { tiers.as_slice() } else { &[] };
    let resources: Vec<usize> = wanted.iter().map(|tier| list.tier(tier)).collect();
    let depths = list.depths.clone();
    for (level, depth) in depths.iter().enumerate() {
        for ((tier, a), resource) in tiers.iter().zip(&placed).zip(&resources) {
            list.squeeze(*resource, (*a, tier.action(*depth)), *depth);
        }
        if level == 0 {
            list.burnt(ResourceKind::HostCpu, &all.iter().copied().collect::<Vec<_>>(), BurnKind::Duty);
        }
    }
    list.connections(view.plan().connections);
    list.found
}

/// The CPUs that are read.
fn online(window: &Window) -> Vec<u32> {
    window.cpus().iter().filter_map(|cpu| cpu.number().parse().ok()).collect()
}

fn tiers<'a>(view: &TrialView<'a>, window: &Window, online: &[u32]) -> Vec<SqueezedTier<'a>> {
    let mut tiers: Vec<SqueezedTier> = Vec::new();
    for process in view.processes(ProcessRole::Target) {
        let address = process.tier.as_ref().map(|tier| &tier.address);
        match tiers.iter_mut().find(|tier| tier.address == address) {
            Some(tier) => tier.processes.push(process),
            None => tiers.push(SqueezedTier {
                address,
                processes: vec![process],
                cpus: Vec::new(),
                roots: Vec::new(),
                used_cpus: None,
            }),
        }
    }
    tiers.iter_mut().for_each(|tier| tier.look(window, online));
    tiers
}

impl SqueezedTier<'_> {
    fn look(&mut self, window: &Window, online: &[u32]) {
        self.used_cpus = window.process_cpus(&self.processes);
        let allowed = |process: &&WatchedProcess| process.cpus.clone().unwrap_or_else(|| online.to_vec());
        let cpus: BTreeSet<u32> =
            self.processes.iter().flat_map(allowed).filter(|cpu| online.contains(cpu)).collect();
        self.cpus = cpus.into_iter().collect();
        let is_here = |pid: u32| self.processes.iter().any(|process| process.pid == pid);
        let roots = self.processes.iter().filter(|process| !process.parent_pid.is_some_and(is_here));
        self.roots = roots.map(|root| (root.pid, self.parallel(root, window))).collect();
    }

    /// How many CPUs a process and its children can use at once: as many as threads that used any.
    fn parallel(&self, root: &WatchedProcess, window: &Window) -> f64 {
        let family: Vec<&WatchedProcess> =
            self.processes.iter().copied().filter(|process| self.descends(process, root.pid)).collect();
        let busy = window.threads(&family).iter().filter(|thread| thread.busy_ratio >= BUSY_MIN).count();
        (busy.max(1) as f64).min(self.cpus.len().max(1) as f64)
    }

    fn descends(&self, process: &WatchedProcess, root: u32) -> bool {
        let mut at = process;
        for _ in 0..self.processes.len() {
            if at.pid == root {
                return true;
            }
            let parent = self.processes.iter().find(|other| Some(other.pid) == at.parent_pid);
            let Some(parent) = parent else { return false };
            at = parent;
        }
        false
    }

    fn name(&self) -> String {
        self.processes[0].command.clone()
    }

    fn address(&self) -> Option<String> {
        self.address.map(address_text)
    }

    fn available(&self) -> f64 {
        self.roots.iter().map(|(_, parallel)| parallel).sum::<f64>().min(self.cpus.len() as f64)
    }

    /// What takes this part of its CPU away; 0 makes all that it takes, and takes nothing.
    fn action(&self, depth: f64) -> Action {
        let share =
            |parallel: f64| if depth > 0.0 { cpus_text(parallel * (1.0 - depth)) } else { "placed".into() };
        let change = |(pid, parallel): &(u32, f64)| SettingChange {
            key: format!("process.{pid}.cpus"),
            value: share(*parallel),
        };
        Action::Squeeze(Box::new(SqueezeAction {
            settings: self.roots.iter().map(change).collect(),
            burn: Some(BurnSpec {
                kind: BurnKind::Follow(self.roots.iter().map(|(pid, _)| *pid).collect()),
                ratio: slower(depth),
                cpus: self.cpus.clone(),
            }),
            connections: None,
        }))
    }
}

/// CPU time that has to be burnt for each second of a tier, so that its seconds cost as much as on CPUs that are slower by this
/// part.
fn slower(depth: f64) -> f64 {
    depth / (1.0 - depth)
}

/// A number of CPUs as the setting takes it.
fn cpus_text(cpus: f64) -> String {
    let text = format!("{:.3}", cpus.max(0.01));
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The list as it grows.
struct List {
    depths: Vec<f64>,
    only: Vec<ResourceKind>,
    found: SqueezedResources,
}

impl List {
    fn new(plan: &SqueezePlan) -> List {
        let mut depths = plan.depths.clone();
        depths.sort_by(|one, other| other.total_cmp(one));
        let found =
            SqueezedResources { variants: plan.tryout.variants.clone(), ..SqueezedResources::default() };
        List { depths, only: plan.only.clone(), found }
    }

    fn is_wanted(&self, kind: ResourceKind) -> bool {
        // Without placebo and generator, nobody knows what the others are worth.
        let is_control = matches!(kind, ResourceKind::Placebo | ResourceKind::Generator);
        is_control || self.only.is_empty() || self.only.contains(&kind)
    }

    fn leave_out(&mut self, name: &str, reason: &str) {
        self.found.left_out.push(LeftOutResource { name: name.into(), reason: reason.into() });
    }

    fn variant(&mut self, name: String, action: Action) -> u32 {
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

    fn tier(&mut self, tier: &SqueezedTier<'_>) -> usize {
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
    fn placebo(&mut self, tier: &SqueezedTier<'_>, b: u32) {
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
    fn squeeze(&mut self, resource: usize, (a, action): (u32, Action), depth: f64) {
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
    fn burnt(&mut self, kind: ResourceKind, cpus: &[u32], burn: BurnKind) {
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

    /// The connections of the load, of which only whole ones can be taken away.
    fn connections(&mut self, count: u32) {
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
