//! Frames and objects before they have names: small numbers for frames and objects that occur repeatedly.
//!
//! This is the only place that keeps addresses, and it ends with the recording.

use crate::wire::{MappedFile, Mapping};
use std::collections::HashMap;
use std::hash::Hash;

/// Where a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RawFrame {
    /// An address of the kernel.
    Kernel(u64),
    /// An offset into a file.
    File { object: u32, file_offset: u64 },
    /// Executable memory of a process without a file: a JIT's.
    Memory { pid: u32, address: u64 },
    /// An address at which nothing is mapped, as far as is known.
    Nowhere,
    /// A thread that could have run, and lost its CPU to another one.
    Preempted,
}

/// A file that processes have mapped, or a mapping with a name of the kernel's, as `[vdso]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MappedObject {
    pub(crate) file: MappedFile,
    /// Its path as processes see it. Untrusted.
    pub(crate) path: Vec<u8>,
}

/// A process that has mapped an object, and where: the kernel shows the very file there, even if it was deleted since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SeenAt {
    pub(crate) pid: u32,
    pub(crate) begin: u64,
    pub(crate) end: u64,
}

/// Processes that are remembered of an object: some may have ended when its file is opened.
const SEEN_MAX: usize = 8;

/// Objects by number.
#[derive(Debug, Default)]
pub(crate) struct MappedObjects {
    numbers: Interner<MappedObject>,
    seen: Vec<Vec<SeenAt>>,
}

impl MappedObjects {
    /// The number of a mapping's object.
    pub(crate) fn number(&mut self, pid: u32, mapping: &Mapping) -> u32 {
        let number = self.numbers.number(MappedObject { file: mapping.file, path: mapping.path.clone() });
        self.seen.resize_with(self.numbers.all.len(), Vec::new);
        let seen = &mut self.seen[number as usize];
        if seen.len() < SEEN_MAX && seen.iter().all(|known| known.pid != pid) {
            seen.push(SeenAt { pid, begin: mapping.begin, end: mapping.end });
        }
        number
    }

    pub(crate) fn get(&self, number: u32) -> &MappedObject {
        &self.numbers.all[number as usize]
    }

    pub(crate) fn seen(&self, number: u32) -> &[SeenAt] {
        &self.seen[number as usize]
    }

    /// Whether it is memory without a file: a JIT may have written functions there, or the kernel its own, as in the vDSO.
    pub(crate) fn is_memory(&self, number: u32) -> bool {
        let path = &self.get(number).path;
        path.is_empty() || MEMORY.iter().any(|beginning| path.starts_with(beginning))
    }
}

/// What names of mappings without a file begin with. Source: `tools/perf/util/map.c`, `is_anon_memory`.
const MEMORY: [&[u8]; 6] = [b"[vdso]", b"//anon", b"[anon", b"/dev/zero", b"/anon_hugepage", b"/SYSV"];

/// Numbers for values, in the order in which they came.
#[derive(Debug)]
pub(crate) struct Interner<T> {
    numbers: HashMap<T, u32>,
    pub(crate) all: Vec<T>,
}

impl<T> Default for Interner<T> {
    fn default() -> Interner<T> {
        Interner { numbers: HashMap::new(), all: Vec::new() }
    }
}

impl<T: Clone + Eq + Hash> Interner<T> {
    /// The number of a value.
    pub(crate) fn number(&mut self, value: T) -> u32 {
        if let Some(number) = self.numbers.get(&value) {
            return *number;
        }
        let number = u32::try_from(self.all.len()).expect("the bounds of stacks keep these far below 2^32");
        self.all.push(value.clone());
        self.numbers.insert(value, number);
        number
    }
}
