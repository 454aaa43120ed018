//! Turns the arguments of `squeeze` into a plan.

use crate::draft::Checked;
use crate::host::PlanHost;
use crate::options::{
    PercentOption, SqueezeOptions, TargetOptions, TryOptions, Typed, Word, WorkloadOptions,
};
use crate::tryout::TryDraft;
use anyhow::ensure;
use sysdyno_record::squeeze::SqueezePlan;
use sysdyno_record::tryout::{Metric, TryPlan};
use sysdyno_record::units::SpanNs;

const DEFAULT_BUDGET: SpanNs = SpanNs::from_secs(30 * 60);
const DEFAULT_WINDOW: SpanNs = SpanNs::from_secs(3);
const DEFAULT_PAIRS: u32 = 16;
const DEFAULT_DEPTHS: [f64; 2] = [0.20, 0.10];

/// Depths that say something: less is lost in noise, more is another server. Unit: ratio.
const DEPTHS: std::ops::RangeInclusive<f64> = 0.02..=0.5;

/// Most depths.
const DEPTHS_MAX: usize = 4;

/// The options of a squeeze.
#[derive(Clone, Debug, Default)]
pub struct SqueezeDraft {
    /// The server under load.
    pub url: String,
    /// How it goes.
    pub options: SqueezeOptions,
    /// The request and its response.
    pub target: TargetOptions,
    /// What is sent instead of one request.
    pub workload: WorkloadOptions,
}

impl SqueezeDraft {
    /// The plan.
    ///
    /// # Errors
    /// Whatever is wrong with the options, or with the files that they name.
    pub fn finish(&self, here: &dyn PlanHost) -> anyhow::Result<Checked<SqueezePlan>> {
        let depths = depths(&self.options.depth)?;
        let Checked { plan, notes } = self.tryout().finish(here)?;
        // The variants are found by the pilot; what they are compared by has no guardrails.
        let variants = plan.variants.into_iter().take(1).collect();
        let tryout = TryPlan { variants, guardrails: Vec::new(), is_calibration: false, ..plan };
        let only = self.options.only.iter().map(|kind| kind.0).collect();
        Ok(Checked { plan: SqueezePlan { tryout, depths, only }, notes })
    }

    /// The host against itself by its goodput in a closed load: what trials of a squeeze have in common.
    fn tryout(&self) -> TryDraft {
        let options = &self.options;
        TryDraft {
            servers: vec![self.url.clone()],
            options: TryOptions {
                metric: Some(Word(Metric::Goodput)),
                budget: Some(options.budget.unwrap_or(Typed(DEFAULT_BUDGET))),
                pairs: Some(options.pairs.unwrap_or(DEFAULT_PAIRS)),
                window: Some(options.window.unwrap_or(Typed(DEFAULT_WINDOW))),
                warmup: options.warmup,
                connections: options.connections,
                calibrate: Some(true),
                noisy: options.noisy,
                ..TryOptions::default()
            },
            target: self.target.clone(),
            workload: self.workload.clone(),
            ..TryDraft::default()
        }
    }
}

fn depths(typed: &[PercentOption]) -> anyhow::Result<Vec<f64>> {
    let mut depths: Vec<f64> = typed.iter().map(|depth| depth.0).collect();
    if depths.is_empty() {
        depths = DEFAULT_DEPTHS.to_vec();
    }
    ensure!(
        depths.len() <= DEPTHS_MAX,
        "cannot squeeze by {} depths: the maximum is {DEPTHS_MAX}",
        depths.len()
    );
    for depth in &depths {
        ensure!(DEPTHS.contains(depth), "cannot squeeze by {}%: use 2% to 50%", depth * 100.0);
    }
    depths.sort_by(|one, other| other.total_cmp(one));
    depths.dedup();
    Ok(depths)
}
