//! An io_uring for the sockets of one thread, safe to use: every address passed to the kernel points into memory that the
//! ring owns and does not move, and that is freed only after the kernel has confirmed that no operation is under way.
//!
//! Sockets are direct descriptors: they exist in the ring's own table and never in the process's table. The kernel runs
//! completions only when this thread asks for them (`DEFER_TASKRUN`, Linux 6.1), so that they never interrupt it.
//!
//! Sources: io_uring_setup(2), io_uring_enter(2), `include/uapi/linux/io_uring.h`.

use super::buffers::Buffers;
use super::{ports, stamp};
use io_uring::types::{CancelBuilder, DestinationSlot, Fixed, SubmitArgs, TimeoutFlags, Timespec};
use io_uring::{EnterFlags, IoUring, cqueue, opcode, squeue};
use rustix::net::AddressFamily;
use rustix::net::addr::SocketAddrArg;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::time::Duration;

/// Submissions that can wait for the next entry into the kernel.
const SUBMISSIONS_COUNT: u32 = 256;

/// Longest chain of linked submissions, which may not be torn apart.
const CHAIN_COUNT: usize = 6;

/// The one group of buffers.
const BUFFER_GROUP: u16 = 0;

/// How long the end of a ring waits for what is under way.
const CANCEL_LIMIT: Duration = Duration::from_secs(1);

/// Try to receive only after the socket was found readable (`IORING_RECVSEND_POLL_FIRST`).
const POLL_FIRST: u16 = 1;

/// `MSG_NOSIGNAL | MSG_WAITALL`: no signal for a broken pipe, and the kernel goes on with a send that was cut short.
const SEND_FLAGS: i32 = libc::MSG_NOSIGNAL | libc::MSG_WAITALL;

/// Longest request of which a copy is sent. Unit: bytes.
pub(crate) const SHORT_BYTES: usize = 512;

/// The header of a stamped receive, and the whole of what comes before its bytes. Unit: bytes.
const STAMPED_HEADER_BYTES: usize = 16;
const STAMPED_BYTES: usize = STAMPED_HEADER_BYTES + stamp::CONTROL_BYTES;

/// What a stamped receive put into its buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamped {
    pub start: usize,
    pub length: usize,
    pub stamp_ns: u64,
}

/// A completion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completed {
    /// The number that the submission was given.
    pub tag: u64,
    /// What the call returned: a count, or a negated error number.
    pub result: i32,
    /// The buffer that was received into.
    pub buffer: Option<u16>,
    /// Whether more will follow from the same submission.
    pub has_more: bool,
}

/// The ring.
pub(crate) struct Ring {
    uring: IoUring,
    /// What the kernel was given the addresses of; `None` only while the ring is dropped.
    lent: Option<Lent>,
}

/// Memory that the kernel reads from or writes to.
struct Lent {
    messages: Box<[Box<[u8]>]>,
    address: Box<Address>,
    one: Box<libc::c_int>,
    /// How much room a stamped receive leaves for its control message.
    header: Box<libc::msghdr>,
    /// The period of the ticks.
    period: Box<Timespec>,
    buffers: Buffers,
    /// The short request of each socket; empty before the first.
    short: Box<[u8]>,
    /// The piece that is being sent on each socket.
    pieces: Vec<Option<Piece>>,
    /// Pieces of sockets that were closed before their end was known.
    late_pieces: Vec<Piece>,
}

/// Bytes that are being sent, and the tag of their send.
struct Piece {
    tag: u64,
    bytes: Vec<u8>,
}

/// The numbers of the steps that open a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenTags {
    /// Of the socket and the options that are needed.
    pub open: u64,
    /// Of the connect.
    pub connect: u64,
    /// Of steps whose failure does not matter.
    pub ignored: u64,
}

/// Options of a socket, set before it connects.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options {
    /// No waiting for acknowledgements (`TCP_NODELAY`).
    pub nodelay: bool,
    /// Stamps of what is received.
    pub stamps: bool,
    /// A congestion control other than the system's (`TCP_CONGESTION`).
    pub congestion: Option<&'static str>,
    /// Local ports one after the other; see [`ports`].
    pub ports_in_turn: bool,
}

impl Options {
    /// Whether the numbers are wrong without them.
    pub(crate) fn are_needed(self) -> bool {
        self.nodelay || self.stamps
    }
}

