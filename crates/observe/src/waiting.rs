//! What a measured command does at one instant: whether it is on a CPU, and otherwise what its threads wait for.
//!
//! A look at all threads of its processes gives one answer, so that looks at regular intervals add up to the command's whole
//! time. A thread on a CPU comes first. Otherwise the wait counts that is at the end of the chain: a shell waits for `svn`, and
//! `svn` for the journal. Runtimes with many threads (Java, Go) have some that wait for others in a lock, and one that waits for
//! events of all connections: a command has no requests to wait for, so that those connections are what it waits for. If all
//! threads wait for others of them, and some only until a time, nothing but that time wakes them: the command sleeps.
//!
//! The kernel's stack tells what an uninterruptible sleep is for; where only root may read it, `wchan` has the innermost
//! function. Sources: `fs/jbd2/`, `fs/xfs/`, `fs/fuse/`, `mm/page-writeback.c`.

use crate::discover::{list_children, list_tasks};
use crate::roots::Roots;
use crate::source::pid_syscall::{self, Whereabouts};
use crate::source::{fdinfo, pid_stack, pid_stat, read_once};
use crate::threads::{Sight, at_descriptors, at_numbers, doing, is_in_event_loop};
use nix::libc;
use sysdyno_record::live::ThreadWait;
use sysdyno_record::work::CommandWait;

/// Processes of a command, and threads of each, that are looked at; further ones are left out.
const MAX_PROCESSES: usize = 64;
const MAX_THREADS: usize = 16;

/// Descriptors of an event loop that are looked at.
const MAX_EVENTS: usize = 16;

/// What a function of the kernel says of a thread that waits in it. Of a stack, the first entry counts that any of its
/// functions matches; a name that ends with `*` stands for all that begin so.
const FUNCTIONS: &[(CommandWait, &[&str])] = &[
    (
        CommandWait::JournalSpace,
        &[
            "__jbd2_log_wait_for_space",
            "jbd2_log_do_checkpoint",
            "jbd2_cleanup_journal_tail",
            "xlog_grant_head_wait",
            "xlog_grant_head_check",
        ],
    ),
    (
        CommandWait::JournalCommit,
        &[
            "jbd2_log_wait_commit",
            "jbd2_complete_transaction",
            "jbd2_journal_force_commit*",
            "wait_transaction_locked",
            "wait_transaction_switching",
            "add_transaction_credits",
            "start_this_handle",
            "do_get_write_access",
            "jbd2_journal_get_*",
            "jbd2_fc_*",
            "ext4_fc_commit",
            "xfs_log_force*",
            "xlog_cil_force*",
            "xlog_wait*",
            "btrfs_commit_transaction",
            "wait_current_trans",
        ],
    ),
    (CommandWait::Writeback, &["balance_dirty_pages*", "wbt_wait", "rq_qos_wait"]),
    (
        CommandWait::FileServer,
        &[
            "fuse_*",
            "__fuse_*",
            "request_wait_answer",
            "nfs_*",
            "nfs3_*",
            "nfs4_*",
            "rpc_*",
            "__rpc_*",
            "cifs_*",
            "smb2_*",
            "SMB2_*",
            "compound_send_recv",
            "v9fs_*",
            "p9_*",
            "ceph_*",
        ],
    ),
];

/// The processes of a command.
#[derive(Debug)]
pub struct WatchedCommand {
    roots: Roots,
    pid: u32,
    buffer: Vec<u8>,
}

impl WatchedCommand {
    /// A command by its first process; those that it starts belong to it as long as their parents live.
    pub fn of(pid: u32) -> WatchedCommand {
        WatchedCommand { roots: Roots::host(), pid, buffer: Vec::new() }
    }

    /// What it does at this instant; `None`: none of its threads can be seen.
    pub fn look(&mut self) -> Option<CommandWait> {
        let (mut pids, mut next, mut found) = (vec![self.pid], 0, None);
        while let Some(pid) = pids.get(next).copied() {
            next += 1;
            let children = list_children(&self.roots, pid, &mut self.buffer).unwrap_or_default();
            pids.extend(children.into_iter().take(MAX_PROCESSES.saturating_sub(pids.len())));
            for (pid, thread) in self.threads(pid) {
                found = found.max(self.seen(pid, thread).map(rank));
                if found == Some(rank(CommandWait::Running)) {
                    return Some(CommandWait::Running);
                }
            }
        }
        found.map(|(_, wait)| wait)
    }

