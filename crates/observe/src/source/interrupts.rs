//! `/proc/interrupts`: interrupts by line and CPU.
//!
//! A header names the online CPUs; each row has a label, a count per CPU and a description. Rows with one total only
//! (`ERR`, `MIS`) have no CPU and are skipped. Source: `kernel/irq/proc.c`, `show_interrupts`.

use super::{Fields, decimal, lines};
use crate::error::ParseError;

/// One row: a label, its counts in the order of the header's CPUs, and what it is for.
#[derive(Clone, Copy, Debug)]
pub struct InterruptRow<'a> {
    /// The interrupt's number, or a name such as `LOC`.
    pub label: &'a [u8],
    /// Chip, edge and device, as the kernel writes them. Untrusted text.
    pub description: &'a [u8],
    counts: &'a [u64],
    cpus: &'a [u32],
}

impl<'a> InterruptRow<'a> {
    /// CPU and count, for each CPU of the header.
    pub fn cells(&self) -> impl Iterator<Item = (u32, u64)> + use<'a> {
        self.cpus.iter().copied().zip(self.counts.iter().copied())
    }
}

/// Memory that is reused between readings.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    cpus: Vec<u32>,
    counts: Vec<u64>,
}

impl Scratch {
    /// CPUs of the header that was read last.
    pub fn cpus(&self) -> &[u32] {
        &self.cpus
    }
}

/// Hands each row that has a count for every CPU to `each`.
pub fn parse(
    text: &[u8],
    scratch: &mut Scratch,
    mut each: impl FnMut(InterruptRow<'_>),
) -> Result<(), ParseError> {
    let mut all = lines(text).enumerate();
    let (_, header) = all.next().ok_or(ParseError::at(0, "a header of cpus"))?;
    parse_header(header, &mut scratch.cpus)?;
    for (index, line) in all {
        let mut fields = Fields::of(line);
        let Some(label) = fields.next() else { continue };
        let label = label.strip_suffix(b":").ok_or(ParseError::at(index, "a label that ends in ':'"))?;
        scratch.counts.clear();
        while scratch.counts.len() < scratch.cpus.len() {
            let ahead = fields;
            match fields.decimal() {
                Some(count) => scratch.counts.push(count),
                None => {
                    fields = ahead;
                    break;
                }
            }
        }
        let (counts, cpus) = (scratch.counts.as_slice(), scratch.cpus.as_slice());
        if counts.len() == cpus.len() {
            each(InterruptRow { label, description: fields.rest(), counts, cpus });
        } else if counts.len() != 1 || !fields.rest().is_empty() {
            return Err(ParseError::at(index, "a count per cpu"));
        }
    }
    Ok(())
}

/// Reads `CPU0 CPU1 …`.
pub(super) fn parse_header(line: &[u8], cpus: &mut Vec<u32>) -> Result<(), ParseError> {
    let error = ParseError::at(0, "a header of cpus");
    cpus.clear();
    for field in Fields::of(line) {
        let number =
            field.strip_prefix(b"CPU").and_then(decimal).and_then(|number| u32::try_from(number).ok());
        cpus.push(number.ok_or(error)?);
    }
    if cpus.is_empty() { Err(error) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(text: &str) -> Result<Vec<String>, ParseError> {
        let mut out = Vec::new();
        parse(text.as_bytes(), &mut Scratch::default(), |row| {
            let label = String::from_utf8_lossy(row.label).into_owned();
            let description = String::from_utf8_lossy(row.description).into_owned();
            out.extend(row.cells().map(|(cpu, count)| format!("{label}/{cpu}={count} {description}")));
        })?;
        Ok(out)
    }

    #[test]
    fn rows_have_a_cell_per_online_cpu() {
        let text =
            "           CPU0       CPU2\n 24:   1   20  IO-APIC   5-edge      eth0\nLOC:  3  4\nERR:   0\n";
        assert_eq!(
            cells(text).expect("parses"),
            [
                "24/0=1 IO-APIC   5-edge      eth0",
                "24/2=20 IO-APIC   5-edge      eth0",
                "LOC/0=3 ",
                "LOC/2=4 "
            ]
        );
    }

    #[test]
    fn garbage_is_refused() {
        for wrong in
            ["", "CPU\n", "CPUx\n", "CPU0 CPU1\n 24: 1 x\n", "CPU0\n 24 1\n", "CPU0 CPU1 CPU2\n1: 2 3\n"]
        {
            assert!(cells(wrong).is_err(), "{wrong}");
        }
    }
}
