//! The response parser: bytes in, in pieces of any size; one response out, with its validators' judgment.
//!
//! It keeps no more of a response than its rules require. A head that arrives in one piece, as nearly all do, is parsed in
//! place; any other is collected in a buffer bounded by [`MAX_HEAD_BYTES`](super::limits::MAX_HEAD_BYTES).
//!
//! ```text
//!   Head ──complete──► Length(n) | Chunked | Close ──► done
//!    ▲  └─ 1xx ─┘          (HEAD, 204, 304: done at once)
//! ```

use super::body::Body;
use super::chunked::{ChunkStep, Chunked};
use super::head::{self, Framing, Head};
use super::kept::Kept;
use super::limits::MAX_INTERIM_COUNT;
use super::rules::Rules;
use crate::protocol::{Progress, Response};
use sysdyno_record::load::FailureClass;

#[derive(Clone, Debug)]
enum State {
    Head,
    Length(u64),
    Chunked(Chunked),
    Close,
}

/// A parser of the responses of one connection.
#[derive(Clone, Debug)]
pub struct ResponseParser {
    state: State,
    head: Option<Head>,
    /// A head that came in pieces.
    gathered: Vec<u8>,
    interim_count: u32,
    has_bytes: bool,
    body: Body,
    /// `None`: nothing was ever kept.
    kept: Option<Box<Kept>>,
}

impl Default for ResponseParser {
    fn default() -> ResponseParser {
        ResponseParser {
            state: State::Head,
            head: None,
            gathered: Vec::new(),
            interim_count: 0,
            has_bytes: false,
            body: Body::default(),
            kept: None,
        }
    }
}

impl ResponseParser {
    /// Prepares for the next response on the same connection, or for the first on a new one.
    pub fn reset(&mut self) {
        self.state = State::Head;
        self.head = None;
        self.gathered.clear();
        self.interim_count = 0;
        self.has_bytes = false;
        self.body.reset();
        if let Some(kept) = &mut self.kept {
            kept.clear();
        }
    }

    /// What the rules have kept of the response.
    pub(crate) fn kept(&self) -> Option<&Kept> {
        self.kept.as_deref()
    }

    /// Whether a byte of the response has arrived.
    pub fn has_bytes(&self) -> bool {
        self.has_bytes
    }

    /// Whether the head is complete.
    pub fn has_head(&self) -> bool {
        self.head.is_some()
    }

    /// Status code, once the head is complete.
    pub fn status(&self) -> Option<u16> {
        self.head.map(|head| head.status)
    }

    /// Reads bytes that arrived.
    pub fn feed(&mut self, data: &[u8], rules: &Rules) -> Progress {
        match self.read(data, rules) {
            Ok(progress) => progress,
            Err(class) => Progress::Failed(class),
        }
    }

    /// The server closed its side.
    pub fn end(&mut self, rules: &Rules) -> Progress {
        match self.state {
            State::Head => Progress::Failed(FailureClass::EofBeforeHead),
            State::Close => self.finish(rules),
            State::Length(_) | State::Chunked(_) => Progress::Failed(FailureClass::BodyTruncated),
        }
    }

    fn read(&mut self, mut data: &[u8], rules: &Rules) -> Result<Progress, FailureClass> {
        self.has_bytes |= !data.is_empty();
        while let State::Head = self.state {
            let Some(taken) = self.read_head(data, rules)? else { return Ok(Progress::More) };
            data = &data[taken..];
        }
        match self.state {
            State::Head => Ok(Progress::More),
            State::Length(left) => self.read_length(left, data, rules),
            State::Chunked(_) => self.read_chunks(data, rules),
            State::Close => {
                self.take_body(data, rules)?;
                Ok(Progress::More)
            }
        }
    }

    /// Reads one head; returns how many bytes of `data` it took, `None` if it is not complete.
    fn read_head(&mut self, data: &[u8], rules: &Rules) -> Result<Option<usize>, FailureClass> {
        match self.take_head(data, rules) {
            Ok(Some((head, taken))) => self.accept_head(head, rules).map(|()| Some(taken)),
            Ok(None) => self.unless_foreign(data, Ok(None)),
            Err(class) => self.unless_foreign(data, Err(class)),
        }
    }

