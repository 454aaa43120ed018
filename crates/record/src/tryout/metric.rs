//! Metrics of a tryout: one number per metric for each trial.

use crate::effect::{Better, EffectScale};
use serde::{Deserialize, Serialize};

macro_rules! metrics {
    ($($(#[$doc:meta])* $value:ident $name:literal $title:literal $unit:literal $better:ident $scale:ident $margin:literal;)+) => {
        /// A number of a trial.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Metric { $($(#[$doc])* $value,)+ }

        impl Metric {
            /// All metrics, in the order in which they are shown.
            pub const ALL: [Metric; [$($name),+].len()] = [$(Metric::$value),+];

            /// The word that is typed.
            pub fn name(self) -> &'static str {
                match self { $(Metric::$value => $name,)+ }
            }

            /// The words of a sentence: "CPU per request".
            pub fn title(self) -> &'static str {
                match self { $(Metric::$value => $title,)+ }
            }

            /// Unit of its values: `ns`, `hz`, `s`, `ratio` or `bytes`.
            pub fn unit(self) -> &'static str {
                match self { $(Metric::$value => $unit,)+ }
            }

            /// Which way it gets better.
            pub fn better(self) -> Better {
                match self { $(Metric::$value => Better::$better,)+ }
            }

            /// How two values are put against each other: what may be zero has no ratio.
            pub fn scale(self) -> EffectScale {
                match self { $(Metric::$value => EffectScale::$scale,)+ }
            }

            /// The smallest effect that matters unless it is said: a ratio of A, or a difference. House values.
            pub fn default_margin(self) -> f64 {
                match self { $(Metric::$value => $margin,)+ }
            }
        }
    };
}

metrics! {
    /// CPU time (user and system) of the target's processes per ok response, at a fixed offered rate. Unit: nanoseconds.
    Cpu "cpu" "CPU per request" "ns" Lower Ratio 0.03;
    /// Highest rate that meets the objective. Unit: requests per second.
    Capacity "capacity" "capacity" "hz" Higher Ratio 0.05;
    /// 99th percentile of the latency that a user feels, at a fixed offered rate. Unit: nanoseconds.
    P99 "p99" "p99 latency" "ns" Lower Ratio 0.10;
    /// Completed and valid requests. Unit: requests per second.
    Goodput "goodput" "goodput" "hz" Higher Ratio 0.03;
    /// How long a command took. Unit: seconds.
    Time "time" "time" "s" Lower Ratio 0.03;
    /// CPU time (user and system) of a command and the children that it waited for. Unit: seconds.
    CpuTime "cpu-time" "CPU time" "s" Lower Ratio 0.03;
    /// Failed and timed-out requests, of those sent; of commands, those that failed. Unit: ratio.
    Errors "errors" "errors" "ratio" Lower Difference 0.0005;
    /// TCP segments of the host that were sent again, of those sent. Unit: ratio.
    Retransmits "retransmits" "retransmits" "ratio" Lower Difference 0.001;
    /// Resident memory of the target's processes, at most. Unit: bytes.
    Memory "memory" "memory" "bytes" Lower Ratio 0.05;
}
