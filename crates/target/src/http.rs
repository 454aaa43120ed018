//! Just enough HTTP/1.1 for a server that gives every request the same answer; pure.
//!
//! A request must be complete before it is answered: head of at most [`MAX_HEAD_BYTES`], then a body whose length the
//! head declares. Bodies are skipped. Chunked requests are refused, as is anything that is not HTTP/1.
//!
//! Source: RFC 9112.

/// Longest request head. Unit: bytes.
pub const MAX_HEAD_BYTES: usize = 16 * 1024;

/// The path that is answered with the counts, and not counted.
pub const COUNTS_PATH: &str = "/sysdyno-counts";

/// A request head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestHead {
    /// Length of the head with its empty line. Unit: bytes.
    pub head_bytes: usize,
    /// Length of the body that follows. Unit: bytes.
    pub body_bytes: u64,
    /// What the answer is like.
    pub reply: Reply,
}

/// Which answer a request gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// What it holds.
    pub content: AnswerContent,
    /// Only the head is sent.
    pub is_head: bool,
    /// The connection stays open.
    pub keeps_alive: bool,
}

/// What an answer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerContent {
    /// The fixed body.
    Fixed,
    /// The counts.
    Counts,
    /// A refusal with this status line.
    Refused(&'static str),
}

/// What is at the beginning of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parsed {
    /// The beginning of a request, maybe.
    Incomplete,
    /// A request, of which the body may be still to come.
    Request(RequestHead),
    /// Not a request that this server takes; the connection cannot go on.
    Refused(&'static str),
}

const BAD_REQUEST: &str = "400 Bad Request";

/// Reads the request at the beginning of `input`.
pub fn parse(input: &[u8]) -> Parsed {
    let capped = &input[..input.len().min(MAX_HEAD_BYTES)];
    match capped.windows(4).position(|window| window == b"\r\n\r\n") {
        None if input.len() >= MAX_HEAD_BYTES => Parsed::Refused("431 Request Header Fields Too Large"),
        None => Parsed::Incomplete,
        Some(at) => match parse_head(&input[..at]) {
            Ok(request) => Parsed::Request(RequestHead { head_bytes: at + 4, ..request }),
            Err(status) => Parsed::Refused(status),
        },
    }
}

fn parse_head(head: &[u8]) -> Result<RequestHead, &'static str> {
    let mut lines = head.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let mut words = lines.next().ok_or(BAD_REQUEST)?.split(|byte| *byte == b' ');
    let mut word = || words.next().filter(|word| !word.is_empty()).ok_or(BAD_REQUEST);
    let (method, path, version) = (word()?, word()?, word()?);
    let mut keeps_alive = match version {
        b"HTTP/1.1" => true,
        b"HTTP/1.0" => false,
        _ => return Err("505 HTTP Version Not Supported"),
    };
    if words.next().is_some() || !method.iter().all(u8::is_ascii_uppercase) {
        return Err(BAD_REQUEST);
    }
    let mut body_bytes = None;
    for line in lines {
        let colon = line.iter().position(|byte| *byte == b':').ok_or(BAD_REQUEST)?;
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"connection") {
            keeps_alive = connection(value, keeps_alive);
        } else if name.eq_ignore_ascii_case(b"content-length") {
            let length = std::str::from_utf8(value).ok().and_then(|digits| digits.parse::<u64>().ok());
            if length.is_none() || body_bytes.is_some_and(|earlier| Some(earlier) != length) {
                return Err(BAD_REQUEST);
            }
            body_bytes = length;
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            return Err("411 Length Required");
        }
    }
    let content = if path == COUNTS_PATH.as_bytes() { AnswerContent::Counts } else { AnswerContent::Fixed };
    let reply = Reply { content, is_head: method == b"HEAD", keeps_alive };
    Ok(RequestHead { head_bytes: 0, body_bytes: body_bytes.unwrap_or(0), reply })
}

/// Whether the connection stays open after a `Connection` field with this value.
fn connection(value: &[u8], before: bool) -> bool {
    let has = |option: &[u8]| {
        value.split(|byte| *byte == b',').any(|part| part.trim_ascii().eq_ignore_ascii_case(option))
    };
    !has(b"close") && (before || has(b"keep-alive"))
}

/// The answers, made once.
#[derive(Debug)]
pub(super) struct Responses {
    keeping: Vec<u8>,
    closing: Vec<u8>,
    body_bytes: usize,
}

