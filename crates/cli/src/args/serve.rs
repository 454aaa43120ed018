//! Command-line arguments of `serve`.

use super::RecordOptions;
use clap::Args;
use std::net::SocketAddr;
use sysdyno_plan::options::BrokerOptions;

/// Arguments of `serve`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct ServeArgs {
    /// Loopback address and port to listen on; port 0 picks a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
    /// Let whoever has the URL start `load` and `run` from the browser, stop them, and undo a trial of settings
    #[arg(long)]
    pub allow_runs: bool,
    #[command(flatten)]
    pub record: RecordOptions,
    /// The fleet whose agents are shown.
    #[command(flatten)]
    pub broker: BrokerOptions,
}

const AFTER_HELP: &str = "\
It prints a URL with a secret token; open it in a browser. Press Ctrl-C to stop.

  sysdyno serve                                the runs of this user
  sysdyno serve --runs-dir /srv/runs           the runs in another folder
  sysdyno serve --allow-runs                   start and stop loads, too
  ssh -L 8080:127.0.0.1:8080 HOST sysdyno serve --listen 127.0.0.1:8080
                                               those of another host";
