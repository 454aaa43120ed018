//! Command-line arguments of `experiment`.

use super::{ComparisonForm, FenceOptions, LabHostOptions, LiveOptions, RecordOptions};
use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::str::FromStr;
use sysdyno_plan::options::Word;
use sysdyno_record::facts::HostUse;

/// Arguments of `experiment`.
#[derive(Debug, Args)]
pub struct ExperimentArgs {
    /// Command to run
    #[command(subcommand)]
    pub command: ExperimentCommand,
}

/// The subcommands of `experiment`.
#[derive(Debug, Subcommand)]
pub enum ExperimentCommand {
    /// Print what would be measured, in which order, and how long it would take, and exit
    Plan(ExperimentRunArgs),
    /// Measure all combinations, block by block
    Run(ExperimentMeasureArgs<ExperimentRunArgs>),
    /// Resume an experiment: measure the missing trials
    Resume(ExperimentMeasureArgs<ExperimentFolderArgs>),
    /// Compare the results again, and rebuild the report
    Report(ExperimentFolderArgs),
    /// Put an experiment with all files that it names into a folder, to run it on another machine
    Export(ExperimentExportArgs),
    /// Compare machines by the results of an experiment that ran on each of them
    Import(ExperimentImportArgs),
}

/// Arguments of `experiment export`.
#[derive(Debug, Args)]
pub struct ExperimentExportArgs {
    /// Experiment file; docs/reference/formats/experiment.md describes it
    pub file: PathBuf,
    /// Folder to create
    #[arg(long, short, value_name = "FOLDER")]
    pub output: PathBuf,
}

/// Arguments of `experiment import`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_IMPORT)]
pub struct ExperimentImportArgs {
    /// One folder for each machine: the exported one with its results, or that of an experiment. The first machine is the baseline
    #[arg(required = true, num_args = 2.., value_name = "FOLDER")]
    pub folders: Vec<PathBuf>,
    /// Readings of a power meter at a machine, a file with 'time,watts' on each line; the first machine is A; repeatable
    #[arg(long = "meter", value_name = "LETTER=FILE")]
    pub meters: Vec<MeterOption>,
    /// Compare even if this gate refuses (by name or number, see docs/reference/compare.md); repeatable
    #[arg(long = "allow", value_name = "GATE")]
    pub allowed: Vec<String>,
    /// What the machines are used for; ranks the differences between them
    #[arg(long, value_enum, default_value_t = Word(HostUse::Web), env = "SYSDYNO_WORKLOAD")]
    pub workload: Word<HostUse>,
    /// Write the HTML report to this file
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Print the result as one JSON document
    #[arg(long)]
    pub json: bool,
}

const AFTER_IMPORT: &str = "\
Exit codes: 0 compared; 2 wrong usage, or not the same experiment; 3 the machines are not comparable.

  sysdyno experiment export pages.toml -o pages     then copy it to each machine, and run it there
  sysdyno experiment import intel/pages arm/pages
  sysdyno experiment import intel/pages arm/pages --meter A=intel.csv --meter B=arm.csv";

/// The file of a meter, and the position of its machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeterOption {
    /// Position of the machine among the folders, from 0.
    pub machine: usize,
    /// The file.
    pub file: PathBuf,
}

impl FromStr for MeterOption {
    type Err = String;

    fn from_str(text: &str) -> Result<MeterOption, String> {
        let hint = || {
            format!("cannot read '{text}': write the letter of the machine and a file, such as 'A=watts.csv'")
        };
        let (letter, file) = text.split_once('=').filter(|(_, file)| !file.is_empty()).ok_or_else(hint)?;
        let [letter @ b'A'..=b'Z'] = letter.as_bytes() else { return Err(hint()) };
        Ok(MeterOption { machine: usize::from(letter - b'A'), file: PathBuf::from(file) })
    }
}

/// Arguments of commands that measure.
#[derive(Debug, Args)]
pub struct ExperimentMeasureArgs<A: Args> {
    /// What is measured.
    #[command(flatten)]
    pub what: A,
    #[command(flatten)]
    pub stream: ExperimentStreamArgs,
}

/// Who looks on while an experiment is measured.
#[derive(Debug, Args)]
pub struct ExperimentStreamArgs {
    /// Output format [default: text]
    #[arg(long, value_enum, value_name = "FORM", conflicts_with = "json")]
    pub output: Option<ComparisonForm>,
    #[command(flatten)]
    pub live: LiveOptions,
}

/// Arguments that start an experiment.
#[derive(Debug, Args)]
pub struct ExperimentRunArgs {
    /// Experiment file; docs/reference/formats/experiment.md describes it
    pub file: PathBuf,
    /// Parent folder for the experiment's own folder [default: 'experiments', next to the runs]
    #[arg(long, value_name = "FOLDER", env = "SYSDYNO_EXPERIMENTS_DIR")]
    pub folder: Option<PathBuf>,
    /// Measure the short version, as defined by the file's [quick] table
    #[arg(long)]
    pub quick: bool,
    #[command(flatten)]
    pub record: RecordOptions,
    #[command(flatten)]
    pub host: ExperimentHostArgs,
}

/// Arguments for an experiment that was started before.
#[derive(Debug, Args)]
pub struct ExperimentFolderArgs {
    /// Folder of the experiment
    pub folder: PathBuf,
    #[command(flatten)]
    pub host: ExperimentHostArgs,
}

/// The host whose settings change, and the output format.
#[derive(Debug, Args)]
pub struct ExperimentHostArgs {
    /// State folder; journals of settings are in its 'tune' subfolder, labs in 'lab' [default: /var/lib/sysdyno]
    #[arg(long, value_name = "FOLDER", env = "SYSDYNO_STATE_DIR")]
    pub state_dir: Option<PathBuf>,
    /// Root of the /proc, /sys, and /etc to use
    #[arg(long, value_name = "FOLDER", default_value = "/", hide = true)]
    pub root: PathBuf,
    #[command(flatten)]
    pub ways: LabHostOptions,
    #[command(flatten)]
    pub fence: FenceOptions,
    /// Install packages that the lab's services need, without asking
    #[arg(long)]
    pub yes: bool,
    /// Show no progress of trials
    #[arg(long)]
    pub quiet: bool,
    /// Print the result as one JSON document
    #[arg(long)]
    pub json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_meter_belongs_to_a_machine_by_its_letter() {
        let read = |text: &str| text.parse::<MeterOption>().ok().map(|read| (read.machine, read.file));
        assert_eq!(read("B=w=1.csv"), Some((1, PathBuf::from("w=1.csv"))));
        for text in ["", "A", "A=", "=x", "a=x", "AB=x", "\u{c4}=x"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
