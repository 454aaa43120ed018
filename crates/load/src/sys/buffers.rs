//! A ring of receive buffers that the kernel picks from (`IORING_REGISTER_PBUF_RING`, Linux 5.19).
//!
//! The kernel fills a buffer and names it in the completion; its reader gives it back. The memory is never moved, and lives
//! as long as the kernel may write to it: [`Buffers::leak`] is for the case that this cannot be known.

use io_uring::types::BufRingEntry;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

/// Memory of all buffers together; only what was received into is ever touched. Unit: bytes.
const MEMORY_BYTES: usize = 4 * 1024 * 1024;

/// Bounds of the number of buffers.
const MIN_COUNT: usize = 8;
const MAX_COUNT: usize = 1024;

/// Bounds of the size of one. Unit: bytes.
const MAX_BUFFER_BYTES: usize = 64 * 1024;

/// Distance between the end of a buffer and the next, so that the first lines of all buffers do not fall into the same
/// sets of the caches. Unit: bytes.
const STAGGER_BYTES: usize = 9 * 64;

/// Buffers and the ring that lends them to the kernel.
pub(super) struct Buffers {
    ring: Region,
    memory: Region,
    count: u16,
    size_bytes: usize,
    tail: u16,
}

impl Buffers {
    /// Buffers for this many connections, all of them free.
    pub(super) fn new(slots: usize) -> Buffers {
        let count = slots.next_power_of_two().clamp(MIN_COUNT, MAX_COUNT);
        let size_bytes = (MEMORY_BYTES / count).min(MAX_BUFFER_BYTES);
        let mut buffers = Buffers {
            ring: Region::new(count * size_of::<BufRingEntry>()),
            memory: Region::new(count * (size_bytes + STAGGER_BYTES)),
            count: count as u16,
            size_bytes,
            tail: 0,
        };
        (0..buffers.count).for_each(|id| buffers.give_back(id));
        buffers
    }

    /// Address of the ring, for the kernel.
    pub(super) fn ring_address(&self) -> u64 {
        self.ring.start.as_ptr() as u64
    }

    /// Number of buffers.
    pub(super) fn count(&self) -> u16 {
        self.count
    }

    /// The bytes that were received into a buffer that has not been given back.
    #[inline]
    pub(super) fn bytes(&self, id: u16, length: usize) -> &[u8] {
        assert!(id < self.count && length <= self.size_bytes, "the kernel names buffers that it was given");
        // SAFETY: inside of the region, initialised with zeros; the kernel does not write to a buffer between its
        // completion and its return, which needs `&mut self`.
        unsafe { std::slice::from_raw_parts(self.start(id), length) }
    }

    /// Lends a buffer to the kernel again.
    #[inline]
    pub(super) fn give_back(&mut self, id: u16) {
        assert!(id < self.count, "the kernel names buffers that it was given");
        let entries = self.ring.start.as_ptr().cast::<BufRingEntry>();
        let index = usize::from(self.tail & (self.count - 1));
        // SAFETY: the index is below the number of entries that the region was made for; the kernel does not read an
        // entry before the tail says so.
        let entry = unsafe { &mut *entries.add(index) };
        entry.set_addr(self.start(id) as u64);
        entry.set_len(self.size_bytes as u32);
        entry.set_bid(id);
        self.tail = self.tail.wrapping_add(1);
        // SAFETY: the tail lies in the first entry, aligned to two bytes, and is accessed atomically on both sides.
        let tail = unsafe { AtomicU16::from_ptr(BufRingEntry::tail(entries).cast_mut()) };
        tail.store(self.tail, Ordering::Release);
    }

    /// Gives the memory up for good.
    pub(super) fn leak(self) {
        std::mem::forget(self);
    }

    fn start(&self, id: u16) -> *const u8 {
        let offset = usize::from(id) * (self.size_bytes + STAGGER_BYTES);
        // SAFETY: the identifier is below the count, so the offset lies inside of the region.
        unsafe { self.memory.start.as_ptr().add(offset) }
    }
}

/// Memory that starts at a page, as the kernel wants it of a ring that it maps; 64-bit ARM also has pages of 16 and 64 KiB.
struct Region {
    start: NonNull<u8>,
    layout: Layout,
}

impl Region {
    fn new(bytes: usize) -> Region {
        let layout =
            Layout::from_size_align(bytes, rustix::param::page_size()).expect("a few megabytes at most");
        // SAFETY: the size is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        let Some(start) = NonNull::new(start) else { handle_alloc_error(layout) };
        Region { start, layout }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout, and not freed before.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}
