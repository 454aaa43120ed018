//! A request's path through the server: the processes that the load reaches, the tiers that those call, and so on.

use serde::{Deserialize, Serialize};

/// One step of the way, over the measured phases of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathTier {
    /// What its first process is called. Untrusted text.
    pub name: String,
    /// The service or container that it runs in. Untrusted text. `None`: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Where it listens: `127.0.0.1:3306`, `/run/php/php8.2-fpm.sock`. Untrusted text. `None`: the load was sent to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Position in the list of the tier that asks it; `None`: the load does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_by: Option<usize>,
    /// Processes that were watched and lived at the end; all that were watched, if none of these did.
    pub processes_count: u64,
    /// Their threads together, on average; `None`: not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads_count: Option<f64>,
    /// CPU that they used. Unit: CPUs. `None`: not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<f64>,
    /// Time in which their threads could run but had no CPU, summed over threads. Unit: CPUs. `None`: not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_delay_cpus: Option<f64>,
    /// Connections that were accepted. `None`: not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<GaugeRange>,
    /// Those of them with bytes that nobody had read yet: requests that wait for an event loop; a worker with one connection
    /// may leave some until it has answered. `None`: not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<GaugeRange>,
    /// Connections that waited to be accepted. `None`: not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<GaugeRange>,
    /// The part of one request's time that these waited, by Little's law: queue ÷ rate of completed requests. Unit: nanoseconds.
    /// `None`: not read, or nothing was completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_time_ns: Option<f64>,
    /// How many of these there may be; the kernel allows one more. `None`: not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_limit_count: Option<f64>,
    /// Threads that served requests, on average, those that waited for one included. `None`: they could not be looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serving_count: Option<f64>,
    /// What these did while they had a request, the most first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<TierWait>,
    /// What the kernel saw of requests at its connections. `None`: nothing was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<TierRequests>,
    /// Whether it could not be looked into, and is only known as what others ask: it may be on another host.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_outside: bool,
}

impl PathTier {
    /// What it is called in a sentence: with its address, where others of the path have the same name. Untrusted text.
    pub fn called(&self, path: &[PathTier]) -> String {
        let is_only = path.iter().filter(|other| other.name == self.name).count() < 2;
        match &self.address {
            Some(address) if !is_only => format!("{} at {address}", self.name),
            _ => self.name.clone(),
        }
    }

    /// How many of its threads did this while they had a request, on average.
    pub fn threads_at(&self, kind: WaitKind) -> f64 {
        // The sum of none is a negative zero.
        self.waits.iter().filter(|wait| wait.kind == kind).map(|wait| wait.threads_count).sum::<f64>() + 0.0
    }

    /// Of its threads that serve requests, the part that waited for something other than a CPU while they had one. `None`: they
    /// could not be looked at, or there were none.
    pub fn waiting_ratio(&self) -> Option<f64> {
        let serving = self.serving_count.filter(|count| *count > 0.0)?;
        let waits = self.waits.iter().filter(|wait| wait.kind != WaitKind::Running);
        Some(waits.map(|wait| wait.threads_count).sum::<f64>() / serving)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls takes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// What the kernel saw of requests at the connections of a tier.
///
/// All counts and times are per request of the load: of a tier that is asked three times for each, the sum of the three.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TierRequests {
    /// Requests that it read.
    pub read_count: f64,
    /// From when a request came until it was read. Unit: nanoseconds.
    pub unread_ns: f64,
    /// From when a request was read until the last write of its answer. Unit: nanoseconds.
    pub inside_ns: f64,
    /// Of that, when only a part of the request was there: until more of it came. Unit: nanoseconds. `None`: requests cannot be told
    /// apart, or it was not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial_ns: Option<f64>,
    /// What it asked meanwhile, the longest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<TierAsked>,
    /// What is left of the time inside without what it asked; 0 where it asked several at once. Unit: nanoseconds. `None`:
    /// requests cannot be told apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_ns: Option<f64>,
    /// What is left of that without what its threads were seen at. Unit: nanoseconds. `None`: as `own_ns`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest_ns: Option<f64>,
    /// Messages of which it is not known whether they are one request or several, ÷ requests. Unit: ratio.
    pub merged_ratio: f64,
    /// Of the time that a request took for the load, the part in which it was neither unread nor inside: on the network, or
    /// where the load was sent from. Unit: ratio. `None`: the load did not reach this tier, or requests cannot be told apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elsewhere_ratio: Option<f64>,
    /// A round trip between generator and server, from the times of connects. Unit: nanoseconds. `None`: the load did not reach
    /// this tier, or opened too few connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trip_ns: Option<f64>,
}

/// What a tier asked at one address, per request of the load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TierAsked {
    /// Position of the tier that listens there.
    pub on: usize,
    /// Requests to it.
    pub sent_count: f64,
    /// From the first write of a request until the whole answer was there, without the time in which parts of it were not read.
    /// Unit: nanoseconds.
    pub waiting_ns: f64,
    /// In which answers, or parts of them, were there but not read. Unit: nanoseconds.
    pub unread_ns: f64,
    /// Messages of which it is not known whether they are one request or several, ÷ requests. Unit: ratio.
    pub merged_ratio: f64,
}

/// What threads of a tier did, or waited for, while they had a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TierWait {
    /// What.
    pub kind: WaitKind,
    /// Position of the tier that they asked; `None`: it is not that they asked one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<usize>,
    /// How many did at a time, on average.
    pub threads_count: f64,
    /// Of the time of one request of the load, by Little's law: threads ÷ rate of completed requests. Unit: nanoseconds. `None`:
    /// nothing was completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ns: Option<f64>,
}

/// What a thread does, or waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitKind {
    /// It is on a CPU, or ready.
    Running,
    /// Another thread or process that has a lock.
    Lock,
    /// Another process: the end of a child, or what comes through a pipe.
    Process,
    /// A disk.
    Disk,
    /// A time: it sleeps.
    Timer,
    /// To be continued: it was stopped.
    Stopped,
    /// The next tier.
    Asking,
    /// A connection to somewhere else, or one that was not seen.
    Network,
    /// Anything else.
    Other,
}

/// Readings of a gauge.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GaugeRange {
    /// Their mean.
    pub mean: f64,
    /// The greatest.
    pub max: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiers_of_one_name_are_called_by_their_address() {
        let tier = |name: &str, port: u16| {
            let address = format!("127.0.0.1:{port}");
            let tier = serde_json::json!({ "name": name, "address": address, "processes_count": 1 });
            serde_json::from_value::<PathTier>(tier).expect("is a tier")
        };
        let path = [tier("python3", 9001), tier("python3", 9002), tier("redis", 6379)];
        let called = path.each_ref().map(|tier| tier.called(&path));
        assert_eq!(called, ["python3 at 127.0.0.1:9001", "python3 at 127.0.0.1:9002", "redis"]);
    }
}
