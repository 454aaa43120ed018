//! Parses the records that the kernel writes to a ring, in the layout that [`crate::event`] requests.
//!
//! Pure, and bounded by the input: a record that is shorter than its own length says, or of an unused kind, is skipped.
//! Source: perf_event_open(2); `include/uapi/linux/perf_event.h`, `enum perf_event_type`.

use crate::registers::{self, UserState};
use crate::sys::bindings as abi;
use sysdyno_record::units::MonoNs;

/// A record with the thread that it is about, and its time.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PerfRecord {
    pub(crate) at: MonoNs,
    pub(crate) pid: u32,
    pub(crate) tid: u32,
    pub(crate) what: PerfWhat,
}

/// What happened.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PerfWhat {
    /// The event occurred: the call chain as the kernel gives it, the innermost frame first, with marks in between.
    ///
    /// `period` is how many events, or nanoseconds, it stands for. Of a program, its registers and the top of its stack, if they
    /// were asked for.
    Sample { period: u64, chain: Vec<u64>, user: Option<UserState> },
    /// A copy of the top of the stack of a program that is switched away from, with its registers.
    StackCopy(UserState),
    /// A file, or memory without one, was mapped to be executed.
    Mapped(Mapping),
    /// A process or a thread has another name; after exec, another program too.
    Named { name: String, is_exec: bool },
    /// A process or a thread was born.
    Forked { parent_pid: u32 },
    /// A thread has ended.
    Ended,
    /// A thread runs again.
    SwitchedIn,
    /// A thread no longer runs; whether it could have.
    SwitchedOut { is_preempted: bool },
    /// Records were dropped, since the ring was full.
    Lost { count: u64 },
}

/// A range of addresses that was mapped to be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) file_offset: u64,
    /// Device and inode; zero of memory without a file.
    pub(crate) file: MappedFile,
    /// The path, or a name in brackets. Untrusted.
    pub(crate) path: Vec<u8>,
}

/// A file, whatever its path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct MappedFile {
    pub(crate) major: u32,
    pub(crate) minor: u32,
    pub(crate) inode: u64,
}

/// Size of `struct perf_event_header`. Unit: bytes.
const HEADER_BYTES: usize = 8;

/// Size of what `sample_id_all` appends here: process, thread, time. Unit: bytes.
const ID_BYTES: usize = 16;

/// Longest path and name that are kept. Unit: bytes.
const TEXT_MAX: usize = 4096;

/// Appends all records of these bytes.
pub(crate) fn parse(mut bytes: &[u8], records: &mut Vec<PerfRecord>) {
    while let Some(length) = bytes.get(6..8).map(|size| u16::from_ne_bytes([size[0], size[1]]).into()) {
        if length < HEADER_BYTES || length > bytes.len() {
            return;
        }
        let (record, rest) = bytes.split_at(length);
        records.extend(parse_one(record));
        bytes = rest;
    }
}

/// Of the records of a ring of copies, hands each copy to `copied`, and counts those that the kernel had no room for.
pub(crate) fn parse_copies(bytes: &[u8], mut copied: impl FnMut(PerfRecord)) -> u64 {
    let (mut records, mut lost_count) = (Vec::new(), 0);
    parse(bytes, &mut records);
    for PerfRecord { at, pid, tid, what } in records {
        match what {
            PerfWhat::Sample { user: Some(user), .. } => {
                copied(PerfRecord { at, pid, tid, what: PerfWhat::StackCopy(user) });
            }
            PerfWhat::Lost { count } => lost_count += count,
            // Of the kernel's own threads there is no copy.
            _ => {}
        }
    }
    lost_count
}

