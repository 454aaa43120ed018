//! `hsperfdata_USER/PID`: counters that a Java virtual machine keeps of itself, in a file that it maps.
//!
//! Source: OpenJDK, `perfMemory.hpp` (`PerfDataPrologue`, `PerfDataEntry`), version 2, and `collectorCounters.cpp`. Each collector
//! counts its invocations and the time that they took, in ticks of `sun.os.hrt.frequency`. All of them stop the program meanwhile
//! but those whose name ends with `cycles` (ZGC), which work beside it.

use crate::error::ParseError;
use std::ops::Range;

/// What the collectors of a virtual machine have done since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Collections {
    /// How often one stopped the program.
    pub count: u64,
    /// For how long, in all. Unit: microseconds.
    pub paused_us: u64,
}

const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];
const VERSION: u8 = 2;
/// Most entries and collectors that are looked at.
const MAX_ENTRIES: u32 = 10_000;
const MAX_COLLECTORS: usize = 8;

/// Types of values, and those of them that are texts: arrays of bytes.
const LONG: u8 = b'J';
const BYTE: u8 = b'B';

/// Reads the file.
pub fn parse(bytes: &[u8]) -> Result<Collections, ParseError> {
    let file = File::of(bytes)?;
    let mut frequency_hz = None;
    let mut collectors = [Collector::default(); MAX_COLLECTORS];
    let mut at = file.number(24).ok_or(ParseError::at(0, "the first entry"))? as usize;
    let entries = file.number(28).ok_or(ParseError::at(0, "the number of entries"))?;
    for index in 0..entries.min(MAX_ENTRIES) {
        let entry = file.entry(at).ok_or(ParseError::at(index as usize, "an entry"))?;
        if entry.name == b"sun.os.hrt.frequency" {
            frequency_hz = entry.long().filter(|hz| *hz > 0);
        }
        if let Some((number, field)) = entry.of_collector() {
            collectors[number].take(field, &entry);
        }
        at = entry.end;
    }
    let frequency_hz = frequency_hz.ok_or(ParseError::at(0, "sun.os.hrt.frequency"))?;
    let mut sum = Collections::default();
    for collector in collectors.iter().filter(|collector| !collector.works_beside) {
        sum.count = sum.count.saturating_add(collector.count);
        let us = u128::from(collector.ticks) * 1_000_000 / u128::from(frequency_hz);
        sum.paused_us = sum.paused_us.saturating_add(u64::try_from(us).unwrap_or(u64::MAX));
    }
    Ok(sum)
}

#[derive(Clone, Copy, Default)]
struct Collector {
    count: u64,
    ticks: u64,
    works_beside: bool,
}

impl Collector {
    fn take(&mut self, field: &[u8], entry: &Entry<'_>) {
        match field {
            b"invocations" => self.count = entry.long().unwrap_or(0),
            b"time" => self.ticks = entry.long().unwrap_or(0),
            b"name" => self.works_beside = entry.text().ends_with(b"cycles"),
            _ => {}
        }
    }
}

struct File<'a> {
    bytes: &'a [u8],
    is_little: bool,
}

impl<'a> File<'a> {
    fn of(bytes: &'a [u8]) -> Result<File<'a>, ParseError> {
        let begins = bytes.get(..4) == Some(&MAGIC);
        let (order, version, accessible) = (bytes.get(4), bytes.get(5), bytes.get(7));
        if !begins || version != Some(&VERSION) {
            return Err(ParseError::at(0, "performance data of version 2"));
        }
        if accessible == Some(&0) {
            return Err(ParseError::at(0, "data that is complete"));
        }
        Ok(File { bytes, is_little: order == Some(&1) })
    }

    /// A count of 32 bits.
    fn number(&self, at: usize) -> Option<u32> {
        let bytes = self.bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(if self.is_little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    }

    fn entry(&self, at: usize) -> Option<Entry<'a>> {
        let length = self.number(at)? as usize;
        let end = at.checked_add(length).filter(|end| length >= 20 && *end <= self.bytes.len())?;
        let inside = |field: usize| {
            let offset = self.number(at + field)? as usize;
            at.checked_add(offset).filter(|from| *from < end)
        };
        let name = self.bytes.get(inside(4)?..end)?;
        let name = name.split(|byte| *byte == 0).next()?;
        Some(Entry {
            name,
            kind: *self.bytes.get(at + 12)?,
            is_array: self.number(at + 8)? > 0,
            value: inside(16)?..end,
            bytes: self.bytes,
            is_little: self.is_little,
            end,
        })
    }
}

struct Entry<'a> {
    name: &'a [u8],
    kind: u8,
    is_array: bool,
    /// From the begin of the value to the end of the entry.
    value: Range<usize>,
    bytes: &'a [u8],
    is_little: bool,
    end: usize,
}

