//! Options of `squeeze`.

use super::habits;
use super::tryout::PercentOption;
use super::typed::Typed;
use super::words::Word;
use clap::Args;
use serde::Deserialize;
use sysdyno_record::squeeze::ResourceKind;
use sysdyno_record::units::SpanNs;

/// How a squeeze proceeds.
#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[command(next_help_heading = "Squeeze")]
pub struct SqueezeOptions {
    /// How much of a resource to take away; several are measured from the deepest on [default: 20%,10%]
    #[arg(long, value_name = "PERCENT", value_delimiter = ',', env = "SYSDYNO_DEPTH")]
    pub depth: Vec<PercentOption>,
    /// Squeeze only resources of these kinds; placebo and generator are always measured [default: all]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KIND")]
    pub only: Vec<Word<ResourceKind>>,
    /// Time budget for the whole squeeze [default: 30m]
    #[arg(long, value_name = "DURATION", env = "SYSDYNO_BUDGET")]
    pub budget: Option<Typed<SpanNs>>,
    /// Maximum number of pairs per comparison, at least 8 [default: 16]
    #[arg(long, value_name = "N", env = "SYSDYNO_PAIRS")]
    pub pairs: Option<u32>,
    /// Length of each measured window [default: 3s]
    #[arg(long, value_name = "DURATION", env = "SYSDYNO_WINDOW")]
    pub window: Option<Typed<SpanNs>>,
    /// Warm-up before each window [default: as long as the pilot takes to settle]
    #[arg(long, value_name = "DURATION", env = "SYSDYNO_WARMUP")]
    pub warmup: Option<Typed<SpanNs>>,
    /// Number of connections, each a client that sends as fast as it is answered [default: 64]
    #[arg(long, short = 'c', value_name = "N", env = "SYSDYNO_CONNECTIONS")]
    pub connections: Option<u32>,
    /// Keep pairs that were disturbed by other activity on the host; the interval widens instead
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = habits::switch, value_name = "BOOL")]
    pub noisy: Option<bool>,
}
