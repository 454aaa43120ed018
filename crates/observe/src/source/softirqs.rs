//! `/proc/softirqs`: soft interrupts by vector and CPU.
//!
//! The header names all possible CPUs, online or not. Source: `fs/proc/softirqs.c`, `show_softirqs`.

use super::interrupts;
use crate::error::ParseError;

pub use super::interrupts::{InterruptRow, Scratch};

/// Hands each vector to `each`.
pub fn parse(
    text: &[u8],
    scratch: &mut Scratch,
    each: impl FnMut(InterruptRow<'_>),
) -> Result<(), ParseError> {
    interrupts::parse(text, scratch, each)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_read_for_each_cpu() {
        let text = b"                    CPU0       CPU1\n          HI:          0          7\n      NET_RX:  12  13\n";
        let mut seen = Vec::new();
        parse(text, &mut Scratch::default(), |row| {
            seen.push((row.label.to_vec(), row.cells().collect::<Vec<_>>()))
        })
        .expect("parses");
        assert_eq!(
            seen,
            [(b"HI".to_vec(), vec![(0, 0), (1, 7)]), (b"NET_RX".to_vec(), vec![(0, 12), (1, 13)])]
        );
    }
}
