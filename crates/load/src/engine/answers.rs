//! The texts of wrong responses: each text once, with how often it came.
//!
//! An error page is mostly the same each time, so a response with a known body costs only a comparison of checksums. Pages
//! that differ each time are read up to a bound; beyond it, they are only counted by class.

use crate::page::shown_text;
use crate::protocol::Response;
use sysdyno_record::failure::{WrongAnswer, WrongAnswers};
use sysdyno_record::load::{FailureClass, LearntBody};

/// Different bodies that are read in a window of a thread.
const READ_MAX: usize = 64;

/// What was answered in one window of one thread, or in many.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers {
    texts: WrongAnswers,
    /// Bodies that were read, and where their texts are. Not merged.
    read: Vec<(FailureClass, u16, LearntBody, usize)>,
}

impl Answers {
    /// Counts a wrong response, of whose body this is the beginning.
    pub(super) fn note(&mut self, class: FailureClass, response: &Response, body: &[u8]) {
        let is_same = |(of, status, known, _): &&(FailureClass, u16, LearntBody, usize)| {
            (*of, *status, *known) == (class, response.status, response.body)
        };
        if let Some((.., index)) = self.read.iter().find(is_same) {
            return self.texts.count(*index);
        }
        if self.read.len() >= READ_MAX {
            return;
        }
        // A body that was not kept may be read when it comes again.
        let is_kept = !body.is_empty() || response.body.body_bytes == 0;
        let text = shown_text(body);
        let answer = WrongAnswer { class, status: response.status, text, count: 1 };
        if let Some(index) = self.texts.add(&answer).filter(|_| is_kept) {
            self.read.push((class, response.status, response.body, index));
        }
    }

    /// Each text with its number.
    pub(super) fn texts(&self) -> &WrongAnswers {
        &self.texts
    }

    /// Adds what another thread or window counted.
    pub(super) fn merge(&mut self, other: &Answers) {
        self.add(&other.texts);
    }

    /// Adds what was counted elsewhere.
    pub(super) fn add(&mut self, texts: &WrongAnswers) {
        for answer in texts.iter() {
            self.texts.add(answer);
        }
    }
}
