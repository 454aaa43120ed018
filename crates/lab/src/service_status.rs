//! The current state of a service, on this machine or as reported by another one.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use sysdyno_record::service::ServiceValue;

/// A service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServiceStatus {
    /// Its name.
    pub name: String,
    /// Its host.
    pub host: String,
    /// Its recipe.
    pub recipe: String,
    /// Its first process; `None` if it does not run.
    pub pid: Option<u32>,
    /// Whether it does its work.
    pub is_healthy: bool,
    /// Why it is not healthy; `None` if it is.
    pub cause: Option<String>,
    /// What it says of itself that is not as it should be, although it does its work.
    pub symptoms: Vec<String>,
    /// Where it listens, as hosts of the lab find it; `None` if its recipe has no port.
    pub endpoint: Option<String>,
    /// Where it tells of itself; `None` if its recipe does not say.
    pub metrics: Option<String>,
    /// What it tells, by the table of its recipe.
    pub values: Vec<ServiceValue>,
    /// Keys for `sysdyno tune`, in its network namespace.
    pub tunables: Vec<String>,
    /// What it prints.
    pub log: PathBuf,
}
