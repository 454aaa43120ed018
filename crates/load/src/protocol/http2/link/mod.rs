//! One connection: its streams, windows, and table of fields; bytes in, events and replies out.

mod control;
mod read;
mod response;

use super::encode::EncodedRequest;
use super::error::{Breach, CANCEL, MISPLACED, NO_ERROR, STREAM_CLOSED};
use super::frame;
use super::hpack::HpackDecoder;
use super::limits::MAX_WINDOW_BYTES;
use super::place::StreamPlace;
use crate::protocol::Response;
use crate::protocol::http1::kept::Kept;
use std::collections::VecDeque;
use sysdyno_record::load::FailureClass;

/// Streams that were given up here and are remembered: what the server had sent of them by then may still come.
const ABANDONED_COUNT: usize = 256;

/// Windows that peers begin with (section 6.9.2). Unit: bytes.
const FIRST_WINDOW_BYTES: i64 = 65_535;

/// Number of a stream's place on its connection, from 0.
pub type Lane = u32;

/// What happened on a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEvent {
    /// The head of the response is there.
    Began(u16),
    /// The response is complete; so many bytes of frames were of it.
    Done(Response, u64),
    /// All of the request is on its way.
    Sent,
    /// The response broke the rules, and the stream was given up.
    Failed(FailureClass),
    /// The server reset it, with this error code.
    Reset(u32),
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
    places: Vec<StreamPlace>,
    /// Which place the streams have whose numbers are this modulo the length, as far as they are open.
    by_stream: Vec<Lane>,
    next_stream: u32,
    active: u32,
    table: HpackDecoder,
    /// What has come of a frame.
    rest: Vec<u8>,
    block: Vec<u8>,
    partial: Option<Partial>,
    pub(super) idle_frames: u32,
    /// Control frames that were answered since the last complete response.
    answers: u32,
    window_used: i64,
    send_window: i64,
    first_window: i64,
    max_frame_bytes: usize,
    max_streams: u32,
    has_settings: bool,
    /// Streams that were given up here, oldest first.
    abandoned: VecDeque<u32>,
    /// Of those up to this number it is not known any more who ended them.
    forgotten_up_to: u32,
    /// The server has said that it goes away.
    pub is_leaving: bool,
    /// With which error code.
    pub(crate) leaving_code: u32,
    /// It was said here that the connection is over.
    has_given_up: bool,
    /// What is to be said.
    pub out: Vec<u8>,
    /// What happened, in order.
    pub events: Vec<(Lane, LinkEvent)>,
}

impl Link {
    /// A connection with so many places; what it says first is to be sent already.
    pub fn new(streams: u32) -> Link {
        let mut places = Vec::new();
        places.resize_with(streams as usize, StreamPlace::default);
        // Streams are opened in order; one that stays open while twice as many come and go is looked for.
        let by_stream = vec![0; (2 * streams as usize).next_power_of_two()];
        let mut link = Link {
            places,
            by_stream,
            next_stream: 1,
            active: 0,
            table: HpackDecoder::default(),
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
            abandoned: VecDeque::new(),
            forgotten_up_to: 0,
            is_leaving: false,
            leaving_code: NO_ERROR,
            has_given_up: false,
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

    /// Whether the head of the response in this place is there.
    pub(crate) fn has_begun(&self, lane: Lane) -> bool {
        self.places[lane as usize].status.is_some()
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
    pub fn open(&mut self, lane: Lane, kind: u32, request: &EncodedRequest) -> bool {
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
    fn send_on(&mut self, requests: &[EncodedRequest]) {
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
                self.events.push((lane, LinkEvent::Sent));
            }
        }
    }

    /// Says that the connection is over, if nothing else was said of its end.
    pub(crate) fn take_leave(&mut self) {
        self.give_up(NO_ERROR);
    }

    /// Says once that the connection is over, and why.
    fn give_up(&mut self, code: u32) {
        if !std::mem::replace(&mut self.has_given_up, true) {
            frame::write_goaway(&mut self.out, code);
        }
    }

    /// Gives up the stream in a place, if there is one.
    pub fn cancel(&mut self, lane: Lane) {
        if self.is_active(lane) {
            self.reset(lane, CANCEL);
        }
    }

    /// Gives up a stream and says why.
    fn reset(&mut self, lane: Lane, code: u32) {
        let stream = self.places[lane as usize].stream;
        frame::write_number(&mut self.out, frame::RST_STREAM, stream, code);
        self.abandon(lane);
    }

    /// A stream that the server may still send something of is over here.
    fn abandon(&mut self, lane: Lane) {
        self.abandoned.push_back(self.places[lane as usize].stream);
        if self.abandoned.len() > ABANDONED_COUNT {
            let forgotten = self.abandoned.pop_front().unwrap_or(0);
            self.forgotten_up_to = self.forgotten_up_to.max(forgotten);
        }
        self.free(lane);
    }

    /// Something came of a stream that is over: the server must know that, unless it was ended here.
    #[cold]
    fn check_closed(&self, stream: u32) -> Result<(), Breach> {
        let may_come = stream <= self.forgotten_up_to || self.abandoned.contains(&stream);
        if may_come { Ok(()) } else { Err(Breach::of(STREAM_CLOSED)) }
    }

    fn free(&mut self, lane: Lane) {
        let place = &mut self.places[lane as usize];
        (place.stream, place.is_sending) = (0, false);
        self.active -= 1;
    }

    /// The place of a stream; `None` if it is over.
    #[inline]
    fn lane(&self, stream: u32) -> Result<Option<Lane>, Breach> {
        if stream.is_multiple_of(2) || stream >= self.next_stream {
            return Err(MISPLACED);
        }
        let lane = self.by_stream[(stream / 2) as usize & (self.by_stream.len() - 1)];
        if self.places[lane as usize].stream == stream {
            return Ok(Some(lane));
        }
        let found = self.places.iter().position(|place| place.stream == stream);
        Ok(found.map(|lane| lane as Lane))
    }
}
