//! Options that prove findings.

use super::typed::Typed;
use super::words::Word;
use clap::Args;
use sysdyno_record::allowance::Allowance;
use sysdyno_record::plan::ProvePlan;
use sysdyno_record::units::SpanNs;

/// Whether findings are tried, and what may be touched.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Proof")]
pub struct ProveOptions {
    /// After the search, try the remedies of what was found on the running server, for at most this long; each is undone. Where
    /// nothing can be changed, CPU time is taken away instead. Needs root
    #[arg(long, value_name = "DURATION", env = "SYSDYNO_PROVE", conflicts_with_all = ["server", "load_from"])]
    pub prove: Option<Typed<SpanNs>>,
    /// What may be touched [default: kernel,service-config,service-reload]
    #[arg(
        long = "allow-change",
        value_enum,
        value_delimiter = ',',
        value_name = "WHAT",
        env = "SYSDYNO_ALLOW_CHANGE"
    )]
    pub allow_change: Vec<Word<Allowance>>,
    /// Keep trials of these experiments that were disturbed by other activity on the host; the interval widens instead
    #[arg(long, requires = "prove")]
    pub noisy: bool,
}

impl ProveOptions {
    /// How findings are tried; `None`: they are not.
    pub fn plan(&self) -> Option<ProvePlan> {
        let budget = self.prove?.0;
        let allow: Vec<Allowance> = self.allow_change.iter().map(|word| word.0).collect();
        let allow = if allow.is_empty() { Allowance::DEFAULT.to_vec() } else { allow };
        Some(ProvePlan { budget, allow, is_noisy: self.noisy })
    }
}
