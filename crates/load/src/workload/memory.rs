//! What a user of a session remembers between requests: cookies, and values taken from responses. All of it is bounded.

use super::cookies::Jar;

/// Longest value that is taken from a response. Unit: bytes.
pub(crate) const MAX_TAKEN_BYTES: usize = 4 * 1024;

/// Different values that a session may take.
pub const MAX_TAKEN_COUNT: usize = 16;

/// What a user remembers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    pub cookies: Jar,
    taken: Vec<Vec<u8>>,
}

impl Memory {
    /// A value that was taken; empty if it never was.
    pub(crate) fn taken(&self, number: usize) -> &[u8] {
        self.taken.get(number).map_or(&[], Vec::as_slice)
    }

    /// Remembers a value in the place of what was there.
    pub(crate) fn take(&mut self, number: usize, value: &[u8]) {
        if self.taken.len() <= number {
            self.taken.resize(number + 1, Vec::new());
        }
        let place = &mut self.taken[number];
        place.clear();
        place.extend_from_slice(value);
    }

    /// A new session of the same user knows nothing of the one before.
    pub(crate) fn forget(&mut self) {
        self.cookies.forget();
        self.taken.iter_mut().for_each(Vec::clear);
    }
}
