//! The plan of a host that is watched without a load.

use super::target::Endpoint;
use crate::units::SpanNs;
use serde::{Deserialize, Serialize};

/// What `watch --record` records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchPlan {
    /// From one sample to the next.
    pub interval: SpanNs,
    /// The host, as it was typed; `None`: the measuring one. Untrusted text.
    pub host: Option<String>,
    /// A server on it whose queue, processes, and tiers are watched; `None`: none.
    pub target: Option<Endpoint>,
    /// Samples after which it ends; `None`: it ends when it is stopped.
    pub count: Option<u64>,
}
