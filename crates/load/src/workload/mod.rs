//! What is asked for: the requests of a load, made ready before the first one is sent.
//!
//! A load has *kinds* of request, numbered from 0. A kind is the bytes that are sent and what its response is held
//! against; kinds that are counted together are an *operation*. A plan with one request has one kind and no operations,
//! and costs what it always has: no number is drawn, nothing is counted twice.
//!
//! Everything that can be wrong with a request is found here, before a connection is made.

mod learnt;
pub mod log;
mod mix;
pub(crate) mod session;
pub mod urls;

pub(crate) use mix::Mix;

use crate::error::LoadError;
use crate::http1::{RequestBytes, Rules};
use learnt::Learnt;
use session::Tables;
use sysdyno_record::load::LearntBody;
use sysdyno_record::plan::{LoadPlan, RequestSpec};
use sysdyno_record::workload::{LogPlan, MAX_OPERATIONS, OperationPlan};

/// The bytes of all kinds, two forms of each: the one that keeps the connection, and the one that ends it.
pub(crate) type Messages = Vec<Box<[u8]>>;

/// Number of a kind of request.
pub(crate) type Kind = u32;

/// The kinds of request of a load, read only while it runs.
#[derive(Debug)]
pub(crate) struct Requests {
    kinds: Vec<KindOf>,
    rules: Vec<Rules>,
    /// How kinds are drawn.
    pub mix: Mix,
    /// Operations that are counted apart; 0 if there are none.
    pub operations_count: usize,
    /// What users do; `None` without users.
    pub session: Option<Tables>,
}

/// What is known of a kind besides its bytes.
#[derive(Debug)]
struct KindOf {
    operation: u32,
    rules: u32,
    compares_body: bool,
    learnt: Learnt,
}

impl Requests {
    /// The requests of a plan, and their bytes.
    ///
    /// # Errors
    /// A request that would not be valid HTTP, or more operations than can be kept apart.
    pub(crate) fn compile(plan: &LoadPlan) -> Result<(Requests, Messages), LoadError> {
        let operations = &plan.workload.operations;
        if operations.is_empty() {
            let bytes = RequestBytes::new(plan)?;
            let requests = Requests {
                kinds: vec![KindOf::new(0, plan.validators.same_body)],
                rules: vec![Rules::new(plan)],
                mix: Mix::of_one(),
                operations_count: 0,
                session: None,
            };
            return Ok((requests, vec![bytes.keep, bytes.last]));
        }
        if operations.len() > MAX_OPERATIONS {
            let count = operations.len();
            return Err(LoadError::plan(format!(
                "it has {count} operations; at most {MAX_OPERATIONS} are told apart"
            )));
        }
        if let Some(log) = &plan.workload.log {
            return of_log(plan, log);
        }
        if let Some(session) = &plan.workload.session {
            return session::compile(plan, session);
        }
        let mut messages = Vec::new();
        let mut rules = Vec::new();
        for operation in operations {
            let bytes = RequestBytes::of(&operation.request, &plan.target, &operation.path)?;
            messages.extend([bytes.keep, bytes.last]);
            rules.push(Rules::of(&operation.validators, plan.max_body, bytes.is_head));
        }
        let kind = |(number, operation): (u32, &OperationPlan)| KindOf {
            rules: number,
            ..KindOf::new(number, operation.validators.same_body)
        };
        let requests = Requests {
            kinds: (0..).zip(operations).map(kind).collect(),
            rules,
            mix: Mix::new(operations.iter().map(|operation| operation.weight))?,
            operations_count: operations.len(),
            session: None,
        };
        Ok((requests, messages))
    }

    /// What responses to this kind are held against.
    #[inline]
    pub(crate) fn rules(&self, kind: Kind) -> &Rules {
        &self.rules[self.kinds[kind as usize].rules as usize]
    }

    /// The operation that a kind is counted under; `None` if operations are not kept apart.
    #[inline]
    pub(crate) fn operation(&self, kind: Kind) -> Option<usize> {
        (self.operations_count > 0).then(|| self.kinds[kind as usize].operation as usize)
    }

    /// Learns the first body of a kind; whether this one is the same, or none is compared.
    #[inline]
    pub(crate) fn accepts_body(&self, kind: Kind, body: LearntBody) -> bool {
        let kind = &self.kinds[kind as usize];
        !kind.compares_body || kind.learnt.accepts(body)
    }

    /// The body that was learnt, of a load with one request.
    pub(crate) fn learnt_body(&self) -> Option<LearntBody> {
        match self.kinds.as_slice() {
            [only] => only.learnt.get(),
            _ => None,
        }
    }
}

/// The requests of a log: a kind for each that is different.
fn of_log(plan: &LoadPlan, log: &LogPlan) -> Result<(Requests, Messages), LoadError> {
    let operations = &plan.workload.operations;
    let mut messages = Vec::new();
    let mut weights = vec![0.0; log.requests.len()];
    log.arrivals.iter().for_each(|arrival| weights[log::kind_of(arrival) as usize] += 1.0);
    // Two sets of rules: of requests whose responses have bodies, and of those whose responses have none.
    let rules = [false, true].map(|is_head| Rules::of(&plan.validators, plan.max_body, is_head));
    let mut kinds = Vec::new();
    for logged in &*log.requests {
        let request = RequestSpec { method: logged.method.as_ref().into(), ..plan.request.clone() };
        let bytes = RequestBytes::of(&request, &plan.target, &logged.path)?;
        messages.extend([bytes.keep, bytes.last]);
        let operation = logged.operation.min(operations.len() as u32 - 1);
        let kind = KindOf::new(operation, plan.validators.same_body);
        kinds.push(KindOf { rules: u32::from(bytes.is_head), ..kind });
    }
    let requests = Requests {
        kinds,
        rules: rules.into(),
        mix: Mix::new(weights)?,
        operations_count: operations.len(),
        session: None,
    };
    Ok((requests, messages))
}

impl KindOf {
    fn new(operation: u32, compares_body: bool) -> KindOf {
        KindOf { operation, rules: 0, compares_body, learnt: Learnt::default() }
    }
}
