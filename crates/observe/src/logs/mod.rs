//! Logs of the server and of the kernel: which files, what was appended, which lines are errors, and each message once.
//!
//! Every byte of a log is hostile: lines are bounded, made harmless and freed of what may be secret before they are kept,
//! and the number of messages is bounded, too. A file is only read, and only if it is a regular one.

mod files;
mod follow;
mod kernel;
mod lines;
mod message;
mod severity;
mod tally;
mod template;

pub(crate) use files::{LogFile, find_logs, mount_namespace};
pub(crate) use follow::{FileIdentity, FollowedFile, StartAt};
pub(crate) use kernel::KernelLog;
pub(crate) use message::harmless;
pub(crate) use severity::{kernel_severity, severity};
pub(crate) use tally::{Allowance, LogLook, LogOwner, LogTally};
