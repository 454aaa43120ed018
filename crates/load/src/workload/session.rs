//! Sessions, compiled to flat tables: the requests of each operation, what follows it, and when.
//!
//! Each user has its own random generator, seeded by the plan's seed and the user's number. So a user's operations and cycle
//! times depend neither on the server nor on the number of threads.

use super::learnt::Bodies;
use super::memory::MAX_TAKEN_COUNT;
use super::take::{Take, Taking};
use super::values::{self, Names};
use super::versions::{VersionNumber, Versions};
use super::{KindOf, Making, Messages, RequestKind, Requests};
use crate::error::LoadError;
use crate::protocol::http1::Rules;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::SplitMix64;
use sysdyno_record::plan::{LoadPlan, RequestSpec, Validators};
use sysdyno_record::session::{Distribution, MAX_OBJECTS, Pace, SessionOperation, SessionPlan};

/// The tables of a session, read only while it runs.
#[derive(Debug)]
pub(crate) struct Tables {
    /// By position in the plan.
    pub operations: Vec<Steps>,
    pub first: u16,
    pub cold_ratio: f64,
    /// Objects whose versions caches remember, by their bits; 0: none.
    pub objects_count: usize,
}

/// What an operation is made of.
#[derive(Debug)]
pub(crate) struct Steps {
    page: RequestKind,
    objects: Vec<Embedded>,
    next: Walk,
    pub exit_ratio: f64,
    pub pace: Pace,
    pub begins_session: bool,
}

/// An object that a page embeds.
#[derive(Clone, Copy, Debug)]
struct Embedded {
    /// Its bit in the memory of a cache.
    bit: u8,
    plain: RequestKind,
    /// The form that asks whether it has changed; `None` for images.
    conditional: Option<RequestKind>,
}

/// One row of the matrix: upper ends of each operation's part of [0, 1).
#[derive(Clone, Debug)]
struct Walk {
    ends: Vec<f64>,
}

/// What a user has fetched, and how it treats that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cache {
    fetched: u128,
    is_warm: bool,
    /// The versions of objects in a warm cache, by their bits; `None`: nothing was asked for yet.
    versions: Option<Box<[VersionNumber]>>,
}

impl Tables {
    /// The generator of a user.
    pub(crate) fn random_of(seed: u64, user: u64) -> SplitMix64 {
        // The state of a SplitMix64 goes on in equal steps: states that are a few steps apart are the same sequence soon.
        // So each user begins at a place that has nothing to do with that of its neighbor.
        let place = |number: u64| SplitMix64::seed_from_u64(number).random::<u64>();
        SplitMix64::seed_from_u64(place(seed) ^ place(place(user).wrapping_add(1)))
    }

    /// The cache with which a session begins.
    pub(crate) fn new_cache(&self, random: &mut SplitMix64) -> Cache {
        Cache { is_warm: random.random::<f64>() >= self.cold_ratio, ..Cache::default() }
    }

    /// The request of a step: 0 is the page, then come its objects; with it the step that comes after. `None`: the
    /// operation is over.
    pub(crate) fn request(
        &self,
        operation: u16,
        step: u16,
        cache: &mut Cache,
        versions: &Versions,
    ) -> Option<(RequestKind, u16)> {
        let steps = &self.operations[operation as usize];
        if step == 0 {
            return Some((steps.page, 1));
        }
        let left = steps.objects.iter().enumerate().skip(step as usize - 1);
        for (position, object) in left {
            if let Some(kind) = cache.wants(object, versions) {
                return Some((kind, position as u16 + 2));
            }
        }
        None
    }

    /// The operation that comes after one.
    pub(crate) fn next(&self, operation: u16, random: &mut SplitMix64) -> u16 {
        let uniform: f64 = random.random();
        self.operations[operation as usize].next.at(uniform)
    }
}

impl Cache {
    /// Decides whether and how an object is requested, and remembers it.
    ///
    /// A warm cache has from an earlier session what the server gave last, and asks each time whether that is still good;
    /// as long as nothing is known that it could ask by, it fetches the object each time.
    fn wants(&mut self, object: &Embedded, versions: &Versions) -> Option<RequestKind> {
        let bit = 1 << object.bit;
        let is_new = self.fetched & bit == 0;
        match object.conditional {
            Some(conditional) if self.is_warm => {
                if is_new && self.version(object.bit) == 0 {
                    self.set_version(object.bit, versions.latest(object.bit), versions);
                }
                self.fetched |= bit;
                Some(if self.version(object.bit) == 0 { object.plain } else { conditional })
            }
            _ if is_new => {
                self.fetched |= bit;
                Some(object.plain)
            }
            _ => None,
        }
    }

