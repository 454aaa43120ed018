//! A file's description of how to return from its functions: its `.eh_frame`, searched by its own index or by one that is
//! built here.
//!
//! The cost of the search, and of executing a single entry, is bounded. Source: DWARF 5, 6.4, "Call Frame Information".

use super::elf::{FilePart, Image, UnwindParts};
use gimli::{
    BaseAddresses, CieOrFde, EhFrame, EhFrameHdr, EndianSlice, FrameDescriptionEntry, LittleEndian,
    UnwindContext, UnwindSection, UnwindTableRow,
};

/// Longest entry that is carried out. Unit: bytes.
const ENTRY_MAX: usize = 1 << 16;

/// Most functions in an index that is made here. Source: house value; 16 MB.
const FUNCTIONS_MAX: usize = 1 << 20;

type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// The table of a file.
pub(super) struct UnwindTable {
    loaded: Vec<FilePart>,
    index: TableIndex,
    frames: Vec<u8>,
    frames_address: u64,
    bases: BaseAddresses,
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
        let UnwindParts { loaded, index, frames, bases, frames_address } = UnwindParts::read(image)?;
        let index = match index {
            Some(index) => TableIndex::OfFile(index),
            None => TableIndex::Made(made_index(&section(&frames), &bases)),
        };
        Some(UnwindTable { loaded, index, frames, frames_address, bases })
    }

    /// Memory that it takes. Unit: bytes.
    pub(super) fn size_bytes(&self) -> usize {
        let index_bytes = match &self.index {
            TableIndex::OfFile(index) => index.len(),
            TableIndex::Made(functions) => size_of_val(&functions[..]),
        };
        index_bytes + self.frames.len()
    }

    /// The address at which the file wants what is at an offset.
    pub(super) fn address_of(&self, file_offset: u64) -> Option<u64> {
        self.loaded.iter().find_map(|part| part.address_of(file_offset))
    }

    /// What `read` makes of the row that leads from an address of the file to its caller, and of whether a signal's handler begins
    /// there; `None`: the file does not say.
    pub(super) fn row<T>(
        &self,
        context: &mut UnwindContext<usize>,
        address: u64,
        read: impl FnOnce(&UnwindTableRow<usize>, bool) -> T,
    ) -> Option<T> {
        let frames = self.frames();
        let entry = self.entry(&frames, address)?;
        if !entry.contains(address) || entry.entry_len().max(entry.cie().entry_len()) > ENTRY_MAX {
            return None;
        }
        let is_signal = entry.is_signal_trampoline();
        let row = entry.unwind_info_for_address(&frames, &self.bases, context, address).ok()?;
        Some(read(row, is_signal))
    }

    /// The last entry that begins before an address.
    fn entry<'a>(
        &self,
        frames: &EhFrame<Slice<'a>>,
        address: u64,
    ) -> Option<FrameDescriptionEntry<Slice<'a>>> {
        let offset = match &self.index {
            TableIndex::OfFile(index) => {
                let index = EhFrameHdr::new(index, LittleEndian).parse(&self.bases, 8).ok()?;
                let entry = index.table()?.lookup(address, &self.bases).ok()?.direct().ok()?;
                usize::try_from(entry.checked_sub(self.frames_address)?).ok()?
            }
            TableIndex::Made(functions) => {
                let behind = functions.partition_point(|function| function.begin <= address);
                functions.get(behind.checked_sub(1)?)?.entry
            }
        };
        frames.fde_from_offset(&self.bases, offset.into(), EhFrame::cie_from_offset).ok()
    }

    pub(super) fn frames(&self) -> EhFrame<Slice<'_>> {
        section(&self.frames)
    }
}

fn section(bytes: &[u8]) -> EhFrame<Slice<'_>> {
    let mut frames = EhFrame::new(bytes, LittleEndian);
    frames.set_address_size(8);
    frames
}

/// All functions, up to the first entry that is not understood.
fn made_index(frames: &EhFrame<Slice<'_>>, bases: &BaseAddresses) -> Vec<IndexedFunction> {
    let mut functions = Vec::new();
    let mut entries = frames.entries(bases);
    while let Ok(Some(entry)) = entries.next() {
        if functions.len() == FUNCTIONS_MAX {
            break;
        }
        if let CieOrFde::Fde(partial) = entry
            && let Ok(function) = partial.parse(EhFrame::cie_from_offset)
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
        table.index = TableIndex::Made(made_index(&section(&table.frames), &table.bases));
        assert_eq!(rows_count(&table), found);
    }

    #[test]
    fn files_that_lie_are_read_without_harm() {
        let mut good = own_program();
        let part = |image: &Vec<u8>| UnwindParts::read(image).map(|parts| parts.frames.len());
        assert!(part(&good).is_some());
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
        for (at, byte) in table.frames.iter_mut().enumerate() {
            if at % 97 == 0 {
                *byte = !*byte;
            }
        }
        rows_count(&table);
        table.index = TableIndex::Made(made_index(&section(&table.frames), &table.bases));
        rows_count(&table);
    }
}
