//! `/proc/diskstats`: what the block devices did.
//!
//! 14 columns up to 4.17, 18 with discards, 20 with flushes since 5.5. A sector is 512 bytes here whatever the device
//! says. Source: `block/genhd.c`, `diskstats_show`; `Documentation/admin-guide/iostats.rst`.

use super::{Fields, lines};
use crate::error::ParseError;

/// The unit of the kernel's sector counts. Unit: bytes.
pub const SECTOR_BYTES: u64 = 512;

/// The line of one device or partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disk<'a> {
    /// Its name. Untrusted text.
    pub name: &'a [u8],
    /// Completed reads.
    pub reads_count: u64,
    /// Sectors read.
    pub read_sectors: u64,
    /// Time of all reads, summed over them.
    pub read_ms: u64,
    /// Completed writes.
    pub writes_count: u64,
    /// Sectors written.
    pub written_sectors: u64,
    /// Requests given to the device and not completed.
    pub in_flight_count: u64,
    /// Time during which there was at least one request.
    pub io_ms: u64,
    /// Time of all requests in the queue, summed over them.
    pub queue_ms: u64,
    /// Completed flushes; `None`: a kernel before 5.5.
    pub flushes_count: Option<u64>,
    /// Time of all flushes; `None`: a kernel before 5.5.
    pub flush_ms: Option<u64>,
}

/// Counts that every kernel prints after the name.
const MIN_COUNTS: usize = 11;
/// Counts that are looked at.
const MAX_COUNTS: usize = 17;

/// Hands each device to `each`.
pub fn parse(text: &[u8], mut each: impl FnMut(Disk<'_>)) -> Result<(), ParseError> {
    for (index, line) in lines(text).enumerate() {
        each(parse_line(line).ok_or(ParseError::at(index, "a device and its counts"))?);
    }
    Ok(())
}

fn parse_line(line: &[u8]) -> Option<Disk<'_>> {
    let mut fields = Fields::of(line);
    let (_major, _minor) = (fields.decimal()?, fields.decimal()?);
    let name = fields.next()?;
    let mut counts = [None; MAX_COUNTS];
    let mut found = 0;
    for (count, field) in counts.iter_mut().zip(fields) {
        *count = Some(super::decimal(field)?);
        found += 1;
    }
    (found >= MIN_COUNTS).then_some(())?;
    Some(Disk {
        name,
        reads_count: counts[0]?,
        read_sectors: counts[2]?,
        read_ms: counts[3]?,
        writes_count: counts[4]?,
        written_sectors: counts[6]?,
        in_flight_count: counts[8]?,
        io_ms: counts[9]?,
        queue_ms: counts[10]?,
        flushes_count: counts[15],
        flush_ms: counts[16],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_of_new_and_old_kernels_are_read() {
        let new = b" 254  0 vda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n";
        let mut seen = 0;
        parse(new, |disk| {
            seen += 1;
            let expected = Disk {
                name: b"vda",
                reads_count: 1,
                read_sectors: 3,
                read_ms: 4,
                writes_count: 5,
                written_sectors: 7,
                in_flight_count: 9,
                io_ms: 10,
                queue_ms: 11,
                flushes_count: Some(16),
                flush_ms: Some(17),
            };
            assert_eq!(disk, expected);
        })
        .expect("parses");
        parse(b"8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n", |disk| {
            seen += 1;
            assert_eq!((disk.queue_ms, disk.flushes_count, disk.flush_ms), (11, None, None));
        })
        .expect("parses");
        assert_eq!(seen, 2);
    }

    #[test]
    fn garbage_is_refused() {
        for wrong in ["x\n", "8 0 sda 1 2 3\n", "8 0 sda 1 2 3 4 5 6 7 8 9 10 x\n", "\n\n"] {
            assert!(parse(wrong.as_bytes(), |_| {}).is_err(), "{wrong:?}");
        }
    }
}
