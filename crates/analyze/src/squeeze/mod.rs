//! Squeezes: which resources there are to take from, and what the loss of a little of each says.
//!
//! ```text
//! pilot ─► tiers, their CPUs and threads ─► variants and comparisons ─► trials and pairs, as in a tryout
//!       ─► elasticity of each resource, with the proof that its squeeze bit ─► ranks, sum test, conclusion
//! ```
//! The elasticity is ε = ln(X_b ÷ X_a) ÷ ln(1 − d), where a part d of a resource is taken away and X is the metric. Capacity
//! is homogeneous of degree 1 in all rates: with everything twice as fast, there is twice as much of it. By Euler's theorem
//! the elasticities of all rates sum up to 1 where capacity is smooth. A sum below 1 says that the list lacks a resource,
//! and a sum above 1 that several bind at once, as for X = min(a, b) with a = b.
//!
//! **CPU of a tier** is squeezed as slower CPUs would be. Its threads together get a quota of (1 − d) of the CPUs that they
//! could use at once, and for each second that they use, d ÷ (1 − d) of a second is burnt on their CPUs. Where the threads
//! limit the tier, the quota binds; where it shares busy CPUs with others, the burnt time does. A quota alone would miss the
//! second case, and one relative to what the tier *uses* would always cost the part that it takes, whatever limits the server.
//!
//! **Connections** of the closed load are no rate: they say how many requests wait at once. With N of them and a time R for
//! each request, X = N ÷ R (Little's law). Where R is a delay that does not depend on N, fewer connections cost what they are
//! fewer (ε = 1), and more would help: the server waits for its clients. Where they cost nothing, requests queue somewhere, so
//! that what the rates leave unexplained is a pool or a lock.
//!
//! **A link** is squeezed by the rate of the token bucket that limits what an interface sends. A link that nothing limits is
//! left out: it is as fast as the CPUs that serve it. **A disk** is squeezed by the limits that control groups have for it.
//!
//! **Workers, descriptors, memory, tasks, and places in queues** are no rates: less of them matters only where they are used up.
//! The pilot tells how much of each is used; nothing is taken away of these.
//!
//! Both squeezes of CPU are stop-and-go, so that latency rises in steps; squeezes are judged by goodput.

mod conclude;
mod disk;
mod elasticity;
mod find;
mod link;
mod list;
mod name;
mod seen;
mod sentence;
mod sum;
mod surroundings;
#[cfg(test)]
mod tests;
mod threshold;
mod tier;

pub use conclude::conclude;
pub use disk::SqueezableDisk;
pub use find::find;
pub use name::resource_name;
pub use seen::seen_bites;
pub use surroundings::{GeneratorCpus, PilotSurroundings, ServerNetwork};

use crate::tryout::Course;
use sysdyno_record::squeeze::{SqueezePlan, SqueezedResources};
use sysdyno_record::tryout::{TryLine, TryPlan};

/// The plan of the trials of a squeeze, once its resources are known.
pub fn try_plan(plan: &SqueezePlan, found: &SqueezedResources) -> TryPlan {
    TryPlan { variants: found.variants.clone(), contrasts: found.contrasts.clone(), ..plan.tryout.clone() }
}

/// A squeeze followed again from its lines, as far as they go, with what it found to squeeze; `None`: nothing was settled.
pub fn follow(plan: &SqueezePlan, lines: &[TryLine]) -> Option<(SqueezedResources, Course)> {
    let found = lines.iter().find_map(|line| match line {
        TryLine::Resources(found) => Some((**found).clone()),
        _ => None,
    })?;
    let course = Course::follow(&try_plan(plan, &found), lines)?;
    Some((found, course))
}
