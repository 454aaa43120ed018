//! Frames: how messages of an agent lie in a stream of bytes.
//!
//! ```text
//!   'S' 'D' 'A' '1'   length, 4 bytes, greatest first   length bytes
//! ```
//! Every frame begins with the same four bytes, so text that something else writes to the stream (such as a login shell's
//! greeting) is recognized at once. A length beyond [`MAX_FRAME_BYTES`] is refused before anything is allocated, and
//! memory grows with the bytes received, never with the announced length.

/// Longest message. Unit: bytes.
pub const MAX_FRAME_BYTES: usize = 16 << 20;

/// What every frame begins with; the digit is the version of this framing.
const MAGIC: [u8; 4] = *b"SDA1";

/// Magic and length. Unit: bytes.
const HEAD_BYTES: usize = MAGIC.len() + 4;

/// Most of what is no frame that is shown. Unit: bytes.
const SHOWN_BYTES: usize = 60;

/// A stream that holds something else than frames; nothing more can be read of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// These bytes begin no frame.
    #[error("it sent '{found}', which is not an agent message")]
    NotAFrame {
        /// What came instead, escaped.
        found: String,
    },
    /// A frame announces more than is read.
    #[error("it announced a message of {length_bytes} bytes; the maximum is {MAX_FRAME_BYTES}")]
    TooLong {
        /// What it announced.
        length_bytes: usize,
    },
}

/// Appends a frame with this message; `None`: the message is too long, and nothing was appended.
pub fn encode(message: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let length = u32::try_from(message.len()).ok().filter(|_| message.len() <= MAX_FRAME_BYTES)?;
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(message);
    Some(())
}

/// Takes a stream apart, whatever the pieces in which it comes.
#[derive(Debug, Default)]
pub struct FrameDecoder {
    buffer: Vec<u8>,
    /// How much of the buffer was handed out.
    taken: usize,
}

impl FrameDecoder {
    /// Takes the next bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.taken);
        self.taken = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// The next message, if all of it has come. After an error there is nothing more to be had.
    ///
    /// # Errors
    /// The stream holds something else.
    pub fn next_message(&mut self) -> Result<Option<&[u8]>, FrameError> {
        let rest = &self.buffer[self.taken..];
        let begun = rest.len().min(MAGIC.len());
        if rest[..begun] != MAGIC[..begun] {
            let shown = &rest[..rest.len().min(SHOWN_BYTES)];
            let found = String::from_utf8_lossy(shown).escape_debug().to_string();
            return Err(FrameError::NotAFrame { found });
        }
        let Some(head) = rest.first_chunk::<HEAD_BYTES>() else { return Ok(None) };
        let [.., a, b, c, d] = *head;
        let length_bytes = u32::from_be_bytes([a, b, c, d]) as usize;
        if length_bytes > MAX_FRAME_BYTES {
            return Err(FrameError::TooLong { length_bytes });
        }
        if rest.len() - HEAD_BYTES < length_bytes {
            return Ok(None);
        }
        let begin = self.taken + HEAD_BYTES;
        self.taken = begin + length_bytes;
        Ok(Some(&self.buffer[begin..self.taken]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(pieces: &[&[u8]]) -> Result<Vec<Vec<u8>>, FrameError> {
        let (mut decoder, mut messages) = (FrameDecoder::default(), Vec::new());
        for piece in pieces {
            decoder.push(piece);
            while let Some(message) = decoder.next_message()? {
                messages.push(message.to_vec());
            }
        }
        Ok(messages)
    }

    fn stream(messages: &[&[u8]]) -> Vec<u8> {
        let mut out = Vec::new();
        messages.iter().for_each(|message| encode(message, &mut out).expect("is short"));
        out
    }

    #[test]
    fn messages_come_back_whatever_the_pieces() {
        let messages: [&[u8]; 4] = [b"one", b"", b"SDA1", &[0; 1000]];
        let stream = stream(&messages);
        assert_eq!(all(&[&stream]).expect("decodes"), messages);
        for size in 1..40 {
            let pieces: Vec<&[u8]> = stream.chunks(size).collect();
            assert_eq!(all(&pieces).expect("decodes"), messages, "pieces of {size}");
        }
    }

    #[test]
    fn a_stream_that_ends_early_gives_what_was_whole() {
        let stream = stream(&[b"one", b"two"]);
        for end in 0..stream.len() {
            let whole = usize::from(end >= HEAD_BYTES + 3);
            assert_eq!(all(&[&stream[..end]]).expect("decodes").len(), whole, "cut at {end}");
        }
    }

    #[test]
    fn what_is_no_frame_is_told_at_its_first_byte() {
        let greeting = FrameError::NotAFrame { found: "Welcome\\nto\\u{1b}[2J".into() };
        assert_eq!(all(&[b"Welcome\nto\x1b[2J"]), Err(greeting));
        assert!(all(&[b"SDB"]).is_err(), "another framing");
        let mut after = stream(&[b"one"]);
        after.extend_from_slice(b"x");
        assert!(all(&[&after]).is_err());
    }

    #[test]
    fn a_length_beyond_the_limit_is_refused_before_it_is_believed() {
        let told = |length: u32| [&MAGIC[..], &length.to_be_bytes()].concat();
        let too_long = FrameError::TooLong { length_bytes: u32::MAX as usize };
        assert_eq!(all(&[&told(u32::MAX)]), Err(too_long));
        let mut decoder = FrameDecoder::default();
        decoder.push(&told(MAX_FRAME_BYTES as u32));
        assert_eq!(decoder.next_message(), Ok(None));
        assert!(decoder.buffer.capacity() < 1024, "memory for what was only announced");
        assert_eq!(encode(&vec![0; MAX_FRAME_BYTES + 1], &mut Vec::new()), None);
    }
}
