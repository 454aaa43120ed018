//! From bytes that arrive to frames that are allowed where they come.

use super::Link;
use crate::http2::encode::Request;
use crate::http2::frame::{self, Frame};
use crate::http2::limits::MAX_IDLE_FRAMES_COUNT;
use sysdyno_record::load::FailureClass;

impl Link {
    /// Reads bytes that arrived.
    ///
    /// # Errors
    /// The class of what breaks the connection.
    pub fn read(&mut self, data: &[u8], requests: &[Request]) -> Result<(), FailureClass> {
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

    fn read_frames(&mut self, data: &[u8], requests: &[Request]) -> Result<usize, FailureClass> {
        let mut taken = 0;
        while let Some(frame) = Frame::first(&data[taken..])? {
            self.idle_frames += 1;
            if self.idle_frames > MAX_IDLE_FRAMES_COUNT {
                return Err(FailureClass::Http2Abuse);
            }
            self.accept(frame, requests)?;
            taken += frame.bytes();
        }
        Ok(taken)
    }

    fn accept(&mut self, frame: Frame<'_>, requests: &[Request]) -> Result<(), FailureClass> {
        let is_in_block = self.partial.is_some();
        if is_in_block != (frame.kind == frame::CONTINUATION) {
            return Err(FailureClass::Protocol);
        }
        // The server's settings come first (section 3.4).
        if !self.has_settings && frame.kind != frame::SETTINGS {
            return Err(FailureClass::Protocol);
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
            frame::PUSH_PROMISE => Err(FailureClass::Protocol),
            frame::PRIORITY if frame.stream == 0 || frame.payload.len() != 5 => Err(FailureClass::Protocol),
            // Others are ignored (section 4.1).
            _ => Ok(()),
        }
    }
}
