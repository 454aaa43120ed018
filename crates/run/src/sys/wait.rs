//! Reaps a child and returns its resource usage (wait4(2)).

use rustix::io::Errno;
use rustix::process::Pid;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use sysdyno_record::work::Usage;

/// Waits for a child of this process to end and buries it: how it ended, and what it and the children that it waited for
/// have used. Input and output are not among it.
///
/// # Errors
/// `CHILD`: it is no child of this process, or was buried already.
pub(crate) fn bury(child: Pid) -> Result<(ExitStatus, Usage), Errno> {
    let mut status: libc::c_int = 0;
    // SAFETY: a usage of zeros is a valid value of the type.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers are to values of the types that the call writes, and outlive it.
        let buried = unsafe { libc::wait4(child.as_raw_nonzero().get(), &raw mut status, 0, &raw mut usage) };
        if buried > 0 {
            return Ok((ExitStatus::from_raw(status), used(&usage)));
        }
        // SAFETY: reads the calling thread's own error number.
        let errno = Errno::from_raw_os_error(unsafe { *libc::__errno_location() });
        if errno != Errno::INTR {
            return Err(errno);
        }
    }
}

fn used(usage: &libc::rusage) -> Usage {
    let count = |value: libc::c_long| u64::try_from(value).unwrap_or(0);
    let microseconds = |time: libc::timeval| {
        u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000 + u64::try_from(time.tv_usec).unwrap_or(0)
    };
    Usage {
        user_us: microseconds(usage.ru_utime),
        system_us: microseconds(usage.ru_stime),
        minor_faults_count: count(usage.ru_minflt),
        major_faults_count: count(usage.ru_majflt),
        block_reads_count: count(usage.ru_inblock),
        block_writes_count: count(usage.ru_oublock),
        voluntary_switches_count: count(usage.ru_nvcsw),
        involuntary_switches_count: count(usage.ru_nivcsw),
        max_rss_bytes: count(usage.ru_maxrss) * 1024,
        cpus_count: None,
        io: None,
    }
}
