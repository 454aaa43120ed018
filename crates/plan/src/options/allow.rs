//! The fence as configured in files: networks that may be loaded.

use super::typed::Typed;
use serde::Deserialize;
use std::path::Path;
use sysdyno_record::route::{AllowList, Network};

/// Lists of networks; if there are several, each one restricts.
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
    /// The same lists, marked as coming from a file.
    pub fn of_file(mut self, path: &Path) -> Allow {
        self.0.iter_mut().for_each(|list| list.source = format!("'{}'", path.display()));
        self
    }
}
