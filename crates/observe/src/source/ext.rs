//! The superblock of ext2, ext3 and ext4, and where the journal's inode is.
//!
//! Numbers are little-endian. Nothing is trusted: a device may hold anything, also while it is mounted. Sources:
//! `fs/ext4/ext4.h`, `struct ext4_super_block`, `ext4_group_desc`, `ext4_inode`;
//! `Documentation/filesystems/ext4/`; names of features as e2fsprogs gives them.

use crate::error::ParseError;

/// Where the superblock begins. Unit: bytes.
pub const SUPERBLOCK_OFFSET: u64 = 1024;
/// Length of the superblock. Unit: bytes.
pub const SUPERBLOCK_BYTES: usize = 1024;
/// Number of bytes read of a group descriptor.
pub const DESCRIPTOR_BYTES: usize = 64;
/// Number of bytes read of an inode.
pub const INODE_BYTES: usize = 128;

const MAGIC: u16 = 0xef53;
const HAS_JOURNAL: u32 = 0x4;
const IS_JOURNAL_DEVICE: u32 = 0x8;
const HAS_64_BITS: u32 = 0x80;
/// The part of a mode that says what a file is, and what it is for a regular one.
const FORMAT: u16 = 0xf000;
const REGULAR: u16 = 0x8000;
/// State of a file system that was unmounted and in which no error was found.
const VALID: u16 = 1;

/// Where a file system keeps its journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Journal {
    /// It has none.
    None,
    /// In an inode of its own.
    Internal(u32),
    /// On another device.
    External,
}

/// What is taken of a superblock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtSuperblock {
    /// Size of a block. Unit: bytes.
    pub block_bytes: u64,
    /// Size of an inode. Unit: bytes.
    pub inode_bytes: u64,
    /// Where the journal is.
    pub journal: Journal,
    /// Features by name, in the order of their bits: compatible, incompatible, read-only compatible.
    pub features: Vec<String>,
    /// What it is recognised by, as hexadecimal digits with the usual hyphens.
    pub uuid: String,
    /// Blocks that are free, as far as the superblock says; the kernel keeps it up to date only while nothing is mounted.
    pub free_blocks: u64,
    /// Whether it was left in order: unmounted, without errors, and without files that are still to be deleted.
    pub is_clean: bool,
    first_data_block: u64,
    inodes_per_group: u32,
    descriptor_bytes: u16,
    has_64_bits: bool,
}

/// Reads a superblock.
pub fn parse(bytes: &[u8]) -> Result<ExtSuperblock, ParseError> {
    read(bytes).ok_or(ParseError::at(0, "an ext superblock"))
}

fn read(bytes: &[u8]) -> Option<ExtSuperblock> {
    (u16_at(bytes, 0x38)? == MAGIC).then_some(())?;
    let shift = u32_at(bytes, 0x18).filter(|shift| *shift <= 6)?;
    let is_old = u32_at(bytes, 0x4c)? == 0;
    let inode_bytes = if is_old { 128 } else { u64::from(u16_at(bytes, 0x58)?) };
    (128..=65_536).contains(&inode_bytes).then_some(())?;
    let sets = [u32_at(bytes, 0x5c)?, u32_at(bytes, 0x60)?, u32_at(bytes, 0x64)?];
    let [compatible, incompatible, _] = sets;
    (incompatible & IS_JOURNAL_DEVICE == 0).then_some(())?;
    let journal = match (compatible & HAS_JOURNAL != 0, u32_at(bytes, 0xe0)?) {
        (false, _) => Journal::None,
        (true, 0) => Journal::External,
        (true, inode) => Journal::Internal(inode),
    };
    let names = [COMPATIBLE, INCOMPATIBLE, READ_ONLY_COMPATIBLE];
    let features = sets.into_iter().zip(names).flat_map(|(set, names)| feature_names(set, names));
    Some(ExtSuperblock {
        block_bytes: 1024 << shift,
        inode_bytes,
        journal,
        features: features.collect(),
        uuid: uuid(bytes.get(0x68..0x78)?),
        free_blocks: free_blocks(bytes, incompatible & HAS_64_BITS != 0)?,
        is_clean: u16_at(bytes, 0x3a)? == VALID && u32_at(bytes, 0xe8)? == 0 && u32_at(bytes, 0x194)? == 0,
        first_data_block: u64::from(u32_at(bytes, 0x14)?),
        inodes_per_group: u32_at(bytes, 0x28)?,
        descriptor_bytes: u16_at(bytes, 0xfe)?,
        has_64_bits: incompatible & HAS_64_BITS != 0,
    })
}

