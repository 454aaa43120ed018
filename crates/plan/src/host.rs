//! What a plan needs from the program and its host. The program passes it in, so that tests can pass in something else, and
//! so that this crate needs to know neither labs nor the kernel.

use std::path::{Path, PathBuf};
use sysdyno_load::probe::ProbeJob;
use sysdyno_record::change::SettingChange;
use sysdyno_record::experiment::ServiceChange;
use sysdyno_record::plan::LoadPlan;
use sysdyno_record::work::ServiceCounter;

/// The host that a plan is made on, and the program that makes it.
pub trait PlanHost {
    /// A new seed, for a plan whose options give none.
    fn seed(&self) -> u64;

    /// CPUs that this process may use.
    fn cpus_count(&self) -> u32;

    /// The path of this program, which measured commands may name.
    ///
    /// # Errors
    /// It cannot be found.
    fn program(&self) -> anyhow::Result<PathBuf>;

    /// Checks that connections of this load can come from where its plan says; a note where ports may not suffice.
    ///
    /// # Errors
    /// A source address that cannot be bound, or certainly too few ports.
    fn check_origin(&self, plan: &LoadPlan) -> anyhow::Result<Option<String>>;

    /// Checks that this process may send such a probe.
    ///
    /// # Errors
    /// Whatever keeps the probe from being opened.
    fn check_probe(&self, job: &ProbeJob) -> anyhow::Result<()>;

    /// The lab that a text describes; `path` is for messages.
    ///
    /// # Errors
    /// Whatever is wrong with it, with its line and column.
    fn lab(&self, text: &str, path: &Path) -> anyhow::Result<Box<dyn ExperimentLab>>;
}

/// A lab as the plan of an experiment sees it: understood, and not put up.
pub trait ExperimentLab {
    /// Names of its hosts.
    fn hosts(&self) -> &[String];

    /// The host that sends the load, unless the experiment names another one.
    fn generator(&self) -> &str;

    /// Whether it has a service of this name.
    fn has_service(&self, name: &str) -> bool;

    /// Whether one of its services on this machine has a volume.
    fn has_volume(&self) -> bool;

    /// The way to a host that is another machine; `None`: it is none.
    fn far(&self, host: &str) -> Option<&str>;

    /// The lab with these changes.
    ///
    /// # Errors
    /// A change of a service or a parameter that there is not, or to a value that it cannot have.
    fn with(&self, services: &[ServiceChange]) -> anyhow::Result<Box<dyn ExperimentLab>>;

    /// A URL in which services may be named, as `generator` reaches it, and the service that it names.
    ///
    /// # Errors
    /// It names no service, or one that is not there.
    fn url(&self, generator: &str, url: &str) -> anyhow::Result<(String, String)>;

    /// Checks the places of services that the word of a command names.
    ///
    /// # Errors
    /// A service that is not there.
    fn check_word(&self, generator: &str, word: &str) -> anyhow::Result<()>;

    /// Checks that operations can be counted so.
    ///
    /// # Errors
    /// A service or a counter that there is not.
    fn check_counter(&self, counter: &ServiceCounter) -> anyhow::Result<()>;

    /// Checks that these settings exist, and that processes that they name are of services of the lab.
    ///
    /// # Errors
    /// The first that is not so.
    fn check_settings(&self, changes: &[SettingChange]) -> anyhow::Result<()>;
}
