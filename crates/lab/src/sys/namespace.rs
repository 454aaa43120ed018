//! A new network namespace (unshare(2)), and what a service's process sets up before exec (setsid(2), prctl(2)).

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Puts the calling thread, and it alone, into a new network namespace.
///
/// # Errors
/// This user may not, or the kernel has no room.
pub(crate) fn enter_new_network() -> io::Result<()> {
    // SAFETY: a network namespace is a matter of each thread; memory, descriptors and other threads are not touched.
    let result = unsafe { libc::unshare(libc::CLONE_NEWNET) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Has the process of a command begin a session of its own, and be killed when the thread that started it ends.
pub(crate) fn bind_to_parent(command: &mut Command) {
    let parent = std::process::id();
    let prepare = move || {
        // SAFETY: these calls are safe between fork and exec: they take no memory and touch none.
        let is_bound = unsafe {
            libc::setsid() >= 0
                && libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) == 0
                && libc::getppid() == parent as libc::pid_t
        };
        if is_bound { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: the closure does nothing but the calls above.
    unsafe { command.pre_exec(prepare) };
}
