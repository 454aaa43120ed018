//! One connection: its streams, its windows, its table of fields; bytes in, events out, and what is to be said in answer.

use super::encode::Request;
use super::frame::{self, Frame};
use super::hpack::Decoder;
use super::limits::{
    MAX_ANSWERS_COUNT, MAX_CONTINUATIONS_COUNT, MAX_HEAD_BYTES, MAX_IDLE_FRAMES_COUNT, MAX_INTERIM_COUNT,
    MAX_WINDOW_BYTES,
};
use super::place::Place;
use crate::http1::kept::Kept;
use crate::http1::response::Response;
use sysdyno_record::load::FailureClass;

/// Windows that peers begin with (section 6.9.2). Unit: bytes.
const FIRST_WINDOW_BYTES: i64 = 65_535;

/// A window is opened again when half of it is used up. Unit: bytes.
const REPLENISH_BYTES: i64 = MAX_WINDOW_BYTES / 2;

/// Number of a stream's place on its connection, from 0.
pub type Lane = u32;

/// What happened on a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The head of the response is there.
    Began(u16),
    /// The response is complete; so many bytes of frames were of it.
    Done(Response, u64),
    /// All of the request is on its way.
    Sent,
    /// It is over without a response.
    Failed(FailureClass),
    /// The server did not look at it, because it goes away.
    Unseen,
}

/// A header block that goes on.
#[derive(Debug)]
struct Partial {
    stream: u32,
    ends_stream: bool,
    frames: u32,
}

/// A connection.
#[derive(Debug)]
pub struct Link {
    places: Vec<Place>,
    /// Which place the streams have whose numbers are this modulo the length, as far as they are open.
    by_stream: Vec<Lane>,
    next_stream: u32,
    active: u32,
    table: Decoder,
    /// What has come of a frame.
    rest: Vec<u8>,
    block: Vec<u8>,
    partial: Option<Partial>,
    idle_frames: u32,
    /// Control frames that were answered since the last complete response.
    answers: u32,
    window_used: i64,
    send_window: i64,
    first_window: i64,
    max_frame_bytes: usize,
    max_streams: u32,
    has_settings: bool,
    /// The server has said that it goes away.
    pub is_leaving: bool,
    /// What is to be said.
    pub out: Vec<u8>,
    /// What happened, in order.
    pub events: Vec<(Lane, Event)>,
}

impl Link {
    /// A connection with so many places; what it says first is to be sent already.
    pub fn new(streams: u32) -> Link {
        let mut places = Vec::new();
        places.resize_with(streams as usize, Place::default);
        // Streams are opened in order; one that stays open while twice as many come and go is looked for.
        let by_stream = vec![0; (2 * streams as usize).next_power_of_two()];
        let mut link = Link {
            places,
            by_stream,
            next_stream: 1,
            active: 0,
            table: Decoder::default(),
            rest: Vec::new(),
            block: Vec::new(),
            partial: None,
            idle_frames: 0,
            answers: 0,
            window_used: 0,
            send_window: FIRST_WINDOW_BYTES,
            first_window: FIRST_WINDOW_BYTES,
            max_frame_bytes: super::limits::MAX_FRAME_BYTES,
            max_streams: u32::MAX,
            has_settings: false,
            is_leaving: false,
            out: Vec::new(),
            events: Vec::new(),
        };
        link.greet();
        link
    }

    /// The preface: no pushes, and windows as wide as they can be.
    fn greet(&mut self) {
        self.out.extend_from_slice(frame::PREFACE);
        frame::write_header(&mut self.out, 12, frame::SETTINGS, 0, 0);
        self.out.extend_from_slice(&frame::SETTING_ENABLE_PUSH.to_be_bytes());
        self.out.extend_from_slice(&0u32.to_be_bytes());
        self.out.extend_from_slice(&frame::SETTING_INITIAL_WINDOW_SIZE.to_be_bytes());
        self.out.extend_from_slice(&(MAX_WINDOW_BYTES as u32).to_be_bytes());
        let wider = (MAX_WINDOW_BYTES - FIRST_WINDOW_BYTES) as u32;
        frame::write_number(&mut self.out, frame::WINDOW_UPDATE, 0, wider);
    }

    /// What was kept of the last response in a place, until a stream is opened there.
    pub(crate) fn kept(&mut self, lane: Lane) -> &mut Option<Box<Kept>> {
        &mut self.places[lane as usize].kept
    }

    /// Streams that are open.
    pub fn active(&self) -> u32 {
        self.active
    }

    /// Whether a stream is open in this place.
    pub fn is_active(&self, lane: Lane) -> bool {
        self.places[lane as usize].stream != 0
    }

