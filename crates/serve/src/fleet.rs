//! The agents of a fleet, as the page shows them. Their texts are untrusted.

use serde::Serialize;

/// An agent of a fleet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ServedAgent {
    /// Its name.
    pub name: String,
    /// Its state in a few words: `free`, `used by …`, `silent`, or why it cannot be used.
    pub state: String,
    /// Its labels: `site=east`.
    pub labels: String,
    /// What its administrator allows, in the words of `--allow`.
    pub allows: String,
    /// CPUs that are online; `None`: not known.
    pub cpus_count: Option<u32>,
    /// How busy they were between its last two answers. Unit: ratio. `None`: not known.
    pub busy_ratio: Option<f64>,
}
