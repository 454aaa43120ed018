//! A file's description of how to return from its functions: its `.eh_frame`, searched by its own index or by one that is
//! built here, and its `.debug_frame` for functions that the former does not have.
//!
//! Both have the same entries, but for how they write addresses. That one is missing is no matter of files alone: in a program that
//! was compiled without tables for exceptions, the parts that come from the C library have some.
//! The cost of the search, and of executing a single entry, is bounded. Source: DWARF 5, 6.4, "Call Frame Information".

use super::elf::{EhFrameParts, FilePart, Image, UnwindParts};
use gimli::{
    BaseAddresses, CieOrFde, DebugFrame, EhFrame, EhFrameHdr, EndianSlice, Expression, LittleEndian,
    UnwindContext, UnwindExpression, UnwindSection, UnwindTableRow,
};

/// Longest entry that is carried out. Unit: bytes.
const ENTRY_MAX: usize = 1 << 16;

/// Most functions in an index that is made here. Source: house value; 16 MB.
const FUNCTIONS_MAX: usize = 1 << 20;

type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// The table of a file.
pub(super) struct UnwindTable {
    loaded: Vec<FilePart>,
    eh_frame: Option<EhFrameTable>,
    debug_frame: Option<DebugFrameTable>,
}

/// A section of a file that describes functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameSection {
    Eh,
    Debug,
}

/// Where a row comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowOrigin {
    /// In which its expressions are.
    pub(super) section: FrameSection,
    /// Whether a signal's handler begins there.
    pub(super) is_signal: bool,
}

struct EhFrameTable {
    index: TableIndex,
    frames: Vec<u8>,
    frames_address: u64,
    bases: BaseAddresses,
}

struct DebugFrameTable {
    functions: Vec<IndexedFunction>,
    frames: Vec<u8>,
}

/// Where the entry of a function is.
enum TableIndex {
    /// As the file has it.
    OfFile(Vec<u8>),
    /// By the addresses of functions.
    Made(Vec<IndexedFunction>),
}

struct IndexedFunction {
    begin: u64,
    /// Offset of its entry.
    entry: usize,
}

impl UnwindTable {
    /// Reads the table of a file; `None`: it has none, or none that is understood.
    pub(super) fn read(image: &impl Image) -> Option<UnwindTable> {
        let UnwindParts { loaded, eh_frame, debug_frame } = UnwindParts::read(image)?;
        let (eh_frame, debug_frame) =
            (eh_frame.map(EhFrameTable::new), debug_frame.map(DebugFrameTable::new));
        Some(UnwindTable { loaded, eh_frame, debug_frame })
    }

    /// Memory that it takes. Unit: bytes.
    pub(super) fn size_bytes(&self) -> usize {
        let eh_frame =
            self.eh_frame.as_ref().map_or(0, |table| table.index.size_bytes() + table.frames.len());
        let debug_frame = self.debug_frame.as_ref();
        eh_frame + debug_frame.map_or(0, |table| size_of_val(&table.functions[..]) + table.frames.len())
    }

    /// The address at which the file wants what is at an offset.
    pub(super) fn address_of(&self, file_offset: u64) -> Option<u64> {
        self.loaded.iter().find_map(|part| part.address_of(file_offset))
    }

    /// What `read` makes of the row that leads from an address of the file to its caller; `None`: the file does not say.
    pub(super) fn row<T>(
        &self,
        context: &mut UnwindContext<usize>,
        address: u64,
        read: impl Fn(&UnwindTableRow<usize>, RowOrigin) -> T,
    ) -> Option<T> {
        let of_eh = self.eh_frame.as_ref().and_then(|table| {
            let entry = table.entry(address)?;
            let read = |row: &_, is_signal| read(row, RowOrigin { section: FrameSection::Eh, is_signal });
            row(&table.section(), &table.bases, context, EntryAt { entry, address }, read)
        });
        of_eh.or_else(|| {
            let table = self.debug_frame.as_ref()?;
            let entry = find(&table.functions, address)?;
            let read = |row: &_, is_signal| read(row, RowOrigin { section: FrameSection::Debug, is_signal });
            row(&table.section(), &BaseAddresses::default(), context, EntryAt { entry, address }, read)
        })
    }

    /// An expression of a row of this section.
    pub(super) fn expression(
        &self,
        section: FrameSection,
        expression: UnwindExpression<usize>,
    ) -> Option<Expression<Slice<'_>>> {
        match section {
            FrameSection::Eh => expression.get(&self.eh_frame.as_ref()?.section()).ok(),
            FrameSection::Debug => expression.get(&self.debug_frame.as_ref()?.section()).ok(),
        }
    }
}

impl EhFrameTable {
    fn new(parts: EhFrameParts) -> EhFrameTable {
        let EhFrameParts { index, frames, bases, frames_address } = parts;
        let index = match index {
            Some(index) => TableIndex::OfFile(index),
            None => TableIndex::Made(made_index(&eh_section(&frames), &bases)),
        };
        EhFrameTable { index, frames, frames_address, bases }
    }

    fn section(&self) -> EhFrame<Slice<'_>> {
        eh_section(&self.frames)
    }

    /// Offset of the last entry that begins before an address.
    fn entry(&self, address: u64) -> Option<usize> {
        match &self.index {
            TableIndex::OfFile(index) => {
                let index = EhFrameHdr::new(index, LittleEndian).parse(&self.bases, 8).ok()?;
                let entry = index.table()?.lookup(address, &self.bases).ok()?.direct().ok()?;
                usize::try_from(entry.checked_sub(self.frames_address)?).ok()
            }
            TableIndex::Made(functions) => find(functions, address),
        }
    }
}

