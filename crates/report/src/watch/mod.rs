//! A host while it is watched: columns as dstat has them, one line per sample; CSV and JSON of the same; and a full screen.

mod columns;
mod groups;
mod panels;
mod screen;
mod selection;

pub use columns::WatchColumns;
pub use screen::{LEAST_COLUMNS, LEAST_ROWS, WatchOverlay, WatchScreen, WatchedSample, screen};
pub use selection::{WatchGroup, WatchSelection};
