//! Live output for a watched host: columns as in dstat, one line per sample; the same as CSV and JSON; and a full screen.

mod columns;
mod groups;
mod panels;
mod screen;
mod selection;

pub use columns::WatchColumns;
pub use screen::{LEAST_COLUMNS, LEAST_ROWS, WatchOverlay, WatchScreen, WatchedSample, screen};
pub use selection::{WatchGroup, WatchSelection};