impl DebugFrameTable {
    fn new(frames: Vec<u8>) -> DebugFrameTable {
        let functions = made_index(&debug_section(&frames), &BaseAddresses::default());
        DebugFrameTable { functions, frames }
    }

    fn section(&self) -> DebugFrame<Slice<'_>> {
        debug_section(&self.frames)
    }
}

impl TableIndex {
    fn size_bytes(&self) -> usize {
        match self {
            TableIndex::OfFile(index) => index.len(),
            TableIndex::Made(functions) => size_of_val(&functions[..]),
        }
    }
}

fn eh_section(bytes: &[u8]) -> EhFrame<Slice<'_>> {
    let mut frames = EhFrame::new(bytes, LittleEndian);
    frames.set_address_size(8);
    frames
}

fn debug_section(bytes: &[u8]) -> DebugFrame<Slice<'_>> {
    let mut frames = DebugFrame::new(bytes, LittleEndian);
    frames.set_address_size(8);
    frames
}

/// An entry by its offset, and the address that is looked for in it.
struct EntryAt {
    entry: usize,
    address: u64,
}

fn row<'a, S: UnwindSection<Slice<'a>>, T>(
    section: &S,
    bases: &BaseAddresses,
    context: &mut UnwindContext<usize>,
    at: EntryAt,
    read: impl FnOnce(&UnwindTableRow<usize>, bool) -> T,
) -> Option<T> {
    let EntryAt { entry, address } = at;
    let entry = section.fde_from_offset(bases, S::Offset::from(entry), S::cie_from_offset).ok()?;
    if !entry.contains(address) || entry.entry_len().max(entry.cie().entry_len()) > ENTRY_MAX {
        return None;
    }
    let is_signal = entry.is_signal_trampoline();
    let row = entry.unwind_info_for_address(section, bases, context, address).ok()?;
    Some(read(row, is_signal))
}

/// Offset of the entry of the last function that begins before an address.
fn find(functions: &[IndexedFunction], address: u64) -> Option<usize> {
    let behind = functions.partition_point(|function| function.begin <= address);
    Some(functions.get(behind.checked_sub(1)?)?.entry)
}

/// All functions, up to the first entry that is not understood.
fn made_index<'a, S: UnwindSection<Slice<'a>>>(frames: &S, bases: &BaseAddresses) -> Vec<IndexedFunction> {
    let mut functions = Vec::new();
    let mut entries = frames.entries(bases);
    while let Ok(Some(entry)) = entries.next() {
        if functions.len() == FUNCTIONS_MAX {
            break;
        }
        if let CieOrFde::Fde(partial) = entry
            && let Ok(function) = partial.parse(S::cie_from_offset)
        {
            functions.push(IndexedFunction { begin: function.initial_address(), entry: function.offset() });
        }
    }
    functions.sort_by_key(|function| function.begin);
    functions
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files of this process: whatever is linked here.
    fn own_program() -> Vec<u8> {
        std::fs::read("/proc/self/exe").expect("is there")
    }

    /// Asks for rows all over a table, and counts those that it has.
    fn rows_count(table: &UnwindTable) -> usize {
        let mut context = UnwindContext::new();
        let all = table.loaded.iter().flat_map(|part| (0..1 << 22).step_by(4093).map(move |at| (part, at)));
        let addresses = all.filter_map(|(part, at)| part.address_of(at));
        addresses.filter(|address| table.row(&mut context, *address, |_, _| ()).is_some()).count()
    }

    #[test]
    fn an_index_that_is_made_finds_what_that_of_the_file_does() {
        let mut table = UnwindTable::read(&own_program()).expect("this program has one");
        let found = rows_count(&table);
        assert!(found > 10, "{found}");
        make_index(&mut table);
        assert_eq!(rows_count(&table), found);
    }

    /// Forgets the file's index.
    fn make_index(table: &mut UnwindTable) {
        let eh_frame = table.eh_frame.as_mut().expect("this program has one");
        eh_frame.index = TableIndex::Made(made_index(&eh_section(&eh_frame.frames), &eh_frame.bases));
    }

    #[test]
    fn files_that_lie_are_read_without_harm() {
        let mut good = own_program();
        assert!(UnwindParts::read(&good).is_some_and(|parts| parts.eh_frame.is_some()));
        for end in (0..4096).step_by(61) {
            let _ = UnwindTable::read(&good[..end].to_vec());
        }
        // Each byte of the head, one after the other, is as wrong as it can be.
        for at in 0..1024 {
            good[at] = !good[at];
            let _ = UnwindParts::read(&good);
            good[at] = !good[at];
        }
        let mut table = UnwindTable::read(&good).expect("this program has one");
        let eh_frame = table.eh_frame.as_mut().expect("this program has one");
        spoil(&mut eh_frame.frames);
        // As if debuggers were to read it, which it was not written for.
        table.debug_frame = Some(DebugFrameTable::new(eh_frame.frames.clone()));
        rows_count(&table);
        make_index(&mut table);
        rows_count(&table);
    }
    fn spoil(bytes: &mut [u8]) {
        bytes.iter_mut().step_by(97).for_each(|byte| *byte = !*byte);
    }
}
