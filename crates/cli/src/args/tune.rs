//! What can be typed behind `tune`.

use clap::{Args, Subcommand};
use std::path::PathBuf;
use sysdyno_record::units::SpanNs;

/// Arguments of `tune`.
#[derive(Debug, Args)]
pub struct TuneArgs {
    /// What to do
    #[command(subcommand)]
    pub command: TuneCommand,
    /// State folder; journals lie in 'tune' below it [default: /var/lib/sysdyno]
    #[arg(long, global = true, value_name = "FOLDER", env = "SYSDYNO_STATE_DIR")]
    pub state_dir: Option<PathBuf>,
    /// Tree whose /proc, /sys and /etc are meant
    #[arg(long, global = true, value_name = "FOLDER", default_value = "/", hide = true)]
    pub root: PathBuf,
    /// Print the result as one JSON document
    #[arg(long, global = true)]
    pub json: bool,
}

/// What to do about settings.
#[derive(Debug, Subcommand)]
pub enum TuneCommand {
    /// List the settings that can be changed, and what they do
    List {
        /// Only those whose name contains this
        part: Option<String>,
        /// All of them, not only those that matter most often
        #[arg(long, conflicts_with = "part")]
        all: bool,
    },
    /// Say what changes would write, what undoes them, and who else sets the same; needs no rights
    Plan {
        /// Settings and what they should become, as in net.core.somaxconn=4096
        #[arg(required = true, value_name = "KEY=VALUE")]
        changes: Vec<String>,
    },
    /// Make changes as a trial, which is undone at its deadline unless it is committed
    Apply {
        /// Settings and what they should become, as in net.core.somaxconn=4096
        #[arg(required = true, value_name = "KEY=VALUE")]
        changes: Vec<String>,
        /// How long the trial lasts
        #[arg(long = "for", value_name = "DURATION", default_value = "10m")]
        deadline: SpanNs,
    },
    /// Keep what is being tried, until the next boot
    Commit {
        /// The trial, if it is not the open one
        id: Option<String>,
    },
    /// Undo what is being tried, or what was committed
    Undo {
        /// The trial, if it is not the open one
        id: Option<String>,
        /// Print lines of shell that undo it, and do nothing
        #[arg(long)]
        print_shell: bool,
    },
    /// Say what is being tried, by when it is undone, and what its settings are now
    Status,
    /// List the trials that are over
    History,
    /// Keep settings over a reboot, in a file of our own; what is in force is not touched
    Persist {
        /// Settings and what they should be after a reboot, as in net.core.somaxconn=4096
        #[arg(required_unless_present = "remove", value_name = "KEY=VALUE")]
        settings: Vec<String>,
        /// Take settings (KEY) out of the file again; without any, take the file away
        #[arg(long)]
        remove: bool,
    },
    /// Undo what was left behind by a trial whose guardian is dead
    Recover,
    /// Watch over a trial
    #[command(hide = true)]
    Guard {
        /// The trial
        id: String,
        /// Terminal on which the trial was made
        #[arg(long)]
        terminal: Option<PathBuf>,
        /// Whose terminal that was
        #[arg(long)]
        terminal_uid: Option<u32>,
    },
}
