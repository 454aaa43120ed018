//! Parsers of the kernel's texts: pure, total, and strict about what they take.
//!
//! Invariants:
//! - a parser reads bytes and nothing else; it never opens, waits or logs;
//! - what it does not understand is an error that names the line, never a zero; what newer kernels append is skipped;
//! - fields are found by name where the kernel names them (`snmp`, `netstat`, `vmstat`, `meminfo`), since their number
//!   and order differ between kernels;
//! - no parser copies hostile text into an error.
//!
//! Most parsers fill a buffer that the caller reuses, since they run ten times a second.

pub mod cgroup;
pub mod cpu_list;
pub mod cpu_stat;
pub mod diskstats;
pub mod ext;
pub mod fdinfo;
mod file;
pub mod file_nr;
pub mod hsperfdata;
pub mod interrupts;
pub mod kmsg;
pub mod limits;
pub mod loadavg;
pub mod locks;
pub mod mountinfo;
pub mod named;
pub mod net_dev;
pub mod net_stat;
pub mod net_tcp;
pub mod net_unix;
pub mod pid_io;
pub mod pid_stack;
pub mod pid_stat;
pub mod pid_status;
pub mod pid_syscall;
pub mod pressure;
mod scan;
pub mod schedstat;
pub mod snmp;
pub mod sockstat;
pub mod softirqs;
pub mod softnet;
pub mod stat;
pub mod xfs;

pub(crate) use file::{KeptFile, Shape, read_once};
pub(crate) use scan::{Fields, decimal, hexadecimal, lines};
