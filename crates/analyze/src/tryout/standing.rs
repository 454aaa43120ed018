//! The interim state of a comparison.

use sysdyno_record::effect::Effect;
use sysdyno_record::tryout::{PairCaps, Stage};
use sysdyno_stats::estimate::Estimate;

/// How a comparison stands, for whoever looks on.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// The comparison.
    pub stage: Stage,
    /// Pairs that count.
    pub counted: u32,
    /// Pairs that were dropped.
    pub dropped: u32,
    /// Its bounds.
    pub caps: PairCaps,
    /// The improvement so far with its 95 % interval; `None`: too few pairs. Unit: difference on the metric's scale.
    pub improvement: Option<Estimate>,
    /// The same in the metric's own direction.
    pub effect: Option<Effect>,
    /// The same in a line: pairs, effect in the metric's own direction, the band.
    pub line: String,
}
