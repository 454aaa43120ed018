//! `/proc/PID/net/dev`: traffic of the interfaces of a network namespace.
//!
//! `rx_dropped` includes what the device missed (`rx_missed_errors`). Source: `net/core/net-procfs.c`,
//! `dev_seq_printf_stats`.

use super::{Fields, lines};
use crate::error::ParseError;

/// The line of one interface; all values count since it exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetDev<'a> {
    /// Its name. Untrusted text.
    pub name: &'a [u8],
    /// Received bytes.
    pub rx_bytes: u64,
    /// Received packets.
    pub rx_packets_count: u64,
    /// Receive errors.
    pub rx_errors_count: u64,
    /// Packets that were received or missed, and dropped.
    pub rx_dropped_count: u64,
    /// Packets lost because a buffer of the device was full.
    pub rx_fifo_count: u64,
    /// Sent bytes.
    pub tx_bytes: u64,
    /// Sent packets.
    pub tx_packets_count: u64,
    /// Send errors.
    pub tx_errors_count: u64,
    /// Packets dropped before they were sent.
    pub tx_dropped_count: u64,
}

/// The header has two lines.
const HEADER_LINES: usize = 2;
const COLUMNS: usize = 16;

/// Hands each interface to `each`.
pub fn parse(text: &[u8], mut each: impl FnMut(NetDev<'_>)) -> Result<(), ParseError> {
    let mut header = 0;
    for (index, line) in lines(text).enumerate() {
        if index < HEADER_LINES && line.contains(&b'|') {
            header += 1;
            continue;
        }
        each(parse_line(line).ok_or(ParseError::at(index, "an interface and 16 counts"))?);
    }
    if header == HEADER_LINES { Ok(()) } else { Err(ParseError::at(header, "a header of two lines")) }
}

fn parse_line(line: &[u8]) -> Option<NetDev<'_>> {
    let colon = line.iter().rposition(|byte| *byte == b':')?;
    let name = line[..colon].trim_ascii();
    let mut fields = Fields::of(&line[colon + 1..]);
    let mut counts = [0; COLUMNS];
    for count in &mut counts {
        *count = fields.decimal()?;
    }
    (!name.is_empty()).then_some(NetDev {
        name,
        rx_bytes: counts[0],
        rx_packets_count: counts[1],
        rx_errors_count: counts[2],
        rx_dropped_count: counts[3],
        rx_fifo_count: counts[4],
        tx_bytes: counts[8],
        tx_packets_count: counts[9],
        tx_errors_count: counts[10],
        tx_dropped_count: counts[11],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "Inter-|   Receive  |  Transmit\n face |bytes packets|bytes packets\n";

    fn read(text: &str) -> Result<Vec<String>, ParseError> {
        let mut out = Vec::new();
        parse(text.as_bytes(), |device| {
            out.push(format!(
                "{} {} {} {} {} {} {} {} {} {}",
                String::from_utf8_lossy(device.name),
                device.rx_bytes,
                device.rx_packets_count,
                device.rx_errors_count,
                device.rx_dropped_count,
                device.rx_fifo_count,
                device.tx_bytes,
                device.tx_packets_count,
                device.tx_errors_count,
                device.tx_dropped_count,
            ));
        })?;
        Ok(out)
    }

    #[test]
    fn interfaces_are_read_with_and_without_a_space() {
        let text = format!(
            "{HEADER}    lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\neth0:1 0 0 0 0 0 0 0 2 0 0 0 0 0 0 0\n"
        );
        assert_eq!(read(&text).expect("parses"), ["lo 1 2 3 4 5 9 10 11 12", "eth0 1 0 0 0 0 2 0 0 0"]);
        assert_eq!(read(HEADER).expect("a namespace may be empty"), Vec::<String>::new());
    }

    #[test]
    fn garbage_is_refused() {
        for wrong in ["", "lo: 1 2 3\n", "eth0: 1 0 0 0 0 0 0 0 2 0 0 0 0 0 0 0\n"] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
        for wrong in ["lo 1 2 3\n", ": 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n", "lo: 1 2 x\n", "lo: 1 2\n"]
        {
            assert!(read(&format!("{HEADER}{wrong}")).is_err(), "{wrong:?}");
        }
    }
}
