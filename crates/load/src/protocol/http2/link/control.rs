//! Frames of the connection as a whole: its settings, its windows, its end.

use super::{Lane, Link, LinkEvent};
use crate::protocol::http2::encode::EncodedRequest;
use crate::protocol::http2::error::{ABUSE, Breach, MISPLACED, MISSIZED, OVERFLOW};
use crate::protocol::http2::frame::{self, Frame};
use crate::protocol::http2::limits::{MAX_ANSWERS_COUNT, MAX_WINDOW_BYTES};

impl Link {
    pub(super) fn accept_settings(
        &mut self,
        frame: Frame<'_>,
        requests: &[EncodedRequest],
    ) -> Result<(), Breach> {
        let is_ack = frame.has(frame::ACK);
        if frame.stream != 0 {
            return Err(MISPLACED);
        }
        if !frame.payload.len().is_multiple_of(6) || is_ack && !frame.payload.is_empty() {
            return Err(MISSIZED);
        }
        if is_ack {
            return Ok(());
        }
        self.has_settings = true;
        self.answer()?;
        for setting in frame.payload.chunks_exact(6) {
            let [high, low, value @ ..] = setting else { return Err(MISSIZED) };
            let value = value.try_into().map(u32::from_be_bytes).map_err(|_| MISSIZED)?;
            self.set(u16::from_be_bytes([*high, *low]), value)?;
        }
        frame::write_header(&mut self.out, 0, frame::SETTINGS, frame::ACK, 0);
        self.send_on(requests);
        Ok(())
    }

    fn set(&mut self, name: u16, value: u32) -> Result<(), Breach> {
        match name {
            frame::SETTING_ENABLE_PUSH if value != 0 => return Err(MISPLACED),
            frame::SETTING_MAX_CONCURRENT_STREAMS => self.max_streams = value,
            frame::SETTING_INITIAL_WINDOW_SIZE => {
                let change = i64::from(value) - self.first_window;
                self.first_window = i64::from(value);
                self.places.iter_mut().for_each(|place| place.send_window += change);
                let mut open = self.places.iter().filter(|place| place.stream != 0);
                let is_over = open.any(|place| place.send_window > MAX_WINDOW_BYTES);
                if i64::from(value) > MAX_WINDOW_BYTES || is_over {
                    return Err(OVERFLOW);
                }
            }
            frame::SETTING_MAX_FRAME_SIZE => {
                if !(1 << 14..1 << 24).contains(&value) {
                    return Err(MISPLACED);
                }
                self.max_frame_bytes = value as usize;
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn accept_ping(&mut self, frame: Frame<'_>) -> Result<(), Breach> {
        if frame.stream != 0 {
            return Err(MISPLACED);
        }
        if frame.payload.len() != 8 {
            return Err(MISSIZED);
        }
        if !frame.has(frame::ACK) {
            self.answer()?;
            frame::write_header(&mut self.out, 8, frame::PING, frame::ACK, 0);
            self.out.extend_from_slice(frame.payload);
        }
        Ok(())
    }

    /// Another control frame is answered.
    fn answer(&mut self) -> Result<(), Breach> {
        self.answers += 1;
        if self.answers > MAX_ANSWERS_COUNT { Err(ABUSE) } else { Ok(()) }
    }

    /// Streams above the last one that the server saw have not been looked at (section 6.8).
    pub(super) fn accept_goaway(&mut self, frame: Frame<'_>) -> Result<(), Breach> {
        if frame.stream != 0 {
            return Err(MISPLACED);
        }
        let number = |at: usize| {
            let bytes = frame.payload.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
            bytes.map(u32::from_be_bytes).ok_or(MISSIZED)
        };
        let (last, code) = (number(0)? & 0x7fff_ffff, number(4)?);
        (self.is_leaving, self.leaving_code) = (true, code);
        for lane in 0..self.places.len() as Lane {
            if self.places[lane as usize].stream > last {
                self.abandon(lane);
                self.events.push((lane, LinkEvent::Unseen));
            }
        }
        Ok(())
    }

    pub(super) fn accept_window(
        &mut self,
        frame: Frame<'_>,
        requests: &[EncodedRequest],
    ) -> Result<(), Breach> {
        let more = i64::from(frame.number()? & 0x7fff_ffff);
        let breach = if more == 0 { MISPLACED } else { OVERFLOW };
        if frame.stream == 0 {
            self.send_window += more;
            if more == 0 || self.send_window > MAX_WINDOW_BYTES {
                return Err(breach);
            }
        } else if let Some(lane) = self.lane(frame.stream)? {
            let place = &mut self.places[lane as usize];
            place.send_window += more;
            if more == 0 || place.send_window > MAX_WINDOW_BYTES {
                self.fail(lane, breach);
            }
        } else {
            return Ok(());
        }
        self.send_on(requests);
        Ok(())
    }
}
