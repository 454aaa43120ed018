//! Just enough DER to inspect a certificate: the library neither reports a key's length nor judges a certificate that is
//! itself trusted.
//!
//! Source: X.690; RFC 5280, section 4.1.

pub(super) const INTEGER: u8 = 2;
pub(super) const BIT_STRING: u8 = 3;
pub(super) const OBJECT: u8 = 6;
pub(super) const UTC_TIME: u8 = 0x17;
pub(super) const GENERALIZED_TIME: u8 = 0x18;
pub(super) const SEQUENCE: u8 = 0x30;

/// A value with its type.
#[derive(Clone, Copy, Debug)]
pub(super) struct DerValue<'a> {
    pub tag: u8,
    pub content: &'a [u8],
}

/// Values one behind the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct DerValues<'a>(pub &'a [u8]);

impl<'a> DerValues<'a> {
    /// The content of the next value, if it is of this type.
    pub(super) fn take(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.read().filter(|value| value.tag == tag).map(|value| value.content)
    }

    /// The next value; `None` if there is none, or what comes is not one.
    pub(super) fn read(&mut self) -> Option<DerValue<'a>> {
        let [tag, length, rest @ ..] = self.0 else { return None };
        let (length, rest) = match length {
            0..=0x7f => (usize::from(*length), rest),
            0x81..=0x83 => {
                let (digits, rest) = rest.split_at_checked(usize::from(length & 0x7f))?;
                (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
            }
            _ => return None,
        };
        let (content, after) = rest.split_at_checked(length)?;
        self.0 = after;
        Some(DerValue { tag: *tag, content })
    }
}
