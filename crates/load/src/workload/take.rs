//! Values taken from responses: which ones, and where to find them.
//!
//! When a response is complete, its head and the first [`MAX_BODY_BYTES`] of its body are searched. A value is at most
//! [`MAX_TAKEN_BYTES`] long and has no control characters, so that it fits anywhere in a request; anything else counts as not
//! found, and the request as failed.

use super::cookies::{CookieOrigin, Jar};
use super::memory::{MAX_TAKEN_BYTES, Memory};
use memchr::memmem;
use sysdyno_record::load::FailureClass;
use sysdyno_record::session::{TakeFrom, TakePlan};

/// How much of a body is looked through. Unit: bytes.
pub const MAX_BODY_BYTES: usize = 64 * 1024;

/// What the responses to a kind of request are looked through for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Taking {
    pub keeps_cookies: bool,
    pub takes: Vec<Take>,
}

/// A value that is taken.
#[derive(Clone, Debug)]
pub(crate) struct Take {
    /// Under which number users remember it.
    pub number: usize,
    pub from: TakeFrom,
}

impl Taking {
    /// How much of a body is to be kept. Unit: bytes.
    pub(crate) fn body_bytes(&self) -> usize {
        let is_of_body = |take: &Take| !matches!(take.from, TakeFrom::Header(_));
        if self.takes.iter().any(is_of_body) { MAX_BODY_BYTES } else { 0 }
    }

    /// Takes what there is; an objection if something is missing.
    pub(crate) fn take(
        &self,
        head: &[u8],
        body: &[u8],
        origin: &CookieOrigin<'_>,
        memory: &mut Option<Box<Memory>>,
    ) -> Option<FailureClass> {
        if self.keeps_cookies {
            let mut cookies = fields(head, "set-cookie").peekable();
            if cookies.peek().is_some() {
                let jar: &mut Jar = &mut memory.get_or_insert_default().cookies;
                cookies.for_each(|field| jar.take(field, origin));
            }
        }
        let mut objection = None;
        for take in &self.takes {
            let (found, class) = match &take.from {
                TakeFrom::Header(name) => (fields(head, name).next(), FailureClass::WrongHeader),
                TakeFrom::Between { after, before } => {
                    (between(body, after.as_bytes(), before.as_bytes()), FailureClass::WrongBody)
                }
                TakeFrom::Json(path) => (super::json::find(body, path), FailureClass::WrongBody),
            };
            match found.filter(|value| is_usable(value)) {
                Some(value) => memory.get_or_insert_default().take(take.number, value),
                None => objection = objection.or(Some(class)),
            }
        }
        objection
    }
}

impl From<(usize, &TakePlan)> for Take {
    fn from((number, plan): (usize, &TakePlan)) -> Take {
        Take { number, from: plan.from.clone() }
    }
}

fn is_usable(value: &[u8]) -> bool {
    !value.is_empty()
        && value.len() <= MAX_TAKEN_BYTES
        && value.iter().all(|byte| *byte >= 0x20 && *byte != 0x7f)
}

/// The values of the fields of this name.
pub(super) fn fields<'a>(head: &'a [u8], name: &str) -> impl Iterator<Item = &'a [u8]> {
    let lines = head.split(|byte| *byte == b'\n').skip(1);
    lines.filter_map(move |line| {
        let value = line.get(name.len()..)?.strip_prefix(b":")?;
        line[..name.len()].eq_ignore_ascii_case(name.as_bytes()).then(|| value.trim_ascii())
    })
}

fn between<'a>(body: &'a [u8], after: &[u8], before: &[u8]) -> Option<&'a [u8]> {
    let begin = memmem::find(body, after)? + after.len();
    let length = memmem::find(&body[begin..], before)?;
    Some(&body[begin..begin + length])
}

#[cfg(test)]
#[path = "take_tests.rs"]
mod tests;
