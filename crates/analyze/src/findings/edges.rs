//! Requests from one tier to another, as the kernel saw them at both ends.

use crate::path::scope_of;
use crate::readings::Window;
use crate::threshold::{HOUSE, Threshold};
use crate::view::TrialView;
use sysdyno_record::column::{self, Quantity};
use sysdyno_record::load::LatencyKind;
use sysdyno_record::path::PathTier;

/// Below it, what has no answer was on its way at the end of the trial.
pub(super) const GIVEN_UP: Threshold = Threshold::new(
    "requests to the next tier given up before the answer ÷ all of them",
    0.05,
    "ratio",
    HOUSE,
);

/// Requests from one tier to another.
pub(super) struct Edge<'a> {
    /// What the two are called together in the record.
    pub(super) scope: &'a str,
    pub(super) from: &'a PathTier,
    pub(super) to: &'a PathTier,
    /// Requests that one end sent, and the answers that it read.
    pub(super) sent: f64,
    pub(super) came: f64,
    /// Requests that the other end read, and the answers that it sent.
    pub(super) read: f64,
    pub(super) answered: f64,
    /// In which the other end had them, unread or not, until it answered. Unit: nanoseconds.
    pub(super) there_ns: f64,
}

/// What was seen at both ends of each way between two tiers, where that can be told apart and something was answered.
pub(super) fn edges<'a>(path: &'a [PathTier], window: &Window<'a>) -> Vec<Edge<'a>> {
    window.scopes(column::ASKED_ANSWERED).into_iter().filter_map(|scope| edge(path, window, scope)).collect()
}

fn edge<'a>(path: &'a [PathTier], window: &Window<'a>, scope: &'a str) -> Option<Edge<'a>> {
    let (from, to) = scope.split_once('>')?;
    let from = path.iter().find(|tier| scope_of(tier) == from)?;
    let to = path.iter().find(|tier| tier.address.as_deref() == Some(to) && !tier.is_outside)?;
    let count = |counter, scope: &str| amount(window, counter, scope);
    let there = scope_of(to);
    let of_it = |counter| count(counter, &there);
    // Requests whose messages cannot be told apart have no answers of their own.
    let merged =
        count(column::ASKED_MERGED, scope).unwrap_or(0.0) + of_it(column::REQUESTS_MERGED).unwrap_or(0.0);
    let edge = Edge {
        scope,
        from,
        to,
        sent: count(column::ASKED_SENT, scope)?,
        came: count(column::ASKED_ANSWERED, scope)?,
        read: of_it(column::REQUESTS_READ)?,
        answered: of_it(column::REQUESTS_ANSWERED).filter(|answered| *answered > 0.0)?,
        there_ns: of_it(column::REQUESTS_INSIDE_TIME)? + of_it(column::REQUESTS_UNREAD_TIME)?,
    };
    (merged <= 0.0).then_some(edge)
}

fn amount(window: &Window, counter: Quantity, scope: &str) -> Option<f64> {
    Some(window.growth(counter, scope)?.amount)
}

/// Requests that tiers sent to the one of this address and gave up before it answered; 0 where that may be what was on its way at
/// the end of the trial.
pub(super) fn given_up(view: &TrialView, to: &str) -> f64 {
    let window = view.server_whole();
    let unanswered = window.scopes(column::ASKED_ANSWERED).into_iter().filter_map(|scope| {
        let (_, asked) = scope.split_once('>')?;
        let sent = amount(&window, column::ASKED_SENT, scope).filter(|_| asked == to)?;
        let unanswered = sent - amount(&window, column::ASKED_ANSWERED, scope)?;
        Some(unanswered).filter(|unanswered| *unanswered >= GIVEN_UP.value * sent)
    });
    unanswered.sum()
}

/// What a request that failed took, or one that did not where that is longer. Unit: nanoseconds.
pub(super) fn failing_ns(view: &TrialView) -> Option<f64> {
    Some(view.summary(LatencyKind::Failure).mean.unwrap_or(0.0).max(view.request_mean_ns()?))
}
