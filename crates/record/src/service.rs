//! What services of a lab report about themselves: counters and states that the kernel does not know.

use serde::{Deserialize, Serialize};

/// What a service told at one instant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServiceReading {
    /// Its name in the lab.
    pub service: String,
    /// Its recipe.
    pub recipe: String,
    /// The host that it runs on.
    pub host: String,
    /// What it told; empty if it told nothing.
    pub values: Vec<ServiceValue>,
    /// Why it told nothing, in a sentence without its subject; `None`: it told. Untrusted text.
    pub cause: Option<String>,
}

/// A number of a service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServiceValue {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// How it goes.
    pub kind: MetricKind,
    /// The number; `None`: the service does not tell it.
    pub value: Option<f64>,
}

/// How a number goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MetricKind {
    /// It only grows, from the start of the service: what it grew by says something.
    Counter,
    /// It goes up and down: what it is says something.
    Gauge,
}

/// When a service was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Moment {
    /// Before the first request of a trial.
    Begin,
    /// After its last one.
    End,
}
