//! The labs of this host, as the page shows them. Texts of services are untrusted.

use serde::Serialize;

/// A lab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ServedLab {
    /// Its name.
    pub name: String,
    /// Its state in a few words: `up`, or what is wrong.
    pub state: String,
    /// Its hosts.
    pub hosts: Vec<String>,
    /// Its services.
    pub services: Vec<ServedService>,
}

/// A service of a lab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ServedService {
    /// Its name.
    pub name: String,
    /// Its host.
    pub host: String,
    /// What it runs.
    pub recipe: String,
    /// What is wrong with it; `None`: it is healthy.
    pub cause: Option<String>,
}
