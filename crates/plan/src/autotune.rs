//! Turns the arguments of `autotune`, or its file, into a plan: the server as it is, and how far it is tuned.

use crate::draft::Checked;
use crate::experiment::plan;
use crate::file;
use crate::host::PlanHost;
use crate::options::{
    AutotuneOptions, Combine, ExperimentFile, LevelTable, LoadOptions, TargetOptions, Typed, WarmupOption,
};
use anyhow::{Context, ensure};
use serde::Deserialize;
use std::path::Path;
use sysdyno_record::autotune::{AUTOTUNE_SCHEMA, Allowance, AutotunePlan};
use sysdyno_record::units::SpanNs;

const DEFAULT_BUDGET: SpanNs = SpanNs::from_secs(45 * 60);
const DEFAULT_WINDOW: SpanNs = SpanNs::from_secs(4);
const DEFAULT_WARMUP: SpanNs = SpanNs::from_secs(1);
const DEFAULT_ROUNDS: u32 = 12;
const DEFAULT_CANDIDATES: u32 = 8;
const DEFAULT_RACE_BLOCKS: u32 = 5;
const DEFAULT_PROOF_BLOCKS: u32 = 8;
const DEFAULT_EFFECT: f64 = 0.03;

/// Metrics of which more is better, so that a change can be judged by one ratio.
const METRICS: [&str; 2] = ["goodput", "capacity"];

/// The options of an autotune.
#[derive(Clone, Debug, Default)]
pub struct AutotuneDraft {
    /// The server, or a file that defines it and its lab.
    pub server: String,
    /// How it goes.
    pub options: AutotuneOptions,
    /// The request and its response.
    pub target: TargetOptions,
}

/// What a file holds: an experiment without factors and variants, and how far it is tuned.
#[derive(Debug, Deserialize)]
struct AutotuneFile {
    #[serde(default)]
    autotune: AutotuneOptions,
}

impl AutotuneDraft {
    /// The plan.
    ///
    /// # Errors
    /// Whatever is wrong with the options, or with the files that they name.
    pub fn finish(&self, here: &dyn PlanHost) -> anyhow::Result<Checked<AutotunePlan>> {
        let is_file = Path::new(&self.server).extension().is_some_and(|ending| ending == "toml");
        let (mut file, options) =
            if is_file { self.of_file()? } else { (self.of_url(), self.options.clone()) };
        let path = if is_file { self.server.as_str() } else { "" };
        if file.run.is_none() {
            file.load = Some(load(&options).or(file.load.take().unwrap_or_default()));
            file.load = file.load.map(|load| load.or(default_load()));
        }
        file.metric
            .get_or_insert_with(|| if file.run.is_some() { METRICS[1] } else { METRICS[0] }.to_owned());
        file.noisy |= options.noisy == Some(true);
        let metric = file.metric.clone().unwrap_or_default();
        ensure!(
            METRICS.contains(&metric.as_str()),
            "cannot tune by '{metric}': use {}",
            METRICS.join(" or ")
        );
        if file.factors.is_empty() && file.variants.is_empty() {
            file.variants = vec![LevelTable { name: "as it was found".into(), ..LevelTable::default() }];
        }
        let cannot = || format!("cannot tune '{}'", self.server.escape_debug());
        let Checked { plan: base, notes } = plan(file, Path::new(path), here).with_context(cannot)?;
        ensure!(
            base.variants.len() == 1,
            "{}: it has {} variants\nhint: a server is tuned as it is: leave out [[factor]] and [[variant]]",
            cannot(),
            base.variants.len()
        );
        let allow: Vec<Allowance> = options.allow_change.iter().map(|word| word.0).collect();
        let plan = AutotunePlan {
            schema: AUTOTUNE_SCHEMA.into(),
            base,
            allow: if allow.is_empty() { Allowance::DEFAULT.to_vec() } else { allow },
            budget: options.budget.map_or(DEFAULT_BUDGET, |budget| budget.0),
            rounds: within("rounds", options.rounds, DEFAULT_ROUNDS, 1..=100)?,
            candidates: within("changes in a round", options.candidates, DEFAULT_CANDIDATES, 1..=12)?,
            race_blocks: within("blocks", options.race_blocks, DEFAULT_RACE_BLOCKS, 2..=40)?,
            proof_blocks: within("blocks", options.proof_blocks, DEFAULT_PROOF_BLOCKS, 3..=40)?,
            effect_ratio: options.effect.map_or(DEFAULT_EFFECT, |effect| effect.0),
            keeps: options.keep == Some(true),
        };
        Ok(Checked { plan, notes })
    }