    fn threads(&mut self, pid: u32) -> Vec<(u32, u32)> {
        let path = self.roots.in_proc(&format!("{pid}/stat"));
        let stat = read_once(&path, &mut self.buffer).ok().and_then(|text| pid_stat::parse(text).ok());
        let count = stat.map_or(0, |stat| stat.threads_count);
        match count {
            0 | 1 => vec![(pid, pid)],
            _ => {
                // The first one, and the youngest: those in between are the runtime's own.
                let all = list_tasks(&self.roots, pid);
                let young = all.iter().skip(1).rev().take(MAX_THREADS - 1);
                all.first().into_iter().chain(young).map(|id| (pid, *id)).collect()
            }
        }
    }

    /// What a thread does; `None`: it is gone, or hidden.
    fn seen(&mut self, pid: u32, thread: u32) -> Option<CommandWait> {
        let place = |name: &str| self.roots.in_proc(&format!("{pid}/task/{thread}/{name}"));
        let (stat, syscall) = (place("stat"), place("syscall"));
        let stat = pid_stat::parse(read_once(&stat, &mut self.buffer).ok()?).ok()?;
        let state = Some(stat).filter(|stat| !stat.is_dead())?.state;
        if state == b'R' {
            return Some(CommandWait::Running);
        }
        let call = pid_syscall::parse(read_once(&syscall, &mut self.buffer).ok()?).ok()?;
        if state == b'S' && is_timed_lock(call) {
            return Some(CommandWait::Timer);
        }
        let known = match is_in_event_loop(call) {
            true => plain_sight(&at_numbers(&self.roots, pid, &self.events(pid, call))),
            false => plain_sight(&at_descriptors(&self.roots, pid, doing(state, call))),
        };
        let is_in_kernel = state == b'D' || matches!(known, ThreadWait::Disk | ThreadWait::Other);
        let by_stack = is_in_kernel.then(|| self.by_stack(pid, thread)).flatten();
        Some(by_stack.unwrap_or(plain(known)))
    }

    /// The descriptors whose events a thread waits for.
    fn events(&self, pid: u32, call: Whereabouts) -> Vec<u64> {
        let Whereabouts::Call { arguments: [instance, ..], .. } = call else { return Vec::new() };
        let (path, mut text) = (self.roots.in_proc(&format!("{pid}/fdinfo/{instance}")), Vec::new());
        read_once(&path, &mut text)
            .map_or(Vec::new(), |text| fdinfo::watched(text).take(MAX_EVENTS).collect())
    }

    /// What the functions of the kernel say that a thread waits in; `None`: nothing, or they are hidden.
    fn by_stack(&mut self, pid: u32, thread: u32) -> Option<CommandWait> {
        let place = |name: &str| self.roots.in_proc(&format!("{pid}/task/{thread}/{name}"));
        let (stack, wchan) = (place("stack"), place("wchan"));
        if let Ok(text) = read_once(&stack, &mut self.buffer) {
            return wait_in(text);
        }
        wait_in(read_once(&wchan, &mut self.buffer).ok()?)
    }
}

/// Whether a thread waits for another one until a time at most: futex(2), whose fourth argument is that time.
fn is_timed_lock(call: Whereabouts) -> bool {
    matches!(call, Whereabouts::Call { number: libc::SYS_futex, arguments: [.., time] } if time != 0)
}

/// What a thread waits for that does this: the other end of a connection, if it waits at one.
fn plain_sight(sight: &Sight) -> ThreadWait {
    match sight {
        Sight::Known(wait) => *wait,
        Sight::Sockets(sockets) if sockets.is_empty() => ThreadWait::Other,
        Sight::Sockets(_) => ThreadWait::Network,
    }
}

/// What a stack says; `None`: nothing that is known.
fn wait_in(text: &[u8]) -> Option<CommandWait> {
    let is_meant = |name: &[u8], known: &str| match known.strip_suffix('*') {
        Some(begin) => name.starts_with(begin.as_bytes()),
        None => name == known.as_bytes(),
    };
    let is_in = |names: &[&str]| {
        pid_stack::functions(text).any(|name| names.iter().any(|known| is_meant(name, known)))
    };
    FUNCTIONS.iter().find(|(_, names)| is_in(names)).map(|(wait, _)| *wait)
}

/// What a wait is called that shows without the kernel's stack.
fn plain(wait: ThreadWait) -> CommandWait {
    match wait {
        ThreadWait::Running => CommandWait::Running,
        ThreadWait::Lock => CommandWait::Lock,
        ThreadWait::Process => CommandWait::Process,
        ThreadWait::Disk => CommandWait::Disk,
        ThreadWait::Timer => CommandWait::Timer,
        ThreadWait::Stopped => CommandWait::Stopped,
        ThreadWait::Network => CommandWait::Network,
        ThreadWait::Idle | ThreadWait::Other | ThreadWait::Hidden => CommandWait::Other,
    }
}