/// A socket address as the kernel reads it.
struct Address {
    storage: libc::sockaddr_storage,
    length: libc::socklen_t,
    family: AddressFamily,
}

impl Ring {
    /// A ring for direct descriptors 0 to `slots − 1`, all connecting to `address` and sending the `messages`.
    ///
    /// # Errors
    /// The kernel has no io_uring as it is needed here, or forbids it (`kernel.io_uring_disabled`, seccomp).
    pub(crate) fn new(slots: u32, address: SocketAddr, messages: Box<[Box<[u8]>]>) -> io::Result<Ring> {
        let completions = (4 * slots).next_power_of_two().clamp(4 * SUBMISSIONS_COUNT, 65_536);
        let uring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_coop_taskrun()
            .setup_taskrun_flag()
            .setup_submit_all()
            .setup_cqsize(completions)
            .build(SUBMISSIONS_COUNT)?;
        uring.submitter().register_files_sparse(slots)?;
        let buffers = Buffers::new(slots as usize);
        // SAFETY: the region is as large as the count says and outlives the ring, see `drop`.
        unsafe {
            uring.submitter().register_buf_ring_with_flags(
                buffers.ring_address(),
                buffers.count(),
                BUFFER_GROUP,
                0,
            )?;
        }
        let address = Box::new(Address::new(address));
        // SAFETY: a message header of zeros is a valid value of the type.
        let mut header: Box<libc::msghdr> = Box::new(unsafe { std::mem::zeroed() });
        header.msg_controllen = stamp::CONTROL_BYTES as _;
        Ok(Ring {
            uring,
            lent: Some(Lent {
                messages,
                address,
                one: Box::new(1),
                header,
                period: Box::default(),
                buffers,
                short: Box::default(),
                pieces: (0..slots).map(|_| None).collect(),
                late_pieces: Vec::new(),
            }),
        })
    }

    /// Whether options of direct descriptors can be set; Linux 6.7, known by a feature of 6.10.
    pub(crate) fn can_set_options(&self) -> bool {
        self.uring.params().is_feature_recvsend_bundle()
    }

    /// Opens a socket as `slot` and connects it. Of the steps before the connect only failures complete.
    pub(crate) fn open(&mut self, slot: u32, tags: OpenTags, options: Options) {
        self.make_room(CHAIN_COUNT);
        let lent = self.lent.as_ref().expect("lent until the ring is dropped");
        let (address, one) = (&*lent.address, &raw const *lent.one);
        let domain = i32::from(address.family.as_raw());
        let place = DestinationSlot::try_from_slot_target(slot).expect("slots are fewer than descriptors");
        let socket = opcode::Socket::new(domain, libc::SOCK_STREAM | libc::SOCK_NONBLOCK, 0)
            .file_index(Some(place))
            .build();
        let option = |level: i32, name: i32, value: *const libc::c_void, size: usize| {
            opcode::SetSockOpt::new(Fixed(slot), level as u32, name as u32, value, size as u32).build()
        };
        let switch = |level, name| option(level, name, one.cast(), size_of::<libc::c_int>());
        let connect =
            opcode::Connect::new(Fixed(slot), (&raw const address.storage).cast(), address.length).build();
        let linked = squeue::Flags::IO_LINK | squeue::Flags::SKIP_SUCCESS;
        self.push(socket.flags(linked).user_data(tags.open));
        if options.nodelay {
            self.push(switch(libc::IPPROTO_TCP, libc::TCP_NODELAY).flags(linked).user_data(tags.open));
        }
        if options.stamps {
            self.push(switch(libc::SOL_SOCKET, stamp::OPTION).flags(linked).user_data(tags.open));
        }
        // The chain goes on without an option that the kernel does not know, or an administrator forbids.
        let wished = linked | squeue::Flags::IO_HARDLINK;
        if options.ports_in_turn {
            let set = option(
                libc::IPPROTO_IP,
                ports::OPTION,
                (&raw const ports::ALL_IN_TURN).cast(),
                size_of::<u32>(),
            );
            self.push(set.flags(wished).user_data(tags.ignored));
        }
        if let Some(name) = options.congestion {
            let set = option(libc::IPPROTO_TCP, libc::TCP_CONGESTION, name.as_ptr().cast(), name.len());
            self.push(set.flags(wished).user_data(tags.ignored));
        }
        self.push(connect.user_data(tags.connect));
    }