    /// The server of an URL, on this host as it is.
    fn of_url(&self) -> ExperimentFile {
        ExperimentFile {
            name: "autotune".into(),
            url: Some(self.server.clone()),
            target: self.target.clone(),
            ..ExperimentFile::default()
        }
    }

    fn of_file(&self) -> anyhow::Result<(ExperimentFile, AutotuneOptions)> {
        let path = Path::new(&self.server);
        let cannot = || format!("cannot read '{}'", path.display());
        let text = file::read(path).with_context(cannot)?;
        let (mut file, options) = read(&text).with_context(cannot)?;
        file.target = self.target.clone().or(file.target);
        Ok((file, self.options.clone().or(options)))
    }
}

/// What a file says of the server, and of how far it is tuned.
pub(crate) fn read(text: &str) -> Result<(ExperimentFile, AutotuneOptions), toml::de::Error> {
    let own: AutotuneFile = toml::from_str(text)?;
    let mut table: toml::Table = toml::from_str(text)?;
    table.remove("autotune");
    Ok((table.try_into()?, own.autotune))
}

/// What the options say of the load.
fn load(options: &AutotuneOptions) -> LoadOptions {
    LoadOptions {
        connections: options.connections,
        duration: options.window,
        warmup: options.warmup.map(|warmup| WarmupOption(Some(warmup.0))),
        ..LoadOptions::default()
    }
}

fn default_load() -> LoadOptions {
    LoadOptions {
        duration: Some(Typed(DEFAULT_WINDOW)),
        warmup: Some(WarmupOption(Some(DEFAULT_WARMUP))),
        ..LoadOptions::default()
    }
}

fn within(
    name: &str,
    typed: Option<u32>,
    default: u32,
    bounds: std::ops::RangeInclusive<u32>,
) -> anyhow::Result<u32> {
    let value = typed.unwrap_or(default);
    let (least, most) = (bounds.start(), bounds.end());
    ensure!(bounds.contains(&value), "cannot use {value} {name}: use {least} to {most}");
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::IDLE;
    use sysdyno_record::plan::{Arrival, Plan};

    fn draft(server: &str) -> AutotuneDraft {
        AutotuneDraft { server: server.into(), ..AutotuneDraft::default() }
    }

    #[test]
    fn a_url_is_one_closed_load_and_nothing_that_stops_a_service_is_allowed() {
        let plan = draft("http://127.0.0.1:1/").finish(&IDLE).expect("is in order").plan;
        assert_eq!(plan.allow, Allowance::DEFAULT);
        assert_eq!((plan.base.variants.len(), plan.base.metric.as_deref()), (1, Some("goodput")));
        let Plan::Load(load) = &plan.base.variants[0].plan else { panic!("not a load") };
        assert_eq!((load.arrival, load.connections, load.phases.len()), (Arrival::Closed, 64, 2));
    }

    #[test]
    fn a_file_with_variants_or_a_metric_that_falls_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.toml");
        let refused = |text: &str| {
            std::fs::write(&path, text).expect("writes");
            let error = draft(&path.display().to_string()).finish(&IDLE).expect_err("is refused");
            format!("{error:#}")
        };
        let base = "name = 'x'\nurl = 'http://127.0.0.1:1/'\n";
        let two = refused(&format!("{base}[[variant]]\nname = 'a'\n[[variant]]\nname = 'b'\n"));
        assert!(two.contains("it has 2 variants"), "{two}");
        let falls = refused(&format!("metric = 'p99'\n{base}"));
        assert!(falls.contains("cannot tune by 'p99'"), "{falls}");
        let unknown = refused(&format!("{base}[autotune]\nbugdet = '1m'\n"));
        assert!(unknown.contains("bugdet"), "{unknown}");
    }

    #[test]
    fn what_is_typed_wins_over_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.toml");
        let text = "name = 'x'\nurl = 'http://127.0.0.1:1/'\n[autotune]\nbudget = '5m'\nconnections = 7\n";
        std::fs::write(&path, text).expect("writes");
        let mut typed = draft(&path.display().to_string());
        typed.options.budget = Some(Typed(SpanNs::from_secs(60)));
        let plan = typed.finish(&IDLE).expect("is in order").plan;
        assert_eq!(plan.budget, SpanNs::from_secs(60));
        let Plan::Load(load) = &plan.base.variants[0].plan else { panic!("not a load") };
        assert_eq!(load.connections, 7);
    }
}