fn parse_one(record: &[u8]) -> Option<PerfRecord> {
    let mut fields = Fields(record);
    let (kind, misc) = (fields.u32()?, fields.u16()?);
    fields.u16()?;
    if kind == abi::PERF_RECORD_SAMPLE {
        return sample(fields);
    }
    // All others end with the same fields.
    let (body, id) = fields.0.split_at_checked(fields.0.len().checked_sub(ID_BYTES)?)?;
    let mut id = Fields(id);
    let (mut pid, mut tid) = (id.u32()?, id.u32()?);
    let at = MonoNs(id.u64()?);
    let mut body = Fields(body);
    let is_out = u32::from(misc) & abi::PERF_RECORD_MISC_SWITCH_OUT != 0;
    let what = match kind {
        abi::PERF_RECORD_LOST => {
            body.u64()?;
            PerfWhat::Lost { count: body.u64()? }
        }
        abi::PERF_RECORD_MMAP2 => {
            (pid, tid) = (body.u32()?, body.u32()?);
            PerfWhat::Mapped(mapping(body)?)
        }
        abi::PERF_RECORD_COMM => {
            (pid, tid) = (body.u32()?, body.u32()?);
            let name = String::from_utf8_lossy(text(body.0)).into_owned();
            PerfWhat::Named { name, is_exec: u32::from(misc) & abi::PERF_RECORD_MISC_COMM_EXEC != 0 }
        }
        abi::PERF_RECORD_FORK | abi::PERF_RECORD_EXIT => {
            let (of_pid, parent_pid, of_tid) = (body.u32()?, body.u32()?, body.u32()?);
            (pid, tid) = (of_pid, of_tid);
            if kind == abi::PERF_RECORD_EXIT { PerfWhat::Ended } else { PerfWhat::Forked { parent_pid } }
        }
        abi::PERF_RECORD_SWITCH | abi::PERF_RECORD_SWITCH_CPU_WIDE if is_out => PerfWhat::SwitchedOut {
            is_preempted: u32::from(misc) & abi::PERF_RECORD_MISC_SWITCH_OUT_PREEMPT != 0,
        },
        abi::PERF_RECORD_SWITCH | abi::PERF_RECORD_SWITCH_CPU_WIDE => PerfWhat::SwitchedIn,
        _ => return None,
    };
    Some(PerfRecord { at, pid, tid, what })
}

/// `PERF_SAMPLE_TID | TIME | PERIOD | CALLCHAIN`, and `REGS_USER | STACK_USER` if they were asked for.
fn sample(mut fields: Fields<'_>) -> Option<PerfRecord> {
    let (pid, tid, at) = (fields.u32()?, fields.u32()?, MonoNs(fields.u64()?));
    let period = fields.u64()?;
    let count = usize::try_from(fields.u64()?).ok()?;
    let (bytes, rest) = fields.0.split_at_checked(count.checked_mul(8)?)?;
    let (words, _) = bytes.as_chunks::<8>();
    let chain = words.iter().map(|word| u64::from_ne_bytes(*word)).collect();
    Some(PerfRecord { at, pid, tid, what: PerfWhat::Sample { period, chain, user: user(Fields(rest)) } })
}

/// The registers and the stack of a program; `None`: there are none.
///
/// The kernel reserves as many bytes as were asked for, and says behind them how many it could copy.
fn user(mut fields: Fields<'_>) -> Option<UserState> {
    let registers_abi = fields.u64().filter(|abi| *abi != 0)?;
    let mut words = [0; registers::WORDS];
    for word in &mut words {
        *word = fields.u64()?;
    }
    let registers = registers::of_sample(registers_abi, words)?;
    let reserved = usize::try_from(fields.u64()?).ok()?;
    let (stack, rest) = fields.0.split_at_checked(reserved)?;
    let copied = usize::try_from(Fields(rest).u64()?).ok()?;
    Some(UserState { registers, stack: stack.get(..copied)?.to_vec() })
}

/// The fields of `PERF_RECORD_MMAP2` after process and thread.
fn mapping(mut body: Fields<'_>) -> Option<Mapping> {
    let (begin, length, file_offset) = (body.u64()?, body.u64()?, body.u64()?);
    let (major, minor, inode) = (body.u32()?, body.u32()?, body.u64()?);
    // Generation of the inode, protection, and flags.
    let (_, _, _) = (body.u64()?, body.u32()?, body.u32()?);
    let file = MappedFile { major, minor, inode };
    Some(Mapping { begin, end: begin.checked_add(length)?, file_offset, file, path: text(body.0).to_vec() })
}

