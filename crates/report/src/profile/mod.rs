//! A profile for people and for other tools: one screen, folded stacks, pprof, Firefox Profiler.
//!
//! Names of processes and functions are chosen by whoever wrote the programs: they pass through [`crate::escape`] here, and
//! through the escapes of each format there.

mod firefox;
mod folded;
mod pprof;
mod screen;

pub use firefox::firefox;
pub use folded::folded;
pub use pprof::pprof;
pub use screen::screen;

use serde_json::{Value, json};
use sysdyno_record::profile::{Profile, ProfileSummary, SCHEMA};

/// What `sysdyno profile --json` prints: the profile, and what it says.
pub fn document(profile: &Profile, summary: &ProfileSummary) -> Value {
    json!({ "schema": SCHEMA, "summary": summary, "profile": profile })
}
