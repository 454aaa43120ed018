//! Faults planted on purpose: each in real services of a lab, at rising intensities, with the diagnosis that must name it.
//!
//! A bed is a lab, a load, and the faults that can be planted in it, in one file in `crates/plan/beds`. Its loads without a
//! fault are healthy: no diagnosis may blame anything there. In an experiment, each of these is a variant.

mod bed;
mod planted;

use crate::draft::Checked;
use crate::experiment::plan;
use crate::host::PlanHost;
use crate::options::LevelTable;
use anyhow::{Context, bail};
pub use bed::{Bed, KnownFault};
pub use planted::PlantedFault;
use std::path::Path;
use sysdyno_analyze::experiment::VARIANTS_MAX;
use sysdyno_record::experiment::ExperimentPlan;

/// The beds that are built in: name and file.
const BEDS: [(&str, &str); 13] = [
    ("static", include_str!("../../beds/static.toml")),
    ("bursts", include_str!("../../beds/bursts.toml")),
    ("php", include_str!("../../beds/php.toml")),
    ("proxy", include_str!("../../beds/proxy.toml")),
    ("apache", include_str!("../../beds/apache.toml")),
    ("cache", include_str!("../../beds/cache.toml")),
    ("threads", include_str!("../../beds/threads.toml")),
    ("memory", include_str!("../../beds/memory.toml")),
    ("loopback", include_str!("../../beds/loopback.toml")),
    ("lossy", include_str!("../../beds/lossy.toml")),
    ("link", include_str!("../../beds/link.toml")),
    ("far", include_str!("../../beds/far.toml")),
    ("behind", include_str!("../../beds/behind.toml")),
];

/// How often a case is measured.
const BLOCKS: u32 = 1;

/// Which cases of the beds are meant.
#[derive(Clone, Debug, Default)]
pub struct FaultSelection {
    /// Names of faults, or of beds; empty: all.
    pub names: Vec<String>,
    /// The one intensity, from 1; `None`: all of them.
    pub level: Option<usize>,
}

/// A load on a bed, with a fault or healthy.
#[derive(Clone, Debug)]
pub struct BedCase {
    /// What it is called.
    pub name: String,
    /// The fault; `None`: all is well.
    pub fault: Option<KnownFault>,
    /// Its intensity, from 1; 0 if all is well.
    pub level: usize,
    what: LevelTable,
}

/// A bed as an experiment: its cases are the variants, in this order.
#[derive(Clone, Debug)]
pub struct BedPlan {
    /// What is measured.
    pub plan: ExperimentPlan,
    /// What each variant is.
    pub cases: Vec<BedCase>,
}

/// All beds that are built in.
///
/// # Errors
/// A file of theirs cannot be read, which a test excludes.
pub fn beds() -> anyhow::Result<Vec<Bed>> {
    BEDS.iter()
        .map(|(name, text)| Bed::parse(name, text).with_context(|| format!("cannot read bed '{name}'")))
        .collect()
}

/// A fault by its name, and the bed that it is in.
///
/// # Errors
/// There is none.
pub fn find_fault(name: &str) -> anyhow::Result<(Bed, KnownFault)> {
    let mut known = Vec::new();
    for bed in beds()? {
        if let Some(fault) = bed.faults.iter().find(|fault| fault.name == name).cloned() {
            return Ok((bed, fault));
        }
        known.extend(bed.faults.into_iter().map(|fault| fault.name));
    }
    bail!("cannot find fault '{}'\nhint: use one of {}", name.escape_debug(), known.join(", "))
}

impl FaultSelection {
    /// Checks that each name is one of a fault or a bed.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check(&self) -> anyhow::Result<()> {
        let beds = beds()?;
        let is_known = |name: &&String| beds.iter().any(|bed| bed.name == **name || bed.has(name));
        match self.names.iter().find(|name| !is_known(name)) {
            Some(name) => find_fault(name).map(drop),
            None => Ok(()),
        }
    }

    fn has(&self, bed: &Bed, case: &BedCase) -> bool {
        let is_named =
            |name: &String| *name == bed.name || case.fault.as_ref().is_some_and(|fault| fault.name == *name);
        let is_level = self.level.is_none_or(|level| case.level == level || case.fault.is_none());
        (self.names.is_empty() || self.names.iter().any(is_named)) && is_level
    }
}

impl Bed {
    /// The experiments of its cases, as many as their number takes; none of them may be meant.
    ///
    /// # Errors
    /// As those of an experiment's file.
    pub fn plans(&self, selection: &FaultSelection, here: &dyn PlanHost) -> anyhow::Result<Vec<BedPlan>> {
        let cases: Vec<BedCase> = self.cases().into_iter().filter(|case| selection.has(self, case)).collect();
        cases.chunks(VARIANTS_MAX).map(|cases| self.plan(cases.to_vec(), here)).collect()
    }

    fn plan(&self, cases: Vec<BedCase>, here: &dyn PlanHost) -> anyhow::Result<BedPlan> {
        let mut file = self.experiment.clone();
        file.name = format!("selftest-{}", self.name);
        file.blocks = Some(BLOCKS);
        file.noisy = true;
        file.variants = cases.iter().map(|case| case.what.clone()).collect();
        let Checked { plan, .. } = plan(file, Path::new(&self.name), here)
            .with_context(|| format!("cannot plan bed '{}'", self.name))?;
        Ok(BedPlan { plan, cases })
    }

    fn cases(&self) -> Vec<BedCase> {
        let well = self.healthy.iter().map(|what| BedCase {
            name: what.name.clone(),
            fault: None,
            level: 0,
            what: what.clone(),
        });
        let ill = self.faults.iter().flat_map(|fault| {
            fault.levels.iter().enumerate().map(|(position, what)| {
                let level = position + 1;
                let name = format!("{} {level}", fault.name);
                let what = LevelTable { name: name.clone(), ..what.clone() };
                BedCase { name, fault: Some(fault.clone()), level, what }
            })
        });
        well.chain(ill).collect()
    }
}

#[cfg(test)]
mod tests;