    /// Sends a message from `offset` on. Completes only if it fails.
    #[inline]
    pub(crate) fn send(&mut self, slot: u32, tag: u64, message: usize, offset: usize) {
        let send = self.send_entry(slot, message, offset);
        self.push(send.flags(squeue::Flags::SKIP_SUCCESS).user_data(tag));
    }

    /// Sends a message from `offset` on. Completes when all of it is in the socket, or fails.
    pub(crate) fn send_and_tell(&mut self, slot: u32, tag: u64, message: usize, offset: usize) {
        let send = self.send_entry(slot, message, offset);
        self.push(send.user_data(tag));
    }

    /// Sends a copy of up to [`SHORT_BYTES`]. Completes only if it fails. The copy of one socket is overwritten by its next.
    #[inline]
    pub(crate) fn send_short(&mut self, slot: u32, tag: u64, bytes: &[u8]) {
        let lent = self.lent.as_mut().expect("lent until the ring is dropped");
        if lent.short.is_empty() {
            lent.short = vec![0; lent.pieces.len() * SHORT_BYTES].into_boxed_slice();
        }
        let copy = &mut lent.short[slot as usize * SHORT_BYTES..][..bytes.len()];
        copy.copy_from_slice(bytes);
        let send =
            opcode::Send::new(Fixed(slot), copy.as_ptr(), bytes.len() as u32).flags(SEND_FLAGS).build();
        self.push(send.flags(squeue::Flags::SKIP_SUCCESS).user_data(tag));
    }

    /// Sends bytes that the ring holds until [`Ring::take_back`]. Completes when all of them are in the socket, or fails.
    pub(crate) fn send_piece(&mut self, slot: u32, tag: u64, bytes: Vec<u8>) {
        let send =
            opcode::Send::new(Fixed(slot), bytes.as_ptr(), bytes.len() as u32).flags(SEND_FLAGS).build();
        let lent = self.lent.as_mut().expect("lent until the ring is dropped");
        // Moving a vector does not move its bytes.
        let earlier = lent.pieces[slot as usize].replace(Piece { tag, bytes });
        lent.late_pieces.extend(earlier);
        self.push(send.user_data(tag));
    }

    /// Takes back the bytes of a send that has completed; `None` if there was none with this tag.
    pub(crate) fn take_back(&mut self, slot: u32, tag: u64) -> Option<Vec<u8>> {
        let lent = self.lent.as_mut().expect("lent until the ring is dropped");
        let piece = &mut lent.pieces[slot as usize];
        if piece.as_ref().is_some_and(|piece| piece.tag == tag) {
            return piece.take().map(|piece| piece.bytes);
        }
        let late = lent.late_pieces.iter().position(|piece| piece.tag == tag)?;
        Some(lent.late_pieces.swap_remove(late).bytes)
    }

    #[inline]
    fn send_entry(&self, slot: u32, message: usize, offset: usize) -> squeue::Entry {
        let lent = self.lent.as_ref().expect("lent until the ring is dropped");
        let bytes = &lent.messages[message][offset..];
        opcode::Send::new(Fixed(slot), bytes.as_ptr(), bytes.len() as u32).flags(SEND_FLAGS).build()
    }

    /// Receives once.
    pub(crate) fn receive_once(&mut self, slot: u32, tag: u64) {
        let receive = opcode::Recv::new(Fixed(slot), std::ptr::null_mut(), 0)
            .buf_group(BUFFER_GROUP)
            .ioprio(POLL_FIRST)
            .build();
        self.push(receive.flags(squeue::Flags::BUFFER_SELECT).user_data(tag));
    }

    /// Receives until the socket is closed.
    pub(crate) fn receive_all(&mut self, slot: u32, tag: u64) {
        let receive = opcode::RecvMulti::new(Fixed(slot), BUFFER_GROUP).build();
        self.push(receive.user_data(tag));
    }

    /// Receives with stamps until the socket is closed; see [`Ring::stamped`].
    pub(crate) fn receive_all_stamped(&mut self, slot: u32, tag: u64) {
        let header = &raw const *self.lent.as_ref().expect("lent until the ring is dropped").header;
        let receive = opcode::RecvMsgMulti::new(Fixed(slot), header, BUFFER_GROUP).build();
        self.push(receive.user_data(tag));
    }

    /// Cancels the submission with this tag. Completes only if it is over.
    pub(crate) fn cancel(&mut self, target: u64, tag: u64) {
        let cancel = opcode::AsyncCancel::new(target).build();
        self.push(cancel.flags(squeue::Flags::SKIP_SUCCESS).user_data(tag));
    }

