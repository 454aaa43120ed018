//! Frames that make up responses, and those that end a stream.

use super::{Lane, Link, LinkEvent, Partial};
use crate::protocol::Response;
use crate::protocol::http2::encode::EncodedRequest;
use crate::protocol::http2::error::{
    ABUSE, Breach, CANCEL, COMPRESSION_ERROR, ENHANCE_YOUR_CALM, MISPLACED, OVERFLOW, PROTOCOL_ERROR,
};
use crate::protocol::http2::frame::{self, Frame};
use crate::protocol::http2::limits::{
    MAX_CONTINUATIONS_COUNT, MAX_HEAD_BYTES, MAX_INTERIM_COUNT, MAX_WINDOW_BYTES,
};
use sysdyno_record::load::FailureClass;

/// A window is opened again when half of it is used up. Unit: bytes.
const REPLENISH_BYTES: i64 = MAX_WINDOW_BYTES / 2;

impl Link {
    pub(super) fn accept_data(
        &mut self,
        frame: Frame<'_>,
        requests: &[EncodedRequest],
    ) -> Result<(), Breach> {
        let content = frame.content()?;
        let length = frame.payload.len() as i64;
        self.window_used += length;
        if self.window_used > MAX_WINDOW_BYTES {
            return Err(OVERFLOW);
        }
        if self.window_used > REPLENISH_BYTES {
            frame::write_number(&mut self.out, frame::WINDOW_UPDATE, 0, self.window_used as u32);
            self.window_used = 0;
        }
        let Some(lane) = self.lane(frame.stream)? else { return self.check_closed(frame.stream) };
        let place = &mut self.places[lane as usize];
        if place.status.is_none() {
            self.fail(lane, MISPLACED);
            return Ok(());
        }
        if !content.is_empty() {
            self.idle_frames = 0;
        }
        place.received_bytes += frame.bytes() as u64;
        place.window_used += length;
        let ends = frame.has(frame::END_STREAM);
        if place.window_used > REPLENISH_BYTES && !ends {
            frame::write_number(&mut self.out, frame::WINDOW_UPDATE, place.stream, place.window_used as u32);
            place.window_used = 0;
        }
        if let Err(class) = place.take_body(content, &requests[place.kind as usize].rules) {
            self.fail(lane, Breach { class, code: CANCEL });
        } else if place.body_bytes.is_some_and(|wanted| place.body.bytes() > wanted) {
            self.fail(lane, MISPLACED);
        } else if ends {
            self.finish(lane, requests);
        }
        Ok(())
    }

    pub(super) fn accept_headers(
        &mut self,
        frame: Frame<'_>,
        requests: &[EncodedRequest],
    ) -> Result<(), Breach> {
        let content = frame.content()?;
        let ends_stream = frame.has(frame::END_STREAM);
        if let Some(lane) = self.lane(frame.stream)? {
            self.places[lane as usize].received_bytes += frame.bytes() as u64;
        }
        if frame.has(frame::END_HEADERS) {
            return self.accept_block(frame.stream, content, ends_stream, requests);
        }
        self.block.clear();
        self.block.extend_from_slice(content);
        self.partial = Some(Partial { stream: frame.stream, ends_stream, frames: 0 });
        Ok(())
    }

    pub(super) fn accept_continuation(
        &mut self,
        frame: Frame<'_>,
        requests: &[EncodedRequest],
    ) -> Result<(), Breach> {
        let Some(partial) = &mut self.partial else { return Err(MISPLACED) };
        if partial.stream != frame.stream {
            return Err(MISPLACED);
        }
        partial.frames += 1;
        if partial.frames > MAX_CONTINUATIONS_COUNT {
            return Err(ABUSE);
        }
        if self.block.len() + frame.payload.len() > MAX_HEAD_BYTES {
            return Err(undecoded(FailureClass::HeadTooLarge));
        }
        self.block.extend_from_slice(frame.payload);
        if !frame.has(frame::END_HEADERS) {
            return Ok(());
        }
        let (stream, ends_stream) = (partial.stream, partial.ends_stream);
        self.partial = None;
        let block = std::mem::take(&mut self.block);
        let accepted = self.accept_block(stream, &block, ends_stream, requests);
        self.block = block;
        accepted
    }

