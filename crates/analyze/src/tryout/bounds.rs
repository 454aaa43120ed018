//! Values of trials that are only lower bounds, and what they leave to say of an improvement.

use sysdyno_record::effect::{Better, Comparison};
use sysdyno_record::tryout::{Metric, Pair, TryTrial};

/// What pairs leave open, some of whose values are lower bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OpenPairs {
    /// Trials whose value is a lower bound.
    pub(super) trials_count: usize,
    /// Whether the improvement may be less than it seems.
    may_be_less: bool,
    /// Whether it may be more.
    may_be_more: bool,
}

impl OpenPairs {
    /// What these pairs leave open in a metric.
    pub(super) fn of<'a>(
        metric: Metric,
        pairs: impl Iterator<Item = &'a Pair>,
        trials: &[TryTrial],
    ) -> OpenPairs {
        let is_bound = |number: u32| {
            trials.iter().any(|trial| trial.trial == number && trial.lower_bounds.contains(&metric))
        };
        let mut open = OpenPairs::default();
        for pair in pairs {
            let [a, b] = [pair.a_trial, pair.b_trial].map(is_bound);
            open.trials_count += usize::from(a) + usize::from(b);
            // A greater value of B makes it worse where less is better, and one of A makes B better.
            let (less, more) = if metric.better() == Better::Lower { (b, a) } else { (a, b) };
            open.may_be_less |= less;
            open.may_be_more |= more;
        }
        open
    }

    /// Whether a word holds whatever lies beyond the bounds.
    pub(super) fn supports(&self, word: Comparison) -> bool {
        match word {
            Comparison::Better => !self.may_be_less,
            Comparison::Worse => !self.may_be_more,
            Comparison::Same => !self.may_be_less && !self.may_be_more,
            Comparison::CannotTell => true,
        }
    }
}
