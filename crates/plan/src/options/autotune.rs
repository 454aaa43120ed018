//! Options of `autotune`.

use super::habits;
use super::tryout::PercentOption;
use super::typed::Typed;
use super::words::Word;
use clap::Args;
use serde::Deserialize;
use sysdyno_record::autotune::Allowance;
use sysdyno_record::units::SpanNs;

/// How far a server is tuned.
#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[command(next_help_heading = "Autotune")]
pub struct AutotuneOptions {
    /// What may be touched [default: kernel,service-config,service-reload]
    #[arg(
        long = "allow-change",
        value_enum,
        value_delimiter = ',',
        value_name = "WHAT",
        env = "SYSDYNO_ALLOW_CHANGE"
    )]
    pub allow_change: Vec<Word<Allowance>>,
    /// Time budget: no round starts that would exceed it; the comparison at the end comes after it [default: 45m]
    #[arg(long, value_name = "DURATION", env = "SYSDYNO_BUDGET")]
    pub budget: Option<Typed<SpanNs>>,
    /// Most rounds of suggestions [default: 12]
    #[arg(long, value_name = "N")]
    pub rounds: Option<u32>,
    /// Most changes that are tried in one round [default: 8]
    #[arg(long, value_name = "N")]
    pub candidates: Option<u32>,
    /// Smallest effect that is worth keeping a change for [default: 3%]
    #[arg(long, value_name = "PERCENT", env = "SYSDYNO_EFFECT")]
    pub effect: Option<PercentOption>,
    /// Most blocks in which the changes of a round are compared [default: 5]
    #[arg(long, value_name = "N")]
    pub race_blocks: Option<u32>,
    /// Most blocks of fresh trials that prove the best change, and the end against the beginning [default: 8]
    #[arg(long, value_name = "N")]
    pub proof_blocks: Option<u32>,
    /// Length of each measured window [default: 4s]
    #[arg(long, value_name = "DURATION", env = "SYSDYNO_WINDOW")]
    pub window: Option<Typed<SpanNs>>,
    /// Warm-up before each window [default: 1s]
    #[arg(long, value_name = "DURATION", env = "SYSDYNO_WARMUP")]
    pub warmup: Option<Typed<SpanNs>>,
    /// Number of connections, each a client that sends as fast as it is answered [default: 64]
    #[arg(long, short = 'c', value_name = "N", env = "SYSDYNO_CONNECTIONS")]
    pub connections: Option<u32>,
    /// Keep trials that were disturbed by other activity on the host; the interval widens instead
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = habits::switch, value_name = "BOOL")]
    pub noisy: Option<bool>,
    /// Leave what was kept in force at the end, if it is proven better
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = habits::switch, value_name = "BOOL")]
    pub keep: Option<bool>,
}
