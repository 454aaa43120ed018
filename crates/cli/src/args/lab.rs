//! Command-line arguments of `lab`.

use super::LabHostOptions;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Arguments of `lab`.
#[derive(Debug, Args)]
pub struct LabArgs {
    /// What to do
    #[command(subcommand)]
    pub command: LabCommand,
    /// State folder; labs are in its 'lab' subfolder [default: /var/lib/sysdyno]
    #[arg(long, global = true, value_name = "FOLDER", env = "SYSDYNO_STATE_DIR")]
    pub state_dir: Option<PathBuf>,
    #[command(flatten)]
    pub ways: LabHostOptions,
}

/// What an archive of images is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ImageFormatWord {
    /// A folder for each host, for systemd-nspawn, chroot, or RootDirectory= of a unit
    Tar,
    /// An OCI image layout with an image for each host, for podman, skopeo, and other container tools
    Oci,
}

/// The subcommands of `lab`.
#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// Bring a lab up: namespaces, links, other machines, and services, in this order; needs root
    Up {
        /// Lab file
        #[arg(default_value = "lab.toml")]
        file: PathBuf,
        /// Install missing packages without asking
        #[arg(long)]
        yes: bool,
        /// Print what would be created and installed, and exit
        #[arg(long)]
        dry_run: bool,
    },
    /// Show a lab's hosts, links, and services; exit code 1 if any of them is down
    Status {
        /// Lab, by name or file [default: all labs]
        #[arg(value_name = "NAME|FILE")]
        lab: Option<String>,
        /// Print the result as one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Print the logs of services
    Logs {
        /// Lab, by name or file
        #[arg(value_name = "NAME|FILE")]
        lab: String,
        /// Print only this service's log
        service: Option<String>,
    },
    /// Run a command on a host, in its namespace or over ssh, and exit with its exit code
    Exec {
        /// Lab, by name or file
        #[arg(value_name = "NAME|FILE")]
        lab: String,
        /// Host to run it on
        host: String,
        /// Command to run, after '--'
        #[arg(required = true, last = true)]
        command: Vec<String>,
    },
    /// Make a service reload its configuration
    Reload {
        /// Lab, by name or file
        #[arg(value_name = "NAME|FILE")]
        lab: String,
        /// Service to reload
        service: String,
    },
    /// Mount the volume of a service that was unmounted, and limit its disk again
    Mount {
        /// Lab, by name or file
        #[arg(value_name = "NAME|FILE")]
        lab: String,
        /// Service whose volume to mount
        service: String,
    },
    /// Unmount the volume of a service: to change its journal, or to drop what is cached of it
    Unmount {
        /// Lab, by name or file
        #[arg(value_name = "NAME|FILE")]
        lab: String,
        /// Service whose volume to unmount
        service: String,
    },
    /// Tear down a lab, even a partial one: processes, namespaces, links, and files, here and on other machines
    Down {
        /// Lab, by name or file
        #[arg(value_name = "NAME|FILE", required_unless_present = "all")]
        lab: Option<String>,
        /// Tear down all labs
        #[arg(long, conflicts_with = "lab")]
        all: bool,
    },
    /// Write root file systems of the hosts with their services, configuration, and a unit that starts them, to boot elsewhere
    Export {
        /// Lab, by name or file
        #[arg(value_name = "NAME|FILE")]
        lab: String,
        /// Archive to write
        #[arg(long, short, value_name = "FILE")]
        output: PathBuf,
        /// Format of the archive
        #[arg(long, value_enum, default_value_t = ImageFormatWord::Tar)]
        format: ImageFormatWord,
        /// Export only this host [default: all hosts with services]
        #[arg(long, value_name = "HOST")]
        host: Option<String>,
    },
    /// List the built-in services, or the parameters of one
    Recipes {
        /// Service to describe
        recipe: Option<String>,
    },
    /// Start a service, supervise it, and clean up after it
    #[command(hide = true)]
    Keep,
    /// Forward frames between both ends of a link
    #[command(hide = true)]
    Relay {
        /// Order from `lab up`
        order: String,
    },
}
