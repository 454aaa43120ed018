//! The kernel log: `/dev/kmsg`, starting with the records that come after the first look.
//!
//! Only records with the facility of the kernel count, since programs can write all others. Source:
//! `Documentation/ABI/testing/dev-kmsg`.

use crate::source::kmsg;
use rustix::fs::{Mode, OFlags, SeekFrom};
use rustix::io::Errno;
use std::os::fd::OwnedFd;

/// The kernel's log.
const PATH: &str = "/dev/kmsg";

/// Longest record that the kernel hands out. Source: `PRINTK_MESSAGE_MAX` of `kernel/printk`. Unit: bytes.
const MAX_RECORD_BYTES: usize = 8 << 10;

/// Records in one look; the others wait in the kernel's memory for the next one.
const MAX_RECORDS: usize = 256;

/// The kernel's log, open or not.
#[derive(Debug)]
pub(crate) struct KernelLog {
    file: Result<OwnedFd, String>,
}

impl KernelLog {
    /// The log from its end on.
    pub(crate) fn open() -> KernelLog {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
        let opened = rustix::fs::open(PATH, flags, Mode::empty()).and_then(|file| {
            rustix::fs::seek(&file, SeekFrom::End(0))?;
            Ok(file)
        });
        KernelLog { file: opened.map_err(|error| reason("open", error)) }
    }

    /// Why it cannot be read; `None`: it can.
    pub(crate) fn unavailable(&self) -> Option<&str> {
        self.file.as_ref().err().map(String::as_str)
    }

    /// Reads what came since the last look; `each` gets what the kernel itself said.
    pub(crate) fn read(&mut self, buffer: &mut Vec<u8>, mut each: impl FnMut(&[u8])) {
        let Ok(file) = &self.file else { return };
        buffer.resize(buffer.len().max(MAX_RECORD_BYTES), 0);
        for _ in 0..MAX_RECORDS {
            match rustix::io::read(file, &mut buffer[..MAX_RECORD_BYTES]) {
                Ok(0) | Err(Errno::AGAIN) => return,
                Ok(length) => {
                    let record = kmsg::parse(&buffer[..length]).ok();
                    let of_kernel = record.filter(|record| record.facility == kmsg::FROM_KERNEL);
                    of_kernel.into_iter().for_each(|record| each(record.text));
                }
                // Records were overwritten before they were read, or one is longer than any should be.
                Err(Errno::PIPE | Errno::INTR | Errno::INVAL) => {}
                Err(error) => {
                    self.file = Err(reason("read", error));
                    return;
                }
            }
        }
    }
}

fn reason(operation: &str, error: Errno) -> String {
    format!("cannot {operation} '{PATH}': {}", std::io::Error::from(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_from_its_end_or_says_why_not() {
        let mut log = KernelLog::open();
        match log.unavailable().map(str::to_owned) {
            None => log.read(&mut Vec::new(), |_| {}),
            Some(reason) => assert!(reason.starts_with("cannot open '/dev/kmsg': "), "{reason}"),
        }
    }
}
