//! `/proc/net/stat/*`: statistics of a kernel table, such as the one of tracked connections or of neighbors.
//!
//! A line of names, then one line of hexadecimal numbers for each possible CPU. `entries` is the same on every line; all others
//! are counters of that CPU. Source: `net/netfilter/nf_conntrack_standalone.c`, `ct_cpu_seq_show`; `net/core/neighbour.c`,
//! `neigh_stat_seq_show`.

use super::{Fields, hexadecimal, lines};
use crate::error::ParseError;

/// The name of the column that is no counter.
const ENTRIES: &[u8] = b"entries";

/// Entries of the table, and the chosen counters, each summed over the CPUs; `None`: the kernel does not print that counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetStat<const N: usize> {
    /// Entries now.
    pub entries_count: u64,
    /// The counters, in the order of the names that were asked for.
    pub counts: [Option<u64>; N],
}

/// Reads the text.
pub fn parse<const N: usize>(text: &[u8], names: [&str; N]) -> Result<NetStat<N>, ParseError> {
    let mut rows = lines(text);
    let head: Vec<&[u8]> = rows.next().map(|line| Fields::of(line).collect()).unwrap_or_default();
    let place = |name: &[u8]| head.iter().position(|column| *column == name);
    let entries = place(ENTRIES).ok_or(ParseError::at(0, "a column 'entries'"))?;
    let places = names.map(|name| place(name.as_bytes()));
    let mut found: Option<NetStat<N>> = None;
    for (index, line) in rows.enumerate() {
        let row: Option<Vec<u64>> = Fields::of(line).map(hexadecimal).collect();
        let row = row.ok_or(ParseError::at(index + 1, "columns of hexadecimal numbers"))?;
        let cell =
            |place: usize| row.get(place).copied().ok_or(ParseError::at(index + 1, "a number for each name"));
        let sum = found
            .get_or_insert(NetStat { entries_count: cell(entries)?, counts: places.map(|at| at.map(|_| 0)) });
        for (count, place) in sum.counts.iter_mut().zip(places) {
            if let (Some(count), Some(place)) = (count, place) {
                *count = count.saturating_add(cell(place)?);
            }
        }
    }
    found.ok_or(ParseError::at(1, "a line per cpu"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_summed_and_entries_are_not() {
        let text = b"entries  found drop early_drop\n0000001a  00000001 00000002 00000000\n0000001a  00000001 0000000f 00000001\n";
        let expected = NetStat { entries_count: 26, counts: [Some(17), None, Some(1)] };
        assert_eq!(parse(text, ["drop", "insert_failed", "early_drop"]), Ok(expected));
    }

    #[test]
    fn garbage_is_refused() {
        for wrong in ["", "entries drop\n", "found drop\n1 2\n", "entries drop\n1\n", "entries drop\n1 x\n"] {
            assert!(parse(wrong.as_bytes(), ["drop"]).is_err(), "{wrong:?}");
        }
    }
}
