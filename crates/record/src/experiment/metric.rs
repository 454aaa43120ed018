//! What an experiment measures of a trial: one number per metric.

use crate::effect::{Better, EffectScale};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// A number of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// CPU time (user and system) of the target's processes per ok response, at a fixed offered rate. Unit: nanoseconds.
    Cpu,
    /// Highest rate that meets the objective. Unit: requests per second.
    Capacity,
    /// 99th percentile of the latency that a user feels, at a fixed offered rate. Unit: nanoseconds.
    P99,
    /// Completed and valid requests. Unit: requests per second.
    Goodput,
    /// How long a command took. Unit: seconds.
    Time,
    /// CPU time (user and system) of a command and the children that it waited for. Unit: seconds.
    CpuTime,
    /// Failed and timed-out requests, of those sent; of commands, those that failed. Unit: ratio.
    Errors,
    /// TCP segments of the host that were sent again, of those sent. Unit: ratio.
    Retransmits,
    /// Resident memory of the target's processes, at most. Unit: bytes.
    Memory,
}

impl Metric {
    /// All metrics, in the order in which they are shown.
    pub const ALL: [Metric; 9] = [
        Metric::Cpu,
        Metric::Capacity,
        Metric::P99,
        Metric::Goodput,
        Metric::Time,
        Metric::CpuTime,
        Metric::Errors,
        Metric::Retransmits,
        Metric::Memory,
    ];

    /// The word that is typed.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Cpu => "cpu",
            Metric::Capacity => "capacity",
            Metric::P99 => "p99",
            Metric::Goodput => "goodput",
            Metric::Time => "time",
            Metric::CpuTime => "cpu-time",
            Metric::Errors => "errors",
            Metric::Retransmits => "retransmits",
            Metric::Memory => "memory",
        }
    }

    /// The words of a sentence: "CPU per request".
    pub fn title(self) -> &'static str {
        match self {
            Metric::Cpu => "CPU per request",
            Metric::Capacity => "capacity",
            Metric::P99 => "p99 latency",
            Metric::Goodput => "goodput",
            Metric::Time => "time",
            Metric::CpuTime => "CPU time",
            Metric::Errors => "errors",
            Metric::Retransmits => "retransmits",
            Metric::Memory => "memory",
        }
    }

    /// Unit of its values: `ns`, `hz`, `s`, `ratio` or `bytes`.
    pub fn unit(self) -> &'static str {
        match self {
            Metric::Cpu | Metric::P99 => "ns",
            Metric::Capacity | Metric::Goodput => "hz",
            Metric::Time | Metric::CpuTime => "s",
            Metric::Errors | Metric::Retransmits => "ratio",
            Metric::Memory => "bytes",
        }
    }

    /// Which way it gets better.
    pub fn better(self) -> Better {
        match self {
            Metric::Capacity | Metric::Goodput => Better::Higher,
            _ => Better::Lower,
        }
    }

    /// How two values are put against each other: what may be zero has no ratio.
    pub fn scale(self) -> EffectScale {
        match self {
            Metric::Errors | Metric::Retransmits => EffectScale::Difference,
            _ => EffectScale::Ratio,
        }
    }

    /// The smallest effect that matters unless it is said: a ratio of A, or a difference. House values.
    pub fn default_margin(self) -> f64 {
        match self {
            Metric::Cpu | Metric::Goodput | Metric::Time | Metric::CpuTime => 0.03,
            Metric::Capacity | Metric::Memory => 0.05,
            Metric::P99 => 0.10,
            Metric::Errors => 0.0005,
            Metric::Retransmits => 0.001,
        }
    }
}

impl FromStr for Metric {
    type Err = String;

    fn from_str(text: &str) -> Result<Metric, String> {
        Metric::ALL.into_iter().find(|metric| metric.name() == text).ok_or_else(|| {
            let names: Vec<&str> = Metric::ALL.iter().map(|metric| metric.name()).collect();
            format!("'{text}' is not a metric: use one of {}", names.join(", "))
        })
    }
}
