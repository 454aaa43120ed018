//! What a file says about how its functions are left: its `.eh_frame`, with the index in `.eh_frame_hdr`.
//!
//! Found by the program headers, which also files without sections have. Files are hostile: what is read of one, and what a single
//! entry may take to carry out, is bounded; what does not fit has no table. Sources: Linux Standard Base, "Exception Frames"; DWARF 5,
//! 6.4, "Call Frame Information".

use super::rule::UnwindRule;
use gimli::{BaseAddresses, EhFrame, EhFrameHdr, EndianSlice, LittleEndian, UnwindContext, UnwindSection};
use object::LittleEndian as ElfLittleEndian;
use object::elf::{FileHeader64, PT_GNU_EH_FRAME, PT_LOAD, ProgramHeader64};
use object::read::elf::{FileHeader, ProgramHeader};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Head of a file in which its program headers must lie. Unit: bytes.
const HEAD_MAX: usize = 1 << 16;

/// Largest index, and largest table. Chromium's, of the largest known, have 5 MB and 15 MB. Unit: bytes.
const TABLE_MAX: u64 = 48 << 20;

/// Most program headers. Source: house value; files have about a dozen.
const HEADERS_MAX: usize = 256;

/// Longest entry that is carried out. Unit: bytes.
const ENTRY_MAX: usize = 1 << 16;

type Frames<'a> = EhFrame<EndianSlice<'a, LittleEndian>>;

/// The table of a file.
#[derive(Debug)]
pub(super) struct UnwindTable {
    loaded: Vec<Loaded>,
    index: Vec<u8>,
    frames: Vec<u8>,
    frames_address: u64,
    bases: BaseAddresses,
}

/// A part of the file, and the address at which the file wants it.
#[derive(Clone, Copy, Debug)]
struct Loaded {
    file_offset: u64,
    bytes: u64,
    address: u64,
}

impl Loaded {
    fn of(header: &ProgramHeader64<ElfLittleEndian>) -> Loaded {
        let endian = ElfLittleEndian;
        Loaded {
            file_offset: header.p_offset(endian),
            bytes: header.p_filesz(endian),
            address: header.p_vaddr(endian),
        }
    }

    /// The address of a place in the file.
    fn address_of(&self, file_offset: u64) -> Option<u64> {
        let into = file_offset.checked_sub(self.file_offset).filter(|into| *into < self.bytes)?;
        self.address.checked_add(into)
    }

    /// What of it lies from an address on.
    fn rest_from(&self, address: u64) -> Option<Loaded> {
        let into = address.checked_sub(self.address).filter(|into| *into < self.bytes)?;
        let file_offset = self.file_offset.checked_add(into)?;
        Some(Loaded { file_offset, bytes: self.bytes - into, address })
    }

    fn read(&self, image: &impl Image) -> Option<Vec<u8>> {
        image.read(self.file_offset, usize::try_from(self.bytes.min(TABLE_MAX)).ok()?)
    }
}

/// Where the bytes of a file come from.
pub(super) trait Image {
    /// At most this many bytes from an offset on; fewer at the end.
    fn read(&self, offset: u64, length: usize) -> Option<Vec<u8>>;
}

impl Image for File {
    fn read(&self, offset: u64, length: usize) -> Option<Vec<u8>> {
        // No more memory than the file has bytes.
        let rest = self.metadata().ok()?.len().checked_sub(offset)?;
        let mut bytes = vec![0; length.min(usize::try_from(rest).ok()?)];
        self.read_exact_at(&mut bytes, offset).ok()?;
        Some(bytes)
    }
}

impl Image for Vec<u8> {
    fn read(&self, offset: u64, length: usize) -> Option<Vec<u8>> {
        let rest = self.get(usize::try_from(offset).ok()?..)?;
        Some(rest[..length.min(rest.len())].to_vec())
    }
}

impl UnwindTable {
    /// Reads the table of a file; `None`: it has none, or none that is understood.
    pub(super) fn read(image: &impl Image) -> Option<UnwindTable> {
        let head = image.read(0, HEAD_MAX)?;
        let endian = ElfLittleEndian;
        let header = FileHeader64::<ElfLittleEndian>::parse(&head[..]).ok()?;
        let headers = header.program_headers(endian, &head[..]).ok()?;
        let of_type = |wanted| headers.iter().filter(move |header| header.p_type(endian) == wanted);
        let loaded: Vec<Loaded> = of_type(PT_LOAD).take(HEADERS_MAX).map(Loaded::of).collect();
        let index_at = of_type(PT_GNU_EH_FRAME).next().map(Loaded::of)?;
        let index = index_at.read(image)?;
        let bases = BaseAddresses::default().set_eh_frame_hdr(index_at.address);
        let parsed = EhFrameHdr::new(&index, LittleEndian).parse(&bases, 8).ok()?;
        let frames_address = parsed.eh_frame_ptr().direct().ok()?;
        let frames_at = loaded.iter().find_map(|loaded| loaded.rest_from(frames_address))?;
        let frames = frames_at.read(image)?;
        let bases = bases.set_eh_frame(frames_address);
        Some(UnwindTable { loaded, index, frames, frames_address, bases })
    }

    /// Memory that it takes. Unit: bytes.
    pub(super) fn size_bytes(&self) -> usize {
        self.index.len() + self.frames.len()
    }

    /// The address at which the file wants what is at an offset.
    pub(super) fn address_of(&self, file_offset: u64) -> Option<u64> {
        self.loaded.iter().find_map(|loaded| loaded.address_of(file_offset))
    }

    /// How to get from an address of the file to its caller; `None`: the file does not say.
    pub(super) fn rule(&self, context: &mut UnwindContext<usize>, address: u64) -> Option<UnwindRule> {
        let frames = self.frames();
        let index = EhFrameHdr::new(&self.index, LittleEndian).parse(&self.bases, 8).ok()?;
        let entry = index.table()?.lookup(address, &self.bases).ok()?.direct().ok()?;
        let offset = usize::try_from(entry.checked_sub(self.frames_address)?).ok()?;
        let entry = frames.fde_from_offset(&self.bases, offset.into(), EhFrame::cie_from_offset).ok()?;
        if !entry.contains(address) || entry.entry_len().max(entry.cie().entry_len()) > ENTRY_MAX {
            return None;
        }
        let is_signal = entry.is_signal_trampoline();
        let row = entry.unwind_info_for_address(&frames, &self.bases, context, address).ok()?;
        Some(UnwindRule::of_row(row, is_signal))
    }

    pub(super) fn frames(&self) -> Frames<'_> {
        let mut frames = EhFrame::new(&self.frames, LittleEndian);
        frames.set_address_size(8);
        frames
    }
}
