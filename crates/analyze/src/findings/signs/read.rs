//! Which aspect of a reading counts: events, a rate, a share of time, a level, or its share of another reading.

use super::LimitSign;
use crate::format::name;
use crate::readings::{Window, process_scope, ratio};
use crate::view::TrialView;
use sysdyno_record::column::{CGROUP_GENERATOR, Quantity, ScopeKind};
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::units::MonoNs;

/// Between two readings of what changes slowly, such as file systems, at most. Unit: nanoseconds.
const AROUND_NS: u64 = 6_000_000_000;

/// What of a quantity is compared.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SignMeasure {
    /// How often a counter counted in the whole trial, all its scopes together.
    Events,
    /// The same without what another counter counted.
    EventsBeyond(Quantity),
    /// The same per request sent.
    EventsPerRequest,
    /// The same as a part of what another counter counted, of the scope with the greatest part.
    Part(Quantity),
    /// How often per second of the measured phases, all scopes together.
    Hz,
    /// Of a counter of time, the part of the measured phases; of the scope with most of it.
    TimeRatio,
    /// The mean of a gauge; of the scope with most of it.
    Mean,
    /// The greatest level as a part of another gauge's last one, of the scope with most of it.
    Level(Quantity),
    /// The last level as a part of another gauge's, of the scope with least of it; the sign is how much is missing to all of it.
    Used(Quantity),
}

/// A reading of a sign.
pub(crate) struct SignReading<'a> {
    pub(super) sign: &'a LimitSign,
    amount: f64,
    /// How often it counted in the whole trial; the amount, where it is no counter.
    events: f64,
    /// The scope that shows it best.
    pub(super) scope: String,
}

impl LimitSign {
    /// Its reading on the server's host; `None`: nothing was read.
    pub(super) fn read(&self, view: &TrialView) -> Option<SignReading<'_>> {
        let window = self.levels(view);
        let scopes = window.scopes(self.quantity).into_iter().filter(|scope| self.is_of_server(view, scope));
        let of = |scope| Some((self.amount(view, scope)?, scope));
        let amounts: Vec<(f64, &str)> = scopes.filter_map(of).collect();
        let (most, scope) = amounts.iter().copied().max_by(|(a, _), (b, _)| a.total_cmp(b))?;
        let amount =
            if self.measure.is_summed() { amounts.iter().map(|(amount, _)| amount).sum() } else { most };
        let counted = |scope| view.server_whole().occurrences(self.quantity, scope);
        let events = match self.measure {
            SignMeasure::EventsPerRequest => {
                amounts.iter().filter_map(|(_, scope)| counted(*scope)).sum::<f64>()
            }
            SignMeasure::Part(_) => counted(scope).unwrap_or(amount),
            _ => amount,
        };
        Some(SignReading { sign: self, amount, events, scope: scope.to_owned() })
    }

    /// Whether a scope is of the server or its host, and not of the generator or a neighbor.
    fn is_of_server(&self, view: &TrialView, scope: &str) -> bool {
        let is_target = |process: &&WatchedProcess| process_scope(process) == scope;
        match self.quantity.scope {
            ScopeKind::Process => view.processes(ProcessRole::Target).iter().any(is_target),
            _ => scope != CGROUP_GENERATOR,
        }
    }

    /// Where its levels are read: in the measured phases, or, where a load ended before any reading of them, around the trial.
    fn levels<'v>(&self, view: &TrialView<'v>) -> Window<'v> {
        let steady = view.server_steady();
        let is_read = |scope: &str| steady.level(self.quantity, scope).is_some();
        let is_level = matches!(self.measure, SignMeasure::Level(_) | SignMeasure::Used(_));
        let is_missing = is_level && !steady.scopes(self.quantity).into_iter().any(is_read);
        if !is_missing {
            return steady;
        }
        let (begin, end) = (view.begin.begin_mono_ns, view.end.end_mono_ns);
        Window::new(
            view.server_series(),
            MonoNs(begin.0.saturating_sub(AROUND_NS)),
            MonoNs(end.0.saturating_add(AROUND_NS)),
        )
    }

    fn amount(&self, view: &TrialView, scope: &str) -> Option<f64> {
        let (steady, quantity) = (view.server_steady(), self.quantity);
        match self.measure {
            SignMeasure::Events => view.server_whole().occurrences(quantity, scope),
            SignMeasure::EventsBeyond(other) => {
                let window = view.server_whole();
                let counted = window.occurrences(quantity, scope)? - window.occurrences(other, scope)?;
                Some(counted.max(0.0))
            }
            SignMeasure::EventsPerRequest => {
                ratio(view.server_whole().occurrences(quantity, scope)?, view.counts().sent as f64)
            }
            SignMeasure::Part(whole) => {
                let window = view.server_whole();
                // Where most are dropped, they may not be among all.
                ratio(window.occurrences(quantity, scope)?, window.occurrences(whole, scope)?)
                    .map(|part| part.min(1.0))
            }
            SignMeasure::Hz => steady.growth(quantity, scope)?.per_second(),
            SignMeasure::TimeRatio => {
                let unit = if quantity.unit == "ms" { 1e3 } else { 1e6 };
                steady.growth(quantity, scope)?.per_second().map(|per_second| per_second / unit)
            }
            SignMeasure::Mean => Some(steady.level(quantity, scope)?.mean),
            SignMeasure::Level(whole) => {
                let levels = self.levels(view);
                ratio(levels.level(quantity, scope)?.max, levels.level(whole, scope)?.last)
            }
            SignMeasure::Used(whole) => {
                let levels = self.levels(view);
                let left = ratio(levels.level(quantity, scope)?.last, levels.level(whole, scope)?.last)?;
                Some(1.0 - left)
            }
        }
    }
}

impl SignMeasure {
    fn is_summed(self) -> bool {
        match self {
            SignMeasure::Events
            | SignMeasure::EventsBeyond(_)
            | SignMeasure::EventsPerRequest
            | SignMeasure::Hz => true,
            SignMeasure::Part(_)
            | SignMeasure::TimeRatio
            | SignMeasure::Mean
            | SignMeasure::Level(_)
            | SignMeasure::Used(_) => false,
        }
    }

    fn is_of_whole_trial(self) -> bool {
        use SignMeasure::{Events, EventsBeyond, EventsPerRequest, Part};
        matches!(self, Events | EventsBeyond(_) | EventsPerRequest | Part(_))
    }
}

impl SignReading<'_> {
    pub(super) fn events(&self) -> f64 {
        self.events
    }

    pub(super) fn is_sign(&self) -> bool {
        self.amount >= self.sign.least.value
    }

    /// How many times the least amount it is.
    pub(super) fn excess(&self) -> f64 {
        ratio(self.amount, self.sign.least.value).unwrap_or(self.amount)
    }

    pub(super) fn text(&self) -> String {
        let object = self.scope.split_once(':').map_or("", |(_, object)| object);
        (self.sign.say)(self.amount, &name(object))
    }

    pub(super) fn window<'v>(&self, view: &TrialView<'v>) -> Window<'v> {
        if self.sign.measure.is_of_whole_trial() { view.server_whole() } else { view.server_steady() }
    }
}
