//! A host while it is watched: columns as dstat has them, one line per sample; CSV and JSON of the same; and a full screen.

mod columns;
mod groups;
mod panels;
mod screen;

pub use columns::{WatchColumns, WatchGroup, WatchSelection};
pub use screen::{LEAST_COLUMNS, LEAST_ROWS, WatchOverlay, WatchScreen, WatchedSample, screen};
