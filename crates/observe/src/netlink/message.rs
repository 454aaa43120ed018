//! Messages of netlink and their attributes, byte by byte.
//!
//! Numbers are in the host's byte order but for ports and addresses, which are in the network's. Whatever the kernel
//! appends to an answer (attributes of newer versions) is skipped by its length.

/// `struct nlmsghdr`. Unit: bytes.
pub(crate) const HEADER_BYTES: usize = 16;
/// `struct nlattr`. Unit: bytes.
const ATTRIBUTE_BYTES: usize = 4;

const NLM_F_REQUEST: u16 = 0x1;
const NLM_F_DUMP: u16 = 0x300;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
/// Types below are netlink's own.
const NLMSG_MIN_TYPE: u16 = 16;
/// The bits of an attribute's type that are no marks.
const NLA_TYPE_MASK: u16 = 0x3fff;

/// How much is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// One object.
    One,
    /// All that there are.
    All,
}

/// Writes the header of a question into the first bytes of `out`.
pub(crate) fn encode_header(out: &mut [u8], kind: u16, wanted: Wanted, sequence: u32) {
    let length = u32::try_from(out.len()).expect("messages are short");
    let flags = match wanted {
        Wanted::One => NLM_F_REQUEST,
        Wanted::All => NLM_F_REQUEST | NLM_F_DUMP,
    };
    out[0..4].copy_from_slice(&length.to_ne_bytes());
    out[4..6].copy_from_slice(&kind.to_ne_bytes());
    out[6..8].copy_from_slice(&flags.to_ne_bytes());
    out[8..12].copy_from_slice(&sequence.to_ne_bytes());
}

/// One message of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message<'a> {
    /// An object.
    Body(&'a [u8]),
    /// There is no more; or an error number.
    End(i32),
    /// Not for this question.
    Other,
}

/// Takes the first message off `bytes`; `None` if they do not hold a whole one.
pub(crate) fn split_message(bytes: &[u8], sequence: u32) -> Option<(Message<'_>, &[u8])> {
    let length = usize::try_from(read_u32(bytes, 0)?).ok()?;
    let (kind, its_sequence) = (read_u16(bytes, 4)?, read_u32(bytes, 8)?);
    let payload = bytes.get(HEADER_BYTES..length)?;
    let rest = bytes.get(align(length)..).unwrap_or(&[]);
    let message = match kind {
        _ if its_sequence != sequence => Message::Other,
        // Both carry a negative error number, which old kernels leave out at the end of a list.
        NLMSG_DONE | NLMSG_ERROR => Message::End(read_u32(payload, 0).map_or(0, |number| -(number as i32))),
        NLMSG_MIN_TYPE.. => Message::Body(payload),
        _ => Message::Other,
    };
    Some((message, rest))
}

/// The value of an attribute.
pub(crate) fn attribute(mut bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let (length, kind) = (usize::from(read_u16(bytes, 0)?), read_u16(bytes, 2)? & NLA_TYPE_MASK);
        let value = bytes.get(ATTRIBUTE_BYTES..length)?;
        if kind == wanted {
            return Some(value);
        }
        bytes = bytes.get(align(length)..)?;
    }
}

/// Appends an attribute.
pub(crate) fn put_attribute(out: &mut Vec<u8>, kind: u16, value: &[u8]) {
    let length = u16::try_from(ATTRIBUTE_BYTES + value.len()).expect("attributes of ours are short");
    out.extend_from_slice(&length.to_ne_bytes());
    out.extend_from_slice(&kind.to_ne_bytes());
    out.extend_from_slice(value);
    out.resize(align(out.len()), 0);
}

/// Messages and attributes begin at multiples of four bytes.
fn align(length: usize) -> usize {
    length.saturating_add(3) & !3
}

fn read_u16(bytes: &[u8], offset: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(offset..offset + 2)?.try_into().ok()?))
}

pub(crate) fn read_u32(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(offset..offset + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn message(kind: u16, sequence: u32, payload: &[u8]) -> Vec<u8> {
        let length = HEADER_BYTES + payload.len();
        let mut out = vec![0; HEADER_BYTES];
        out[0..4].copy_from_slice(&(length as u32).to_ne_bytes());
        out[4..6].copy_from_slice(&kind.to_ne_bytes());
        out[8..12].copy_from_slice(&sequence.to_ne_bytes());
        out.extend_from_slice(payload);
        out.resize(align(length), 0);
        out
    }

    #[test]
    fn answers_to_other_questions_are_passed_over() {
        let mut bytes = message(20, 6, &[1]);
        bytes.extend(message(20, 7, &[2, 3]));
        bytes.extend(message(NLMSG_ERROR, 7, &(-2i32).to_ne_bytes()));
        let (first, rest) = split_message(&bytes, 7).expect("is whole");
        let (second, rest) = split_message(rest, 7).expect("is whole");
        let (third, rest) = split_message(rest, 7).expect("is whole");
        assert_eq!((first, second, third), (Message::Other, Message::Body(&[2, 3]), Message::End(2)));
        assert_eq!(split_message(rest, 7), None);
    }

    proptest! {
        #[test]
        fn no_bytes_can_break_the_decoder(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut rest = bytes.as_slice();
            while let Some((_, tail)) = split_message(rest, 0) {
                prop_assert!(tail.len() < rest.len());
                rest = tail;
            }
            let _ = attribute(&bytes, 1);
        }
    }
}