/// The bytes before the first zero.
fn text(bytes: &[u8]) -> &[u8] {
    let bytes = &bytes[..bytes.len().min(TEXT_MAX)];
    bytes.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// Reads numbers from the front.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_ne_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_ne_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_ne_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u32, misc: u16, body: &[u8]) -> Vec<u8> {
        let length = (HEADER_BYTES + body.len()) as u16;
        [&kind.to_ne_bytes()[..], &misc.to_ne_bytes(), &length.to_ne_bytes(), body].concat()
    }

    fn id(pid: u32, tid: u32, at: u64) -> Vec<u8> {
        [&pid.to_ne_bytes()[..], &tid.to_ne_bytes(), &at.to_ne_bytes()].concat()
    }

    fn sample_bytes() -> Vec<u8> {
        // The period, the number of frames, and two of them.
        let words = [10_101_010u64, 2, 1, 2].map(u64::to_ne_bytes).concat();
        record(abi::PERF_RECORD_SAMPLE, 0, &[id(7, 8, 99), words].concat())
    }

    fn parsed(bytes: &[u8]) -> Vec<PerfRecord> {
        let mut records = Vec::new();
        parse(bytes, &mut records);
        records
    }

    #[test]
    fn records_are_read_in_the_layout_that_was_asked_for() {
        let lost = record(
            abi::PERF_RECORD_LOST,
            0,
            &[0u64.to_ne_bytes().into(), 5u64.to_ne_bytes().into(), id(0, 0, 100)].concat(),
        );
        let out = abi::PERF_RECORD_MISC_SWITCH_OUT | abi::PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
        let switched =
            record(abi::PERF_RECORD_SWITCH_CPU_WIDE, out as u16, &[vec![0; 8], id(7, 8, 101)].concat());
        let named = record(
            abi::PERF_RECORD_COMM,
            abi::PERF_RECORD_MISC_COMM_EXEC as u16,
            &[7u32.to_ne_bytes().into(), 7u32.to_ne_bytes().into(), b"web\0\0\0\0\0".to_vec(), id(7, 7, 102)]
                .concat(),
        );
        let unknown = record(77, 0, &id(1, 1, 1));
        let all = [sample_bytes(), lost, unknown, switched, named].concat();
        let expected = [
            PerfRecord {
                at: MonoNs(99),
                pid: 7,
                tid: 8,
                what: PerfWhat::Sample { period: 10_101_010, chain: vec![1, 2], user: None },
            },
            PerfRecord { at: MonoNs(100), pid: 0, tid: 0, what: PerfWhat::Lost { count: 5 } },
            PerfRecord {
                at: MonoNs(101),
                pid: 7,
                tid: 8,
                what: PerfWhat::SwitchedOut { is_preempted: true },
            },
            PerfRecord {
                at: MonoNs(102),
                pid: 7,
                tid: 7,
                what: PerfWhat::Named { name: "web".into(), is_exec: true },
            },
        ];
        assert_eq!(parsed(&all), expected);
    }

    #[test]
    fn what_is_cut_off_or_lies_about_its_length_is_skipped() {
        let whole = sample_bytes();
        for end in 0..whole.len() {
            assert!(parsed(&whole[..end]).is_empty(), "{end}");
        }
        let mut lying = whole.clone();
        // More frames than there are.
        lying[HEADER_BYTES + ID_BYTES + 8..][..8].copy_from_slice(&u64::MAX.to_ne_bytes());
        assert!(parsed(&lying).is_empty());
        let mut endless = whole.clone();
        endless[6..8].copy_from_slice(&0u16.to_ne_bytes());
        assert!(parsed(&endless).is_empty());
    }
}
