//! The objectives that a load must meet.

use crate::units::SpanNs;
use serde::{Deserialize, Serialize};

/// What a rate must meet to count as carried by the server.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Objective {
    /// The percentile of response time that is limited, as a ratio: 0.99 for p99.
    pub percentile_ratio: f64,
    /// Its limit.
    pub limit: SpanNs,
    /// Least achieved ÷ offered rate.
    pub min_achieved_ratio: f64,
    /// Greatest share of requests that failed or timed out.
    pub max_error_ratio: f64,
}

impl Default for Objective {
    fn default() -> Objective {
        Objective {
            percentile_ratio: 0.99,
            limit: SpanNs::from_millis(50),
            min_achieved_ratio: 0.99,
            max_error_ratio: 0.001,
        }
    }
}
