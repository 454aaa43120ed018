//! What a thread sends: which of the load's requests, for which user, and with which values.

use super::users::Users;
use super::values::RequestValues;
use crate::clock;
use crate::engine::connection::{Connection, Request};
use crate::engine::job::Job;
use crate::protocol::http1::kept::Kept;
use crate::protocol::memcached::{Decoder, MemcachedSource};
use crate::schedule::Share;
use crate::transport::Slot;
use crate::workload::RequestKind;
use crate::workload::cookies::{CookieOrigin, path_of};
use crate::workload::values::{Drawn, Filling};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use sysdyno_record::load::FailureClass;

/// Sets the numbers that choose requests apart from those that choose instants.
const KIND_STREAM: u64 = 0x6b69_6e64;

/// What one thread sends.
#[derive(Debug)]
pub(super) struct Content<'a> {
    job: &'a Job<'a>,
    /// Where requests come from that are made one by one; `None`: all are the same.
    source: Option<MemcachedSource>,
    pub users: Option<Users>,
    /// What is put into requests that are not always the same; `None`: all are.
    values: Option<RequestValues>,
    /// Draws the next request; the schedule has its own generator.
    random: Xoshiro256PlusPlus,
}

impl<'a> Content<'a> {
    pub(super) fn new(job: &'a Job<'a>, share: Share) -> Content<'a> {
        let seed = job.plan.seed;
        let session = job.plan.workload.session.as_deref().zip(job.requests.session.as_ref());
        Content {
            job,
            source: job.memcached.as_ref().map(|load| MemcachedSource::new(load.plan, seed, share.thread)),
            users: session.map(|(plan, tables)| Users::new(plan, tables, share, seed)),
            values: RequestValues::new(job, share),
            random: Xoshiro256PlusPlus::seed_from_u64(seed ^ (u64::from(share.thread) << 32) ^ KIND_STREAM),
        }
    }

    /// Draws a request from the mix.
    #[inline]
    pub(super) fn draw_kind(&mut self) -> RequestKind {
        self.job.requests.mix.draw(&mut self.random)
    }

    /// Writes the next request to a memcached server, and tells the decoder what is asked.
    pub(super) fn ask(&mut self, decoder: &mut Decoder, out: &mut Vec<u8>) {
        if let (Some(source), Some(memcached)) = (&mut self.source, &self.job.memcached) {
            source.ask(&memcached.keys, decoder, out);
        }
    }

    /// Which request the one on a connection is; `None`: one that is always the same.
    #[inline]
    pub(super) fn drawn(&self, slot: Slot) -> Option<Drawn> {
        self.values.as_ref()?.drawn[slot as usize]
    }

    /// Decides what is put into a request that begins; it stays so if the request is sent again.
    #[inline]
    pub(super) fn draw_values(&mut self, slot: Slot, kind: RequestKind, user: u32) {
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

    /// Writes the request of a connection, if it is one that is not always the same.
    pub(super) fn write(&mut self, slot: Slot, connection: &Connection, out: &mut Vec<u8>) {
        let values = self.values.as_mut().zip(self.job.requests.templates.as_ref());
        let (Some((values, templates)), Some(request)) = (values, connection.request) else { return };
        let Some(drawn) = values.drawn[slot as usize] else { return };
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
        values.write(templates, request.kind, slot, &filling, out);
    }

    /// An object that was fetched is in the cache of its user from now on, in the version that its head names.
    pub(super) fn learn_version(&mut self, request: &Request, kept: Option<&Kept>, status: u16) {
        let Some(object) = self.job.requests.object(request.kind).filter(|_| status == 200) else { return };
        if let Some((users, kept)) = self.users.as_mut().zip(kept) {
            users.learn_version(request.user, object, &kept.head);
        }
    }

    /// Takes from a valid response what its user is to remember; an objection if something is missing.
    pub(super) fn take_values(
        &mut self,
        slot: Slot,
        request: &Request,
        kept: Option<&Kept>,
    ) -> Option<FailureClass> {
        let taking = self.job.requests.taking(request.kind)?;
        let (head, body) = kept.map_or((&[][..], &[][..]), |kept| (&kept.head, &kept.body));
        let now = clock::now();
        let own = self.values.as_ref().filter(|values| values.drawn[slot as usize].is_some());
        let fixed = &self.job.route.messages[2 * request.kind as usize];
        let path = own.map_or(&fixed[path_of(fixed)], |values| values.paths[slot as usize].as_slice());
        let origin = CookieOrigin {
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
