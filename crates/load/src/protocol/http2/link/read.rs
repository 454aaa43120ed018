//! Turns incoming bytes into frames, and checks that each frame is allowed at its place.

use super::Link;
use crate::failure::is_tls_record;
use crate::protocol::http2::encode::EncodedRequest;
use crate::protocol::http2::error::{ABUSE, Breach, MISPLACED, MISSIZED, PROTOCOL_ERROR};
use crate::protocol::http2::frame::{self, Frame};
use crate::protocol::http2::limits::MAX_IDLE_FRAMES_COUNT;
use sysdyno_record::load::FailureClass;

impl Link {
    /// Reads bytes that arrived.
    ///
    /// # Errors
    /// The class of what breaks the connection; what the server is told about it is to be said.
    pub fn read(&mut self, data: &[u8], requests: &[EncodedRequest]) -> Result<(), FailureClass> {
        self.read_pieces(data, requests).map_err(|breach| {
            self.give_up(breach.code);
            breach.class
        })
    }

    fn read_pieces(&mut self, data: &[u8], requests: &[EncodedRequest]) -> Result<(), Breach> {
        if self.rest.is_empty() {
            let taken = self.read_frames(data, requests)?;
            self.rest.extend_from_slice(&data[taken..]);
            return Ok(());
        }
        let mut rest = std::mem::take(&mut self.rest);
        rest.extend_from_slice(data);
        let taken = self.read_frames(&rest, requests)?;
        rest.drain(..taken);
        self.rest = rest;
        Ok(())
    }

    fn read_frames(&mut self, data: &[u8], requests: &[EncodedRequest]) -> Result<usize, Breach> {
        if !self.has_settings
            && let Some(class) = foreign(data)
        {
            return Err(Breach { class, code: PROTOCOL_ERROR });
        }
        let mut taken = 0;
        while let Some(frame) = Frame::first(&data[taken..])? {
            self.idle_frames += 1;
            if self.idle_frames > MAX_IDLE_FRAMES_COUNT {
                return Err(ABUSE);
            }
            self.accept(frame, requests)?;
            taken += frame.bytes();
        }
        Ok(taken)
    }

    fn accept(&mut self, frame: Frame<'_>, requests: &[EncodedRequest]) -> Result<(), Breach> {
        let is_in_block = self.partial.is_some();
        if is_in_block != (frame.kind == frame::CONTINUATION) {
            return Err(MISPLACED);
        }
        // The server's settings come first (section 3.4).
        if !self.has_settings && frame.kind != frame::SETTINGS {
            return Err(MISPLACED);
        }
        match frame.kind {
            frame::DATA => self.accept_data(frame, requests),
            frame::HEADERS => self.accept_headers(frame, requests),
            frame::CONTINUATION => self.accept_continuation(frame, requests),
            frame::RST_STREAM => self.accept_reset(frame),
            frame::SETTINGS => self.accept_settings(frame, requests),
            frame::PING => self.accept_ping(frame),
            frame::GOAWAY => self.accept_goaway(frame),
            frame::WINDOW_UPDATE => self.accept_window(frame, requests),
            frame::PUSH_PROMISE => Err(MISPLACED),
            frame::PRIORITY if frame.stream == 0 => Err(MISPLACED),
            frame::PRIORITY if frame.payload.len() != 5 => self.break_stream(frame.stream, MISSIZED),
            // Others are ignored (section 4.1).
            _ => Ok(()),
        }
    }
}

/// The class of bytes that cannot be the server's settings, with which HTTP/2 begins; `None`: they can be. The first byte of a
/// frame is that of its length, which is 0 in all frames that may come.
fn foreign(data: &[u8]) -> Option<FailureClass> {
    match data {
        [] | [0, ..] => None,
        _ if is_tls_record(data) => Some(FailureClass::SpeaksTls),
        _ => Some(FailureClass::NotHttp2),
    }
}
