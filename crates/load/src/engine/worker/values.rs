//! Requests that are built when they are sent, and the parts of their responses that are kept.

use crate::carrier::Carrier;
use crate::engine::connection::Reader;
use crate::engine::job::Job;
use crate::protocol::http1::kept::Kept;
use crate::schedule::Share;
use crate::transport::Slot;
use crate::workload::cookies::path_of;
use crate::workload::values::{Drawn, Filling};
use crate::workload::{RequestKind, Templates};

/// What a thread knows about the values of its requests.
#[derive(Debug)]
pub(super) struct RequestValues {
    share: Share,
    /// Requests of each kind that have been drawn so far.
    counts: Vec<u64>,
    /// Which request the one on each connection is; `None`: one that is always the same.
    pub drawn: Vec<Option<Drawn>>,
    /// The paths of those requests, where cookies may be set for them.
    pub paths: Vec<Vec<u8>>,
    scratch: Vec<u8>,
}

impl RequestValues {
    /// `None`: all requests are always the same.
    pub(super) fn new(job: &Job<'_>, share: Share) -> Option<RequestValues> {
        let (templates, slots) = (job.requests.templates.as_ref()?, job.slots(share));
        Some(RequestValues {
            share,
            counts: vec![0; templates.kinds.len()],
            drawn: vec![None; slots],
            paths: vec![Vec::new(); slots],
            scratch: Vec::new(),
        })
    }

    /// The next number of a kind, of those that are this thread's.
    pub(super) fn next_number(&mut self, kind: RequestKind) -> u64 {
        let count = &mut self.counts[kind as usize];
        let number = *count * u64::from(self.share.threads) + u64::from(self.share.thread);
        *count += 1;
        number
    }

    /// Writes a request that is not always the same, and keeps its path.
    pub(super) fn write(
        &mut self,
        templates: &Templates,
        kind: RequestKind,
        slot: Slot,
        filling: &Filling<'_>,
        out: &mut Vec<u8>,
    ) {
        let start = out.len();
        if let Some(template) = &templates.kinds[kind as usize] {
            template.write(filling, &mut self.scratch, out);
        }
        let path = &mut self.paths[slot as usize];
        path.clear();
        let written = &out[start..];
        path.extend_from_slice(&written[path_of(written)]);
    }
}

/// What is kept of the response that has just come: by whoever reads the responses of the connection.
pub(super) fn kept<'a, C: Carrier>(carrier: &'a C, reader: &'a Reader, slot: Slot) -> Option<&'a Kept> {
    match reader {
        Reader::Http1(parser) => parser.kept(),
        Reader::Http2(_) => carrier.kept(slot),
        Reader::Memcached(_) => None,
    }
}
