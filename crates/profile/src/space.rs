//! Which file lies at which address of a process: from `/proc/PID/maps`, and from the mappings that follow.

use crate::wire::{MappedFile, Mapping};
use std::collections::BTreeMap;

/// Most executable mappings of a process that are kept; a JIT that maps single functions may have many.
const REGIONS_MAX: usize = 65_536;

/// The executable mappings of a process, which never overlap.
#[derive(Clone, Debug, Default)]
pub(crate) struct AddressSpace {
    regions: BTreeMap<u64, Region>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Region {
    end: u64,
    file_offset: u64,
    object: u32,
}

/// What lies at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MappedPlace {
    /// As [`AddressSpace::map`] was given it.
    pub(crate) object: u32,
    /// Offset into the file.
    pub(crate) file_offset: u64,
}

impl AddressSpace {
    /// Adds a mapping in place of what was there.
    pub(crate) fn map(&mut self, mapping: &Mapping, object: u32) {
        self.unmap(mapping.begin, mapping.end);
        if mapping.begin < mapping.end && self.regions.len() < REGIONS_MAX {
            let region = Region { end: mapping.end, file_offset: mapping.file_offset, object };
            self.regions.insert(mapping.begin, region);
        }
    }

    fn unmap(&mut self, begin: u64, end: u64) {
        let below = self.regions.range(..begin).next_back().map(|(at, region)| (*at, *region));
        if let Some((at, region)) = below.filter(|(_, region)| region.end > begin) {
            self.regions.insert(at, Region { end: begin, ..region });
            self.keep_rest(at, region, end);
        }
        while let Some((at, region)) =
            self.regions.range(begin..end).next().map(|(at, region)| (*at, *region))
        {
            self.regions.remove(&at);
            self.keep_rest(at, region, end);
        }
    }

    /// Keeps what a region has from `from` on.
    fn keep_rest(&mut self, at: u64, region: Region, from: u64) {
        if region.end > from {
            let file_offset = region.file_offset.wrapping_add(from - at);
            self.regions.insert(from, Region { file_offset, ..region });
        }
    }

    /// What lies at an address; `None`: nothing that can be executed, as far as is known.
    pub(crate) fn place(&self, address: u64) -> Option<MappedPlace> {
        let (begin, region) = self.regions.range(..=address).next_back()?;
        let file_offset = region.file_offset.wrapping_add(address - begin);
        (address < region.end).then_some(MappedPlace { object: region.object, file_offset })
    }
}

/// The executable mappings in a text as `/proc/PID/maps` has it; lines that are not understood are skipped.
pub(crate) fn parse_maps(text: &[u8]) -> impl Iterator<Item = Mapping> {
    text.split(|byte| *byte == b'\n').filter_map(parse_line)
}

/// `BEGIN-END PERMISSIONS OFFSET MAJOR:MINOR INODE  PATH`. Source: `fs/proc/task_mmu.c`, `show_vma_header_prefix`.
fn parse_line(line: &[u8]) -> Option<Mapping> {
    let mut fields = line.splitn(6, |byte| *byte == b' ');
    let mut next = || fields.next().and_then(|field| std::str::from_utf8(field).ok());
    let hexadecimal = |text: &str| u64::from_str_radix(text, 16).ok();
    let (begin, end) = next()?.split_once('-')?;
    let permissions = next()?;
    let file_offset = hexadecimal(next()?)?;
    let (major, minor) = next()?.split_once(':')?;
    let inode = next()?.parse().ok()?;
    let file = MappedFile {
        major: u32::try_from(hexadecimal(major)?).ok()?,
        minor: u32::try_from(hexadecimal(minor)?).ok()?,
        inode,
    };
    let path = fields.next().unwrap_or_default().trim_ascii_start().to_vec();
    let mapping = Mapping { begin: hexadecimal(begin)?, end: hexadecimal(end)?, file_offset, file, path };
    permissions.as_bytes().get(2).filter(|permission| **permission == b'x').map(|_| mapping)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(begin: u64, end: u64, file_offset: u64) -> Mapping {
        Mapping { begin, end, file_offset, file: MappedFile::default(), path: Vec::new() }
    }

    #[test]
    fn the_last_mapping_of_an_address_counts_and_the_rest_of_earlier_ones_stays() {
        let mut space = AddressSpace::default();
        space.map(&mapping(100, 200, 1000), 1);
        space.map(&mapping(120, 140, 0), 2);
        let at = |address| space.place(address).map(|place| (place.object, place.file_offset));
        assert_eq!(at(99), None);
        assert_eq!(at(100), Some((1, 1000)));
        assert_eq!(at(119), Some((1, 1019)));
        assert_eq!(at(120), Some((2, 0)));
        assert_eq!(at(139), Some((2, 19)));
        assert_eq!(at(140), Some((1, 1040)));
        assert_eq!(at(199), Some((1, 1099)));
        assert_eq!(at(200), None);
        space.map(&mapping(0, 1000, 7), 3);
        let all: Vec<_> = [0, 130, 999].map(|address| space.place(address).map(|place| place.object)).into();
        assert_eq!(all, [Some(3); 3]);
    }

    #[test]
    fn only_what_can_be_executed_is_read_from_maps_and_paths_may_have_spaces() {
        let text = b"55d0c0a00000-55d0c0a28000 r--p 00000000 fe:01 1234 /usr/bin/a b (deleted)\n\
            55d0c0a28000-55d0c0b00000 r-xp 00028000 fe:01 1234                       /usr/bin/a b (deleted)\n\
            7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n\
            garbage\n\
            7ffc00000000-7ffc00002000 r-xp 00000000 00:00 0                          [vdso]\n";
        let found: Vec<_> = parse_maps(text).collect();
        assert_eq!(found.len(), 3);
        let file = MappedFile { major: 0xfe, minor: 1, inode: 1234 };
        assert_eq!((found[0].file, found[0].file_offset), (file, 0x28000));
        assert_eq!(found[0].path, b"/usr/bin/a b (deleted)");
        assert!(found[1].path.is_empty());
        assert_eq!(found[2].path, b"[vdso]");
    }
}
