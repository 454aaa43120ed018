//! Which back end a trial uses: chosen once, before its threads start, by what the kernel allows.

use crate::error::LoadError;
use crate::io::{Epoll, Io, Route, Uring};
use sysdyno_record::plan::IoChoice;

/// A back end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Uring,
    Epoll,
}

/// The back end of a trial, with the reason if it is not the one that is tried first.
#[derive(Clone, Debug)]
pub(super) struct BackEnd {
    pub kind: Kind,
    /// Why io_uring could not be used; `None` if it is used or was not asked for.
    pub fallback: Option<String>,
}

impl BackEnd {
    /// The back end for threads of at most `slots` connections each.
    ///
    /// # Errors
    /// io_uring was insisted on and cannot be used.
    pub(super) fn choose(choice: IoChoice, slots: usize, route: &Route) -> Result<BackEnd, LoadError> {
        let chosen = |kind| Ok(BackEnd { kind, fallback: None });
        match choice {
            IoChoice::Epoll => chosen(Kind::Epoll),
            IoChoice::Uring => Uring::new(slots, route).and_then(|_| chosen(Kind::Uring)),
            IoChoice::Auto => match Uring::new(slots, route) {
                Ok(_) => chosen(Kind::Uring),
                Err(error) => Ok(BackEnd { kind: Kind::Epoll, fallback: Some(error.to_string()) }),
            },
        }
    }

    /// The name in the record.
    pub(super) fn name(&self) -> &'static str {
        match self.kind {
            Kind::Uring => Uring::NAME,
            Kind::Epoll => Epoll::NAME,
        }
    }
}
