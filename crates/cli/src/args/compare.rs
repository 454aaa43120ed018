//! What can be typed behind `compare`.

use super::RecordOptions;
use super::facts::WorkloadOption;
use clap::Args;
use std::path::PathBuf;
use std::str::FromStr;

/// Arguments of `compare`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct CompareArgs {
    /// Runs: a folder, a name, or the end of a name; or a folder that holds runs, which then are repetitions of each other. Each is a side, the first is what the others are compared with
    #[arg(required_unless_present = "trend", value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// Behind `--`, the runs of the second side; those before it are then the first
    #[arg(last = true, value_name = "RUN")]
    pub candidates: Vec<PathBuf>,
    /// The smallest effect that matters [default: that of each metric, see docs/reference/compare.md]
    #[arg(long, value_name = "PERCENT", env = "SYSDYNO_EFFECT")]
    pub effect: Option<PercentOption>,
    /// Only this metric (capacity, goodput, p99, p90, p50 or cpu); several times for several, the first one decides
    #[arg(long = "metric", value_name = "METRIC")]
    pub metrics: Vec<String>,
    /// Compare although this gate refuses (its name or number, see docs/reference/compare.md); several times for several
    #[arg(long = "allow", value_name = "GATE")]
    pub allowed: Vec<String>,
    /// End with exit code 1 if a side differs from the first in this way
    #[arg(long, value_enum, value_name = "WORD")]
    pub fail_if: Option<FailIfWord>,
    /// Look at the runs as a series in time, all of them if none is named, and find where the level changed
    #[arg(long, conflicts_with = "candidates")]
    pub trend: bool,
    /// What the hosts are for, which ranks what differs between them
    #[arg(long, value_enum, default_value_t, env = "SYSDYNO_WORKLOAD")]
    pub workload: WorkloadOption,
    /// Write the page here [default: compare-A-B.html in the folder of the runs]
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Write no page
    #[arg(long, conflicts_with = "report")]
    pub no_report: bool,
    #[command(flatten)]
    pub record: RecordOptions,
    /// Print the result as one JSON document
    #[arg(long)]
    pub json: bool,
}

const AFTER_HELP: &str = "\
Exit codes: 0 compared; 1 compared, and --fail-if holds; 2 wrong use; 3 the runs may not be compared.

  sysdyno compare OLD NEW                      two runs
  sysdyno compare OLD1 OLD2 OLD3 OLD4 -- NEW1 NEW2 NEW3 NEW4
  sysdyno compare old/ new/                    two folders of runs
  sysdyno compare nginx apache caddy           many sides, with letter groups
  sysdyno compare --trend nightly/             runs in time, with change points
  sysdyno compare --trend                      all runs; those like most of the newest are taken";

/// In which way sides must not differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum FailIfWord {
    /// Some metric of a side is worse
    Worse,
    /// Some metric of a side is better or worse
    Different,
}

/// A share as typed: `3%` or `0.03`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PercentOption(pub f64);

impl FromStr for PercentOption {
    type Err = String;

    fn from_str(text: &str) -> Result<PercentOption, String> {
        let (number, scale) = match text.trim().strip_suffix('%') {
            Some(number) => (number.trim(), 100.0),
            None => (text.trim(), 1.0),
        };
        let ratio = number.parse::<f64>().map(|number| number / scale);
        ratio
            .ok()
            .filter(|ratio| (1e-6..=1.0).contains(ratio))
            .map(PercentOption)
            .ok_or_else(|| format!("cannot read '{text}': write a share as in 3%, above 0 and at most 100%"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effect_is_typed_as_a_percentage_or_a_ratio() {
        let read = |text: &str| text.parse::<PercentOption>().ok().map(|read| read.0);
        assert_eq!((read("3%"), read("3 %"), read("0.03")), (Some(0.03), Some(0.03), Some(0.03)));
        for text in ["", "%", "0%", "-1%", "101%", "3", "nan", "x%"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