    /// The version of an object that it has; 0 for none that could be asked by.
    pub(crate) fn version(&self, object: u8) -> VersionNumber {
        self.versions.as_ref().and_then(|versions| versions.get(object as usize).copied()).unwrap_or(0)
    }

    /// Takes a version in the place of the one that it has.
    pub(crate) fn set_version(&mut self, object: u8, number: VersionNumber, versions: &Versions) {
        if !self.is_warm || number == self.version(object) {
            return;
        }
        let mine = self.versions.get_or_insert_with(|| vec![0; versions.objects_count()].into());
        if let Some(version) = mine.get_mut(object as usize) {
            *version = number;
        }
    }
}

impl Walk {
    fn new(weights: &[f64]) -> Result<Walk, LoadError> {
        let is_weight = |weight: &f64| weight.is_finite() && *weight >= 0.0;
        let sum: f64 = weights.iter().sum();
        if !weights.iter().all(is_weight) || sum <= 0.0 || !sum.is_finite() {
            return Err(LoadError::plan("an operation of the session has no successor"));
        }
        let mut end = 0.0;
        let ends = weights.iter().map(|weight| {
            end += weight / sum;
            end
        });
        let mut ends: Vec<f64> = ends.collect();
        // Rounding cannot lead beyond the last operation that may follow.
        let last = weights.iter().rposition(|weight| *weight > 0.0).unwrap_or(0);
        ends.truncate(last);
        Ok(Walk { ends })
    }

    fn at(&self, uniform: f64) -> u16 {
        self.ends.partition_point(|end| *end <= uniform) as u16
    }
}

/// Draws a time. Unit: nanoseconds.
pub(crate) fn draw_ns(distribution: &Distribution, random: &mut SplitMix64) -> u64 {
    let uniform: f64 = random.random();
    // 1 − u lies in (0, 1], so that the logarithm is finite.
    let exponential = |mean_ns: f64| -(1.0 - uniform).ln() * mean_ns;
    match *distribution {
        Distribution::Fixed(span) => span.0,
        Distribution::Uniform { min, max } => min.0 + (max.0.saturating_sub(min.0) as f64 * uniform) as u64,
        Distribution::Exponential { mean, min, max, is_shifted: true } => {
            let above = exponential(mean.0.saturating_sub(min.0) as f64);
            ((min.0 as f64 + above) as u64).min(max.0)
        }
        Distribution::Exponential { mean, min, max, is_shifted: false } => {
            (exponential(mean.0 as f64) as u64).clamp(min.0, max.0.max(min.0))
        }
    }
}

/// The requests of a plan with sessions: each operation's page, then its objects in both forms.
///
/// # Errors
/// A request that would not be valid HTTP, or tables that contradict each other.
pub(super) fn compile(plan: &LoadPlan, session: &SessionPlan) -> Result<(Requests, Messages), LoadError> {
    let operations = &plan.workload.operations;
    check(session, operations.len())?;
    let taken = taken(session)?;
    let names = Names {
        files: &plan.workload.files,
        taken: &taken,
        has_users: true,
        keeps_cookies: session.cookies,
        asks_by_version: false,
    };
    let mut compiling = Compiling { plan, names, making: Making::default() };
    let mut takings = Vec::new();
    for (number, operation) in (0..).zip(operations) {
        let taking = taking(session, &session.operations[number as usize], &taken);
        let rules = Rules::of(&operation.validators, plan.max_body, operation.request.method == "HEAD");
        compiling
            .making
            .rules
            .push(rules.keeping(session.cookies || !taking.takes.is_empty(), taking.body_bytes()));
        takings.push(taking);
        let bodies = Bodies::of(&operation.validators);
        compiling.add([number; 2], &operation.request, &operation.path, bodies)?;
    }
    // What pages embed is held against nothing that is said of the pages.
    let validators = Validators { same_body: true, ..Validators::default() };
    let has_versions = session.objects.iter().any(|object| !object.is_image);
    let keeps_head = session.cookies || has_versions;
    compiling.making.rules.push(Rules::of(&validators, plan.max_body, false).keeping(keeps_head, 0));
    takings.push(Taking { keeps_cookies: session.cookies, takes: Vec::new() });
    let mut tables = Vec::new();
    for (number, operation) in (0..).zip(&session.operations) {
        let objects = operation.objects.iter().map(|object| compiling.object(number, session, *object));
        tables.push(Steps {
            page: number,
            objects: objects.collect::<Result<_, _>>()?,
            next: Walk::new(&operation.next)?,
            exit_ratio: operation.exit_ratio,
            pace: operation.pace,
            begins_session: operation.begins_session,
        });
    }
    let is_looked_through = session.cookies || !taken.is_empty();
    let tables = Tables {
        operations: tables,
        first: session.first as u16,
        cold_ratio: session.cold_ratio,
        objects_count: if has_versions { session.objects.len() } else { 0 },
    };
    let others = Requests {
        takings: if is_looked_through { takings } else { Vec::new() },
        session: Some(tables),
        ..Requests::default()
    };
    Ok(compiling.making.into_requests(plan, others))
}

