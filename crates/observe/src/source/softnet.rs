//! `/proc/net/softnet_stat`: what the network receive path of each CPU did.
//!
//! One line of hexadecimal 32-bit columns per *online* CPU. Kernels print ever more columns: 10 up to 3.10, 11 with
//! `flow_limit`, 13 since 5.10 with the backlog's length and the CPU's number, 15 since 6.7.
//! Source: `net/core/net-procfs.c`, `softnet_seq_show`.

use super::{Fields, hexadecimal, lines};
use crate::error::ParseError;

/// The line of one CPU. Counters are 32 bits wide and wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Softnet {
    /// The CPU; `None`: a kernel before 5.10, whose lines follow the online CPUs in order.
    pub cpu: Option<u32>,
    /// Packets taken from the driver or the backlog.
    pub processed_count: u32,
    /// Packets dropped because the CPU's backlog was full.
    pub dropped_count: u32,
    /// Times that the budget ended before the work did.
    pub time_squeeze_count: u32,
    /// Wake-ups by another CPU for receive packet steering; `None`: not printed.
    pub received_rps_count: Option<u32>,
    /// Packets dropped by the flow limit; `None`: not printed.
    pub flow_limit_count: Option<u32>,
    /// Packets in the backlog now; `None`: a kernel before 5.10.
    pub backlog_count: Option<u32>,
}

/// Columns that every kernel prints.
const MIN_COLUMNS: usize = 9;
/// Columns that are looked at.
const MAX_COLUMNS: usize = 13;

/// Reads one entry per line into `out`, whose memory is reused.
pub fn parse(text: &[u8], out: &mut Vec<Softnet>) -> Result<(), ParseError> {
    out.clear();
    for (index, line) in lines(text).enumerate() {
        out.push(parse_line(line).ok_or(ParseError::at(index, "columns of 32-bit hexadecimal numbers"))?);
    }
    if out.is_empty() { Err(ParseError::at(0, "a line per cpu")) } else { Ok(()) }
}

fn parse_line(line: &[u8]) -> Option<Softnet> {
    let mut columns = [None; MAX_COLUMNS];
    let mut count = 0;
    for (column, field) in columns.iter_mut().zip(Fields::of(line)) {
        *column = Some(u32::try_from(hexadecimal(field)?).ok()?);
        count += 1;
    }
    (count >= MIN_COLUMNS).then_some(())?;
    Some(Softnet {
        cpu: columns[12],
        processed_count: columns[0]?,
        dropped_count: columns[1]?,
        time_squeeze_count: columns[2]?,
        received_rps_count: columns[9],
        flow_limit_count: columns[10],
        // Column 11 came together with the CPU's number in column 12.
        backlog_count: columns[11].filter(|_| columns[12].is_some()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_and_old_kernels_are_read() {
        let mut out = Vec::new();
        let new = b"000019ac 00000001 00000002 0 0 0 0 0 0 00000003 00000004 00000005 00000007 0 0\n";
        parse(new, &mut out).expect("parses");
        let expected = Softnet {
            cpu: Some(7),
            processed_count: 0x19ac,
            dropped_count: 1,
            time_squeeze_count: 2,
            received_rps_count: Some(3),
            flow_limit_count: Some(4),
            backlog_count: Some(5),
        };
        assert_eq!(out, [expected]);
        parse(b"1 0 0 0 0 0 0 0 0 0\nffffffff 0 0 0 0 0 0 0 0 9 8\n", &mut out).expect("parses");
        assert_eq!((out[0].flow_limit_count, out[0].backlog_count, out[0].cpu), (None, None, None));
        assert_eq!((out[1].processed_count, out[1].flow_limit_count), (u32::MAX, Some(8)));
    }

    #[test]
    fn garbage_is_refused() {
        for wrong in ["", "1 2 3\n", "1 0 0 0 0 0 0 0 0 x\n", "100000000 0 0 0 0 0 0 0 0\n", "\n\n"] {
            assert!(parse(wrong.as_bytes(), &mut Vec::new()).is_err(), "{wrong:?}");
        }
    }
}
