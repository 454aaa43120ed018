//! Attributes of netlink messages: length, type, and bytes, aligned to four bytes.

/// Marks an attribute that holds others.
const NLA_F_NESTED: u16 = 1 << 15;

/// The bits of a type that are no marks.
const NLA_TYPE_MASK: u16 = 0x3fff;

/// Length of an attribute's head. Unit: bytes.
const HEAD: usize = 4;

/// Appends an attribute.
pub fn put(message: &mut Vec<u8>, kind: u16, bytes: &[u8]) {
    let length = u16::try_from(HEAD + bytes.len()).expect("attributes of ours are short");
    message.extend(length.to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend(bytes);
    message.resize(message.len().next_multiple_of(4), 0);
}

/// Appends an attribute that holds others.
pub fn put_nested(message: &mut Vec<u8>, kind: u16, inner: &[u8]) {
    put(message, kind | NLA_F_NESTED, inner);
}

/// The attributes of a message, as far as they can be read.
pub struct Attributes<'a>(pub &'a [u8]);

impl<'a> Iterator for Attributes<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<(u16, &'a [u8])> {
        let head = self.0.get(..HEAD)?;
        let length = usize::from(u16::from_ne_bytes([head[0], head[1]]));
        let kind = u16::from_ne_bytes([head[2], head[3]]) & NLA_TYPE_MASK;
        let bytes = self.0.get(HEAD..length)?;
        self.0 = self.0.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, bytes))
    }
}

/// The first attribute of a type.
pub fn find(attributes: &[u8], kind: u16) -> Option<&[u8]> {
    Attributes(attributes).find(|(found, _)| *found == kind).map(|(_, bytes)| bytes)
}

/// The text of an attribute, without the zero at its end.
pub fn text(bytes: &[u8]) -> Option<&str> {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    std::str::from_utf8(&bytes[..end]).ok()
}

/// A number of one, two, or four bytes, in the host's order.
pub fn number(bytes: &[u8]) -> Option<u32> {
    match *bytes {
        [byte] => Some(u32::from(byte)),
        [a, b] => Some(u32::from(u16::from_ne_bytes([a, b]))),
        [a, b, c, d] => Some(u32::from_ne_bytes([a, b, c, d])),
        _ => None,
    }
}

/// The 32-bit word at a position of a message's fixed part.
pub fn word(message: &[u8], at: usize) -> Option<u32> {
    message.get(at..at.checked_add(4)?).and_then(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn attributes_are_read_as_they_were_put() {
        let mut message = Vec::new();
        put(&mut message, 1, b"fq\0");
        put_nested(&mut message, 2, &[1, 2, 3, 4, 5]);
        assert_eq!(message.len() % 4, 0);
        let read: Vec<_> = Attributes(&message).collect();
        assert_eq!(read, [(1, &b"fq\0"[..]), (2, &[1, 2, 3, 4, 5])]);
        assert_eq!(find(&message, 1).and_then(text), Some("fq"));
        assert_eq!(find(&message, 3), None);
    }

    proptest! {
        #[test]
        fn no_bytes_can_break_the_reading(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = (find(&bytes, 1).and_then(number), find(&bytes, 1).and_then(text), word(&bytes, 4));
        }
    }

    #[test]
    fn attributes_that_lie_about_their_length_end_the_reading() {
        for wrong in [&[3, 0, 1, 0][..], &[200, 0, 1, 0, 9], &[8, 0, 1], &[0, 0, 0, 0]] {
            assert_eq!(Attributes(wrong).count(), 0, "{wrong:?}");
        }
    }
}
