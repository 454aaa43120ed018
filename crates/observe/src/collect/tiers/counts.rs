//! What the threads of a tier did at one instant, in numbers.

use crate::threads::KINDS;
use std::collections::BTreeMap;
use sysdyno_record::live::ThreadWait;
use sysdyno_record::plan::Endpoint;

/// What the threads of a tier did.
#[derive(Clone, Debug, Default)]
pub(super) struct TierCounts {
    /// Threads that serve requests.
    pub(super) threads: f64,
    /// By what they wait for, in the order of [`KINDS`].
    pub(super) waits: [f64; KINDS.len()],
    /// By the address of the tier that they wait for.
    pub(super) asking: BTreeMap<String, (Endpoint, f64)>,
}

impl TierCounts {
    /// Adds so many threads that wait for this, or for whom they ask.
    pub(super) fn add(&mut self, wait: ThreadWait, asked: Option<&Endpoint>, count: f64) {
        match asked {
            Some(address) => {
                let known = self.asking.entry(format!("{address:?}"));
                known.or_insert_with(|| (address.clone(), 0.0)).1 += count;
            }
            None => self.waits[wait as usize] += count,
        }
    }

    /// Multiplies all numbers.
    pub(super) fn scale(&mut self, scale: f64) {
        self.threads *= scale;
        self.waits.iter_mut().for_each(|count| *count *= scale);
        self.asking.values_mut().for_each(|(_, count)| *count *= scale);
    }

    /// Adds so many threads out of the rest: first those that ask somebody, last those that wait for a lock, as threads without work do.
    pub(super) fn add_missing(&mut self, mut missing: f64, rest: &TierCounts) {
        const ORDER: [ThreadWait; 6] = [
            ThreadWait::Disk,
            ThreadWait::Stopped,
            ThreadWait::Running,
            ThreadWait::Timer,
            ThreadWait::Process,
            ThreadWait::Lock,
        ];
        let asking =
            rest.asking.values().map(|(address, count)| (ThreadWait::Network, Some(address), *count));
        let waits = ORDER.into_iter().map(|wait| (wait, None, rest.waits[wait as usize]));
        for (wait, asked, count) in asking.chain(waits) {
            let added = count.min(missing);
            if added > 0.0 {
                self.add(wait, asked, added);
            }
            self.threads += added;
            missing -= added;
        }
    }
}