/// A wait with its place: of several threads, that with the greatest counts.
fn rank(wait: CommandWait) -> (usize, CommandWait) {
    let place = match wait {
        CommandWait::Process => 0,
        CommandWait::Other => 1,
        CommandWait::Lock => 2,
        CommandWait::Timer => 3,
        CommandWait::Stopped => 4,
        CommandWait::Network => 5,
        CommandWait::FileServer => 6,
        CommandWait::Disk => 7,
        CommandWait::Writeback => 8,
        CommandWait::JournalCommit => 9,
        CommandWait::JournalSpace => 10,
        CommandWait::Running => 11,
    };
    (place, wait)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::epoll;
    use rustix::process::{Pid, Signal, kill_process_group};
    use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
    use std::os::unix::net::UnixStream;
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    #[test]
    fn a_stack_tells_what_a_disk_is_waited_for() {
        let check = |functions: &[&str], expected: Option<CommandWait>| {
            let text: String = functions.iter().map(|name| format!("[<0>] {name}+0x1/0x2\n")).collect();
            assert_eq!(wait_in(text.as_bytes()), expected, "{functions:?}");
        };
        let space = [
            "jbd2_log_do_checkpoint",
            "__jbd2_log_wait_for_space",
            "add_transaction_credits",
            "start_this_handle",
        ];
        check(&space, Some(CommandWait::JournalSpace));
        check(&space[2..], Some(CommandWait::JournalCommit));
        check(&["jbd2_log_wait_commit", "ext4_sync_file", "do_fsync"], Some(CommandWait::JournalCommit));
        check(&["xlog_wait_on_iclog", "xfs_file_fsync"], Some(CommandWait::JournalCommit));
        check(
            &["balance_dirty_pages_ratelimited_flags", "generic_perform_write"],
            Some(CommandWait::Writeback),
        );
        check(&["request_wait_answer", "__fuse_simple_request"], Some(CommandWait::FileServer));
        check(&["folio_wait_bit_common", "filemap_update_page"], None);
        assert_eq!(wait_in(b"jbd2_log_wait_commit"), Some(CommandWait::JournalCommit));
        assert_eq!(wait_in(b"0"), None);
    }

    #[test]
    fn every_wait_has_a_place_of_its_own() {
        let mut places = CommandWait::ALL.map(|wait| rank(wait).0);
        places.sort_unstable();
        assert!(places.iter().copied().eq(0..CommandWait::ALL.len()));
    }

    #[test]
    fn who_waits_for_events_waits_for_what_their_descriptors_lead_to() {
        let waits_at = |fd: BorrowedFd<'_>| {
            let events = epoll::create(epoll::CreateFlags::CLOEXEC).expect("an instance");
            epoll::add(&events, fd, epoll::EventData::new_u64(1), epoll::EventFlags::IN).expect("is added");
            let arguments = [events.as_raw_fd() as u64, 0, 0, 0];
            let (pid, call) = (std::process::id(), Whereabouts::Call { number: 0, arguments });
            let own = WatchedCommand::of(pid);
            plain_sight(&at_numbers(&own.roots, pid, &own.events(pid, call)))
        };
        let (socket, _other) = UnixStream::pair().expect("sockets");
        let (pipe, _writer) = std::io::pipe().expect("a pipe");
        assert_eq!(waits_at(socket.as_fd()), ThreadWait::Network);
        assert_eq!(waits_at(pipe.as_fd()), ThreadWait::Process);
    }

    /// Looks at a command until `expected` is seen, to which it comes.
    fn await_look(words: &[&str], expected: CommandWait) {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::null()).process_group(0);
        let mut child = command.spawn().expect("starts");
        let mut watched = WatchedCommand::of(child.id());
        while watched.look() != Some(expected) {
            assert!(child.try_wait().expect("it is ours").is_none(), "{words:?} has ended");
        }
        kill_process_group(Pid::from_child(&child), Signal::KILL).expect("it is ours");
        child.wait().expect("it is ours");
        assert_eq!(watched.look(), None);
    }

    #[test]
    fn a_command_is_at_what_the_last_process_of_it_does() {
        await_look(&["sh", "-c", "sleep 600; true"], CommandWait::Timer);
        await_look(&["sh", "-c", "while :; do :; done"], CommandWait::Running);
        await_look(&["cat"], CommandWait::Process);
        // Its other thread waits for the first one, which waits for a time.
        let python = "import threading as t; t.Thread(target=t.Event().wait, daemon=True).start(); t.Event().wait(600)";
        if sysdyno_needs::has("a command whose threads wait for each other", &["python3"]) {
            await_look(&["python3", "-c", python], CommandWait::Timer);
        }
    }
}