    /// Reads a whole header block: a head, an interim one, or trailers.
    fn accept_block(
        &mut self,
        stream: u32,
        block: &[u8],
        ends_stream: bool,
        requests: &[EncodedRequest],
    ) -> Result<(), Breach> {
        let lane = self.lane(stream)?;
        let mut place = lane.map(|lane| &mut self.places[lane as usize]);
        let rules = place.as_ref().map(|place| &requests[place.kind as usize].rules);
        let expected = rules.and_then(|rules| rules.validators.header.as_ref());
        let head = place.as_mut().zip(rules).and_then(|(place, rules)| place.head_to_keep(rules));
        // The table follows every block, also of a stream that is over.
        let read = match head {
            None => self.table.read(block, expected),
            Some(head) => self.table.read_lines(block, expected, head),
        };
        let fields = read.map_err(undecoded)?;
        let Some(lane) = lane else { return self.check_closed(stream) };
        self.idle_frames = 0;
        if let Some(class) = fields.malformed {
            self.fail(lane, Breach { class, code: PROTOCOL_ERROR });
            return Ok(());
        }
        let place = &mut self.places[lane as usize];
        match (place.status, fields.status) {
            (Some(_), None) if ends_stream => {}
            (None, Some(101)) => self.fail(lane, MISPLACED),
            (None, Some(100..=199)) if !ends_stream => {
                place.interim_count += 1;
                if place.interim_count > MAX_INTERIM_COUNT {
                    let class = FailureClass::TooManyInterim;
                    self.fail(lane, Breach { class, code: ENHANCE_YOUR_CALM });
                }
                return Ok(());
            }
            (None, Some(status)) => {
                let is_bodiless =
                    matches!(status, 204 | 304) || requests[place.kind as usize].rules.is_head_request;
                place.body_bytes = if is_bodiless { Some(0) } else { fields.body_bytes };
                (place.status, place.has_expected) = (Some(status), fields.has_expected);
                self.events.push((lane, LinkEvent::Began(status)));
            }
            _ => self.fail(lane, MISPLACED),
        }
        if ends_stream && self.is_active(lane) {
            self.finish(lane, requests);
        }
        Ok(())
    }

    /// The response is over. One that is shorter than its head says is malformed (section 8.1.1), however it ends.
    fn finish(&mut self, lane: Lane, requests: &[EncodedRequest]) {
        let place = &self.places[lane as usize];
        if place.body_bytes.is_some_and(|wanted| place.body.bytes() < wanted) {
            let class = FailureClass::BodyTruncated;
            return self.fail(lane, Breach { class, code: PROTOCOL_ERROR });
        }
        self.answers = 0;
        let request = &requests[place.kind as usize];
        let response = place.body.judge(place.status.unwrap_or(0), place.has_expected, &request.rules);
        let bytes = place.received_bytes;
        if place.is_sending {
            // The rest of the request is not wanted any more.
            let stream = place.stream;
            frame::write_number(&mut self.out, frame::RST_STREAM, stream, CANCEL);
        }
        self.free(lane);
        let keep_alive = !self.is_leaving;
        self.events.push((lane, LinkEvent::Done(Response { keep_alive, ..response }, bytes)));
    }

    /// The server broke the rules on a stream, which is given up.
    pub(super) fn fail(&mut self, lane: Lane, breach: Breach) {
        self.reset(lane, breach.code);
        self.events.push((lane, LinkEvent::Failed(breach.class)));
    }

    /// The same with a stream by its number; one that is over cannot be given up, but the connection can.
    pub(super) fn break_stream(&mut self, stream: u32, breach: Breach) -> Result<(), Breach> {
        let lane = if stream < self.next_stream { self.lane(stream)? } else { None };
        self.fail(lane.ok_or(breach)?, breach);
        Ok(())
    }

    pub(super) fn accept_reset(&mut self, frame: Frame<'_>) -> Result<(), Breach> {
        let code = frame.number()?;
        let Some(lane) = self.lane(frame.stream)? else { return Ok(()) };
        self.free(lane);
        self.idle_frames = 0;
        self.events.push((lane, LinkEvent::Reset(code)));
        Ok(())
    }
}

/// What a header block that cannot be read to its end does to the connection: the table is not in step any more.
fn undecoded(class: FailureClass) -> Breach {
    let is_too_large = class == FailureClass::HeadTooLarge;
    Breach { class, code: if is_too_large { ENHANCE_YOUR_CALM } else { COMPRESSION_ERROR } }
}
