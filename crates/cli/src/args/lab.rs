//! What can be typed behind `lab`.

use super::LabSshOptions;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Arguments of `lab`.
#[derive(Debug, Args)]
pub struct LabArgs {
    /// What to do
    #[command(subcommand)]
    pub command: LabCommand,
    /// State folder; labs lie in 'lab' below it [default: /var/lib/sysdyno]
    #[arg(long, global = true, value_name = "FOLDER", env = "SYSDYNO_STATE_DIR")]
    pub state_dir: Option<PathBuf>,
    #[command(flatten)]
    pub ssh: LabSshOptions,
}

/// What to do with a lab.
#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// Put a lab up: its namespaces, links, shares on hosts behind ssh, and services, in this order; needs root
    Up {
        /// The file that says what the lab is
        #[arg(default_value = "lab.toml")]
        file: PathBuf,
        /// Install packages that are missing without asking
        #[arg(long)]
        yes: bool,
        /// Say what would be made and installed, and do nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Say what a lab is now, whether its services are well, and where they are; exit code 1 if one is not
    Status {
        /// A lab by its name, or by its file [default: all labs]
        #[arg(value_name = "NAME|FILE")]
        lab: Option<String>,
        /// Print the result as one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Print what services have printed
    Logs {
        /// A lab by its name, or by its file
        #[arg(value_name = "NAME|FILE")]
        lab: String,
        /// Only this service
        service: Option<String>,
    },
    /// Run a command on a host, in its namespace or by ssh; its exit code is that of this command
    Exec {
        /// A lab by its name, or by its file
        #[arg(value_name = "NAME|FILE")]
        lab: String,
        /// The host
        host: String,
        /// The command, behind '--'
        #[arg(required = true, last = true)]
        command: Vec<String>,
    },
    /// Have a service read its files again
    Reload {
        /// A lab by its name, or by its file
        #[arg(value_name = "NAME|FILE")]
        lab: String,
        /// The service
        service: String,
    },
    /// Take a lab away, however far it was made: processes, namespaces, links, files, here and on hosts behind ssh
    Down {
        /// A lab by its name, or by its file
        #[arg(value_name = "NAME|FILE", required_unless_present = "all")]
        lab: Option<String>,
        /// Take all labs away
        #[arg(long, conflicts_with = "lab")]
        all: bool,
    },
    /// List the services that are known, or the parameters of one
    Recipes {
        /// A recipe
        recipe: Option<String>,
    },
    /// Keep a service
    #[command(hide = true)]
    Keep,
    /// Forward frames between both ends of a link
    #[command(hide = true)]
    Relay {
        /// What to do, as `lab up` says it
        order: String,
    },
}