impl ExtSuperblock {
    /// Where the descriptor of the first group begins. Unit: bytes.
    pub fn first_descriptor_offset(&self) -> u64 {
        (self.first_data_block + 1) * self.block_bytes
    }

    /// Where an inode of the first group begins; `None`: it is in another group. Unit: bytes.
    pub fn inode_offset(&self, inode: u32, first_descriptor: &[u8]) -> Option<u64> {
        let index = inode.checked_sub(1).filter(|index| *index < self.inodes_per_group)?;
        let mut table = u64::from(u32_at(first_descriptor, 8)?);
        if self.has_64_bits && usize::from(self.descriptor_bytes) >= DESCRIPTOR_BYTES {
            table |= u64::from(u32_at(first_descriptor, 0x28)?) << 32;
        }
        table.checked_mul(self.block_bytes)?.checked_add(u64::from(index) * self.inode_bytes)
    }
}

/// Length of the file of an inode; `None`: it is no regular file. Unit: bytes.
pub fn parse_file_bytes(inode: &[u8]) -> Option<u64> {
    (u16_at(inode, 0)? & FORMAT == REGULAR).then_some(())?;
    Some(u64::from(u32_at(inode, 4)?) | u64::from(u32_at(inode, 0x6c)?) << 32)
}

fn uuid(bytes: &[u8]) -> String {
    let hyphen = |at: usize| if matches!(at, 4 | 6 | 8 | 10) { "-" } else { "" };
    bytes.iter().enumerate().map(|(at, byte)| format!("{}{byte:02x}", hyphen(at))).collect()
}

fn free_blocks(bytes: &[u8], has_64_bits: bool) -> Option<u64> {
    let high = if has_64_bits { u32_at(bytes, 0x158)? } else { 0 };
    Some(u64::from(u32_at(bytes, 0xc)?) | u64::from(high) << 32)
}

fn feature_names(set: u32, names: &'static [(u32, &'static str)]) -> impl Iterator<Item = String> {
    (0..u32::BITS).map(|bit| 1 << bit).filter(move |flag| set & flag != 0).map(|flag| {
        let known = names.iter().find(|(known, _)| *known == flag);
        known.map_or_else(|| format!("unknown_{flag:#x}"), |(_, name)| (*name).to_owned())
    })
}

const COMPATIBLE: &[(u32, &str)] = &[
    (0x1, "dir_prealloc"),
    (0x2, "imagic_inodes"),
    (HAS_JOURNAL, "has_journal"),
    (0x8, "ext_attr"),
    (0x10, "resize_inode"),
    (0x20, "dir_index"),
    (0x40, "lazy_bg"),
    (0x200, "sparse_super2"),
    (0x400, "fast_commit"),
    (0x800, "stable_inodes"),
    (0x1000, "orphan_file"),
];

const INCOMPATIBLE: &[(u32, &str)] = &[
    (0x1, "compression"),
    (0x2, "filetype"),
    (0x4, "needs_recovery"),
    (IS_JOURNAL_DEVICE, "journal_dev"),
    (0x10, "meta_bg"),
    (0x40, "extent"),
    (HAS_64_BITS, "64bit"),
    (0x100, "mmp"),
    (0x200, "flex_bg"),
    (0x400, "ea_inode"),
    (0x1000, "dirdata"),
    (0x2000, "metadata_csum_seed"),
    (0x4000, "large_dir"),
    (0x8000, "inline_data"),
    (0x10000, "encrypt"),
    (0x20000, "casefold"),
];

const READ_ONLY_COMPATIBLE: &[(u32, &str)] = &[
    (0x1, "sparse_super"),
    (0x2, "large_file"),
    (0x4, "btree_dir"),
    (0x8, "huge_file"),
    (0x10, "uninit_bg"),
    (0x20, "dir_nlink"),
    (0x40, "extra_isize"),
    (0x80, "snapshot"),
    (0x100, "quota"),
    (0x200, "bigalloc"),
    (0x400, "metadata_csum"),
    (0x800, "replica"),
    (0x1000, "read-only"),
    (0x2000, "project"),
    (0x4000, "shared_blocks"),
    (0x8000, "verity"),
    (0x10000, "orphan_present"),
];

fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(offset..offset + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(offset..offset + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn superblock() -> Vec<u8> {
        let mut bytes = vec![0; SUPERBLOCK_BYTES];
        let words = [(0x18, 2), (0x28, 8192), (0x4c, 1), (0x58, 256), (0x5c, 0x3c), (0x60, 0x2c2), (0xe0, 8)];
        for (offset, word) in words {
            bytes[offset..offset + 4].copy_from_slice(&u32::to_le_bytes(word));
        }
        bytes[0x38..0x3a].copy_from_slice(&MAGIC.to_le_bytes());
        (bytes[0x0c], bytes[0x158], bytes[0x3a], bytes[0x68], bytes[0x77]) = (77, 2, 1, 0xab, 0xcd);
        bytes[0xfe..0x100].copy_from_slice(&64u16.to_le_bytes());
        bytes
    }

    #[test]
    fn the_journal_is_found_through_its_inode() {
        let parsed = parse(&superblock()).expect("parses");
        assert_eq!((parsed.block_bytes, parsed.inode_bytes), (4096, 256));
        assert_eq!(parsed.journal, Journal::Internal(8));
        let features = "has_journal ext_attr resize_inode dir_index filetype extent 64bit flex_bg";
        assert_eq!(parsed.features.join(" "), features);
        assert_eq!(parsed.first_descriptor_offset(), 4096);
        assert_eq!((parsed.free_blocks, parsed.is_clean), ((2 << 32) + 77, true));
        assert_eq!(parsed.uuid, "ab000000-0000-0000-0000-0000000000cd");
        let mut descriptor = vec![0; DESCRIPTOR_BYTES];
        (descriptor[8], descriptor[0x28]) = (5, 1);
        assert_eq!(parsed.inode_offset(8, &descriptor), Some(((1 << 32) + 5) * 4096 + 7 * 256));
        assert_eq!(parsed.inode_offset(8193, &descriptor), None);
        let mut inode = vec![0; INODE_BYTES];
        inode[0..2].copy_from_slice(&0x8180u16.to_le_bytes());
        inode[4..8].copy_from_slice(&(128u32 << 20).to_le_bytes());
        assert_eq!(parse_file_bytes(&inode), Some(128 << 20));
        inode[1] = 0x41;
        assert_eq!(parse_file_bytes(&inode), None, "a folder is no journal");
    }

    #[test]
    fn a_file_system_may_have_its_journal_elsewhere_or_none() {
        let journal = |offset: usize, byte: u8| {
            let mut bytes = superblock();
            bytes[offset] = byte;
            parse(&bytes).map(|parsed| parsed.journal)
        };
        assert_eq!(journal(0x5c, 0x38), Ok(Journal::None));
        assert_eq!(journal(0xe0, 0), Ok(Journal::External));
        for (offset, what) in [(0x3a, "errors"), (0xe8, "an orphan"), (0x194, "an error that was counted")] {
            let mut bytes = superblock();
            bytes[offset] |= 2;
            assert!(!parse(&bytes).expect("parses").is_clean, "{what}");
        }
        assert!(journal(0x60, 0x8).is_err(), "the journal of another file system");
        assert!(journal(0x38, 0).is_err());
        assert!(journal(0x18, 60).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_can_break_it(mut bytes in proptest::collection::vec(any::<u8>(), 0..1024), inode in any::<u32>()) {
            if let Some(magic) = bytes.get_mut(0x38..0x3a) {
                magic.copy_from_slice(&MAGIC.to_le_bytes());
            }
            if let Some(shift) = bytes.get_mut(0x18..0x1c) {
                shift.copy_from_slice(&[2, 0, 0, 0]);
            }
            if let Ok(parsed) = parse(&bytes) {
                let _ = (parsed.first_descriptor_offset(), parsed.inode_offset(inode, &bytes));
            }
            let _ = parse_file_bytes(&bytes);
        }
    }
}
