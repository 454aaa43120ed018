//! What all threads of a trial share: the plan, compiled once and read only, and the order to stop.

use super::Control;
use crate::error::LoadError;
use crate::http1::{RequestBytes, Rules};
use crate::io::Route;
use std::sync::atomic::{AtomicU64, Ordering};
use sysdyno_record::load::{FailureClass, LearntBody};
use sysdyno_record::plan::{Endpoint, KeepAlive, LoadPlan, PhaseEnd, StampChoice};

/// The plan in the form that the hot path needs.
#[derive(Debug)]
pub(super) struct Job<'a> {
    pub plan: &'a LoadPlan,
    pub control: &'a Control,
    pub route: Route,
    pub rules: Rules,
    pub requests_per_connection: u32,
    /// End of each phase after the begin; `None` if the number of requests ends it. Unit: nanoseconds.
    pub phase_end_offsets_ns: Vec<Option<u64>>,
    pub is_open: bool,
    /// Whether the idle deadline can pass before the total one.
    pub has_idle_deadline: bool,
    learnt: Learnt,
}

impl<'a> Job<'a> {
    /// # Errors
    /// A plan that contradicts itself.
    pub(super) fn new(plan: &'a LoadPlan, control: &'a Control) -> Result<Job<'a>, LoadError> {
        check(plan)?;
        let request = RequestBytes::new(plan)?;
        let requests_per_connection = match plan.keep_alive {
            KeepAlive::Unlimited => u32::MAX,
            KeepAlive::Requests(count) => count,
        };
        let route = Route {
            endpoint: plan.target.endpoint.clone(),
            messages: [request.keep, request.last],
            is_single: requests_per_connection == 1,
            stamps: plan.stamps == StampChoice::Kernel && matches!(plan.target.endpoint, Endpoint::Tcp(_)),
        };
        Ok(Job {
            plan,
            control,
            route,
            rules: Rules::new(plan),
            requests_per_connection,
            phase_end_offsets_ns: phase_end_offsets_ns(plan),
            is_open: plan.arrival.is_open(),
            has_idle_deadline: plan.deadlines.idle < plan.deadlines.total,
            learnt: Learnt::default(),
        })
    }

    /// Whether connections are made before the first request and kept after it.
    pub(super) fn keeps_connections(&self) -> bool {
        self.requests_per_connection > 1
    }

    /// Learns the first body, and objects to later ones that differ.
    #[inline]
    pub(super) fn compare_body(&self, body: LearntBody) -> Option<FailureClass> {
        let is_compared = self.plan.validators.same_body;
        (is_compared && !self.learnt.accepts(body)).then_some(FailureClass::WrongBody)
    }

    /// The body that was learnt.
    pub(super) fn learnt_body(&self) -> Option<LearntBody> {
        self.learnt.get()
    }
}

fn phase_end_offsets_ns(plan: &LoadPlan) -> Vec<Option<u64>> {
    let mut offset_ns = 0u64;
    let ends = plan.phases.iter().map(|phase| match phase.end {
        PhaseEnd::After(span) => {
            offset_ns = offset_ns.saturating_add(span.0);
            Some(offset_ns)
        }
        PhaseEnd::Requests(_) => None,
    });
    ends.collect()
}

fn check(plan: &LoadPlan) -> Result<(), LoadError> {
    let counted = plan.phases.iter().rposition(|phase| matches!(phase.end, PhaseEnd::Requests(_)));
    if plan.phases.is_empty() {
        return Err(LoadError::plan("it has no phase"));
    }
    if counted.is_some_and(|position| position + 1 < plan.phases.len()) {
        return Err(LoadError::plan("only the last phase may be ended by a number of requests"));
    }
    if plan.connections == 0 || plan.threads == 0 {
        return Err(LoadError::plan("it needs at least one connection and one thread"));
    }
    if plan.threads > plan.connections {
        return Err(LoadError::plan(format!(
            "{} threads cannot share {} connections",
            plan.threads, plan.connections
        )));
    }
    if plan.keep_alive == KeepAlive::Requests(0) {
        return Err(LoadError::plan("a connection must carry at least one request"));
    }
    let has_rate = |rate: Option<f64>| rate.is_some_and(|rate| rate.is_finite() && rate > 0.0);
    if plan.arrival.is_open() && !plan.phases.iter().all(|phase| has_rate(phase.rate_hz)) {
        return Err(LoadError::plan("an open arrival process needs a rate in every phase"));
    }
    Ok(())
}

/// A body that the threads agree on: set once, by whoever receives the first valid response.
#[derive(Debug, Default)]
struct Learnt {
    /// Bit 63: set; bits 32 to 62: length; below: checksum. After it is set, it is only read.
    packed: AtomicU64,
}

const IS_SET: u64 = 1 << 63;

impl Learnt {
    fn accepts(&self, body: LearntBody) -> bool {
        let packed = IS_SET | (body.body_bytes & 0x7fff_ffff) << 32 | u64::from(body.crc32);
        let known = self.packed.load(Ordering::Relaxed);
        if known != 0 {
            return known == packed;
        }
        let set = self.packed.compare_exchange(0, packed, Ordering::Relaxed, Ordering::Relaxed);
        set.is_ok_and(|_| true) || set == Err(packed)
    }

    fn get(&self) -> Option<LearntBody> {
        let packed = self.packed.load(Ordering::Relaxed);
        let body = LearntBody { crc32: packed as u32, body_bytes: (packed & !IS_SET) >> 32 };
        (packed != 0).then_some(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_body_is_learnt_and_others_are_not_accepted() {
        let learnt = Learnt::default();
        let first = LearntBody { crc32: 7, body_bytes: 0 };
        assert_eq!(learnt.get(), None);
        assert!(learnt.accepts(first));
        assert!(learnt.accepts(first));
        assert!(!learnt.accepts(LearntBody { crc32: 7, body_bytes: 1 }));
        assert_eq!(learnt.get(), Some(first));
    }
}
