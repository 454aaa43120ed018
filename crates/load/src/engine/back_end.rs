//! Chooses the back end of a trial, once, before its threads start: the best that the kernel allows.

use crate::error::LoadError;
use crate::transport::{ConnectionRoute, Transport, Uring};
use sysdyno_record::load::TimerError;
use sysdyno_record::plan::IoChoice;
use sysdyno_record::spread::PartReady;

/// A back end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BackEndKind {
    Uring,
    Epoll,
}

/// The back end of a trial, with the reason if it is not the one that is tried first.
#[derive(Clone, Debug)]
pub(super) struct BackEnd {
    pub kind: BackEndKind,
    /// Why io_uring could not be used; `None` if it is used or was not asked for.
    pub fallback: Option<String>,
}

impl BackEnd {
    /// The back end for threads of at most `slots` connections each.
    ///
    /// # Errors
    /// io_uring was insisted on and cannot be used.
    pub(super) fn choose(
        choice: IoChoice,
        slots: usize,
        route: &ConnectionRoute,
    ) -> Result<BackEnd, LoadError> {
        let chosen = |kind| Ok(BackEnd { kind, fallback: None });
        match choice {
            IoChoice::Epoll => chosen(BackEndKind::Epoll),
            IoChoice::Uring => Uring::new(slots, route).and_then(|_| chosen(BackEndKind::Uring)),
            IoChoice::Auto => match Uring::new(slots, route) {
                Ok(_) => chosen(BackEndKind::Uring),
                Err(error) => Ok(BackEnd { kind: BackEndKind::Epoll, fallback: Some(error.to_string()) }),
            },
        }
    }

    /// What threads on these CPUs send with.
    pub(super) fn gear(self, cpus: Vec<Option<u32>>, timer_error: TimerError) -> PartReady {
        let name = match self.kind {
            BackEndKind::Uring => "io_uring",
            BackEndKind::Epoll => "epoll",
        };
        PartReady { cpus, timer_error, io: name.into(), io_fallback: self.fallback }
    }
}
