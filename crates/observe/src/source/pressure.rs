//! `/proc/pressure/*`: time lost to waiting for a resource.
//!
//! Source: `kernel/sched/psi.c`, `psi_show`; `Documentation/accounting/psi.rst`. Only `total=` is taken: the averages
//! are smoothed over ten seconds and more.

use super::{Fields, decimal, lines};
use crate::error::ParseError;

/// Pressure of one resource since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pressure {
    /// Time during which some task waited. Unit: microseconds.
    pub some_us: Option<u64>,
    /// Time during which all runnable tasks waited; `None`: not printed, as for `cpu` before 5.13.
    pub full_us: Option<u64>,
}

/// Reads the text.
pub fn parse(text: &[u8]) -> Result<Pressure, ParseError> {
    let mut out = Pressure::default();
    for (index, line) in lines(text).enumerate() {
        let mut fields = Fields::of(line);
        let place = match fields.next() {
            Some(b"some") => &mut out.some_us,
            Some(b"full") => &mut out.full_us,
            _ => continue,
        };
        let total = fields.find_map(|field| field.strip_prefix(b"total=").map(decimal)).flatten();
        *place = Some(total.ok_or(ParseError::at(index, "'total=' and a count"))?);
    }
    if out.some_us.is_none() { Err(ParseError::at(0, "a line 'some'")) } else { Ok(out) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read() {
        let text = b"some avg10=1.14 avg60=1.02 avg300=0.46 total=9309436\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
        assert_eq!(parse(text), Ok(Pressure { some_us: Some(9_309_436), full_us: Some(7) }));
        assert_eq!(parse(b"some avg10=0 total=1\n"), Ok(Pressure { some_us: Some(1), full_us: None }));
        for wrong in ["", "full total=1\n", "some total=x\n", "some avg10=1\n"] {
            assert!(parse(wrong.as_bytes()).is_err(), "{wrong:?}");
        }
    }
}
