//! The file of an experiment, table by table.

use super::load::LoadOptions;
use super::search::CapacityOptions;
use super::target::TargetOptions;
use super::tryout::PercentOption;
use super::typed::Typed;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use sysdyno_record::units::SpanNs;

/// A file that says what is compared.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ExperimentFile {
    /// Its name.
    pub name: String,
    /// The server, where a level has none of its own.
    pub url: Option<String>,
    /// How often every variant is measured.
    pub blocks: Option<u32>,
    /// No trial is begun that would end later.
    pub budget: Option<Typed<SpanNs>>,
    /// How long a trial takes, with the start of its services: what a forecast goes by until one was made.
    pub takes: Option<Typed<SpanNs>>,
    /// The metric that decides.
    pub metric: Option<String>,
    /// The smallest effect that matters.
    pub effect: Option<PercentOption>,
    /// Whether runs count whatever others do on the host.
    #[serde(default)]
    pub noisy: bool,
    /// Of the order and of the loads.
    pub seed: Option<u64>,
    /// Options of `run`: a trial is a search for the capacity.
    pub run: Option<CapacityOptions>,
    /// Options of `load`: a trial is a load.
    pub load: Option<LoadOptions>,
    /// Commands: a trial is their time.
    pub work: Option<WorkTable>,
    /// The request and its response.
    #[serde(default)]
    pub target: TargetOptions,
    /// Factors, all combinations of whose levels are measured.
    #[serde(default, rename = "factor")]
    pub factors: Vec<FactorTable>,
    /// Variants that stand for themselves.
    #[serde(default, rename = "variant")]
    pub variants: Vec<LevelTable>,
    /// The lab that is put up for it: a file beside this one, or what would stand in it.
    pub lab: Option<LabSource>,
    /// The host of the lab that sends the load.
    pub generator: Option<String>,
    /// Services of the lab that are started anew before each trial, beside the one under load.
    #[serde(default)]
    pub restart: Vec<String>,
    /// What is other in the short version.
    pub quick: Option<QuickTable>,
}

/// Commands whose time is measured.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct WorkTable {
    /// How often all of them are run in a trial.
    pub rounds: Option<u32>,
    /// After which time a command is ended.
    pub timeout: Option<Typed<SpanNs>>,
    /// What counts their operations: a counter that a service of the lab tells, as `SERVICE.COUNTER`.
    pub counter: Option<String>,
    /// The commands of a round, in their order.
    #[serde(rename = "command")]
    pub commands: Vec<CommandTable>,
}

/// A command of a round.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CommandTable {
    /// Its name.
    pub name: String,
    /// What is measured.
    pub run: String,
    /// What runs before it.
    pub prepare: Option<String>,
    /// What runs after it.
    pub clean: Option<String>,
    /// Texts that its output must hold.
    #[serde(default)]
    pub expect_output: Vec<String>,
    /// Texts that its output must not hold.
    #[serde(default)]
    pub reject_output: Vec<String>,
}

/// Where a lab is said.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum LabSource {
    /// In a file of its own.
    File(PathBuf),
    /// Here.
    Inline(toml::Table),
}

/// What the short version has instead.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct QuickTable {
    /// How often every variant is measured.
    pub blocks: Option<u32>,
    /// No trial is begun that would end later.
    pub budget: Option<Typed<SpanNs>>,
    /// How often all commands are run in a trial.
    pub rounds: Option<u32>,
    /// How long a trial takes, whatever levels say.
    pub takes: Option<Typed<SpanNs>>,
    /// Options that replace those of the file and of its levels.
    pub run: CapacityOptions,
    /// Options that replace those of the file and of its levels.
    pub load: LoadOptions,
    /// Options that replace those of the file and of its levels.
    pub target: TargetOptions,
}

/// Parameters of services: a value each, or for a factor a list of values.
pub type ServiceTables = BTreeMap<String, BTreeMap<String, toml::Value>>;

/// A factor.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FactorTable {
    /// Its name; that of its parameter, if it has none.
    #[serde(default)]
    pub name: String,
    /// Its levels; the first belongs to A.
    #[serde(default, rename = "level")]
    pub levels: Vec<LevelTable>,
    /// Instead of levels: a parameter of a service of the lab, with its values.
    #[serde(default)]
    pub services: ServiceTables,
}

/// A level of a factor, or a variant that stands for itself.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LevelTable {
    /// Its name.
    pub name: String,
    /// Settings, as `KEY=VALUE`.
    pub settings: Vec<String>,
    /// Commands before each trial.
    pub prepare: Vec<String>,
    /// Commands on the server's host in a lab, while each trial lasts.
    pub during: Vec<String>,
    /// How long a trial of this level takes.
    pub takes: Option<Typed<SpanNs>>,
    /// Parameters of services of the lab, or their recipes.
    pub services: ServiceTables,
    /// The server.
    pub url: Option<String>,
    /// What replaces `[work]` of the whole file; its commands replace all of that.
    pub work: Option<WorkTable>,
    /// Options that replace those of the whole file.
    pub run: CapacityOptions,
    /// Options that replace those of the whole file.
    pub load: LoadOptions,
    /// Options that replace those of the whole file.
    pub target: TargetOptions,
}
