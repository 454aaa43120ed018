//! The superblock of XFS, at the beginning of its device.
//!
//! Numbers are big-endian. Source: `fs/xfs/libxfs/xfs_format.h`, `struct xfs_dsb`.

use crate::error::ParseError;

/// What is read of the superblock. Unit: bytes.
pub const SUPERBLOCK_BYTES: usize = 256;

/// What is taken of a superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct XfsSuperblock {
    /// Size of a block. Unit: bytes.
    pub block_bytes: u64,
    /// Size of an inode. Unit: bytes.
    pub inode_bytes: u64,
    /// Length of the log; `None`: it is on another device. Unit: bytes.
    pub log_bytes: Option<u64>,
}

/// Reads a superblock.
pub fn parse(bytes: &[u8]) -> Result<XfsSuperblock, ParseError> {
    read(bytes).ok_or(ParseError::at(0, "an XFS superblock"))
}

fn read(bytes: &[u8]) -> Option<XfsSuperblock> {
    bytes.starts_with(b"XFSB").then_some(())?;
    let number = |offset: usize, length: usize| -> Option<u64> {
        let field = bytes.get(offset..offset + length)?;
        Some(field.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    };
    let block_bytes = number(4, 4).filter(|size| (512..=65_536).contains(size))?;
    let (log_start, log_blocks) = (number(48, 8)?, number(96, 4)?);
    let log_bytes = (log_start != 0).then_some(log_blocks * block_bytes);
    Some(XfsSuperblock { block_bytes, inode_bytes: number(104, 2)?, log_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_has_a_length_unless_it_is_elsewhere() {
        let mut bytes = vec![0; SUPERBLOCK_BYTES];
        bytes[..4].copy_from_slice(b"XFSB");
        bytes[4..8].copy_from_slice(&4096u32.to_be_bytes());
        bytes[48..56].copy_from_slice(&7u64.to_be_bytes());
        bytes[96..100].copy_from_slice(&2560u32.to_be_bytes());
        bytes[104..106].copy_from_slice(&512u16.to_be_bytes());
        let expected = XfsSuperblock { block_bytes: 4096, inode_bytes: 512, log_bytes: Some(2560 * 4096) };
        assert_eq!(parse(&bytes), Ok(expected));
        bytes[55] = 0;
        assert_eq!(parse(&bytes).map(|parsed| parsed.log_bytes), Ok(None));
        assert!(parse(&bytes[..100]).is_err());
        bytes[0] = b'Y';
        assert!(parse(&bytes).is_err());
    }
}
