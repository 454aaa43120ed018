//! The names of functions: of the kernel by kallsyms, of files by their own symbols or those of separate debug files, of a JIT by
//! its perf map.

use super::{bounded, perf_map};
use crate::frames::{MappedObjects, RawFrame};
use crate::object_file::path_of;
use blazesym::symbolize::source::{Elf, Kernel, Process, Source};
use blazesym::symbolize::{Input, Symbolized, Symbolizer};
use blazesym::{MaybeDefault, Pid};
use std::collections::BTreeMap;

/// What a frame is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) name: String,
    pub(super) object: String,
    pub(super) is_resolved: bool,
}

impl Name {
    fn of_object(object: &str) -> Name {
        Name { name: format!("[{object}]"), object: object.to_owned(), is_resolved: false }
    }
}

/// Symbols that have been read, each once.
pub struct Symbols(Symbolizer);

impl Symbols {
    /// Reads those of the kernel, so that nobody waits for them when a recording has ended.
    ///
    /// *Cost*: some 100 ms, and 8 MB of memory.
    pub fn of_kernel() -> Symbols {
        let symbols =
            Symbols(Symbolizer::builder().enable_code_info(false).enable_inlined_fns(false).build());
        kernel(&symbols.0, &[u64::MAX]);
        symbols
    }

    /// The name of each frame. A kernel address that has no name becomes `[kernel]`, as all addresses of a file become its name.
    pub(super) fn names(&self, frames: &[RawFrame], objects: &MappedObjects) -> Vec<Name> {
        let mut names: Vec<Name> = frames.iter().map(|frame| unnamed(*frame, objects)).collect();
        for (group, members) in groups(frames) {
            let inputs: Vec<u64> = members.iter().map(|member| member.input).collect();
            let found = match group {
                Group::Kernel => kernel(&self.0, &inputs),
                Group::File(object) => file(&self.0, object, objects, &inputs),
                Group::Memory(pid) => process(&self.0, pid, &inputs),
            };
            for (member, name) in members.iter().zip(found) {
                if let Some(name) = name {
                    names[member.frame].name = name;
                    names[member.frame].is_resolved = true;
                }
            }
        }
        names
    }
}

fn unnamed(frame: RawFrame, objects: &MappedObjects) -> Name {
    match frame {
        RawFrame::Kernel(_) => Name::of_object("kernel"),
        RawFrame::File { object, .. } => Name::of_object(&short(&objects.get(object).path)),
        RawFrame::Memory { .. } => no_object("[memory without a file]"),
        RawFrame::Nowhere => no_object("[unknown]"),
        RawFrame::Preempted => Name {
            name: "[ready to run, waits for a CPU]".into(),
            object: "kernel".into(),
            is_resolved: true,
        },
    }
}

fn no_object(name: &str) -> Name {
    Name { name: name.to_owned(), object: String::new(), is_resolved: false }
}

/// A path without folders, and names of the kernel's without their brackets.
fn short(path: &[u8]) -> String {
    let path = path.strip_suffix(b" (deleted)").unwrap_or(path);
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    let name = name.strip_prefix(b"[").and_then(|name| name.strip_suffix(b"]")).unwrap_or(name);
    bounded(&String::from_utf8_lossy(name))
}

/// Where names are looked up together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Kernel,
    File(u32),
    Memory(u32),
}

struct Member {
    frame: usize,
    input: u64,
}

fn groups(frames: &[RawFrame]) -> BTreeMap<Group, Vec<Member>> {
    let mut groups: BTreeMap<Group, Vec<Member>> = BTreeMap::new();
    for (index, frame) in frames.iter().enumerate() {
        let (group, input) = match *frame {
            RawFrame::Kernel(address) => (Group::Kernel, address),
            RawFrame::File { object, file_offset } => (Group::File(object), file_offset),
            RawFrame::Memory { pid, address } => (Group::Memory(pid), address),
            RawFrame::Nowhere | RawFrame::Preempted => continue,
        };
        groups.entry(group).or_default().push(Member { frame: index, input });
    }
    groups
}

fn kernel(symbolizer: &Symbolizer, addresses: &[u64]) -> Vec<Option<String>> {
    let kernel = Kernel { vmlinux: MaybeDefault::None, debug_syms: false, ..Kernel::default() };
    lookup(symbolizer, &Source::Kernel(kernel), Input::AbsAddr(addresses))
}

/// Names in memory without a file: of a JIT's functions, by the perf map that it wrote for this process, and of the vDSO.
fn process(symbolizer: &Symbolizer, pid: u32, addresses: &[u64]) -> Vec<Option<String>> {
    let mut names = perf_map::names(pid, addresses);
    if names.iter().any(Option::is_none) {
        let process =
            Process { debug_syms: false, perf_map: false, map_files: false, ..Process::new(Pid::from(pid)) };
        let more = lookup(symbolizer, &Source::Process(process), Input::AbsAddr(addresses));
        names.iter_mut().zip(more).for_each(|(name, more)| *name = name.take().or(more));
    }
    names
}

/// Names in a file: by its table of symbols, and only where that has no name by debug information, which takes longer.
fn file(
    symbolizer: &Symbolizer,
    object: u32,
    objects: &MappedObjects,
    offsets: &[u64],
) -> Vec<Option<String>> {
    let Some(path) = path_of(objects.get(object), objects.seen(object)) else {
        return vec![None; offsets.len()];
    };
    let elf = |debug_syms| Source::Elf(Elf { debug_syms, ..Elf::new(&path) });
    let mut names = lookup(symbolizer, &elf(false), Input::FileOffset(offsets));
    let is_missing = |names: &[Option<String>]| names.iter().any(Option::is_none);
    if is_missing(&names) {
        let more = lookup(symbolizer, &elf(true), Input::FileOffset(offsets));
        names.iter_mut().zip(more).for_each(|(name, more)| *name = name.take().or(more));
    }
    names
}

/// One name, or none, for each input.
fn lookup(symbolizer: &Symbolizer, source: &Source<'_>, input: Input<&[u64]>) -> Vec<Option<String>> {
    let count = input.into_inner().len();
    let Ok(found) = symbolizer.symbolize(source, input) else { return vec![None; count] };
    let name = |symbol: Symbolized<'_>| symbol.into_sym().map(|symbol| bounded(&symbol.name));
    found.into_iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_called_by_their_file_name() {
        for (path, expected) in [
            (&b"/usr/lib/libc.so.6"[..], "libc.so.6"),
            (b"/usr/sbin/nginx (deleted)", "nginx"),
            (b"[vdso]", "vdso"),
            (b"", ""),
        ] {
            assert_eq!(short(path), expected);
        }
    }
}
