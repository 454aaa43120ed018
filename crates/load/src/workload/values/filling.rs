//! Computes the values of a request: they depend only on the seed, the user, and the request's number.

use crate::workload::memory::Memory;
use crate::workload::versions::Version;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::SplitMix64;
use std::sync::Arc;
use sysdyno_record::units::MonoNs;
use sysdyno_record::workload::Cells;

/// Which request it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Drawn {
    /// Its number among those of its kind, over all threads, from 0.
    pub number: u64,
    /// The row that comes next: by the number of the user, where there are users.
    pub row: u64,
    /// Where its random numbers come from.
    pub seed: u64,
}

impl Drawn {
    /// Request `number` of a kind.
    pub(crate) fn of_kind(seed: u64, kind: u32, number: u64) -> Drawn {
        Drawn { number, row: number, seed: mix(mix(seed, u64::from(kind)), number) }
    }

    /// The request of a user who has made so many before, and which is `number` of its kind.
    pub(crate) fn of_user(seed: u64, user: u64, asked_count: u32, number: u64) -> Drawn {
        Drawn { number, row: user, seed: mix(mix(!seed, user), u64::from(asked_count)) }
    }
}

/// A number that has nothing to do with those of the neighbors of either.
fn mix(left: u64, right: u64) -> u64 {
    SplitMix64::seed_from_u64(SplitMix64::seed_from_u64(left).random::<u64>() ^ right).random()
}

/// All that a request is filled with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filling<'a> {
    /// Which request it is.
    pub drawn: Drawn,
    /// Tables, in the order of the plan.
    pub files: &'a [Arc<Cells>],
    /// Number of the user, from 0.
    pub user: u64,
    /// What the user remembers; `None`: nothing yet.
    pub memory: Option<&'a Memory>,
    /// The version of the object in the user's cache, if the request asks for one that is there.
    pub version: Option<&'a Version>,
    /// Whether the connection ends with this request.
    pub is_last: bool,
    /// Whether it is secured.
    pub is_secure: bool,
    /// When it is sent.
    pub now: MonoNs,
}

/// Sets rows apart from other random numbers of a request.
const ROW_PLACE: u64 = 1 << 32;

impl<'a> Filling<'a> {
    pub(super) fn counter(&self, first: u64, count: u64) -> u64 {
        let step = if count == 0 { self.drawn.number } else { self.drawn.number % count };
        first.wrapping_add(step)
    }

    pub(super) fn random(&self, first: u64, last: u64, place: u64) -> u64 {
        SplitMix64::seed_from_u64(self.drawn.seed ^ place).random_range(first..=last)
    }

    /// Random cells of a table in one request are those of one row.
    pub(super) fn cell(&self, file: usize, column: usize, is_random: bool) -> &'a str {
        let Some(cells) = self.files.get(file) else { return "" };
        let rows = cells.lines.len().max(1) as u64;
        let row =
            if is_random { self.random(0, rows - 1, ROW_PLACE | file as u64) } else { self.drawn.row % rows };
        cells.cell(row as usize, column)
    }

    /// What was taken from a response; nothing before there was one.
    pub(super) fn taken(&self, number: usize) -> &'a [u8] {
        self.memory.map_or(&[], |memory| memory.taken(number))
    }

    /// Writes the cookies that belong to the path of the request that begins at `start`.
    pub(super) fn write_cookies(&self, start: usize, out: &mut Vec<u8>) {
        if let Some(memory) = self.memory {
            memory.cookies.write(start, self.is_secure, self.now, out);
        }
    }
}
