//! The interface of each kind of probe to the driver.

use rustix::event::{PollFd, PollFlags};
use sysdyno_record::probe::ProbeOutcome;
use sysdyno_record::units::MonoNs;

/// An operation that ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProbeEnd {
    pub sequence: u64,
    pub at: MonoNs,
    pub outcome: ProbeOutcome,
    pub connect_ns: Option<u64>,
    pub status: Option<u16>,
}

/// A way to carry out operations, any number of them at a time.
pub(super) trait Prober {
    /// Begins an operation; one that ends at once is put into `ended`.
    fn begin(&mut self, sequence: u64, ended: &mut Vec<ProbeEnd>);

    /// What is to be waited for.
    fn watched(&self) -> Vec<PollFd<'_>>;

    /// Goes on with what is ready, in the order of [`Prober::watched`].
    fn advance(&mut self, ready: &[PollFlags], ended: &mut Vec<ProbeEnd>);

    /// Gives an operation up; its end is not reported.
    fn abandon(&mut self, sequence: u64);
}
