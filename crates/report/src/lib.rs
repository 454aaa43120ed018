//! Presents a record to people and programs: one screen of terminal text, one HTML file, one JSON document.
//!
//! Promise: this crate never computes a number that is not in the record and never touches a host. It chooses, orders,
//! formats and escapes. What it prints today it prints again tomorrow from the same folder.
//!
//! Constraints that shape the crate:
//! - the verdict comes before the number: of a run that is INVALID no capacity is shown, at most "at least X";
//! - a percentile that the samples do not support is shown as `–`, a lower bound as `≥`, never as a plain number;
//! - every text that a server, a process or a file chose is escaped for the place where it is shown;
//! - numbers are formatted in one file per language: [`number`] here, `web/src/number.ts` in the page.

pub mod autotune;
pub mod compare;
pub mod escape;
pub mod facts;
pub mod html;
pub mod input;
pub mod json;
pub mod links;
pub mod metrics;
pub mod number;
pub mod output;
mod place;
pub mod probe;
pub mod profile;
pub mod progress;
mod protobuf;
pub mod squeeze;
pub mod terminal;
pub mod tryout;
pub mod watch;
pub mod work;

pub use autotune::{AutotuneInput, keep_script};
pub use input::ReportInput;
pub use squeeze::SqueezeInput;
pub use tryout::TryInput;