    /// A head and how many bytes of `data` it took.
    fn take_head(&mut self, data: &[u8], rules: &Rules) -> Result<Option<(Head, usize)>, FailureClass> {
        let before = self.gathered.len();
        if before == 0 {
            let Some(end) = head::find_end(data, 0)? else {
                self.gathered.extend_from_slice(data);
                return Ok(None);
            };
            return Ok(Some((self.parse(&data[..end], rules)?, end)));
        }
        self.gathered.extend_from_slice(data);
        let Some(end) = head::find_end(&self.gathered, before)? else { return Ok(None) };
        let gathered = std::mem::take(&mut self.gathered);
        let found = self.parse(&gathered[..end], rules);
        self.gathered = gathered;
        let found = found?;
        self.gathered.clear();
        Ok(Some((found, end - before)))
    }

    /// What came of a head that is not complete, unless it is none of HTTP/1 in the first place: a server that speaks
    /// something else may wait for an answer to its greeting, and is not waited for.
    #[cold]
    fn unless_foreign(
        &self,
        data: &[u8],
        read: Result<Option<usize>, FailureClass>,
    ) -> Result<Option<usize>, FailureClass> {
        let begin = if self.gathered.is_empty() { data } else { &self.gathered };
        match head::foreign(begin) {
            Some(class) if self.interim_count == 0 => Err(class),
            _ => read,
        }
    }

    fn parse(&mut self, head: &[u8], rules: &Rules) -> Result<Head, FailureClass> {
        if rules.keeps_head {
            let kept = self.kept.get_or_insert_default();
            kept.head.clear();
            kept.head.extend_from_slice(head);
        }
        head::parse(head, rules.validators.header.as_ref())
    }

    fn accept_head(&mut self, head: Head, rules: &Rules) -> Result<(), FailureClass> {
        match head.status {
            101 => return Err(FailureClass::Protocol),
            100..=199 => {
                self.interim_count += 1;
                let is_over = self.interim_count > MAX_INTERIM_COUNT;
                return if is_over { Err(FailureClass::TooManyInterim) } else { Ok(()) };
            }
            _ => {}
        }
        let is_bodyless = rules.is_head_request || matches!(head.status, 204 | 304);
        self.head = Some(head);
        self.state = match head.framing {
            _ if is_bodyless => State::Length(0),
            Framing::Length(length) if length > rules.max_body_bytes => return Err(FailureClass::BodyLimit),
            Framing::Length(length) => State::Length(length),
            Framing::Chunked => State::Chunked(Chunked::new()),
            Framing::Close => State::Close,
        };
        Ok(())
    }

    fn read_length(&mut self, left: u64, data: &[u8], rules: &Rules) -> Result<Progress, FailureClass> {
        if data.len() as u64 > left {
            return Err(FailureClass::Desync);
        }
        self.take_body(data, rules)?;
        let left = left - data.len() as u64;
        self.state = State::Length(left);
        Ok(if left == 0 { self.finish(rules) } else { Progress::More })
    }

    fn read_chunks(&mut self, mut data: &[u8], rules: &Rules) -> Result<Progress, FailureClass> {
        while !data.is_empty() {
            let State::Chunked(chunked) = &mut self.state else { return Err(FailureClass::Protocol) };
            let taken = match chunked.step(data)? {
                ChunkStep::Framing(taken) => taken,
                ChunkStep::Body(taken) => {
                    self.take_body(&data[..taken], rules)?;
                    taken
                }
                ChunkStep::Done(taken) if taken == data.len() => return Ok(self.finish(rules)),
                ChunkStep::Done(_) => return Err(FailureClass::Desync),
            };
            data = &data[taken..];
        }
        Ok(Progress::More)
    }

    fn take_body(&mut self, data: &[u8], rules: &Rules) -> Result<(), FailureClass> {
        let most_bytes = rules.kept_bytes(self.status().unwrap_or(0));
        if most_bytes > 0 {
            self.kept.get_or_insert_default().take_body(data, most_bytes);
        }
        self.body.take(data, rules)
    }

    fn finish(&mut self, rules: &Rules) -> Progress {
        let Some(head) = self.head else { return Progress::Failed(FailureClass::Protocol) };
        let keep_alive = head.keep_alive && !matches!(self.state, State::Close);
        Progress::Done(Response { keep_alive, ..self.body.judge(head.status, head.has_expected, rules) })
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
