//! What may be loaded: the lists of `sysdyno.toml` and of the environment, and the user's word.

use super::Typed;
use clap::Args;
use serde::Deserialize;
use std::path::Path;
use sysdyno_record::route::{AllowList, Network};

/// The user's word for a target behind a router.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Fence")]
pub struct FenceOptions {
    /// Confirm that you may load a target behind a router; without this, sysdyno asks on the terminal
    ///
    /// Targets on this host or on a directly connected network need no confirmation. Neither do networks listed in
    /// SYSDYNO_TARGET_ALLOW, or under 'allow' in the [target] table of /etc/sysdyno.toml. Once such a list exists, nothing else
    /// can be loaded, with or without this option.
    #[arg(long)]
    pub target_is_mine: bool,
}

/// Lists of networks; of several each one counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Vec<Typed<Network>>")]
pub struct Allow(pub Vec<AllowList>);

impl From<Vec<Typed<Network>>> for Allow {
    fn from(networks: Vec<Typed<Network>>) -> Allow {
        let networks = networks.into_iter().map(|network| network.0).collect();
        Allow(vec![AllowList { networks, source: String::new() }])
    }
}

impl Allow {
    /// The same lists, as those of a file.
    pub fn of_file(mut self, path: &Path) -> Allow {
        self.0.iter_mut().for_each(|list| list.source = format!("'{}'", path.display()));
        self
    }
}
