//! The requests of a load, prepared before the first one is sent.
//!
//! A load has *kinds* of request, numbered from 0. A kind is the bytes to send and the rules for the response; kinds that
//! are counted together are an *operation*. A plan with one request has one kind and no operations, at no extra cost: no
//! random number is drawn, nothing is counted twice.
//!
//! All errors in requests are found here, before a connection is opened.

pub mod cookies;
pub mod json;
mod learnt;
pub mod log;
pub mod memory;
mod mix;
pub(crate) mod session;
pub(crate) mod take;
pub mod urls;
pub mod values;
pub(crate) mod versions;

pub(crate) use mix::Mix;

use crate::error::LoadError;
use crate::page;
use crate::protocol::http1::{RequestBytes, Rules};
use learnt::{Bodies, Learnt, Likeness};
use session::Tables;
use std::sync::Arc;
use sysdyno_record::load::LearntBody;
use sysdyno_record::plan::{LoadPlan, RequestSpec};
use sysdyno_record::workload::{Cells, LogPlan, MAX_OPERATIONS};
use take::Taking;
use values::{Made, Names, Template};

/// The bytes of all kinds, two forms of each: the one that keeps the connection, and the one that ends it.
pub(crate) type Messages = Vec<Box<[u8]>>;

/// Number of a kind of request.
pub(crate) type RequestKind = u32;

/// The kinds of request of a load, read only while it runs.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    kinds: Vec<KindOf>,
    rules: Vec<Rules>,
    /// What responses are looked through for, by set of rules; empty: for nothing.
    takings: Vec<Taking>,
    /// How requests are written that are not always the same; `None`: all are.
    pub templates: Option<Templates>,
    /// How kinds are drawn.
    pub mix: Mix,
    /// Operations that are counted apart; 0 if there are none.
    pub operations_count: usize,
    /// What users do; `None` without users.
    pub session: Option<Tables>,
}

/// How requests with values are written.
#[derive(Debug)]
pub(crate) struct Templates {
    /// By kind; `None`: it is always the same.
    pub kinds: Vec<Option<Template>>,
    /// The tables, in the order of the plan.
    pub files: Vec<Arc<Cells>>,
}

/// What is known of a kind besides its bytes.
#[derive(Debug)]
struct KindOf {
    operation: u32,
    rules: u32,
    bodies: Bodies,
    learnt: Learnt,
    /// The embedded object that it asks for, if caches remember its versions.
    object: Option<u8>,
}

impl Requests {
    /// The requests of a plan, and their bytes.
    ///
    /// # Errors
    /// A request that would not be valid HTTP, or more operations than can be kept apart.
    pub(crate) fn compile(plan: &LoadPlan) -> Result<(Requests, Messages), LoadError> {
        let operations = &plan.workload.operations;
        if operations.len() > MAX_OPERATIONS {
            let count = operations.len();
            return Err(LoadError::plan(format!(
                "it has {count} operations; the maximum is {MAX_OPERATIONS}"
            )));
        }
        if let Some(log) = plan.workload.log.as_ref().filter(|_| !operations.is_empty()) {
            return of_log(plan, log);
        }
        if let Some(session) = plan.workload.session.as_ref().filter(|_| !operations.is_empty()) {
            return session::compile(plan, session);
        }
        let names = Names { files: &plan.workload.files, ..Names::default() };
        let mut making = Making::default();
        if operations.is_empty() {
            let made = values::make(&plan.request, &plan.target, &plan.target.path, &names)?;
            making.rules.push(Rules::new(plan));
            making.add(made, KindOf::new(0, Bodies::of(&plan.validators)));
        }
        for (number, operation) in (0..).zip(operations) {
            let made = values::make(&operation.request, &plan.target, &operation.path, &names)?;
            making.rules.push(Rules::of(&operation.validators, plan.max_body, made.bytes.is_head));
            making.add(
                made,
                KindOf { rules: number, ..KindOf::new(number, Bodies::of(&operation.validators)) },
            );
        }
        let weights = operations.iter().map(|operation| operation.weight);
        let mix = if operations.is_empty() { Mix::of_one() } else { Mix::new(weights)? };
        Ok(making.into_requests(plan, Requests { mix, ..Requests::default() }))
    }

    /// What responses to this kind are held against.
    #[inline]
    pub(crate) fn rules(&self, kind: RequestKind) -> &Rules {
        &self.rules[self.kinds[kind as usize].rules as usize]
    }

    /// What responses to this kind are looked through for; `None`: for nothing.
    #[inline]
    pub(crate) fn taking(&self, kind: RequestKind) -> Option<&Taking> {
        self.takings.get(self.kinds[kind as usize].rules as usize)
    }

