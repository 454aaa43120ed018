//! The process of a relay: `sysdyno lab relay`.
//!
//! ```text
//!   host a ═ veth ═ a ─► way ─► b ═ veth ═ host b        (and the other way round)
//! ```
//! It has one thread, runs alone with both ends in a network namespace, and is started and ended by a keeper. A frame's delay
//! begins when it is read, and it is sent at the first look at the clock after the delay: never too early. Frame headers
//! (including checksums that are still to be filled in) pass through unchanged.

use super::way::RelayWay;
use super::{Order, Told};
use crate::sys::packet;
use crate::{files, link};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send, sockopt};
use std::io::{self, Write};
use std::num::NonZeroU64;
use std::path::Path;
use sysdyno_record::units::MonoNs;
use sysdyno_run::clock;

/// Longest frame: the longest packet, its Ethernet header with a tag, and what the kernel puts in front. Unit: bytes.
const MAX_FRAME: usize = 65_535 + 18 + packet::HEADER_BYTES;

/// Frames that are read at a time, so that those that are due do not wait for those that come.
const BATCH: usize = 64;

/// Between two times that the counts are written down, if they have changed.
const TELL_NS: u64 = 50_000_000;

/// Forwards frames as `order` says, until it is ended. That it has begun is said on `output`.
///
/// # Errors
/// The ends are not there, or are gone.
pub fn forward(order: &str, output: &mut dyn Write) -> io::Result<()> {
    let order: Order = serde_json::from_str(order)?;
    // A wait ends when it should, not within 50 µs of that.
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
    let sockets = [open(super::ENDS[0])?, open(super::ENDS[1])?];
    let ways = [0, 1].map(|side| RelayWay::new(&order.relay, side));
    writeln!(output, "{}", super::READY)?;
    output.flush()?;
    let told = Told::default();
    let mut relaying =
        Relaying { sockets, ways, buffer: vec![0; MAX_FRAME], counts: &order.counts, told, tell_at: None };
    loop {
        relaying.turn()?;
    }
}

/// Hears an end from its first frame on: it is down until somebody does.
fn open(name: &str) -> io::Result<OwnedFd> {
    let index = link::index_of(name)?;
    let socket = packet::open(index)?;
    link::bring_up(index)?;
    // That it was down is an error that waits to be read.
    let _ = sockopt::socket_error(&socket)?;
    Ok(socket)
}

struct Relaying<'a> {
    sockets: [OwnedFd; 2],
    /// The way of what comes in at the socket of the same place.
    ways: [RelayWay; 2],
    buffer: Vec<u8>,
    counts: &'a Path,
    told: Told,
    /// When counts that have changed are written down; `None`: they have not.
    tell_at: Option<MonoNs>,
}

impl Relaying<'_> {
    /// Sends what is due, reads what is there, and waits if nothing is.
    fn turn(&mut self) -> io::Result<()> {
        self.send_due();
        let has_read = self.receive()?;
        self.tell()?;
        if has_read { Ok(()) } else { self.wait() }
    }

    fn send_due(&mut self) {
        for (way, socket) in self.ways.iter_mut().zip(self.sockets.iter().rev()) {
            let now = clock::monotonic();
            while let Some(frame) = way.due(now) {
                match send(socket, &frame, SendFlags::DONTWAIT) {
                    Ok(_) => way.counts.forwarded_count += 1,
                    // The other end is down, or has no room.
                    Err(_) => way.counts.overflowed_count += 1,
                }
            }
        }
    }

    /// Reads some of the frames that are there; false if there were none.
    fn receive(&mut self) -> io::Result<bool> {
        let mut has_read = false;
        for (way, socket) in self.ways.iter_mut().zip(&self.sockets) {
            for _ in 0..BATCH {
                match recv(socket, &mut self.buffer[..], RecvFlags::DONTWAIT) {
                    Ok((length, _)) => {
                        has_read = true;
                        way.take(&self.buffer[..length], clock::monotonic());
                    }
                    Err(Errno::AGAIN) => break,
                    Err(Errno::INTR) => {}
                    Err(error) => return Err(gone(error)),
                }
            }
        }
        Ok(has_read)
    }

    /// Writes the counts down, if they have changed and it is time.
    fn tell(&mut self) -> io::Result<()> {
        let now = clock::monotonic();
        let Some(at) = self.tell_at else {
            let is_told = self.ways.iter().zip(&self.told).all(|(way, told)| way.counts == *told);
            self.tell_at = (!is_told).then_some(MonoNs(now.0 + TELL_NS));
            return Ok(());
        };
        if now < at {
            return Ok(());
        }
        for (way, socket) in self.ways.iter_mut().zip(&self.sockets) {
            way.counts.overflowed_count += packet::dropped_count(socket.as_fd());
        }
        self.tell_at = None;
        self.told = self.ways.each_ref().map(|way| way.counts);
        files::exchange(self.counts, &serde_json::to_string(&self.told)?)
    }

    /// Waits until a frame is there, one is due, or counts are to be written down.
    fn wait(&self) -> io::Result<()> {
        let dues = self.ways.iter().filter_map(RelayWay::next_due).chain(self.tell_at);
        let left = dues.min().map(|due| {
            let left_ns = due.since(clock::monotonic());
            Timespec { tv_sec: (left_ns / 1_000_000_000) as i64, tv_nsec: (left_ns % 1_000_000_000) as i64 }
        });
        let mut watched = self.sockets.each_ref().map(|socket| PollFd::new(socket, PollFlags::IN));
        match poll(&mut watched, left.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

fn gone(error: Errno) -> io::Error {
    let error = io::Error::from(error);
    io::Error::new(error.kind(), format!("one end of the link is gone: {error}"))
}
