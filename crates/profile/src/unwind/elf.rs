//! The parts of an ELF file that describe how to return from its functions, as stored in the file.
//!
//! An index is found by the program headers, which also files without sections have; statically linked programs may have no index,
//! and only a section. Code that was compiled without tables for exceptions may have some for debuggers, in a section that is never
//! loaded. Files are hostile: what is read of one is bounded, and what lies outside of it is not there.
//! Source: elf(5); Linux Standard Base, "Exception Frames"; DWARF 5, 6.4.1, ".debug_frame".

use gimli::{BaseAddresses, EhFrameHdr, LittleEndian};
use object::LittleEndian as Endian;
use object::elf::{
    FileHeader64, PT_GNU_EH_FRAME, PT_LOAD, ProgramHeader64, SHF_COMPRESSED, SHT_NOBITS, SectionHeader64,
};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Head of a file in which its program headers must lie, and longest text with names of sections. Unit: bytes.
const HEAD_MAX: usize = 1 << 16;

/// Largest index, and largest table. Those of Chromium, which are large, have 5 MB and 15 MB. Unit: bytes.
const TABLE_MAX: u64 = 48 << 20;

/// Most program headers and most sections. Source: house value; files have about a dozen, and about forty.
const HEADERS_MAX: usize = 256;

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

/// A part of a file, and the address at which the file wants it.
#[derive(Clone, Copy, Debug)]
pub(super) struct FilePart {
    file_offset: u64,
    length: u64,
    address: u64,
}

impl FilePart {
    fn of_segment(header: &ProgramHeader64<Endian>) -> FilePart {
        FilePart {
            file_offset: header.p_offset(Endian),
            length: header.p_filesz(Endian),
            address: header.p_vaddr(Endian),
        }
    }

    /// The address of a place in the file.
    pub(super) fn address_of(&self, file_offset: u64) -> Option<u64> {
        let into = file_offset.checked_sub(self.file_offset).filter(|into| *into < self.length)?;
        self.address.checked_add(into)
    }

    /// What of it lies from an address on.
    fn rest_from(&self, address: u64) -> Option<FilePart> {
        let into = address.checked_sub(self.address).filter(|into| *into < self.length)?;
        let file_offset = self.file_offset.checked_add(into)?;
        Some(FilePart { file_offset, length: self.length - into, address })
    }

    fn read(&self, image: &impl Image) -> Option<Vec<u8>> {
        image.read(self.file_offset, usize::try_from(self.length.min(TABLE_MAX)).ok()?)
    }
}

/// What a file has.
pub(super) struct UnwindParts {
    /// What is loaded where.
    pub(super) loaded: Vec<FilePart>,
    /// What is loaded with the program; `None`: nothing, or nothing that is understood.
    pub(super) eh_frame: Option<EhFrameParts>,
    /// `.debug_frame`, which only debuggers read; `None`: it was stripped, or never there, or is compressed.
    pub(super) debug_frame: Option<Vec<u8>>,
}

/// What unwinders find in memory.
pub(super) struct EhFrameParts {
    /// `.eh_frame_hdr`; `None`: the file has no index.
    pub(super) index: Option<Vec<u8>>,
    /// `.eh_frame`, and what may come behind it.
    pub(super) frames: Vec<u8>,
    /// Where the file wants both.
    pub(super) bases: BaseAddresses,
    /// Where the file wants `frames`.
    pub(super) frames_address: u64,
}

impl UnwindParts {
    /// Reads them; `None`: there are none, or it is no ELF file of this kind of machine.
    pub(super) fn read(image: &impl Image) -> Option<UnwindParts> {
        let head = image.read(0, HEAD_MAX)?;
        let header = FileHeader64::<Endian>::parse(&head[..]).ok()?;
        let headers = header.program_headers(Endian, &head[..]).ok()?;
        let of_type = |wanted| headers.iter().filter(move |header| header.p_type(Endian) == wanted);
        let loaded: Vec<FilePart> = of_type(PT_LOAD).take(HEADERS_MAX).map(FilePart::of_segment).collect();
        let eh_frame = match of_type(PT_GNU_EH_FRAME).next() {
            Some(index) => EhFrameParts::indexed(image, &FilePart::of_segment(index), &loaded),
            None => EhFrameParts::without_index(image, header),
        };
        let debug_frame = section(header, image, b".debug_frame").and_then(|part| part.read(image));
        let has_any = eh_frame.is_some() || debug_frame.is_some();
        has_any.then_some(UnwindParts { loaded, eh_frame, debug_frame })
    }
}

impl EhFrameParts {
    fn indexed(image: &impl Image, index_part: &FilePart, loaded: &[FilePart]) -> Option<EhFrameParts> {
        let index = index_part.read(image)?;
        let bases = BaseAddresses::default().set_eh_frame_hdr(index_part.address);
        let frames_address =
            EhFrameHdr::new(&index, LittleEndian).parse(&bases, 8).ok()?.eh_frame_ptr().direct().ok()?;
        let part = loaded.iter().find_map(|loaded| loaded.rest_from(frames_address))?;
        let frames = part.read(image)?;
        let bases = bases.set_eh_frame(frames_address);
        Some(EhFrameParts { index: Some(index), frames, bases, frames_address })
    }

    fn without_index(image: &impl Image, header: &FileHeader64<Endian>) -> Option<EhFrameParts> {
        let part = section(header, image, b".eh_frame")?;
        let bases = BaseAddresses::default().set_eh_frame(part.address);
        let frames = part.read(image)?;
        Some(EhFrameParts { index: None, frames, bases, frames_address: part.address })
    }
}

/// A section by its name; `None`: there is none, it is empty, or it is compressed.
fn section(header: &FileHeader64<Endian>, image: &impl Image, name: &[u8]) -> Option<FilePart> {
    let count = usize::from(header.e_shnum(Endian)).min(HEADERS_MAX);
    let bytes = image.read(header.e_shoff(Endian), count * size_of::<SectionHeader64<Endian>>())?;
    let (sections, _) = object::pod::slice_from_bytes::<SectionHeader64<Endian>>(&bytes, count).ok()?;
    let names = sections.get(usize::from(header.e_shstrndx(Endian)))?;
    let length = usize::try_from(names.sh_size(Endian)).ok()?.min(HEAD_MAX);
    let names = image.read(names.sh_offset(Endian), length)?;
    let is_named = |section: &&SectionHeader64<Endian>| {
        let at = names.get(section.sh_name(Endian) as usize..).unwrap_or_default();
        at.strip_prefix(name).is_some_and(|rest| rest.first() == Some(&0))
    };
    let found = sections.iter().find(is_named)?;
    let has_bytes = found.sh_type(Endian) != SHT_NOBITS && found.sh_size(Endian) > 0;
    if !has_bytes || found.sh_flags(Endian) & u64::from(SHF_COMPRESSED) != 0 {
        return None;
    }
    Some(FilePart {
        file_offset: found.sh_offset(Endian),
        length: found.sh_size(Endian),
        address: found.sh_addr(Endian),
    })
}
