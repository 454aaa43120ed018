//! Resources that are no rates: to take a little of one changes nothing, until what is left is less than what is used.

use crate::named::named;
use serde::{Deserialize, Serialize};

named! {
    /// What there is a fixed number of.
    ThresholdKind {
        /// Threads or processes that serve one request at a time.
        Workers "workers";
        /// File descriptors that a process may open.
        Descriptors "descriptors";
        /// Memory that a control group may use.
        Memory "memory";
        /// Processes and threads that a control group may have.
        Tasks "tasks";
        /// Connections that may wait to be accepted.
        Queue "queue";
    }
}

/// How near a tier came to the end of a resource in the pilot, when the load was as high as its connections make it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResourceThreshold {
    /// What it is.
    pub kind: ThresholdKind,
    /// Whose it is: the first process of the tier. Untrusted text.
    pub tier: String,
    /// Where the tier listens; `None`: the load is sent to it. Untrusted text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// How much was used at most; of workers on average, since nobody sees all of them all the time. Unit: count; of memory bytes.
    pub used: f64,
    /// How much there is. Unit: as above.
    pub available: f64,
    /// Whether it was used up: with less of it, the server does less. Never of memory, which the page cache fills.
    pub is_reached: bool,
    /// The same in a sentence.
    pub sentence: String,
}
