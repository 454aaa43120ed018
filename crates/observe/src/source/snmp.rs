//! `/proc/PID/net/snmp` and `/proc/PID/net/netstat`: the counters of the IP protocols in a network namespace.
//!
//! Lines come in pairs, `Tcp: NAME NAME …` and `Tcp: VALUE VALUE …`. Names and their order differ between kernels, so a
//! value is known by its name only. Source: `net/ipv4/proc.c`; RFC 1213, RFC 4022 for the names of `snmp`.

use super::{Fields, decimal, lines};
use crate::error::ParseError;

/// One pair of lines.
#[derive(Clone, Copy, Debug)]
pub struct Section<'a> {
    /// `Tcp`, `TcpExt`, …
    pub protocol: &'a [u8],
    /// The whole first line; while it stays the same, so does the place of every value.
    pub names_line: &'a [u8],
    /// The values, one per name; `None`: it is negative, as `Tcp.MaxConn` is where there is no limit.
    pub values: &'a [Option<u64>],
}

impl<'a> Section<'a> {
    /// Names of the values, in their order.
    pub fn names(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        Fields::of(self.names_line).skip(1)
    }
}

/// Hands each section to `each`; `scratch` is memory that is reused.
pub fn parse(
    text: &[u8],
    scratch: &mut Vec<Option<u64>>,
    mut each: impl FnMut(Section<'_>),
) -> Result<(), ParseError> {
    let mut all = lines(text).enumerate();
    let mut is_empty = true;
    while let Some((index, names_line)) = all.next() {
        let protocol = protocol(names_line).ok_or(ParseError::at(index, "a protocol and names"))?;
        let (_, values_line) = all.next().ok_or(ParseError::at(index + 1, "a line of values"))?;
        let is_complete = parse_values(values_line, protocol, scratch) == Some(count_names(names_line));
        if !is_complete {
            return Err(ParseError::at(index + 1, "a value for each name of the line before"));
        }
        is_empty = false;
        each(Section { protocol, names_line, values: scratch });
    }
    if is_empty { Err(ParseError::at(0, "a protocol")) } else { Ok(()) }
}

fn protocol(line: &[u8]) -> Option<&[u8]> {
    Fields::of(line).next()?.strip_suffix(b":")
}

/// Names after the protocol, which the kernel separates by one space each.
fn count_names(line: &[u8]) -> usize {
    line.iter().filter(|byte| **byte == b' ').count()
}

/// Reads the values; returns their number, or `None` if one is no number or they are another protocol's.
fn parse_values(line: &[u8], wanted: &[u8], out: &mut Vec<Option<u64>>) -> Option<usize> {
    out.clear();
    let mut fields = Fields::of(line);
    (fields.next()?.strip_suffix(b":")? == wanted).then_some(())?;
    for field in fields {
        let value = match field.strip_prefix(b"-") {
            Some(negative) => {
                decimal(negative)?;
                None
            }
            None => Some(decimal(field)?),
        };
        out.push(value);
    }
    Some(out.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<String>, ParseError> {
        let mut out = Vec::new();
        parse(text.as_bytes(), &mut Vec::new(), |section| {
            let protocol = String::from_utf8_lossy(section.protocol).into_owned();
            for (name, value) in section.names().zip(section.values) {
                out.push(format!("{protocol}.{}={value:?}", String::from_utf8_lossy(name)));
            }
        })?;
        Ok(out)
    }

    #[test]
    fn values_go_by_the_names_of_the_line_before() {
        let text =
            "Tcp: RtoMin MaxConn InSegs\nTcp: 200 -1 7\nIpExt: InOctets\nIpExt: 18446744073709551615\n";
        assert_eq!(
            read(text).expect("parses"),
            [
                "Tcp.RtoMin=Some(200)",
                "Tcp.MaxConn=None",
                "Tcp.InSegs=Some(7)",
                "IpExt.InOctets=Some(18446744073709551615)"
            ]
        );
    }

    #[test]
    fn garbage_is_refused() {
        let check = |text: &str, line: usize| assert_eq!(read(text).expect_err(text).line, line, "{text}");
        check("", 1);
        check("Tcp: A B\n", 2);
        check("Tcp: A B\nTcp: 1\n", 2);
        check("Tcp: A B\nUdp: 1 2\n", 2);
        check("Tcp: A B\nTcp: 1 x\n", 2);
        check("Tcp A B\nTcp 1 2\n", 1);
        check("Tcp: A\nTcp: 1\nUdp: A\nUdp: 1 2\n", 4);
    }
}