    /// Closes a socket. Completes only if it fails.
    pub(crate) fn close(&mut self, slot: u32, tag: u64) {
        let close = opcode::Close::new(Fixed(slot)).build();
        self.push(close.flags(squeue::Flags::SKIP_SUCCESS).user_data(tag));
    }

    /// Submits the pushed operations; completions are not processed yet.
    pub(crate) fn submit(&mut self) {
        self.enter(0, EnterFlags::empty(), None);
    }

    /// Begins to complete with this tag once in every period.
    pub(crate) fn tick(&mut self, tag: u64, period: Duration) {
        let lent = self.lent.as_mut().expect("lent until the ring is dropped");
        *lent.period = Timespec::from(period);
        let tick = opcode::Timeout::new(&raw const *lent.period).flags(TimeoutFlags::MULTISHOT).build();
        self.push(tick.user_data(tag));
    }

    /// Whether [`Ring::submit_and_gather`] is there; Linux 6.12.
    pub(crate) fn can_gather(&self) -> bool {
        self.uring.params().is_feature_min_timeout()
    }

    /// Submits what was pushed, and returns after `span` if something has completed then, else with the first completion,
    /// or after `timeout`, which is longer.
    pub(crate) fn submit_and_gather(&mut self, span: Duration, timeout: Duration) {
        let timeout = Timespec::from(timeout);
        let span_us = u32::try_from(span.as_micros()).unwrap_or(u32::MAX);
        let arguments = SubmitArgs::new().min_wait_usec(span_us).timespec(&timeout);
        // More than ever completes in that time.
        let count = self.uring.params().cq_entries();
        self.enter(count, self.wait_flags(), Some(arguments));
    }

    /// Submits what was pushed, and waits until there are `count` completions, or for `timeout` if there is one.
    pub(crate) fn submit_and_wait(&mut self, timeout: Option<Duration>, count: u32) {
        let has_completions = self.uring.completion().len() >= count as usize;
        if has_completions || timeout.is_some_and(|timeout| timeout.is_zero()) {
            let queue = self.uring.submission();
            let is_needed = !queue.is_empty() || queue.taskrun() || queue.cq_overflow();
            drop(queue);
            if is_needed {
                self.enter(0, EnterFlags::GETEVENTS, None);
            }
            return;
        }
        let timeout = timeout.map(Timespec::from);
        let arguments = timeout.as_ref().map(|timeout| SubmitArgs::new().timespec(timeout));
        self.enter(count, self.wait_flags(), arguments);
    }

    fn wait_flags(&self) -> EnterFlags {
        // Waiting for a server is not waiting for a disk.
        let has_no_iowait = self.uring.params().is_feature_no_iowait();
        let no_iowait = if has_no_iowait { EnterFlags::NO_IOWAIT } else { EnterFlags::empty() };
        EnterFlags::GETEVENTS | no_iowait
    }

