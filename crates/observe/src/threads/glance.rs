//! One thread at one instant, by the kernel's files: its state, its call, and the descriptors that it waits for.

use super::wait::Doing;
use crate::discover::{DescriptorTarget, polled, target_of};
use crate::roots::Roots;
use crate::source::pid_stat::{self, PidStat};
use crate::source::pid_syscall::{self, Whereabouts};
use crate::source::schedstat::{self, Schedstat};
use crate::source::{KeptFile, Shape};
use sysdyno_record::live::ThreadWait;

/// Where the kernel says what a thread does. To open them takes longer than to read them.
#[derive(Debug)]
pub(crate) struct ThreadFiles {
    syscall: KeptFile,
    stat: KeptFile,
    schedstat: KeptFile,
    wchan: KeptFile,
}

/// A descriptor that leads to a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SocketSeen {
    pub(crate) number: u64,
    pub(crate) inode: u64,
}

/// What a thread does, with the sockets that it waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    Known(ThreadWait),
    /// It waits for one of these sockets.
    Sockets(Vec<SocketSeen>),
}

impl ThreadFiles {
    pub(crate) fn new(roots: &Roots, pid: u32, id: u32) -> ThreadFiles {
        let file =
            |name: &str| KeptFile::new(roots.in_proc(&format!("{pid}/task/{id}/{name}")), Shape::Whole);
        ThreadFiles {
            syscall: file("syscall"),
            stat: file("stat"),
            schedstat: file("schedstat"),
            wchan: file("wchan"),
        }
    }

    /// The call that the thread is in; `None`: it is gone, or may not be traced.
    pub(crate) fn whereabouts(&mut self, buffer: &mut Vec<u8>) -> Option<Whereabouts> {
        pid_syscall::parse(self.syscall.read(buffer).ok()?).ok()
    }

    /// Its state; `None`: it is gone.
    pub(crate) fn stat<'a>(&mut self, buffer: &'a mut Vec<u8>) -> Option<PidStat<'a>> {
        pid_stat::parse(self.stat.read(buffer).ok()?).ok()
    }

    /// What it got of the CPUs; `None`: it is gone, or this kernel does not say.
    pub(crate) fn schedule(&mut self, buffer: &mut Vec<u8>) -> Option<Schedstat> {
        schedstat::parse(self.schedstat.read(buffer).ok()?).ok()
    }

    /// The function of the kernel in which it sleeps: `0` where that is hidden, or it does not sleep. `None`: it is gone.
    pub(crate) fn function<'a>(&mut self, buffer: &'a mut Vec<u8>) -> Option<&'a [u8]> {
        self.wchan.read(buffer).ok()
    }
}

/// Follows the descriptors that a thread waits for to pipes and sockets.
pub(crate) fn at_descriptors(roots: &Roots, pid: u32, doing: Doing) -> Sight {
    match doing {
        Doing::Known(wait) => Sight::Known(wait),
        Doing::Descriptor(number) => at_numbers(roots, pid, &[number]),
        Doing::Listed { address, count } => at_numbers(roots, pid, &polled(pid, address, count)),
    }
}

/// Who waits for pipes and for no socket waits for another process: for what a program that it started prints.
pub(crate) fn at_numbers(roots: &Roots, pid: u32, numbers: &[u64]) -> Sight {
    let (mut sockets, mut has_pipe) = (Vec::new(), false);
    for number in numbers {
        match target_of(roots, pid, *number) {
            Some(DescriptorTarget::Pipe) => has_pipe = true,
            Some(DescriptorTarget::Socket(inode)) => sockets.push(SocketSeen { number: *number, inode }),
            None => {}
        }
    }
    if has_pipe && sockets.is_empty() { Sight::Known(ThreadWait::Process) } else { Sight::Sockets(sockets) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::libc::{POLLIN, pollfd};
    use std::os::fd::{AsRawFd, RawFd};
    use std::os::unix::net::UnixStream;

    #[test]
    fn who_polls_pipes_alone_waits_for_another_process() {
        let (pipe, _writer) = std::io::pipe().expect("a pipe");
        let (socket, _other) = UnixStream::pair().expect("sockets");
        let polling = |numbers: &[RawFd]| {
            let list: Vec<pollfd> =
                numbers.iter().map(|fd| pollfd { fd: *fd, events: POLLIN, revents: 0 }).collect();
            let listed = Doing::Listed { address: list.as_ptr() as u64, count: list.len() as u64 };
            at_descriptors(&Roots::host(), std::process::id(), listed)
        };
        let (pipe, socket) = (pipe.as_raw_fd(), socket.as_raw_fd());
        assert_eq!(polling(&[pipe, pipe]), Sight::Known(ThreadWait::Process));
        let both = polling(&[pipe, socket]);
        assert!(matches!(&both, Sight::Sockets(sockets) if sockets[0].number == socket as u64), "{both:?}");
        assert_eq!(polling(&[]), Sight::Sockets(vec![]));
    }
}
