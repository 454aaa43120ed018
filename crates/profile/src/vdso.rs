//! The vDSO: code that the kernel maps into every process, the same in all 64-bit ones, so that it can be read in this one.

use crate::space::parse_maps;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// The kernel's name for its mapping.
pub(crate) const NAME: &[u8] = b"[vdso]";

/// Largest one that is read; it has a few pages. Unit: bytes.
const IMAGE_MAX: u64 = 1 << 20;

/// Its bytes, an ELF file.
pub(crate) fn image() -> Option<Vec<u8>> {
    let maps = std::fs::read("/proc/self/maps").ok()?;
    let mapping = parse_maps(&maps).find(|mapping| mapping.path == NAME)?;
    let length = mapping.end.checked_sub(mapping.begin).filter(|length| *length <= IMAGE_MAX)?;
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    File::open("/proc/self/mem").ok()?.read_exact_at(&mut bytes, mapping.begin).ok()?;
    Some(bytes)
}
