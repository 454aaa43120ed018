//! Facts in a separate file, for comparison later or elsewhere. The format is `docs/reference/formats/facts.md`.

use super::HostFacts;
use crate::manifest::Tool;
use crate::units::WallNs;
use serde::Serialize;

/// The schema of a file of facts.
pub const SCHEMA: &str = "sysdyno.facts/1";

/// The schema of a comparison.
pub const COMPARISON_SCHEMA: &str = "sysdyno.facts-comparison/1";

/// Facts, when they were taken and by which program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FactsDocument {
    schema: &'static str,
    tool: Tool,
    taken_unix_ns: WallNs,
    #[serde(flatten)]
    facts: HostFacts,
}

impl FactsDocument {
    /// Facts that were taken at this instant by this program.
    pub fn new(facts: HostFacts, tool: Tool, taken_unix_ns: WallNs) -> FactsDocument {
        FactsDocument { schema: SCHEMA, tool, taken_unix_ns, facts }
    }
}
