//! Command-line arguments of `tune`.

use clap::{Args, Subcommand};
use std::path::PathBuf;
use sysdyno_record::units::SpanNs;

/// Arguments of `tune`.
#[derive(Debug, Args)]
pub struct TuneArgs {
    /// What to do
    #[command(subcommand)]
    pub command: TuneCommand,
    /// State folder; journals are in its 'tune' subfolder [default: /var/lib/sysdyno]
    #[arg(long, global = true, value_name = "FOLDER", env = "SYSDYNO_STATE_DIR")]
    pub state_dir: Option<PathBuf>,
    /// Root of the /proc, /sys, and /etc to use
    #[arg(long, global = true, value_name = "FOLDER", default_value = "/", hide = true)]
    pub root: PathBuf,
    /// Print the result as one JSON document
    #[arg(long, global = true)]
    pub json: bool,
}

/// The subcommands of `tune`.
#[derive(Debug, Subcommand)]
pub enum TuneCommand {
    /// List the settings that can be changed and what they do
    List {
        /// List only settings whose name contains this
        part: Option<String>,
        /// List all settings, not only the most common ones
        #[arg(long, conflicts_with = "part")]
        all: bool,
    },
    /// Show what a change would write, what undoes it, and what else sets the same value; needs no privileges
    Plan {
        /// Settings to change, such as net.core.somaxconn=4096
        #[arg(required = true, value_name = "KEY=VALUE")]
        changes: Vec<String>,
    },
    /// Apply changes as a trial, undone at its deadline unless committed
    Apply {
        /// Settings to change, such as net.core.somaxconn=4096
        #[arg(required = true, value_name = "KEY=VALUE")]
        changes: Vec<String>,
        /// Undo the trial after this time
        #[arg(long = "for", value_name = "DURATION", default_value = "10m")]
        deadline: SpanNs,
    },
    /// Keep the changes of a trial until the next boot
    Commit {
        /// ID of the trial [default: the open one]
        id: Option<String>,
    },
    /// Undo a trial, open or committed
    Undo {
        /// ID of the trial [default: the open one]
        id: Option<String>,
        /// Print shell commands that would undo it, and exit
        #[arg(long)]
        print_shell: bool,
    },
    /// Show the open trial, its deadline, and the current values of its settings
    Status,
    /// List past trials
    History,
    /// Keep settings across reboots, in sysdyno's own file; current values do not change
    Persist {
        /// Settings to apply at boot, such as net.core.somaxconn=4096
        #[arg(required_unless_present = "remove", value_name = "KEY=VALUE")]
        settings: Vec<String>,
        /// Remove settings (KEY) from the file; without any, remove the file
        #[arg(long)]
        remove: bool,
    },
    /// Undo a trial whose guardian died
    Recover,
    /// Guard a trial
    #[command(hide = true)]
    Guard {
        /// ID of the trial
        id: String,
        /// Terminal on which the trial was started
        #[arg(long)]
        terminal: Option<PathBuf>,
        /// Owner of that terminal
        #[arg(long)]
        terminal_uid: Option<u32>,
    },
}
