//! Loop devices that free themselves (loop(4)): each lives as long as it is open or mounted, or another one stands on it.
//!
//! Source: `include/uapi/linux/loop.h`.

use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};

const CONTROL: &str = "/dev/loop-control";

/// `LOOP_CTL_GET_FREE` and `LOOP_CONFIGURE`.
const GET_FREE: u32 = 0x4C82;
const CONFIGURE: u32 = 0x4C0A;

/// `LO_FLAGS_AUTOCLEAR` and `LO_FLAGS_DIRECT_IO`.
const AUTOCLEAR: u32 = 4;
const DIRECT_IO: u32 = 16;

/// How often another device is looked for, where somebody else takes the free one first.
const TRIES: u32 = 64;

/// `struct loop_config`, with the fields of `struct loop_info64` that are set here.
#[repr(C)]
struct LoopConfig {
    file: u32,
    block_bytes: u32,
    /// Device, inode, real device, offset and size limit.
    places: [u64; 5],
    /// Number, and two of encryption.
    numbers: [u32; 3],
    flags: u32,
    names: [u8; 160],
    init: [u64; 2],
    reserved: [u64; 8],
}

/// A loop device that is open.
pub(crate) struct LoopDevice {
    pub(crate) path: PathBuf,
    pub(crate) file: File,
}

impl LoopDevice {
    /// Lets a device stand for a file or another device; `is_direct`: past the page cache, so that each of its requests is one of
    /// that device.
    ///
    /// # Errors
    /// None is free, or the kernel is older than 5.8.
    pub(crate) fn attach(backing: &File, is_direct: bool) -> io::Result<LoopDevice> {
        let control = open(Path::new(CONTROL))?;
        let flags = if is_direct { AUTOCLEAR | DIRECT_IO } else { AUTOCLEAR };
        let config = LoopConfig {
            file: backing.as_fd().as_raw_fd().unsigned_abs(),
            block_bytes: 0,
            places: [0; 5],
            numbers: [0; 3],
            flags,
            names: [0; 160],
            init: [0; 2],
            reserved: [0; 8],
        };
        for _ in 0..TRIES {
            // SAFETY: the request takes no argument.
            let number = unsafe { libc::ioctl(control.as_raw_fd(), GET_FREE as libc::Ioctl) };
            if number < 0 {
                return Err(io::Error::last_os_error());
            }
            let path = PathBuf::from(format!("/dev/loop{number}"));
            let file = open(&path)?;
            // SAFETY: the request reads a structure of this layout, which outlives the call.
            let done = unsafe { libc::ioctl(file.as_raw_fd(), CONFIGURE as libc::Ioctl, &raw const config) };
            match io::Error::last_os_error() {
                _ if done == 0 => return Ok(LoopDevice { path, file }),
                error if error.raw_os_error() == Some(libc::EBUSY) => {}
                error => return Err(error),
            }
        }
        Err(io::Error::from(io::ErrorKind::ResourceBusy))
    }
}

fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = rustix::fs::open(path, flags, Mode::empty());
    file.map(File::from).map_err(|errno| {
        let error = io::Error::from(errno);
        io::Error::new(error.kind(), format!("cannot open '{}': {error}", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structure_is_as_long_as_the_kernels() {
        assert_eq!(size_of::<LoopConfig>(), 304);
        assert_eq!(std::mem::offset_of!(LoopConfig, flags), 60);
    }
}
