//! Requests that are written when they are sent, and what their responses are looked through for.

use super::super::connection::{Reader, Request};
use super::Worker;
use crate::engine::clock;
use crate::engine::job::Job;
use crate::http1::kept::Kept;
use crate::io::{Io, Message, Send, Slot};
use crate::schedule::Share;
use crate::workload::cookies::{Origin, path_of};
use crate::workload::values::{Drawn, Filling};
use crate::workload::{Kind, Templates};
use sysdyno_record::load::FailureClass;

/// What a thread knows about the values of its requests.
#[derive(Debug)]
pub(in crate::engine) struct Values {
    share: Share,
    /// Requests of each kind that have been drawn so far.
    counts: Vec<u64>,
    /// Which request the one on each connection is; `None`: one that is always the same.
    drawn: Vec<Option<Drawn>>,
    /// The paths of those requests, where cookies may be set for them.
    paths: Vec<Vec<u8>>,
    scratch: Vec<u8>,
}

impl Values {
    /// `None`: all requests are always the same.
    pub(super) fn new(job: &Job<'_>, share: Share, slots: usize) -> Option<Values> {
        let templates = job.requests.templates.as_ref()?;
        Some(Values {
            share,
            counts: vec![0; templates.kinds.len()],
            drawn: vec![None; slots],
            paths: vec![Vec::new(); slots],
            scratch: Vec::new(),
        })
    }

    /// The next number of a kind, of those that are this thread's.
    fn next_number(&mut self, kind: Kind) -> u64 {
        let count = &mut self.counts[kind as usize];
        let number = *count * u64::from(self.share.threads) + u64::from(self.share.thread);
        *count += 1;
        number
    }

    pub(super) fn is_made_up(&self, slot: Slot) -> bool {
        self.drawn[slot as usize].is_some()
    }
}

impl<I: Io> Worker<'_, I> {
    /// Decides what is put into a request that begins; it stays so if the request is sent again.
    pub(super) fn draw_values(&mut self, slot: Slot, kind: Kind, user: u32) {
        let Some((values, templates)) = self.values.as_mut().zip(self.job.requests.templates.as_ref()) else {
            return;
        };
        let memory = self.users.as_ref().and_then(|users| users.memory(user));
        let has_cookies = memory.is_some_and(|memory| !memory.cookies.is_empty());
        let template = templates.kinds[kind as usize].as_ref();
        let is_made_up = template.is_some_and(|template| template.has_values() || has_cookies);
        values.drawn[slot as usize] = is_made_up.then(|| {
            let number = values.next_number(kind);
            match self.users.as_mut().and_then(|users| users.asks(user)) {
                Some((user, asked)) => Drawn::of_user(self.job.plan.seed, user, asked, number),
                None => Drawn::of_kind(self.job.plan.seed, kind, number),
            }
        });
    }

    /// Writes and sends the request of a connection; `None`: it is one that is always the same.
    pub(super) fn put_made_up(&mut self, slot: Slot, like: Message) -> Option<Send> {
        let (values, templates) = self.values.as_mut().zip(self.job.requests.templates.as_ref())?;
        let drawn = values.drawn[slot as usize]?;
        let connection = &self.connections[slot as usize];
        let request = connection.request?;
        let users = self.users.as_ref();
        let filling = Filling {
            drawn,
            files: &templates.files,
            user: users.and_then(|users| users.number(request.user)).unwrap_or(0),
            memory: users.and_then(|users| users.memory(request.user)),
            version: self
                .job
                .requests
                .object(request.kind)
                .and_then(|object| users?.version(request.user, object)),
            is_last: connection.requests_sent >= self.job.requests_per_connection,
            is_secure: self.job.route.tls.is_some(),
            now: clock::now(),
        };
        let out = self.io.outgoing(slot);
        values.write(templates, request.kind, slot, &filling, out);
        Some(self.io.flush_request(slot, like))
    }

    /// An object that was fetched is in the cache of its user from now on, in the version that its head names.
    pub(super) fn learn_version(&mut self, slot: Slot, request: &Request, status: u16) {
        let Some(object) = self.job.requests.object(request.kind).filter(|_| status == 200) else { return };
        let kept = kept(&self.io, &self.connections[slot as usize].reader, slot);
        if let Some((users, kept)) = self.users.as_mut().zip(kept) {
            users.learn_version(request.user, object, &kept.head);
        }
    }

    /// Takes from a valid response what its user is to remember; an objection if something is missing.
    pub(super) fn take_values(&mut self, slot: Slot, request: &Request) -> Option<FailureClass> {
        let taking = self.job.requests.taking(request.kind)?;
        let kept = kept(&self.io, &self.connections[slot as usize].reader, slot);
        let (head, body) = kept.map_or((&[][..], &[][..]), |kept| (&kept.head, &kept.body));
        let now = clock::now();
        let own = self.values.as_ref().filter(|values| values.is_made_up(slot));
        let fixed = &self.job.route.messages[2 * request.kind as usize];
        let path = own.map_or(&fixed[path_of(fixed)], |values| values.paths[slot as usize].as_slice());
        let origin = Origin {
            host: host_of(&self.job.plan.target.host),
            path,
            is_secure: self.job.route.tls.is_some(),
            now,
            unix_s: clock::unix_seconds(),
        };
        let memory = self.users.as_mut()?.memory_mut(request.user)?;
        taking.take(head, body, &origin, memory)
    }
}

impl Values {
    fn write(
        &mut self,
        templates: &Templates,
        kind: Kind,
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
pub(super) fn kept<'a, I: Io>(io: &'a I, reader: &'a Reader, slot: Slot) -> Option<&'a Kept> {
    match reader {
        Reader::Http1(parser) => parser.kept(),
        Reader::Http2(_) => io.kept(slot),
        Reader::Memcached(_) => None,
    }
}

/// The name in a `Host` field, without its port.
fn host_of(field: &str) -> &str {
    let end = match field.rfind(']') {
        Some(end) => end + 1,
        None => field.find(':').unwrap_or(field.len()),
    };
    &field[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_a_name_or_an_address_without_its_port() {
        for (field, host) in
            [("a.b", "a.b"), ("a.b:80", "a.b"), ("[::1]:80", "[::1]"), ("127.0.0.1:1", "127.0.0.1")]
        {
            assert_eq!(host_of(field), host);
        }
    }
}
