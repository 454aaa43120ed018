//! The ring buffer between kernel and reader; each event has one.
//!
//! The kernel appends records at `data_head` and never overwrites what lies behind `data_tail`: where there is no room, it drops
//! a record and counts it, and says so in the next one that fits. Both positions only grow; what they mean is their
//! remainder by the size. Source: perf_event_open(2), "MMAP layout"; `include/uapi/linux/perf_event.h`.

use super::bindings::perf_event_mmap_page;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// A mapped ring buffer.
pub(crate) struct PerfRing {
    page: NonNull<perf_event_mmap_page>,
    mapped_bytes: usize,
    data_offset: usize,
    data_bytes: usize,
}

impl PerfRing {
    /// Maps the buffer of an event: one page of positions, and this many pages of data, a power of two.
    ///
    /// # Errors
    /// Those of mmap(2); `EPERM` where this user may not lock so much memory.
    pub(crate) fn map(event: BorrowedFd<'_>, data_pages: usize) -> io::Result<PerfRing> {
        let page_bytes = rustix::param::page_size();
        let mapped_bytes = page_bytes * (data_pages + 1);
        // SAFETY: asks for a new mapping at an address of the kernel's choice, and touches no other.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                mapped_bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                event.as_raw_fd(),
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let page = NonNull::new(address.cast()).ok_or(io::ErrorKind::InvalidData)?;
        Ok(PerfRing { page, mapped_bytes, data_offset: page_bytes, data_bytes: page_bytes * data_pages })
    }

    /// Appends what the kernel has written since the last call to `bytes`, and gives the room back. At most the size of
    /// the buffer; whole records only.
    pub(crate) fn drain(&mut self, bytes: &mut Vec<u8>) {
        // The kernel has written everything before `head` when it can be seen. Source: perf_event_open(2), `data_head`.
        let head = self.head().load(Ordering::Acquire);
        let tail = self.tail().load(Ordering::Relaxed);
        let length = usize::try_from(head.wrapping_sub(tail)).unwrap_or(0).min(self.data_bytes);
        let start = (tail % self.data_bytes as u64) as usize;
        let first = length.min(self.data_bytes - start);
        self.copy(start, first, bytes);
        self.copy(0, length - first, bytes);
        self.tail().store(head, Ordering::Release);
    }

    fn copy(&self, start: usize, length: usize, bytes: &mut Vec<u8>) {
        assert!(start + length <= self.data_bytes, "a part of the ring lies in the ring");
        // SAFETY: the part lies in the mapping, which lives as long as `self`. The kernel does not write there until the
        // tail has passed it, so that nothing changes while the slice exists.
        let part = unsafe {
            let data = self.page.as_ptr().cast::<u8>().add(self.data_offset + start);
            std::slice::from_raw_parts(data, length)
        };
        bytes.extend_from_slice(part);
    }

    fn head(&self) -> &AtomicU64 {
        // SAFETY: the field is aligned and lies in the mapping, which lives as long as `self`; the kernel writes it atomically.
        unsafe { AtomicU64::from_ptr(&raw mut (*self.page.as_ptr()).data_head) }
    }

    fn tail(&self) -> &AtomicU64 {
        // SAFETY: the field is aligned and lies in the mapping, which lives as long as `self`; only this process writes it.
        unsafe { AtomicU64::from_ptr(&raw mut (*self.page.as_ptr()).data_tail) }
    }
}

impl Drop for PerfRing {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `map` with this length, and no reference into it outlives `self`.
        unsafe { libc::munmap(self.page.as_ptr().cast(), self.mapped_bytes) };
    }
}
