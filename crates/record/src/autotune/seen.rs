//! What is known of a server when changes are suggested, and a change that is suggested.

use super::Allowance;
use crate::analysis::Confidence;
use crate::change::SettingChange;
use crate::experiment::ServiceChange;
use serde::{Deserialize, Serialize};

/// A server under a full load, as it was seen last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SeenServer {
    /// What its bottleneck seems to be, the most certain first.
    pub findings: Vec<SeenFinding>,
    /// Command names of its processes, each once. Untrusted text.
    pub commands: Vec<String>,
    /// Settings that changes can be suggested for.
    pub settings: Vec<SeenSetting>,
    /// CPUs of its host; `None`: not known. Unit: count.
    pub cpus_count: Option<f64>,
    /// Memory of its host; `None`: not known. Unit: bytes.
    pub memory_bytes: Option<f64>,
}

/// A diagnosis that was not excluded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeenFinding {
    /// The rule: `F04`.
    pub id: String,
    /// The diagnosis in a sentence. Untrusted text.
    pub title: String,
    /// How certain it is.
    pub confidence: Confidence,
}

/// A setting as it was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenSetting {
    /// The definition that it has: `nginx:*:worker_processes`, `net.core.somaxconn`, or `RECIPE.PARAMETER` of a lab's service.
    pub id: String,
    /// What it is changed by: `nginx:/etc/nginx/nginx.conf:worker_processes`, or `SERVICE.PARAMETER`. Untrusted text.
    pub key: String,
    /// Its value; `None`: it is not set. Untrusted text.
    pub value: Option<String>,
    /// Whether it is a parameter of a lab's service, which is started anew to change it.
    pub is_parameter: bool,
}

/// A change that is suggested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CandidateChange {
    /// The remedy that it comes from.
    pub remedy: String,
    /// What it is, in a few words: `nginx: 2 worker processes`.
    pub title: String,
    /// Why it is suggested, in a sentence without its subject. Untrusted text.
    pub reason: String,
    /// Settings that it changes, with their values before.
    pub settings: Vec<SettingChange>,
    /// Parameters of a lab's services that it changes.
    pub services: Vec<ServiceChange>,
    /// What has to be allowed for it.
    pub needs: Vec<Allowance>,
}
