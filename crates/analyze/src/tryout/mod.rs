//! Tryouts: which trial comes next, which pairs count, and what they say about B against A.
//!
//! ```text
//! trials ─► pairs (neighbors, one of each arm, in blocks of ABBA or BAAB by the seed) ─► dropped by the environment?
//!        ─► differences ─► Hodges–Lehmann intervals ─► enough? ─► word, guardrails, diagnostics ─► conclusion
//! ```
//! The unit is the trial: requests of one trial share its luck, so they are no repetitions. One metric decides and is
//! said before the first trial. Measuring ends by the width of the interval and never by its sign, which keeps the rate
//! of false words where it was promised ([`sysdyno_stats::verdict`]).
//!
//! Invariants, each with a test of its name:
//! - the same trials lead to the same next trial and the same conclusion, so that a folder can be judged again;
//! - no pair is dropped for its value, and none for what its variant can have caused;
//! - what was used to choose a change does not prove it: the proof has trials of its own.
//!
//! House values are limits that were chosen and not derived.

mod bounds;
mod conclude;
mod course;
mod diagnose;
mod effect;
mod forecast;
mod guardrail;
mod observe;
mod pairs;
mod pilot;
mod possible;
mod sentence;
#[cfg(test)]
mod simulated;
mod stages;
mod standing;
#[cfg(test)]
mod tests;

pub use conclude::{Around, conclude};
pub use course::{Course, NextTrial};
pub(crate) use effect::effect_of;
pub use forecast::{Forecast, forecast};
pub use guardrail::default_guardrails;
pub use observe::{
    CommandOutcome, ObservedTrial, observe_capacity, observe_command, observe_load, observe_pilot,
};
pub use pilot::{PilotTrial, settle_rate, settle_warmup};
pub use possible::{Impossible, check_plan, check_samples};
pub(crate) use sentence::effect as effect_text;
pub use stages::variants_of;
pub use standing::Standing;
