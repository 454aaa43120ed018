//! Shows the folder of runs in a browser: the list, every run, comparisons, and a run in progress. Also exports the numbers
//! of a running load to monitoring systems ([`ScrapeServer`], [`MetricsPusher`]).
//!
//! Promise: this crate never shows a run to anyone without the token, and never listens beyond this host. It reads folders of
//! runs, and the pages that it sends are those of the report; it changes nothing, but where it was told to carry out the
//! orders of a browser ([`RunsOrdered`]) it starts and stops this program.
//!
//! Constraints that shape the crate:
//! - a request passes the gate before anything else: the name of the host that it was sent to, then the token;
//! - connections, streams, and what is read at once are bounded, and so is the time that a request may take;
//! - async code stays here: whatever reads a folder does so on a thread for blocking work, at most two at a time;
//! - how a run becomes a page is handed in ([`Pages`]), so that a page is the same as the one that `sysdyno report` writes.

mod answer;
mod error;
mod experiments;
mod fleet;
mod gate;
mod key;
mod labs;
mod listening;
mod live;
mod orders;
mod push;
mod routes;
mod scrape;
mod server;
mod shelf;
mod site;
mod token;

#[cfg(test)]
mod tests;

pub use error::{PushError, ServeError};
pub use fleet::ServedAgent;
pub use labs::{ServedLab, ServedService};
pub use push::{MetricsPusher, PushProtocol};
pub use scrape::{ScrapeServer, Scraped, ScrapedText};
pub use server::{RunsOrdered, ServeOptions, serve};
pub use token::AccessToken;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What the program knows and this crate needs.
pub trait Pages: Send + Sync + 'static {
    /// The page of a run that has ended, made from its folder: a complete HTML document.
    ///
    /// # Errors
    /// Why there is none, with a hint on a line of its own where there is one.
    fn run(&self, folder: &Path) -> Result<String, String>;

    /// The page of an experiment, made from its folder as far as it has come.
    ///
    /// # Errors
    /// As for [`Pages::run`].
    fn experiment(&self, folder: &Path) -> Result<String, String>;

    /// The page that compares these runs, the first of which is the baseline.
    ///
    /// # Errors
    /// As for [`Pages::run`].
    fn comparison(&self, folders: &[PathBuf]) -> Result<String, String>;

    /// The page that shows these runs in the order of time.
    ///
    /// # Errors
    /// As for [`Pages::run`].
    fn trend(&self, folders: &[PathBuf]) -> Result<String, String>;

    /// The labs of this host; one that cannot be read is left out.
    fn labs(&self) -> Vec<ServedLab>;

    /// The agents of the fleet that this host may use; none where it may use none.
    fn fleet(&self) -> Vec<ServedAgent>;

    /// Whether the process with this pid and start time still runs.
    fn is_living(&self, pid: u32, start_ticks: u64) -> bool;

    /// The wall clock.
    fn now(&self) -> SystemTime;
}
