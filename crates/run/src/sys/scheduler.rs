//! The scheduling policy of a thread (sched_setscheduler(2)), by the system call itself: the C library musl refuses it.

use rustix::io::Errno;

/// Lets the calling thread run before all ordinary ones, at the lowest real-time priority.
///
/// # Errors
/// `PERM`: this user may not, or its control group is given no real-time.
pub(crate) fn run_first() -> Result<(), Errno> {
    let priority: libc::c_int = 1;
    // SAFETY: `struct sched_param` is one int, of which the kernel reads as much; 0 is the calling thread.
    let set =
        unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, libc::SCHED_FIFO, &raw const priority) };
    if set == 0 {
        return Ok(());
    }
    // SAFETY: reads the calling thread's own error number.
    Err(Errno::from_raw_os_error(unsafe { *libc::__errno_location() }))
}
