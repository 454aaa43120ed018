//! This host and this program, as plans depend on them.

use anyhow::{Context, anyhow};
use std::path::{Path, PathBuf};
use sysdyno_lab::{LabPlan, tunable_of};
use sysdyno_load::probe::{Probe, ProbeJob};
use sysdyno_plan::{ExperimentLab, PlanHost};
use sysdyno_record::change::SettingChange;
use sysdyno_record::experiment::ServiceChange;
use sysdyno_record::plan::LoadPlan;
use sysdyno_record::work::ServiceCounter;
use sysdyno_run::check_origin;
use sysdyno_run::execute::Tuning;

/// Where plans of this process are made.
pub struct Here;

impl PlanHost for Here {
    fn seed(&self) -> u64 {
        draw_seed()
    }

    fn cpus_count(&self) -> u32 {
        std::thread::available_parallelism().map_or(1, usize::from) as u32
    }

    fn program(&self) -> anyhow::Result<PathBuf> {
        program()
    }

    fn check_origin(&self, plan: &LoadPlan) -> anyhow::Result<Option<String>> {
        Ok(check_origin(plan)?)
    }

    fn check_probe(&self, job: &ProbeJob) -> anyhow::Result<()> {
        Probe::open(job)?;
        Ok(())
    }

    fn lab(&self, text: &str, path: &Path) -> anyhow::Result<Box<dyn ExperimentLab>> {
        Ok(Box::new(KnownLab(LabPlan::parse(text, path)?)))
    }
}

/// Where this program lies.
pub fn program() -> anyhow::Result<PathBuf> {
    std::env::current_exe().context("cannot find this program")
}

/// How this program changes settings below `root`.
pub fn tuning(root: PathBuf, state: Option<PathBuf>) -> anyhow::Result<Tuning> {
    Ok(Tuning { root, state, program: program()?, version: env!("CARGO_PKG_VERSION").to_owned() })
}

/// A seed from the system's randomness, small enough to be typed again.
pub fn draw_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id()) >> 32
}

/// A lab that was understood.
struct KnownLab(LabPlan);

impl ExperimentLab for KnownLab {
    fn hosts(&self) -> &[String] {
        &self.0.hosts
    }

    fn generator(&self) -> &str {
        self.0.generator()
    }

    fn has_service(&self, name: &str) -> bool {
        self.0.host_of(name).is_some()
    }

    fn has_volume(&self) -> bool {
        self.0.volumes().next().is_some()
    }

    fn far(&self, host: &str) -> Option<&str> {
        self.0.far(host)
    }

    fn with(&self, services: &[ServiceChange]) -> anyhow::Result<Box<dyn ExperimentLab>> {
        Ok(Box::new(KnownLab(self.0.with(services)?)))
    }

    fn url(&self, generator: &str, url: &str) -> anyhow::Result<(String, String)> {
        Ok(self.0.url(generator, url)?)
    }

    fn check_word(&self, generator: &str, word: &str) -> anyhow::Result<()> {
        self.0.fill(generator, Path::new("/"), word)?;
        Ok(())
    }

    fn check_counter(&self, counter: &ServiceCounter) -> anyhow::Result<()> {
        Ok(self.0.check_counter(counter)?)
    }

    fn check_settings(&self, changes: &[SettingChange]) -> anyhow::Result<()> {
        for change in changes {
            let (key, value) = (change.key.escape_debug(), change.value.escape_debug());
            let Some(tunable) = tunable_of(&change.key) else {
                return Err(anyhow!("there is no setting '{key}'\nhint: `sysdyno tune list` lists all"));
            };
            let checked = tunable.kind.check(&change.value, tunable.unit);
            checked.map_err(|cause| anyhow!("cannot change '{key}={value}': {cause}"))?;
        }
        Ok(self.0.check_settings(changes)?)
    }
}
