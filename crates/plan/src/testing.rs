//! A [`PlanHost`] for tests: the host is always idle, and the same draft makes the same plan.

use crate::draft::BaseDraft;
use crate::host::{ExperimentLab, PlanHost};
use crate::load::LoadDraft;
use anyhow::bail;
use std::path::{Path, PathBuf};
use sysdyno_load::probe::ProbeJob;
use sysdyno_record::plan::LoadPlan;

/// A host with four CPUs and no labs.
pub(crate) struct TestHost {
    /// What it says of the ports of each load.
    pub note: Option<&'static str>,
}

/// One that has nothing to say.
pub(crate) const IDLE: TestHost = TestHost { note: None };

impl PlanHost for TestHost {
    fn seed(&self) -> u64 {
        7
    }

    fn cpus_count(&self) -> u32 {
        4
    }

    fn program(&self) -> anyhow::Result<PathBuf> {
        Ok("/usr/bin/sysdyno".into())
    }

    fn check_origin(&self, _: &LoadPlan) -> anyhow::Result<Option<String>> {
        Ok(self.note.map(str::to_owned))
    }

    fn check_probe(&self, _: &ProbeJob) -> anyhow::Result<()> {
        Ok(())
    }

    fn lab(&self, _: &str, _: &Path) -> anyhow::Result<Box<dyn ExperimentLab>> {
        bail!("there are no labs")
    }
}

/// A load with no options but its server.
pub(crate) fn load_of(url: &str) -> LoadDraft {
    LoadDraft { draft: BaseDraft { url: url.into(), ..BaseDraft::default() }, ..LoadDraft::default() }
}
