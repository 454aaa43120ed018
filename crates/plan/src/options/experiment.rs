//! Experiment files, table by table.

use super::load::LoadOptions;
use super::origin::OriginOptions;
use super::probe::ProbeOptions;
use super::search::CapacityOptions;
use super::target::TargetOptions;
use super::tryout::PercentOption;
use super::typed::Typed;
use super::workload::SessionOptions;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use sysdyno_record::units::SpanNs;

/// A file that defines what to compare.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ExperimentFile {
    /// Its name.
    pub name: String,
    /// The server, unless a level has its own.
    pub url: Option<String>,
    /// How often every variant is measured.
    pub blocks: Option<u32>,
    /// Whether a variant is measured only until its difference is decided; `blocks` is then the most.
    #[serde(default)]
    pub until_decided: bool,
    /// Whether the load of each variant is sent once more after its first trial, to profile the server's host meanwhile; needs root.
    #[serde(default)]
    pub profile: bool,
    /// Time budget: no trial starts that would exceed it.
    pub budget: Option<Typed<SpanNs>>,
    /// How long a trial takes, including the start of its services; forecasts use it until the first trial has ended.
    pub takes: Option<Typed<SpanNs>>,
    /// The metric that decides.
    pub metric: Option<String>,
    /// The smallest effect that matters.
    pub effect: Option<PercentOption>,
    /// Whether runs count even if other programs disturbed the host.
    #[serde(default)]
    pub noisy: bool,
    /// Random seed of the order and of the loads.
    pub seed: Option<u64>,
    /// Options of `run`: a trial is a search for the capacity.
    pub run: Option<CapacityOptions>,
    /// Options of `load`: a trial is a load.
    pub load: Option<LoadOptions>,
    /// The simulated users of a load.
    #[serde(default)]
    pub session: SessionOptions,
    /// Commands: a trial times them.
    pub work: Option<WorkTable>,
    /// The request and its response.
    #[serde(default)]
    pub target: TargetOptions,
    /// The probes beside each load.
    #[serde(default)]
    pub probe: ProbeOptions,
    /// Where connections come from.
    #[serde(default)]
    pub origin: OriginOptions,
    /// Factors, all combinations of whose levels are measured.
    #[serde(default, rename = "factor")]
    pub factors: Vec<FactorTable>,
    /// Variants that are not combinations of levels.
    #[serde(default, rename = "variant")]
    pub variants: Vec<LevelTable>,
    /// The lab to bring up: a file next to this one, or the content of such a file.
    pub lab: Option<LabSource>,
    /// The host of the lab that sends the load.
    pub generator: Option<String>,
    /// Services of the lab to restart before each trial, besides the one under load.
    #[serde(default)]
    pub restart: Vec<String>,
    /// What the short version changes.
    pub quick: Option<QuickTable>,
    /// Parameters of services that hold for all variants: those of the short version, if that is meant.
    #[serde(skip)]
    pub services: ServiceTables,
}

/// Commands whose time is measured.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct WorkTable {
    /// How often a trial runs all of them.
    pub rounds: Option<u32>,
    /// How long a command may run before it is killed.
    pub timeout: Option<Typed<SpanNs>>,
    /// What counts their operations: a counter of a lab's service, as `SERVICE.COUNTER`.
    pub counter: Option<String>,
    /// Whether the volumes of the lab are mounted again before each command, so that nothing of them is cached.
    pub remount: Option<bool>,
    /// The commands of a round, in order.
    #[serde(rename = "command")]
    pub commands: Vec<CommandTable>,
}

/// A command of a round.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CommandTable {
    /// Its name.
    pub name: String,
    /// The command to measure.
    pub run: String,
    /// A command that runs before it.
    pub prepare: Option<String>,
    /// A command that runs after it.
    pub clean: Option<String>,
    /// Texts that its output must contain.
    #[serde(default)]
    pub expect_output: Vec<String>,
    /// Texts that its output must not contain.
    #[serde(default)]
    pub reject_output: Vec<String>,
}

/// Where a lab is defined.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum LabSource {
    /// In a separate file.
    File(PathBuf),
    /// In the experiment file.
    Inline(toml::Table),
}

/// What the short version changes.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct QuickTable {
    /// How often every variant is measured.
    pub blocks: Option<u32>,
    /// Time budget: no trial starts that would exceed it.
    pub budget: Option<Typed<SpanNs>>,
    /// How often a trial runs all commands.
    pub rounds: Option<u32>,
    /// How long a trial takes, regardless of the levels.
    pub takes: Option<Typed<SpanNs>>,
    /// The levels of a factor that are measured, by its name; all levels of factors that are not named.
    pub levels: BTreeMap<String, Vec<String>>,
    /// Parameters of services of the lab that override those of the lab and of the levels.
    pub services: ServiceTables,
    /// Options that override those of the file and of its levels.
    pub run: CapacityOptions,
    /// Options that override those of the file and of its levels.
    pub load: LoadOptions,
    /// Options that override those of the file and of its levels.
    pub session: SessionOptions,
    /// Options that override those of the file and of its levels.
    pub target: TargetOptions,
    /// Options that override those of the file and of its levels.
    pub probe: ProbeOptions,
}

/// Parameters of services: one value each, or for a factor a list of values.
pub type ServiceTables = BTreeMap<String, BTreeMap<String, toml::Value>>;

/// A factor.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FactorTable {
    /// Its name; by default, the name of its parameter.
    #[serde(default)]
    pub name: String,
    /// Its levels; the first belongs to A.
    #[serde(default, rename = "level")]
    pub levels: Vec<LevelTable>,
    /// Instead of levels: a parameter of a service of the lab, with its values.
    #[serde(default)]
    pub services: ServiceTables,
}

/// A level of a factor, or a variant that is not a combination of levels.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LevelTable {
    /// Its name.
    pub name: String,
    /// Settings, as `KEY=VALUE`.
    pub settings: Vec<String>,
    /// Commands before each trial.
    pub prepare: Vec<String>,
    /// Commands that run on the server's host in a lab during each trial.
    pub during: Vec<String>,
    /// How long a trial of this level takes.
    pub takes: Option<Typed<SpanNs>>,
    /// Parameters of services of the lab, or their recipes.
    pub services: ServiceTables,
    /// The server.
    pub url: Option<String>,
    /// Replaces values of the file's `[work]`; if it has commands, they replace all of those.
    pub work: Option<WorkTable>,
    /// Options that override those of the whole file.
    pub run: CapacityOptions,
    /// Options that override those of the whole file.
    pub load: LoadOptions,
    /// Options that override those of the whole file.
    pub session: SessionOptions,
    /// Options that override those of the whole file.
    pub target: TargetOptions,
    /// Options that override those of the whole file.
    pub probe: ProbeOptions,
    /// Options that override those of the whole file.
    pub origin: OriginOptions,
}
