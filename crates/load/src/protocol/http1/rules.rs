//! The rules that responses must meet, and what is kept of them.

use super::watch::Watch;
use crate::page::SHOWN_BODY_BYTES;
use memchr::memmem::Finder;
use sysdyno_record::plan::{LoadPlan, Validators};
use sysdyno_record::units::Bytes;

/// What every response of a load is held against, compiled once.
#[derive(Clone, Debug)]
pub struct Rules {
    pub(crate) validators: Validators,
    pub(crate) finder: Option<Finder<'static>>,
    pub(crate) max_body_bytes: u64,
    pub(crate) is_head_request: bool,
    /// Whether the head, and how much of the body, is kept until the next response. Unit: bytes.
    pub(crate) keeps_head: bool,
    pub(crate) kept_body_bytes: usize,
    /// Whether the beginnings of all bodies are kept, to be shown.
    pub(crate) watch: Watch,
}

impl Rules {
    /// The rules of a plan.
    pub fn new(plan: &LoadPlan) -> Rules {
        Rules::of(&plan.validators, plan.max_body, plan.request.method == "HEAD")
    }

    /// Rules of one kind of request; `is_head_request`: its responses have no body, whatever their heads say.
    pub fn of(validators: &Validators, max_body: Bytes, is_head_request: bool) -> Rules {
        let needle = validators.body_contains.as_ref().filter(|text| !text.is_empty());
        Rules {
            validators: validators.clone(),
            finder: needle.map(|text| Finder::new(text.as_bytes()).into_owned()),
            max_body_bytes: max_body.0,
            is_head_request,
            keeps_head: false,
            kept_body_bytes: 0,
            watch: Watch::default(),
        }
    }

    /// The same, with what is kept of a response until the next one.
    pub fn keeping(self, head: bool, body_bytes: usize) -> Rules {
        Rules { keeps_head: head, kept_body_bytes: body_bytes, ..self }
    }

    /// How much of the body of a response is kept. That of an error is kept to be shown. Unit: bytes.
    #[inline]
    pub(crate) fn kept_bytes(&self, status: u16) -> usize {
        let is_shown = self.watch.is_on() || !self.accepts_status(status);
        if is_shown { self.kept_body_bytes.max(SHOWN_BODY_BYTES) } else { self.kept_body_bytes }
    }

    #[inline]
    pub(crate) fn accepts_status(&self, status: u16) -> bool {
        let listed = &self.validators.statuses;
        if listed.is_empty() { (200..400).contains(&status) } else { listed.contains(&status) }
    }
}