    /// Whether the server lets another stream be opened.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.active < self.max_streams
    }

    /// Whether another number for a stream is left.
    pub fn has_numbers(&self) -> bool {
        self.next_stream < 1 << 30
    }

    /// Opens a stream with a request that was made before the load; whether all of it could be sent.
    #[inline]
    pub fn open(&mut self, lane: Lane, kind: u32, request: &Request) -> bool {
        self.begin(lane, kind, &request.block, &request.body)
    }

    /// The same with a request that was made for this stream: of what cannot be sent yet, the link has a copy.
    pub fn open_own(&mut self, lane: Lane, kind: u32, block: &[u8], body: &[u8]) -> bool {
        let is_all = self.begin(lane, kind, block, body);
        if !is_all {
            self.places[lane as usize].own_body.extend_from_slice(body);
        }
        is_all
    }

    fn begin(&mut self, lane: Lane, kind: u32, block: &[u8], body: &[u8]) -> bool {
        let stream = self.next_stream;
        self.next_stream += 2;
        self.active += 1;
        let mask = self.by_stream.len() - 1;
        self.by_stream[(stream / 2) as usize & mask] = lane;
        let place = &mut self.places[lane as usize];
        place.open(stream, kind, self.first_window);
        place.is_sending = !body.is_empty();
        let is_all = !place.is_sending;
        self.write_head(stream, block, is_all);
        is_all || self.send_body(lane, body)
    }

    fn write_head(&mut self, stream: u32, block: &[u8], is_all: bool) {
        let end = if is_all { frame::END_STREAM } else { 0 };
        let first = block.len().min(self.max_frame_bytes);
        let is_one = first == block.len();
        let flags = end | if is_one { frame::END_HEADERS } else { 0 };
        frame::write_header(&mut self.out, first, frame::HEADERS, flags, stream);
        self.out.extend_from_slice(&block[..first]);
        let mut rest = &block[first..];
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.len().min(self.max_frame_bytes));
            let flags = if after.is_empty() { frame::END_HEADERS } else { 0 };
            frame::write_header(&mut self.out, piece.len(), frame::CONTINUATION, flags, stream);
            self.out.extend_from_slice(piece);
            rest = after;
        }
    }

    /// Sends of a body what the windows allow; whether that is all.
    fn send_body(&mut self, lane: Lane, body: &[u8]) -> bool {
        let place = &mut self.places[lane as usize];
        while place.is_sending {
            let room = place.send_window.min(self.send_window).max(0) as usize;
            let left = &body[place.sent..];
            let length = left.len().min(room).min(self.max_frame_bytes);
            if length == 0 {
                return false;
            }
            place.is_sending = length < left.len();
            let flags = if place.is_sending { 0 } else { frame::END_STREAM };
            frame::write_header(&mut self.out, length, frame::DATA, flags, place.stream);
            self.out.extend_from_slice(&left[..length]);
            place.sent += length;
            place.send_window -= length as i64;
            self.send_window -= length as i64;
            self.idle_frames = 0;
        }
        true
    }

    /// Goes on with bodies that waited for a window.
    fn send_on(&mut self, requests: &[Request]) {
        for lane in 0..self.places.len() as Lane {
            let place = &mut self.places[lane as usize];
            if !place.is_sending || place.stream == 0 {
                continue;
            }
            let kind = place.kind as usize;
            let own = std::mem::take(&mut place.own_body);
            let is_all = self.send_body(lane, if own.is_empty() { &requests[kind].body } else { &own });
            self.places[lane as usize].own_body = own;
            if is_all {
                self.events.push((lane, Event::Sent));
            }
        }
    }

    /// Gives up the stream in a place, if there is one.
    pub fn cancel(&mut self, lane: Lane) {
        let stream = self.places[lane as usize].stream;
        if stream != 0 {
            frame::write_number(&mut self.out, frame::RST_STREAM, stream, frame::ERROR_CANCEL);
            self.free(lane);
        }
    }

    fn free(&mut self, lane: Lane) {
        let place = &mut self.places[lane as usize];
        (place.stream, place.is_sending) = (0, false);
        self.active -= 1;
    }

    /// The place of a stream; `None` if it is over.
    #[inline]
    fn lane(&self, stream: u32) -> Result<Option<Lane>, FailureClass> {
        if stream.is_multiple_of(2) || stream >= self.next_stream {
            return Err(FailureClass::Protocol);
        }
        let lane = self.by_stream[(stream / 2) as usize & (self.by_stream.len() - 1)];
        if self.places[lane as usize].stream == stream {
            return Ok(Some(lane));
        }
        let found = self.places.iter().position(|place| place.stream == stream);
        Ok(found.map(|lane| lane as Lane))
    }

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

    fn accept_data(&mut self, frame: Frame<'_>, requests: &[Request]) -> Result<(), FailureClass> {
        let content = frame.content()?;
        let length = frame.payload.len() as i64;
        self.window_used += length;
        if self.window_used > MAX_WINDOW_BYTES {
            return Err(FailureClass::Protocol);
        }
        if self.window_used > REPLENISH_BYTES {
            frame::write_number(&mut self.out, frame::WINDOW_UPDATE, 0, self.window_used as u32);
            self.window_used = 0;
        }
        let Some(lane) = self.lane(frame.stream)? else { return Ok(()) };
        let place = &mut self.places[lane as usize];
        if place.status.is_none() {
            return Err(FailureClass::Protocol);
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
            self.fail(lane, class);
        } else if place.body_bytes.is_some_and(|wanted| place.body.bytes() > wanted) {
            self.fail(lane, FailureClass::Protocol);
        } else if ends {
            self.finish(lane, requests);
        }
        Ok(())
    }

    fn accept_headers(&mut self, frame: Frame<'_>, requests: &[Request]) -> Result<(), FailureClass> {
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

    fn accept_continuation(&mut self, frame: Frame<'_>, requests: &[Request]) -> Result<(), FailureClass> {
        let Some(partial) = &mut self.partial else { return Err(FailureClass::Protocol) };
        if partial.stream != frame.stream {
            return Err(FailureClass::Protocol);
        }
        partial.frames += 1;
        if partial.frames > MAX_CONTINUATIONS_COUNT {
            return Err(FailureClass::Http2Abuse);
        }
        if self.block.len() + frame.payload.len() > MAX_HEAD_BYTES {
            return Err(FailureClass::HeadTooLarge);
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
        requests: &[Request],
    ) -> Result<(), FailureClass> {
        let lane = self.lane(stream)?;
        let mut place = lane.map(|lane| &mut self.places[lane as usize]);
        let rules = place.as_ref().map(|place| &requests[place.kind as usize].rules);
        let expected = rules.and_then(|rules| rules.validators.header.as_ref());
        let head = place.as_mut().zip(rules).and_then(|(place, rules)| place.head_to_keep(rules));
        // The table follows every block, also of a stream that is over.
        let fields = match head {
            None => self.table.read(block, expected)?,
            Some(head) => self.table.read_lines(block, expected, head)?,
        };
        let Some(lane) = lane else { return Ok(()) };
        self.idle_frames = 0;
        let place = &mut self.places[lane as usize];
        match (place.status, fields.status) {
            (Some(_), None) if ends_stream => {}
            (None, Some(101)) => self.fail(lane, FailureClass::Protocol),
            (None, Some(100..=199)) if !ends_stream => {
                place.interim_count += 1;
                if place.interim_count > MAX_INTERIM_COUNT {
                    self.fail(lane, FailureClass::TooManyInterim);
                }
                return Ok(());
            }
            (None, Some(status)) => {
                let is_bodiless =
                    matches!(status, 204 | 304) || requests[place.kind as usize].rules.is_head_request;
                place.body_bytes = if is_bodiless { Some(0) } else { fields.body_bytes };
                (place.status, place.has_expected) = (Some(status), fields.has_expected);
                self.events.push((lane, Event::Began(status)));
            }
            _ => self.fail(lane, FailureClass::Protocol),
        }
        if ends_stream && self.is_active(lane) {
            self.finish(lane, requests);
        }
        Ok(())
    }

    /// The response is over. One that is shorter than its head says is malformed (section 8.1.1), however it ends.
    fn finish(&mut self, lane: Lane, requests: &[Request]) {
        let place = &self.places[lane as usize];
        if place.body_bytes.is_some_and(|wanted| place.body.bytes() < wanted) {
            return self.fail(lane, FailureClass::BodyTruncated);
        }
        self.answers = 0;
        let request = &requests[place.kind as usize];
        let response = place.body.judge(place.status.unwrap_or(0), place.has_expected, &request.rules);
        let bytes = place.received_bytes;
        if place.is_sending {
            // The rest of the request is not wanted any more.
            let stream = place.stream;
            frame::write_number(&mut self.out, frame::RST_STREAM, stream, frame::ERROR_CANCEL);
        }
        self.free(lane);
        let keep_alive = !self.is_leaving;
        self.events.push((lane, Event::Done(Response { keep_alive, ..response }, bytes)));
    }

    fn fail(&mut self, lane: Lane, class: FailureClass) {
        self.cancel(lane);
        self.events.push((lane, Event::Failed(class)));
    }

    fn accept_reset(&mut self, frame: Frame<'_>) -> Result<(), FailureClass> {
        let code = frame.number()?;
        let Some(lane) = self.lane(frame.stream)? else { return Ok(()) };
        let is_refused = code == frame::ERROR_REFUSED_STREAM;
        let class = if is_refused { FailureClass::StreamRefused } else { FailureClass::StreamReset };
        self.free(lane);
        self.idle_frames = 0;
        self.events.push((lane, Event::Failed(class)));
        Ok(())
    }

    fn accept_settings(&mut self, frame: Frame<'_>, requests: &[Request]) -> Result<(), FailureClass> {
        let is_ack = frame.has(frame::ACK);
        if frame.stream != 0 || !frame.payload.len().is_multiple_of(6) || is_ack && !frame.payload.is_empty()
        {
            return Err(FailureClass::Protocol);
        }
        if is_ack {
            return Ok(());
        }
        self.has_settings = true;
        self.answer()?;
        for setting in frame.payload.chunks_exact(6) {
            let [high, low, value @ ..] = setting else { return Err(FailureClass::Protocol) };
            let value = value.try_into().map(u32::from_be_bytes).map_err(|_| FailureClass::Protocol)?;
            self.set(u16::from_be_bytes([*high, *low]), value)?;
        }
        frame::write_header(&mut self.out, 0, frame::SETTINGS, frame::ACK, 0);
        self.send_on(requests);
        Ok(())
    }

    fn set(&mut self, name: u16, value: u32) -> Result<(), FailureClass> {
        match name {
            frame::SETTING_ENABLE_PUSH if value != 0 => return Err(FailureClass::Protocol),
            frame::SETTING_MAX_CONCURRENT_STREAMS => self.max_streams = value,
            frame::SETTING_INITIAL_WINDOW_SIZE => {
                let change = i64::from(value) - self.first_window;
                self.first_window = i64::from(value);
                self.places.iter_mut().for_each(|place| place.send_window += change);
                let mut open = self.places.iter().filter(|place| place.stream != 0);
                let is_over = open.any(|place| place.send_window > MAX_WINDOW_BYTES);
                if i64::from(value) > MAX_WINDOW_BYTES || is_over {
                    return Err(FailureClass::Protocol);
                }
            }
            frame::SETTING_MAX_FRAME_SIZE => {
                if !(1 << 14..1 << 24).contains(&value) {
                    return Err(FailureClass::Protocol);
                }
                self.max_frame_bytes = value as usize;
            }
            _ => {}
        }
        Ok(())
    }

    fn accept_ping(&mut self, frame: Frame<'_>) -> Result<(), FailureClass> {
        if frame.stream != 0 || frame.payload.len() != 8 {
            return Err(FailureClass::Protocol);
        }
        if !frame.has(frame::ACK) {
            self.answer()?;
            frame::write_header(&mut self.out, 8, frame::PING, frame::ACK, 0);
            self.out.extend_from_slice(frame.payload);
        }
        Ok(())
    }

    /// Another control frame is answered.
    fn answer(&mut self) -> Result<(), FailureClass> {
        self.answers += 1;
        if self.answers > MAX_ANSWERS_COUNT { Err(FailureClass::Http2Abuse) } else { Ok(()) }
    }

    /// Streams above the last one that the server saw have not been looked at (section 6.8).
    fn accept_goaway(&mut self, frame: Frame<'_>) -> Result<(), FailureClass> {
        let last = frame.payload.get(..4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_be_bytes);
        let Some(last) = last.filter(|_| frame.stream == 0 && frame.payload.len() >= 8) else {
            return Err(FailureClass::Protocol);
        };
        self.is_leaving = true;
        for lane in 0..self.places.len() as Lane {
            if self.places[lane as usize].stream > last & 0x7fff_ffff {
                self.free(lane);
                self.events.push((lane, Event::Unseen));
            }
        }
        Ok(())
    }

    fn accept_window(&mut self, frame: Frame<'_>, requests: &[Request]) -> Result<(), FailureClass> {
        let more = i64::from(frame.number()? & 0x7fff_ffff);
        let window = if frame.stream == 0 {
            self.send_window += more;
            self.send_window
        } else {
            let Some(lane) = self.lane(frame.stream)? else { return Ok(()) };
            let place = &mut self.places[lane as usize];
            place.send_window += more;
            place.send_window
        };
        if more == 0 || window > MAX_WINDOW_BYTES {
            return Err(FailureClass::Protocol);
        }
        self.send_on(requests);
        Ok(())
    }
}
