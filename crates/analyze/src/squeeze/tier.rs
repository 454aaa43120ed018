//! Tiers of the server as they are squeezed: their CPUs, and what takes a part of these away.

use crate::path::address_text;
use crate::readings::Window;
use crate::view::TrialView;
use std::collections::BTreeSet;
use sysdyno_record::change::SettingChange;
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::plan::Endpoint;
use sysdyno_record::squeeze::{BurnKind, BurnSpec, SqueezeAction};
use sysdyno_record::tryout::Action;

/// A thread counts as one that can use a CPU if it used this much of one. Unit: ratio. House value.
const BUSY_MIN: f64 = 0.02;

/// A tier of the server.
pub(super) struct SqueezedTier<'a> {
    address: Option<&'a Endpoint>,
    processes: Vec<&'a WatchedProcess>,
    /// CPUs that it may use.
    pub(super) cpus: Vec<u32>,
    /// Processes that started the others, with the number of CPUs that each and its children can use at once.
    roots: Vec<(u32, f64)>,
    pub(super) used_cpus: Option<f64>,
}

/// The tiers of a server that a pilot loaded.
pub(super) fn tiers<'a>(view: &TrialView<'a>, window: &Window, online: &[u32]) -> Vec<SqueezedTier<'a>> {
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

    pub(super) fn name(&self) -> String {
        self.processes[0].command.clone()
    }

    pub(super) fn address(&self) -> Option<String> {
        self.address.map(address_text)
    }

    pub(super) fn available(&self) -> f64 {
        self.roots.iter().map(|(_, parallel)| parallel).sum::<f64>().min(self.cpus.len() as f64)
    }

    /// What takes this part of its CPU away; 0 makes all that it takes, and takes nothing.
    pub(super) fn action(&self, depth: f64) -> Action {
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
pub(super) fn slower(depth: f64) -> f64 {
    depth / (1.0 - depth)
}

/// A number of CPUs as the setting takes it.
fn cpus_text(cpus: f64) -> String {
    let text = format!("{:.3}", cpus.max(0.01));
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
