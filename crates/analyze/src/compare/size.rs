//! What the machine under a server has, by which the server's rates are divided: cores, frequency, energy.
//!
//! A size that was not recorded is `None`, and so are the rates divided by it.

use crate::readings::Window;
use crate::view::TrialView;
use std::collections::BTreeSet;
use sysdyno_record::column;
use sysdyno_record::comparison::PowerSource;
use sysdyno_record::event::ProcessRole;
use sysdyno_record::facts::HostFacts;
use sysdyno_record::power::PowerLog;
use sysdyno_record::units::WallNs;

/// The machine under a server, as far as rates depend on it.
#[derive(Clone, Debug, Default)]
pub(super) struct MachineSize {
    /// Cores that the server could use; `None`: not known. Two hardware threads of a core are half a core each.
    pub(super) cores: Option<f64>,
    /// Energy that was used during the measured phases; `None`: not read.
    pub(super) energy: Option<MeasuredEnergy>,
    /// Requests of these phases that completed and were valid.
    pub(super) ok_count: u64,
    /// When they began and ended.
    pub(super) measured: [WallNs; 2],
}

/// Energy, and where it was read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MeasuredEnergy {
    pub(super) joules: f64,
    pub(super) source: PowerSource,
}

impl MachineSize {
    /// The machine of a trial; `wall` gives the wall clock's time of an instant.
    pub(super) fn of(view: &TrialView, facts: &HostFacts, measured: [WallNs; 2]) -> MachineSize {
        let window = view.server_steady();
        MachineSize {
            cores: cores(view, facts, &window),
            energy: rapl_joules(&window).map(|joules| MeasuredEnergy { joules, source: PowerSource::Rapl }),
            ok_count: view.counts().ok,
            measured,
        }
    }

    /// Takes the energy from a meter's file; what the processors counted is only a part of that.
    pub(super) fn set_meter(&mut self, meter: &PowerLog) {
        let [begin, end] = self.measured;
        let joules = meter.joules(begin, end).filter(|joules| *joules > 0.0);
        self.energy = joules.map(|joules| MeasuredEnergy { joules, source: PowerSource::Meter });
    }
}

fn cores(view: &TrialView, facts: &HostFacts, window: &Window) -> Option<f64> {
    let online = facts.number("cpu.online_count").filter(|count| *count > 0.0)?;
    let targets = view.processes(ProcessRole::Target);
    let own: Option<Vec<&Vec<u32>>> = targets.iter().map(|process| process.cpus.as_ref()).collect();
    let own: BTreeSet<u32> = own.into_iter().flatten().flatten().copied().collect();
    let allowed = match own.len() {
        0 => facts.number("cpu.allowed_count").unwrap_or(online),
        count => count as f64,
    };
    let quota = match window.level(column::CGROUP_QUOTA, column::CGROUP_TARGET) {
        Some(level) => Some(level.mean),
        None if targets.is_empty() => facts.number("cpu.quota_ratio"),
        None => None,
    };
    let cpus = quota.map_or(allowed, |quota| allowed.min(quota)).min(online);
    let cores_count = facts.number("cpu.cores_count").filter(|count| *count > 0.0 && *count <= online);
    let cores = cpus * cores_count.unwrap_or(online) / online;
    (cores > 0.0 && cores.is_finite()).then_some(cores)
}

/// Unit: GHz. `None`: not known, or that of an emulator, which has none.
pub(super) fn frequency_ghz(facts: &HostFacts) -> Option<f64> {
    if emulator(facts).is_some() {
        return None;
    }
    let names = ["cpu.frequency_nominal_khz", "cpu.frequency_allowed_max_khz", "cpu.frequency_max_khz"];
    let khz = names.iter().find_map(|name| facts.number(name))?;
    (khz > 0.0 && khz.is_finite()).then_some(khz / 1e6)
}

/// What a machine was emulated by: `aarch64 on x86_64`. Untrusted. `None`: it was not, as far as is known.
pub(super) fn emulator(facts: &HostFacts) -> Option<&str> {
    facts.text("machine.emulator").filter(|emulator| *emulator != "none")
}

/// What all zones used in the span. Unit: joules.
fn rapl_joules(window: &Window) -> Option<f64> {
    let scopes = window.scopes(column::ENERGY_USED);
    // A zone that was not read would be missing in the sum.
    let watts: Option<Vec<f64>> = scopes
        .iter()
        .map(|scope| Some(window.growth(column::ENERGY_USED, scope)?.per_second()? / 1e6))
        .collect();
    let joules = watts?.iter().sum::<f64>() * window.seconds();
    (joules > 0.0 && joules.is_finite()).then_some(joules)
}