/// Names of all values that are taken from responses, each once.
fn taken(session: &SessionPlan) -> Result<Vec<String>, LoadError> {
    let mut names: Vec<String> = Vec::new();
    for take in session.operations.iter().flat_map(|operation| &operation.takes) {
        if !names.contains(&take.name) {
            names.push(take.name.clone());
        }
    }
    if names.len() > MAX_TAKEN_COUNT {
        return Err(LoadError::plan(format!("a session takes at most {MAX_TAKEN_COUNT} different values")));
    }
    Ok(names)
}

fn taking(session: &SessionPlan, operation: &SessionOperation, names: &[String]) -> Taking {
    let number = |name: &String| names.iter().position(|known| known == name).unwrap_or(0);
    let takes = operation.takes.iter().map(|take| Take::from((number(&take.name), take)));
    Taking { keeps_cookies: session.cookies, takes: takes.collect() }
}

fn check(session: &SessionPlan, operations: usize) -> Result<(), LoadError> {
    let is_square = session.operations.iter().all(|operation| operation.next.len() == operations);
    if operations == 0 || session.operations.len() != operations || !is_square {
        return Err(LoadError::plan("the session's operations and its matrix do not match"));
    }
    let is_object = |object: &u32| (*object as usize) < session.objects.len();
    let has_objects = session.operations.iter().flat_map(|operation| &operation.objects).all(is_object);
    if session.first as usize >= operations || !has_objects {
        return Err(LoadError::plan("the session refers to an operation or object that does not exist"));
    }
    if session.objects.len() > MAX_OBJECTS {
        return Err(LoadError::plan(format!("a session has at most {MAX_OBJECTS} different objects")));
    }
    let has_arrivals = session.sessions_hz.is_none_or(|rate| rate.is_finite() && rate > 0.0);
    if !has_arrivals || (session.users == 0) == session.sessions_hz.is_none() {
        return Err(LoadError::plan("a session needs users or a rate of new sessions"));
    }
    Ok(())
}

struct Compiling<'a> {
    plan: &'a LoadPlan,
    names: Names<'a>,
    /// Rules of the pages, one for each operation, and then those of all objects.
    making: Making,
}

impl Compiling<'_> {
    /// A kind that is counted under an operation, and held against a set of rules.
    fn add(
        &mut self,
        [operation, rules]: [u32; 2],
        request: &RequestSpec,
        path: &str,
        bodies: Bodies,
    ) -> Result<RequestKind, LoadError> {
        let made = values::make(request, &self.plan.target, path, &self.names)?;
        Ok(self.making.add(made, KindOf { rules, ..KindOf::new(operation, bodies) }))
    }

    fn object(&mut self, operation: u32, session: &SessionPlan, number: u32) -> Result<Embedded, LoadError> {
        let object = &session.objects[number as usize];
        let request = RequestSpec {
            method: "GET".into(),
            headers: self.plan.request.headers.clone(),
            body: Default::default(),
            body_bytes: 0,
        };
        let rules = session.operations.len() as u32;
        let plain = self.add([operation, rules], &request, &object.path, Bodies::Same)?;
        if object.is_image {
            return Ok(Embedded { bit: number as u8, plain, conditional: None });
        }
        let names = Names { asks_by_version: true, ..self.names };
        let made = values::make(&request, &self.plan.target, &object.path, &names)?;
        let conditional = self.making.add(made, KindOf { rules, ..KindOf::new(operation, Bodies::Any) });
        for kind in [plain, conditional] {
            self.making.kinds[kind as usize].object = Some(number as u8);
        }
        Ok(Embedded { bit: number as u8, plain, conditional: Some(conditional) })
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