impl Responses {
    /// Answers whose body is this long.
    pub(super) fn new(body_bytes: usize) -> Responses {
        // Lines, so that the body is easy to look at; of printable characters only.
        let body: Vec<u8> =
            (0..body_bytes).map(|at| if at % 64 == 63 { b'\n' } else { b'a' + (at % 26) as u8 }).collect();
        let whole =
            |keeps_alive| [head("200 OK", "text/plain", body_bytes, keeps_alive).as_bytes(), &body].concat();
        Responses { keeping: whole(true), closing: whole(false), body_bytes }
    }

    /// Appends the answer to `out`; `counts` makes the JSON of the counts.
    pub(super) fn append(&self, reply: Reply, out: &mut Vec<u8>, counts: impl FnOnce() -> String) {
        let (status, kind, body) = match reply.content {
            AnswerContent::Fixed => {
                let whole = if reply.keeps_alive { &self.keeping } else { &self.closing };
                let length = if reply.is_head { whole.len() - self.body_bytes } else { whole.len() };
                return out.extend_from_slice(&whole[..length]);
            }
            AnswerContent::Counts => ("200 OK", "application/json", counts()),
            AnswerContent::Refused(status) => (status, "text/plain", format!("{status}\n")),
        };
        out.extend_from_slice(head(status, kind, body.len(), reply.keeps_alive).as_bytes());
        if !reply.is_head {
            out.extend_from_slice(body.as_bytes());
        }
    }
}

fn head(status: &str, kind: &str, body_bytes: usize, keeps_alive: bool) -> String {
    let connection = if keeps_alive { "keep-alive" } else { "close" };
    format!(
        "HTTP/1.1 {status}\r\nServer: sysdyno-target\r\nContent-Type: {kind}\r\n\
         Content-Length: {body_bytes}\r\nConnection: {connection}\r\n\r\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply_to(text: &str) -> Result<Reply, &'static str> {
        match parse(text.as_bytes()) {
            Parsed::Request(request) => Ok(request.reply),
            Parsed::Refused(status) => Err(status),
            Parsed::Incomplete => Err("incomplete"),
        }
    }

    #[test]
    fn connections_are_kept_as_rfc_9112_says() {
        let check =
            |text: &str, kept| assert_eq!(reply_to(text).map(|reply| reply.keeps_alive), Ok(kept), "{text}");
        check("GET / HTTP/1.1\r\n\r\n", true);
        check("GET / HTTP/1.1\r\nConnection: close\r\n\r\n", false);
        check("GET / HTTP/1.1\r\nconnection: Upgrade, CLOSE\r\n\r\n", false);
        check("GET / HTTP/1.0\r\n\r\n", false);
        check("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true);
    }

    #[test]
    fn what_is_not_a_request_is_refused() {
        let check = |text: &str, status: &str| {
            let refused = reply_to(text).expect_err(text);
            assert!(refused.starts_with(status), "{text}: {refused}");
        };
        check("GET / HTTP/1.1\r\n", "incomplete");
        check("GET /\r\n\r\n", "400");
        check("GET  / HTTP/1.1\r\n\r\n", "400");
        check("get / HTTP/1.1\r\n\r\n", "400");
        check("GET / HTTP/1.1 x\r\n\r\n", "400");
        check("GET / HTTP/2.0\r\n\r\n", "505");
        check("GET / HTTP/1.1\r\nno colon\r\n\r\n", "400");
        check("GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n", "400");
        check("GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "400");
        check("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", "411");
        check(&format!("GET / HTTP/1.1\r\nA: {}", "x".repeat(MAX_HEAD_BYTES)), "431");
    }

    #[test]
    fn a_request_is_as_long_as_its_head_and_body_say() {
        let Parsed::Request(request) = parse(b"PUT / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcGET") else {
            panic!("is a request");
        };
        assert_eq!((request.head_bytes, request.body_bytes), (37, 3));
    }

    #[test]
    fn answers_have_the_length_that_they_declare() {
        let responses = Responses::new(100);
        let check = |content, is_head, body_bytes: usize| {
            let mut out = Vec::new();
            responses.append(Reply { content, is_head, keeps_alive: true }, &mut out, || "{}".into());
            let text = String::from_utf8(out).expect("is text");
            let (head, body) = text.split_once("\r\n\r\n").expect("has a head");
            assert!(head.contains(&format!("Content-Length: {body_bytes}\r\n")), "{head}");
            assert_eq!(body.len(), if is_head { 0 } else { body_bytes });
        };
        check(AnswerContent::Fixed, false, 100);
        check(AnswerContent::Fixed, true, 100);
        check(AnswerContent::Counts, false, 2);
        check(AnswerContent::Counts, true, 2);
        check(AnswerContent::Refused("400 Bad Request"), false, 16);
    }
}