    /// The embedded object that a kind asks for; `None`: something else, or one whose versions nobody remembers.
    #[inline]
    pub(crate) fn object(&self, kind: RequestKind) -> Option<u8> {
        self.kinds[kind as usize].object
    }

    /// The operation that a kind is counted under; `None` if operations are not kept apart.
    #[inline]
    pub(crate) fn operation(&self, kind: RequestKind) -> Option<usize> {
        (self.operations_count > 0).then(|| self.kinds[kind as usize].operation as usize)
    }

    /// Learns the first body of a kind that is no error page; whether this one is as it may be. `kept`: the
    /// beginning of the body, where it was kept.
    #[inline]
    pub(crate) fn accepts_body<'a>(
        &self,
        kind: RequestKind,
        body: LearntBody,
        kept: impl Fn() -> &'a [u8],
    ) -> bool {
        let number = kind;
        let kind = &self.kinds[number as usize];
        if kind.bodies == Bodies::Any {
            return true;
        }
        let is_error_page = || page::is_error_page(kept(), body.body_bytes);
        match kind.learnt.compare(body, is_error_page) {
            Likeness::Same => true,
            Likeness::Learnt => {
                self.rules(number).watch.note_learnt();
                true
            }
            Likeness::Different if kind.bodies == Bodies::Alike => {
                // What the next ones say is read.
                self.rules(number).watch.note_wrong();
                kind.learnt.varies_to(body, is_error_page)
            }
            Likeness::Different => false,
        }
    }

    /// The body that was learnt, of a load with one request.
    pub(crate) fn learnt_body(&self) -> Option<LearntBody> {
        match self.kinds.as_slice() {
            [only] => only.learnt.get(),
            _ => None,
        }
    }
}

/// Whether the requests of a plan can be made.
///
/// # Errors
/// What a load of this plan would end with before it sends anything, as far as its requests are concerned.
pub fn check(plan: &LoadPlan) -> Result<(), LoadError> {
    Requests::compile(plan).map(drop)
}

/// Kinds of request while they are made.
#[derive(Debug, Default)]
struct Making {
    messages: Messages,
    kinds: Vec<KindOf>,
    rules: Vec<Rules>,
    templates: Vec<Option<Template>>,
}

impl Making {
    fn add(&mut self, made: Made, kind: KindOf) -> RequestKind {
        let RequestBytes { keep, last, .. } = made.bytes;
        if let Some(rules) = self.rules.get(kind.rules as usize).filter(|_| kind.bodies != Bodies::Any) {
            rules.watch.expect_body();
        }
        self.messages.extend([keep, last]);
        self.templates.push(made.template);
        self.kinds.push(kind);
        self.kinds.len() as RequestKind - 1
    }

    /// All that was made, and the rest from `others`.
    fn into_requests(self, plan: &LoadPlan, others: Requests) -> (Requests, Messages) {
        let has_templates = self.templates.iter().any(Option::is_some);
        let files = || plan.workload.files.iter().map(|file| Arc::clone(&file.cells)).collect();
        let requests = Requests {
            kinds: self.kinds,
            rules: self.rules,
            templates: has_templates.then(|| Templates { kinds: self.templates, files: files() }),
            operations_count: plan.workload.operations.len(),
            ..others
        };
        (requests, self.messages)
    }
}

/// The requests of a log: a kind for each that is different. Their paths are those of the log to the letter.
fn of_log(plan: &LoadPlan, log: &LogPlan) -> Result<(Requests, Messages), LoadError> {
    let operations = &plan.workload.operations;
    let mut weights = vec![0.0; log.requests.len()];
    log.arrivals.iter().for_each(|arrival| weights[log::kind_of(arrival) as usize] += 1.0);
    // Two sets of rules: of requests whose responses have bodies, and of those whose responses have none.
    let rules = [false, true].map(|is_head| Rules::of(&plan.validators, plan.max_body, is_head));
    let mut making = Making { rules: rules.into(), ..Making::default() };
    for logged in &*log.requests {
        let request = RequestSpec { method: logged.method.as_ref().into(), ..plan.request.clone() };
        let bytes = RequestBytes::of(&request, &plan.target, &logged.path)?;
        let operation = logged.operation.min(operations.len() as u32 - 1);
        let kind = KindOf::new(operation, Bodies::of(&plan.validators));
        let rules = u32::from(bytes.is_head);
        making.add(Made { bytes, template: None }, KindOf { rules, ..kind });
    }
    Ok(making.into_requests(plan, Requests { mix: Mix::new(weights)?, ..Requests::default() }))
}

impl KindOf {
    fn new(operation: u32, bodies: Bodies) -> KindOf {
        KindOf { operation, rules: 0, bodies, learnt: Learnt::default(), object: None }
    }
}
