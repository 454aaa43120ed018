//! The building blocks of all parsers: lines, fields, numbers.

/// The lines of a text, without their ends; a last line without an end counts.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let is_empty = text.is_empty();
    text.split(|byte| *byte == b'\n').filter(move |_| !is_empty)
}

/// The fields of a line, separated by spaces or tabs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(crate) fn of(line: &'a [u8]) -> Fields<'a> {
        Fields { rest: line }
    }

    /// The next field as a decimal count; `None` if there is none or it is something else.
    pub(crate) fn decimal(&mut self) -> Option<u64> {
        self.next().and_then(decimal)
    }

    /// What follows the fields taken so far, without leading spaces.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.rest.trim_ascii()
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let start = self.rest.iter().position(|byte| !is_blank(*byte))?;
        let rest = &self.rest[start..];
        let length = rest.iter().position(|byte| is_blank(*byte)).unwrap_or(rest.len());
        let (field, rest) = rest.split_at(length);
        self.rest = rest;
        Some(field)
    }
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// A decimal number without sign that fits into 64 bits.
pub(crate) fn decimal(field: &[u8]) -> Option<u64> {
    if field.is_empty() || field.len() > 20 {
        return None;
    }
    let mut value = 0u64;
    for byte in field {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(value)
}

/// A hexadecimal number without prefix that fits into 64 bits.
pub(crate) fn hexadecimal(field: &[u8]) -> Option<u64> {
    if field.is_empty() || field.len() > 16 {
        return None;
    }
    field.iter().try_fold(0u64, |value, byte| Some(value << 4 | u64::from((*byte as char).to_digit(16)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_taken_whole_or_not_at_all() {
        assert_eq!(decimal(b"18446744073709551615"), Some(u64::MAX));
        for wrong in ["", "-1", "+1", "1x", "18446744073709551616", "999999999999999999999", " 1", "0x1"] {
            assert_eq!(decimal(wrong.as_bytes()), None, "{wrong}");
        }
        assert_eq!(hexadecimal(b"ffffffff"), Some(0xffff_ffff));
        for wrong in ["", "g", "0x1", "11112222333344445", "-1"] {
            assert_eq!(hexadecimal(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn fields_and_lines_are_split_where_the_kernel_splits_them() {
        let fields: Vec<&[u8]> = Fields::of(b"  a \t bc  ").collect();
        assert_eq!(fields, [b"a".as_slice(), b"bc"]);
        assert_eq!(lines(b"").count(), 0);
        assert_eq!(lines(b"a\n\nb").collect::<Vec<_>>(), [b"a".as_slice(), b"", b"b"]);
        assert_eq!(lines(b"a\n").collect::<Vec<_>>(), [b"a".as_slice()]);
        let mut fields = Fields::of(b"7 rest of it ");
        assert_eq!((fields.decimal(), fields.rest()), (Some(7), b"rest of it".as_slice()));
    }
}
