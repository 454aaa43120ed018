//! Command-line arguments of `compare`.

use super::RecordOptions;
use clap::Args;
use std::path::PathBuf;
use std::str::FromStr;
use sysdyno_plan::options::Word;
use sysdyno_record::facts::HostUse;

/// Arguments of `compare`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct CompareArgs {
    /// Runs to compare, each by its folder, its name, or the end of its name. A folder of runs counts as one side of repeated runs. The first side is the baseline
    #[arg(required_unless_present = "trend", value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// Runs of the second side, after `--`; the runs before it form the first side
    #[arg(last = true, value_name = "RUN")]
    pub candidates: Vec<PathBuf>,
    /// Smallest effect that matters [default: per metric, see docs/reference/compare.md]
    #[arg(long, value_name = "PERCENT", env = "SYSDYNO_EFFECT")]
    pub effect: Option<EffectOption>,
    /// Compare only this metric (capacity, goodput, p99, p90, p50, or cpu); repeatable, and the first one decides
    #[arg(long = "metric", value_name = "METRIC")]
    pub metrics: Vec<String>,
    /// Compare even if this gate refuses (by name or number, see docs/reference/compare.md); repeatable
    #[arg(long = "allow", value_name = "GATE")]
    pub allowed: Vec<String>,
    /// Exit with code 1 if a side differs from the baseline in this way
    #[arg(long, value_enum, value_name = "WORD")]
    pub fail_if: Option<FailIfWord>,
    /// Treat the runs (all of them if none is given) as a time series, and find where the level changed
    #[arg(long, conflicts_with = "candidates")]
    pub trend: bool,
    /// What the hosts are used for; ranks the differences between them
    #[arg(long, value_enum, default_value_t = Word(HostUse::Web), env = "SYSDYNO_WORKLOAD")]
    pub workload: Word<HostUse>,
    /// Write the HTML report to this file [default: compare-A-B.html in the folder of the runs]
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Write no HTML report
    #[arg(long, conflicts_with = "report")]
    pub no_report: bool,
    #[command(flatten)]
    pub record: RecordOptions,
    /// Print the result as one JSON document
    #[arg(long)]
    pub json: bool,
}

const AFTER_HELP: &str = "\
Exit codes: 0 compared; 1 compared, and --fail-if holds; 2 wrong usage; 3 the runs are not comparable.

  sysdyno compare OLD NEW                      two runs
  sysdyno compare OLD1 OLD2 OLD3 OLD4 -- NEW1 NEW2 NEW3 NEW4
  sysdyno compare old/ new/                    two folders of repeated runs
  sysdyno compare nginx apache caddy           several sides, grouped by letters
  sysdyno compare --trend nightly/             runs over time
  sysdyno compare --trend                      all comparable runs";

/// Differences that fail a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum FailIfWord {
    /// A side is worse in any metric
    Worse,
    /// A side is better or worse in any metric
    Different,
}

/// A share as typed: `3%` or `0.03`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EffectOption(pub f64);

impl FromStr for EffectOption {
    type Err = String;

    fn from_str(text: &str) -> Result<EffectOption, String> {
        let (number, scale) = match text.trim().strip_suffix('%') {
            Some(number) => (number.trim(), 100.0),
            None => (text.trim(), 1.0),
        };
        let ratio = number.parse::<f64>().map(|number| number / scale);
        ratio.ok().filter(|ratio| (1e-6..=1.0).contains(ratio)).map(EffectOption).ok_or_else(|| {
            format!("cannot read '{text}': write a percentage above 0% and up to 100%, such as '3%'")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effect_is_typed_as_a_percentage_or_a_ratio() {
        let read = |text: &str| text.parse::<EffectOption>().ok().map(|read| read.0);
        assert_eq!((read("3%"), read("3 %"), read("0.03")), (Some(0.03), Some(0.03), Some(0.03)));
        for text in ["", "%", "0%", "-1%", "101%", "3", "nan", "x%"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
