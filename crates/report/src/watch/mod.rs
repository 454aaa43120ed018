//! Live output for a watched host: columns as in dstat, one line per sample; the same as CSV and JSON; a full screen; and the record of a host.

mod busy;
mod columns;
mod groups;
mod panels;
mod recorded;
mod screen;
mod selection;

pub use columns::WatchColumns;
pub use recorded::{RecordedInput, recorded_document, recorded_screen};
pub use screen::{LEAST_COLUMNS, LEAST_ROWS, WatchOverlay, WatchScreen, WatchedSample, screen};
pub use selection::{WatchGroup, WatchSelection};
