//! A trial as read from its folder.

use crate::load::{TrialBegin, TrialEnd};

/// One trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Its plan.
    pub begin: TrialBegin,
    /// Its result; `None`: it was cut off, or still goes on.
    pub end: Option<TrialEnd>,
}