    /// The next completion.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Completed> {
        let entry = self.uring.completion().next()?;
        Some(Completed {
            tag: entry.user_data(),
            result: entry.result(),
            buffer: cqueue::buffer_select(entry.flags()),
            has_more: cqueue::more(entry.flags()),
        })
    }

    /// The bytes that were received into a buffer.
    #[inline]
    pub(crate) fn bytes(&self, buffer: u16, length: usize) -> &[u8] {
        self.lent.as_ref().expect("lent until the ring is dropped").buffers.bytes(buffer, length)
    }

    /// What a stamped receive put into a buffer: where the bytes begin, how many they are, and their stamp, 0 if they have
    /// none. Unit of the stamp: nanoseconds on `CLOCK_REALTIME`.
    ///
    /// The kernel writes a header of four numbers (`struct io_uring_recvmsg_out`: lengths of name, control message and
    /// bytes, and flags), the control message in the room that was left for it, and the bytes.
    #[inline]
    pub(crate) fn stamped(&self, buffer: u16, length: usize) -> Stamped {
        let all = self.bytes(buffer, length);
        let start = STAMPED_BYTES.min(all.len());
        let control = &all[STAMPED_HEADER_BYTES.min(start)..start];
        Stamped { start, length: all.len() - start, stamp_ns: stamp::stamp_ns(control) }
    }

    /// Lends a buffer to the kernel again; its bytes are gone then.
    #[inline]
    pub(crate) fn give_back(&mut self, buffer: u16) {
        self.lent.as_mut().expect("lent until the ring is dropped").buffers.give_back(buffer);
    }

    #[inline]
    fn push(&mut self, entry: squeue::Entry) {
        self.make_room(1);
        // SAFETY: the addresses in it are those of lent memory.
        let pushed = unsafe { self.uring.submission().push(&entry) };
        pushed.expect("room was made");
    }

    /// Submits if fewer than `count` more fit.
    #[inline]
    fn make_room(&mut self, count: usize) {
        let queue = self.uring.submission();
        let is_full = queue.len() + count > queue.capacity();
        drop(queue);
        if is_full {
            self.submit();
        }
    }

    /// Enters the kernel. An error is an early end of a wait, or leaves the submissions for the next entry.
    fn enter(&mut self, min_complete: u32, flags: EnterFlags, arguments: Option<SubmitArgs<'_, '_>>) {
        let to_submit = self.uring.submission().len() as u32;
        let submitter = self.uring.submitter();
        let _ = match arguments {
            // SAFETY: no argument is passed, and what is submitted points into lent memory.
            None => unsafe { submitter.enter::<()>(to_submit, min_complete, flags.bits(), None) },
            Some(arguments) => {
                let flags = flags | EnterFlags::EXT_ARG;
                // SAFETY: the arguments are of the type that `EXT_ARG` stands for and outlive the call.
                unsafe { submitter.enter(to_submit, min_complete, flags.bits(), Some(&arguments)) }
            }
        };
    }
}

/// The end of a ring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    /// Whether nothing is under way any more.
    is_over: bool,
    /// What was still under way when all that had been asked for was done: nobody had cancelled it.
    #[cfg_attr(not(test), expect(dead_code, reason = "it is what a test looks at"))]
    pub(crate) left_count: usize,
}

impl Ring {
    /// Ends what is under way.
    ///
    /// A cancellation by tag finds its target at once. The one for all that is left looks, for each that it finds, at all
    /// that it has found before (`io_cancel_match_sequence`, `io_uring/cancel.c`), without a pause: of 18,000 receives that
    /// takes seconds, in which the CPU does nothing else. So what was cancelled is to be gone before.
    pub(crate) fn end(&mut self) -> Ended {
        self.submit();
        self.discard();
        let limit = Timespec::new().sec(CANCEL_LIMIT.as_secs()).nsec(CANCEL_LIMIT.subsec_nanos());
        let cancelled = self.uring.submitter().register_sync_cancel(Some(limit), CancelBuilder::any().all());
        // Closing goes on in here, so that the peer knows of it before the ring is gone.
        let left_count = self.discard();
        let is_over = match cancelled {
            Ok(()) => true,
            Err(error) => error.raw_os_error() == Some(libc::ENOENT),
        };
        Ended { is_over, left_count }
    }

    /// Lets everything complete that can, and looks at none of it; how much it was.
    fn discard(&mut self) -> usize {
        let mut count = 0;
        loop {
            self.enter(0, EnterFlags::GETEVENTS, None);
            let completed = self.uring.completion().count();
            count += completed;
            if completed == 0 {
                return count;
            }
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let is_over = self.end().is_over;
        if !is_over && let Some(lent) = self.lent.take() {
            // Something may still be under way: its memory is given up rather than freed.
            lent.buffers.leak();
            std::mem::forget((lent.messages, lent.address, lent.one, lent.header, lent.period));
            std::mem::forget((lent.short, lent.pieces, lent.late_pieces));
        }
    }
}

impl Address {
    fn new(address: SocketAddr) -> Address {
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        // SAFETY: a socket address of zeros is a valid value of the type.
        let mut storage: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer and the length are those of an address that lives during the call, and no address is
        // longer than the storage.
        let length = unsafe {
            address.with_sockaddr(|start, length| {
                let length = (length as usize).min(size_of::<libc::sockaddr_storage>());
                std::ptr::copy_nonoverlapping(start.cast::<u8>(), (&raw mut storage).cast::<u8>(), length);
                length
            })
        };
        Address { storage, length: length as libc::socklen_t, family }
    }
}

/// The error number in a result, if it is one.
pub(crate) fn errno(result: i32) -> Option<rustix::io::Errno> {
    (result < 0).then(|| rustix::io::Errno::from_raw_os_error(-result))
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Ring").field("fd", &self.uring.as_raw_fd()).finish_non_exhaustive()
    }
}
