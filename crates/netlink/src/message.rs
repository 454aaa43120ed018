//! Netlink messages, byte by byte: the header of a request, and the parts of an answer.
//!
//! Numbers are in the host's byte order. Whatever the kernel appends to an answer is skipped by its length.

use crate::attribute::{find, number, text, word};
use std::fmt;
use std::io;

/// `struct nlmsghdr`. Unit: bytes.
const HEAD: usize = 16;

const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
/// Types below are netlink's own.
const NLMSG_MIN_TYPE: u16 = 16;
/// In an error: its length was cut, so that attributes follow at once.
const NLM_F_CAPPED: u16 = 0x100;
const NLM_F_ACK_TLVS: u16 = 0x200;
const NLMSGERR_ATTR_MSG: u16 = 1;

/// The message of this type with these flags.
pub(crate) fn encode(kind: u16, flags: u16, sequence: u32, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(HEAD + body.len()).expect("messages are short");
    let mut out = Vec::with_capacity(HEAD + body.len());
    out.extend(length.to_ne_bytes());
    out.extend(kind.to_ne_bytes());
    out.extend(flags.to_ne_bytes());
    out.extend(sequence.to_ne_bytes());
    out.extend(0u32.to_ne_bytes());
    out.extend(body);
    out
}

/// One message of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum AnswerPart<'a> {
    /// An object.
    Body(&'a [u8]),
    /// There is no more, or the kernel refuses.
    End(Result<(), Refused>),
    /// Not for this question.
    Other,
}

/// Takes the first message off `bytes`; `None` if they do not hold a whole one.
pub(crate) fn split(bytes: &[u8], sequence: u32) -> Option<(AnswerPart<'_>, &[u8])> {
    let length = usize::try_from(word(bytes, 0)?).ok()?;
    let field = |at: usize| bytes.get(at..at + 2).and_then(number);
    let (kind, flags) = (field(4)? as u16, field(6)? as u16);
    let is_other = word(bytes, 8)? != sequence;
    let body = bytes.get(HEAD..length)?;
    let rest = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    let part = match kind {
        _ if is_other => AnswerPart::Other,
        NLMSG_ERROR | NLMSG_DONE => AnswerPart::End(end(flags, body)),
        NLMSG_MIN_TYPE.. => AnswerPart::Body(body),
        _ => AnswerPart::Other,
    };
    Some((part, rest))
}

/// An end: an error number, which old kernels leave out after a list; then of an error the head of the question or all of it,
/// and perhaps a text.
fn end(flags: u16, body: &[u8]) -> Result<(), Refused> {
    let errno = word(body, 0).map_or(0, |number| (number as i32).wrapping_neg());
    if errno == 0 {
        return Ok(());
    }
    let question = word(body, 4).unwrap_or(0) as usize;
    let skipped = if flags & NLM_F_CAPPED != 0 { HEAD } else { question.next_multiple_of(4) };
    let attributes = body.get(4 + skipped..).filter(|_| flags & NLM_F_ACK_TLVS != 0).unwrap_or_default();
    Err(Refused { errno, said: find(attributes, NLMSGERR_ATTR_MSG).and_then(text).map(str::to_owned) })
}

/// That the kernel refuses, in its own words where it has any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) errno: i32,
    said: Option<String>,
}

impl fmt::Display for Refused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = io::Error::from_raw_os_error(self.errno);
        match &self.said {
            Some(said) => write!(out, "{said} ({error})"),
            None => write!(out, "{error}"),
        }
    }
}

impl std::error::Error for Refused {}

impl From<Refused> for io::Error {
    fn from(refused: Refused) -> io::Error {
        let plain = io::Error::from_raw_os_error(refused.errno);
        if refused.said.is_none() { plain } else { io::Error::new(plain.kind(), refused) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribute::put;
    use proptest::prelude::*;

    fn message(kind: u16, flags: u16, sequence: u32, body: &[u8]) -> Vec<u8> {
        let mut bytes = encode(kind, flags, sequence, body);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    #[test]
    fn answers_to_other_questions_are_passed_over() {
        let mut bytes = message(20, 0, 6, &[1]);
        bytes.extend(message(20, 0, 7, &[2, 3]));
        bytes.extend(message(NLMSG_DONE, 0, 7, &[0; 4]));
        let (first, rest) = split(&bytes, 7).expect("is whole");
        let (second, rest) = split(rest, 7).expect("is whole");
        let (third, rest) = split(rest, 7).expect("is whole");
        assert_eq!(
            (first, second, third),
            (AnswerPart::Other, AnswerPart::Body(&[2, 3]), AnswerPart::End(Ok(())))
        );
        assert_eq!(split(rest, 7), None);
    }

    #[test]
    fn errors_have_the_number_and_the_words_of_the_kernel() {
        let mut body = (-libc::EINVAL).to_ne_bytes().to_vec();
        let refused = |flags: u16, body: &[u8]| match split(&message(NLMSG_ERROR, flags, 7, body), 7) {
            Some((AnswerPart::End(Err(refused)), _)) => refused,
            other => panic!("is no error: {other:?}"),
        };
        assert_eq!(io::Error::from(refused(0, &body)).raw_os_error(), Some(libc::EINVAL));
        body.extend([0; HEAD]);
        put(&mut body, NLMSGERR_ATTR_MSG, b"too many\0");
        let error = io::Error::from(refused(NLM_F_CAPPED | NLM_F_ACK_TLVS, &body));
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        assert!(error.to_string().starts_with("too many ("), "{error}");
    }

    #[test]
    fn torn_messages_are_none() {
        let whole = message(36, 0, 0, b"something");
        for length in 1..whole.len() - 3 {
            assert_eq!(split(&whole[..length], 0), None, "{length}");
        }
        let mut lying = whole;
        lying[0] = 3;
        assert_eq!(split(&lying, 0), None, "a message shorter than its head");
    }

    proptest! {
        #[test]
        fn no_bytes_can_break_the_decoder(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut rest = bytes.as_slice();
            while let Some((_, tail)) = split(rest, 0) {
                prop_assert!(tail.len() < rest.len());
                rest = tail;
            }
        }
    }
}
