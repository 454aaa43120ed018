//! What the child process of a short-lived program sets up before exec (setsid(2), alarm(2), prctl(2)).

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

/// Has the process of a command begin a session of its own, be ended by the kernel after `limit` (SIGALRM, which execve(2)
/// keeps pending), and, if it is bound, be killed when the thread that started it ends.
pub(crate) fn prepare(command: &mut Command, limit: Duration, is_bound: bool) {
    let parent = std::process::id();
    let seconds = libc::c_uint::try_from(limit.as_secs().saturating_add(1)).unwrap_or(libc::c_uint::MAX);
    let prepare = move || {
        // SAFETY: these calls are safe between fork and exec: they take no memory and touch none.
        let is_prepared = unsafe {
            libc::signal(libc::SIGALRM, libc::SIG_DFL);
            libc::alarm(seconds);
            libc::setsid() >= 0
                && (!is_bound
                    || libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) == 0
                        && libc::getppid() == parent as libc::pid_t)
        };
        if is_prepared { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: the closure does nothing but the calls above.
    unsafe { command.pre_exec(prepare) };
}
