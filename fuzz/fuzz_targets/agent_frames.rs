//! Frames and messages of agents against any bytes, in any pieces.
//!
//! The first byte of an input says how it is cut; the rest is what the other side sends. Whatever that is, nothing panics,
//! how the bytes are cut does not change which messages are whole, and a message that is understood survives being said.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sysdyno_lab::{ShareCall, ShareReply};
use sysdyno_run::agent::frame::{FrameDecoder, FrameError, MAX_FRAME_BYTES, encode};
use sysdyno_run::agent::wire::{FromAgent, ToAgent};

/// A message that is understood as one of these types survives being said.
macro_rules! check {
    ($message:ident: $($type:ty),*) => {$(
        if let Ok(said) = serde_json::from_slice::<$type>($message) {
            let text = serde_json::to_vec(&said).expect("it can be said");
            assert_eq!(serde_json::from_slice::<$type>(&text).expect("likewise"), said);
        }
    )*};
}

fuzz_target!(|input: &[u8]| {
    let [cut, bytes @ ..] = input else { return };
    let (whole, ended) = feed(bytes, bytes.len());
    for step in [1, 1 + usize::from(*cut)] {
        let (pieces, in_pieces) = feed(bytes, step);
        assert_eq!(whole, pieces, "cut into {step}");
        assert_eq!(ended.is_some(), in_pieces.is_some(), "cut into {step}");
    }
    let mut again = Vec::new();
    for message in &whole {
        encode(message, &mut again).expect("what was decoded is short enough");
        check!(message: FromAgent, ToAgent, ShareCall, ShareReply);
    }
    assert!(bytes.starts_with(&again), "a frame has one form only");
});

fn feed(bytes: &[u8], step: usize) -> (Vec<Vec<u8>>, Option<FrameError>) {
    let (mut decoder, mut messages) = (FrameDecoder::default(), Vec::new());
    for piece in bytes.chunks(step.max(1)) {
        decoder.push(piece);
        loop {
            match decoder.next_message() {
                Ok(Some(message)) => {
                    assert!(message.len() <= MAX_FRAME_BYTES);
                    messages.push(message.to_vec());
                }
                Ok(None) => break,
                Err(error) => return (messages, Some(error)),
            }
        }
    }
    (messages, None)
}