impl<'a> Entry<'a> {
    fn long(&self) -> Option<u64> {
        let bytes = self.bytes.get(self.value.clone())?.get(..8)?.try_into().ok()?;
        let value = if self.is_little { u64::from_le_bytes(bytes) } else { u64::from_be_bytes(bytes) };
        (self.kind == LONG && !self.is_array).then_some(value)
    }

    fn text(&self) -> &'a [u8] {
        let bytes = self.bytes.get(self.value.clone()).filter(|_| self.kind == BYTE && self.is_array);
        bytes.and_then(|bytes| bytes.split(|byte| *byte == 0).next()).unwrap_or_default()
    }

    /// The number of the collector that this is of, and what it is of it.
    fn of_collector(&self) -> Option<(usize, &'a [u8])> {
        let rest = self.name.strip_prefix(b"sun.gc.collector.")?;
        let (digit, field) = rest.split_first()?;
        let number = usize::from(digit.checked_sub(b'0')?);
        Some((number, field.strip_prefix(b".")?)).filter(|(number, _)| *number < MAX_COLLECTORS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry of a file in little-endian order.
    fn entry(name: &str, kind: u8, value: &[u8]) -> Vec<u8> {
        let name_end = (20 + name.len() + 1).next_multiple_of(8);
        let length = (name_end + value.len()).next_multiple_of(8);
        let array = if kind == BYTE { value.len() as u32 } else { 0 };
        let mut bytes = Vec::new();
        for number in [length as u32, 20, array] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend([kind, 1, 1, 1]);
        bytes.extend((name_end as u32).to_le_bytes());
        bytes.extend(name.as_bytes());
        bytes.resize(name_end, 0);
        bytes.extend(value);
        bytes.resize(length, 0);
        bytes
    }

    fn file(entries: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, VERSION, 0, 1]);
        bytes.resize(24, 0);
        bytes.extend(32u32.to_le_bytes());
        bytes.extend((entries.len() as u32).to_le_bytes());
        bytes.extend(entries.concat());
        bytes
    }

    fn long(name: &str, value: u64) -> Vec<u8> {
        entry(name, LONG, &value.to_le_bytes())
    }

    fn two_collectors() -> Vec<u8> {
        file(&[
            long("sun.os.hrt.frequency", 1_000_000_000),
            entry("sun.gc.collector.0.name", BYTE, b"ZGC minor collection cycles\0"),
            long("sun.gc.collector.0.invocations", 40),
            long("sun.gc.collector.0.time", 9_000_000_000),
            entry("sun.gc.collector.1.name", BYTE, b"ZGC minor collection pauses\0"),
            long("sun.gc.collector.1.invocations", 120),
            long("sun.gc.collector.1.time", 250_000_999),
        ])
    }

    #[test]
    fn pauses_of_all_collectors_are_summed_up() {
        assert_eq!(parse(&two_collectors()), Ok(Collections { count: 120, paused_us: 250_000 }));
        let both = file(&[
            long("sun.gc.collector.0.invocations", 7),
            long("sun.gc.collector.0.time", 500),
            long("sun.gc.collector.1.invocations", 2),
            long("sun.gc.collector.1.time", 1_500),
            long("sun.os.hrt.frequency", 1_000),
            long("java.threads.live", 4),
        ]);
        assert_eq!(parse(&both), Ok(Collections { count: 9, paused_us: 2_000_000 }));
    }

    #[test]
    fn every_cut_and_every_byte_that_is_wrong_is_survived() {
        let good = two_collectors();
        for length in 0..good.len() {
            assert!(parse(&good[..length]).is_err(), "{length}");
        }
        for at in 0..good.len() {
            for value in [0, 0xff, 0x7f] {
                let mut bytes = good.clone();
                bytes[at] = value;
                let _ = parse(&bytes);
            }
        }
        assert!(parse(&file(&[])).is_err(), "no frequency");
        assert!(parse(&file(&[long("sun.os.hrt.frequency", 0)])).is_err(), "no time passes");
    }
}
