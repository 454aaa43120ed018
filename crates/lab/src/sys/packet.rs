//! Sockets that receive and send whole frames of one interface (packet(7)).

use rustix::fd::{AsRawFd, BorrowedFd, OwnedFd};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with, sockopt};
use std::io;

/// Source of these: `include/uapi/linux/if_packet.h`, `include/uapi/linux/if_ether.h`.
const SOL_PACKET: libc::c_int = 263;
const PACKET_STATISTICS: libc::c_int = 6;
const PACKET_VNET_HDR: libc::c_int = 15;
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;
const ETH_P_ALL: u16 = 0x0003;

/// Frames that may wait to be read. Unit: bytes.
const RECEIVE_BYTES: usize = 16 << 20;

/// What the kernel puts in front of each frame, and takes there: what is still to be done to it, such as a checksum that the
/// sender has left to its device. Length of `struct virtio_net_hdr`. Unit: bytes.
pub(crate) const HEADER_BYTES: usize = 10;

/// Opens a socket for all frames that come in at an interface of the thread's network namespace, each behind a header. It
/// never waits.
///
/// # Errors
/// This user may not, or there is no such interface.
pub(crate) fn open(index: u32) -> io::Result<OwnedFd> {
    // Without a protocol nothing comes before it is bound.
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None)?;
    sockopt::set_socket_recv_buffer_size_force(&socket, RECEIVE_BYTES)?;
    for option in [PACKET_IGNORE_OUTGOING, PACKET_VNET_HDR] {
        switch_on(&socket, option)?;
    }
    // SAFETY: an address of zeros is a valid value of the type.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as libc::c_ushort;
    address.sll_protocol = ETH_P_ALL.to_be();
    address.sll_ifindex = i32::try_from(index).map_err(|_| io::ErrorKind::NotFound)?;
    // SAFETY: the address is of the family that its length says, and outlives the call.
    let result = unsafe {
        libc::bind(
            socket.as_raw_fd(),
            (&raw const address).cast(),
            size_of::<libc::sockaddr_ll>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(socket) } else { Err(io::Error::last_os_error()) }
}

fn switch_on(socket: &OwnedFd, option: libc::c_int) -> io::Result<()> {
    let one: libc::c_int = 1;
    // SAFETY: the option's value is an integer that outlives the call, and its size is that of the integer.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            SOL_PACKET,
            option,
            (&raw const one).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// How many frames found no room to wait since this was asked last.
pub(crate) fn dropped_count(socket: BorrowedFd<'_>) -> u64 {
    // struct tpacket_stats: how many came, and how many of them were dropped.
    let mut counts = [0u32; 2];
    let mut length = size_of_val(&counts) as libc::socklen_t;
    // SAFETY: value and length are those of `counts`, which outlives the call; any bytes are valid in it.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            SOL_PACKET,
            PACKET_STATISTICS,
            counts.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if result == 0 { u64::from(counts[1]) } else { 0 }
}
