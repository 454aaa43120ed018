//! The kernel's view of requests at a tier's connections, as parts of one request of the load.
//!
//! Sums of times ÷ completed requests: the time in which connections had a request to read, or one not yet answered. The
//! remainder after subtracting what the tier asked of others is the tier's own. If more data arrived before a response, it
//! may belong to the same request or to another one (pipelining, HTTP/2): then the time of the connection is known, but not
//! that of a request. Whoever asks for several at a time gets several answers; where no answer has a second part, the data was the
//! rest of a request: a body behind its head, or a segment that was kept back.

use crate::readings::{Window, ratio};
use sysdyno_record::column::{self, Quantity};
use sysdyno_record::path::{TierAsked, TierRequests, TierWait, WaitKind};

/// Requests that cannot be told apart, from this share on. Unit: ratio.
pub(super) const MERGED_MAX: f64 = 0.1;

/// Time in which more of an answer was awaited ÷ in which the first of it was, up to which no request got a second answer. Unit: ratio.
const TRAILING_MAX: f64 = 0.05;

/// The longest that a request can be at the server, compared with what the client saw: both are means of slightly different
/// requests. Unit: ratio.
const LONGEST: f64 = 1.25;

/// What is asked less often for each request of the load is somebody's own business: health, names, statistics. Unit: ratio.
const ASKED_MIN: f64 = 0.01;

/// Sums of the kernel as parts of one request of the load.
pub(super) struct Connections<'a> {
    pub(super) window: &'a Window<'a>,
    /// Completed requests per second.
    pub(super) rate_hz: f64,
    /// What a request took for whoever sent it. Unit: nanoseconds. `None`: not known.
    pub(super) felt_ns: Option<f64>,
    /// Whether the load sends one request at a time on each connection, and nothing else.
    pub(super) is_one_at_a_time: bool,
}

/// How requests come to a tier.
#[derive(Clone, Copy)]
pub(super) struct Arriving {
    /// What one took for the load, if it is this tier that it reaches. Unit: nanoseconds.
    pub(super) client_ns: Option<f64>,
    /// Whether data that comes before the answer is more of the same request.
    pub(super) is_in_pieces: bool,
}

/// What a tier asks, and how.
pub(super) struct AskedAddress<'a> {
    /// As its scope has it.
    pub(super) address: &'a str,
    sent_count: f64,
    waiting_ns: f64,
    unread_ns: f64,
    merged_ratio: f64,
    /// Whether what was written before an answer is one request.
    is_in_pieces: bool,
}

impl<'a> Connections<'a> {
    /// A counter of a scope, per request of the load.
    fn each(&self, counter: Quantity, scope: &str) -> Option<f64> {
        ratio(self.window.growth(counter, scope)?.per_second()?, self.rate_hz)
    }

    /// What the tier of this scope asks, the longest first.
    ///
    /// An address may turn out to be where a tier listens: from then on all that was asked there is read as that tier's, and what is
    /// not read anymore is left out.
    pub(super) fn asked(&self, scope: &str) -> Vec<AskedAddress<'a>> {
        let read_until = |asking: &str| Some(self.window.growth(column::ASKED_SENT, asking)?.between[1]);
        let last = self.window.scopes(column::ASKED_SENT).into_iter().filter_map(read_until).max();
        let of_it = |asking: &'a str| {
            let address = asking.strip_prefix(scope)?.strip_prefix('>')?;
            if read_until(asking) != last {
                return None;
            }
            let each = |counter| self.each(counter, asking);
            let sent_count = each(column::ASKED_SENT).filter(|count| *count >= ASKED_MIN)?;
            let (first_ns, trailing_ns) =
                (each(column::ASKED_WAITING_TIME)?, each(column::ASKED_TRAILING_TIME)?);
            Some(AskedAddress {
                address,
                sent_count,
                waiting_ns: first_ns + trailing_ns,
                unread_ns: each(column::ASKED_UNREAD_TIME)?,
                merged_ratio: ratio(each(column::ASKED_MERGED)?, sent_count)?,
                // Before the time between two writes was counted, it was in no sum.
                is_in_pieces: !self.window.scopes(column::REQUESTS_PARTIAL_TIME).is_empty()
                    && trailing_ns <= TRAILING_MAX * first_ns,
            })
        };
        let mut asked: Vec<_> =
            self.window.scopes(column::ASKED_SENT).into_iter().filter_map(of_it).collect();
        asked.sort_by(|one, other| other.waiting_ns.total_cmp(&one.waiting_ns));
        asked
    }

    /// The requests of the tier of this scope, with what it asked by position.
    pub(super) fn requests(
        &self,
        scope: &str,
        asked: Vec<TierAsked>,
        waits: &[TierWait],
        arriving: Arriving,
    ) -> Option<TierRequests> {
        let Arriving { client_ns, is_in_pieces } = arriving;
        let read_count = self.each(column::REQUESTS_READ, scope).filter(|count| *count > 0.0)?;
        let unread_ns = self.each(column::REQUESTS_UNREAD_TIME, scope)?;
        let inside_ns = self.each(column::REQUESTS_INSIDE_TIME, scope)?;
        let partial_ns = self.each(column::REQUESTS_PARTIAL_TIME, scope).filter(|_| is_in_pieces);
        let merged_ratio = match partial_ns {
            Some(_) => 0.0,
            None => ratio(self.each(column::REQUESTS_MERGED, scope)?, read_count)?,
        };
        // What the server read was no request if it had it for longer than the client waited: a close, a ticket of TLS. Those that
        // were never answered in time count as read, but not in the rate.
        let each_ns = (unread_ns + inside_ns) / read_count.max(1.0);
        let is_possible = client_ns.and(self.felt_ns).is_none_or(|felt_ns| each_ns <= LONGEST * felt_ns);
        let is_told_apart = is_possible
            && merged_ratio <= MERGED_MAX
            && asked.iter().all(|asked| asked.merged_ratio <= MERGED_MAX);
        let asking_ns: f64 = asked.iter().map(|asked| asked.waiting_ns + asked.unread_ns).sum();
        let partial_ns = partial_ns.filter(|_| is_told_apart);
        let own_ns = is_told_apart.then_some((inside_ns - asking_ns - partial_ns.unwrap_or(0.0)).max(0.0));
        // What was never sent (nobody answers the connect, or whoever does is to speak first) is no time that the connections know.
        let seen_ns = waits.iter().filter_map(|wait| {
            let time_ns = wait.time_ns?;
            let known = asked.iter().filter(|asked| Some(asked.on) == wait.on);
            let known_ns: f64 = known.map(|asked| asked.waiting_ns + asked.unread_ns).sum();
            match wait.kind {
                WaitKind::Network => None,
                WaitKind::Asking => Some((time_ns - known_ns).max(0.0)),
                _ => Some(time_ns),
            }
        });
        let seen_ns: f64 = seen_ns.sum();
        let elsewhere = |client_ns| Some(1.0 - ratio(unread_ns + inside_ns, client_ns)?);
        let is_seen = is_possible && merged_ratio <= MERGED_MAX;
        Some(TierRequests {
            read_count,
            unread_ns,
            inside_ns,
            partial_ns,
            asked,
            own_ns,
            rest_ns: own_ns.map(|own_ns| (own_ns - seen_ns).max(0.0)),
            merged_ratio,
            elsewhere_ratio: client_ns.filter(|_| is_seen).and_then(elsewhere),
            round_trip_ns: None,
        })
    }
}

impl AskedAddress<'_> {
    /// Messages of which it is not known whether they are one request or several, ÷ requests.
    fn merged_ratio(&self) -> f64 {
        if self.is_in_pieces { 0.0 } else { self.merged_ratio }
    }

    /// The same, of the tier at this position.
    pub(super) fn on(&self, on: usize) -> TierAsked {
        TierAsked {
            on,
            sent_count: self.sent_count,
            waiting_ns: self.waiting_ns,
            unread_ns: self.unread_ns,
            merged_ratio: self.merged_ratio(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::path_of;
    use crate::corpus::{Specimen, TARGET, spread, with_tier};
    use sysdyno_record::load::LatencyKind;
    use sysdyno_record::path::{PathTier, TierRequests};

    const MS: f64 = 1e6;

    /// nginx asks node three times for each request, and somebody who could not be looked into once.
    fn case(merged: f64) -> Specimen {
        let case = with_tier(Specimen::open(100.0, 10.0), "node", "127.0.0.1:9000", 1, TARGET);
        let node = ">127.0.0.1:9000";
        let counters = [
            ("requests.read_count", "", 1.0),
            ("requests.merged_count", "", merged),
            ("requests.unread_ns", "", 0.1 * MS),
            ("requests.inside_ns", "", 0.8 * MS),
            ("asked.sent_count", node, 3.0),
            ("asked.merged_count", node, 0.0),
            ("asked.waiting_ns", node, 0.3 * MS),
            ("asked.trailing_ns", node, 0.1 * MS),
            ("asked.unread_ns", node, 0.05 * MS),
            ("asked.sent_count", ">10.1.2.3:53", 1.0),
            ("asked.merged_count", ">10.1.2.3:53", 0.0),
            ("asked.waiting_ns", ">10.1.2.3:53", 0.2 * MS),
            ("asked.trailing_ns", ">10.1.2.3:53", 0.0),
            ("asked.unread_ns", ">10.1.2.3:53", 0.0),
            ("asked.sent_count", ">10.1.2.4:80", 0.001),
        ];
        let add = |case: Specimen, (name, asked, each): (&str, &str, f64)| {
            case.counter(name, &format!("tier:target{asked}"), each * 100.0)
        };
        counters.into_iter().fold(case, add).gauge("waits.running_count", "tier:target", 0.01)
    }

    fn first(path: &[PathTier]) -> &TierRequests {
        path[0].requests.as_ref().expect("was seen")
    }

    fn is_near(value: Option<f64>, expected: f64) -> bool {
        value.is_some_and(|value| (value - expected).abs() < 0.01 * expected.abs().max(MS))
    }

    #[test]
    fn what_a_tier_asked_is_taken_off_its_time_and_addresses_outside_have_a_place() {
        let case = case(0.0).build();
        let path = path_of(&case.view());
        let names: Vec<_> = path.iter().map(|tier| (tier.name.as_str(), tier.is_outside)).collect();
        assert_eq!(names, [("nginx", false), ("node", false), ("name server 10.1.2.3", true)]);
        assert_eq!(path[2].asked_by, Some(0));
        let requests = first(&path);
        let asked: Vec<_> = requests.asked.iter().map(|asked| asked.on).collect();
        assert_eq!(asked, [1, 2], "the longest first, and what is hardly asked is left out");
        assert!((requests.asked[0].sent_count - 3.0).abs() < 0.05);
        assert!(is_near(Some(requests.asked[0].waiting_ns), 0.4 * MS), "{requests:?}");
        assert!(is_near(requests.own_ns, 0.15 * MS) && is_near(requests.rest_ns, 0.05 * MS), "{requests:?}");
        let client_ns = case.view().summary(LatencyKind::Service).mean.expect("was filled");
        let elsewhere = 1.0 - 0.9 * MS / client_ns;
        assert!(requests.elsewhere_ratio.is_some_and(|ratio| (ratio - elsewhere).abs() < 0.02));
        assert!(path[1].requests.is_none(), "nothing was seen at its connections");
    }

    #[test]
    fn what_was_asked_at_an_address_that_is_not_read_any_more_is_another_tiers() {
        let is_on_path = |is_dying: bool| {
            let add = |case: Specimen, name: &str| {
                let (name, scope) = (format!("asked.{name}"), "tier:target>10.1.2.9:80");
                case.edit(|case| {
                    let readings = case.readings.clone();
                    case.readings = match is_dying {
                        true => readings.dying(&name, scope, 100.0),
                        false => readings.counter(&name, scope, 100.0),
                    };
                })
            };
            let counters = ["sent_count", "merged_count", "waiting_ns", "trailing_ns", "unread_ns"];
            let case = counters.into_iter().fold(case(0.0), add).build();
            path_of(&case.view()).iter().any(|tier| tier.name == "10.1.2.9:80")
        };
        assert_eq!([is_on_path(false), is_on_path(true)], [true, false]);
    }

    #[test]
    fn what_a_server_has_for_longer_than_its_client_waits_is_no_request() {
        let own = |times: f64| {
            let case = case(0.0);
            let client_ns = case.view().summary(case.view().felt_kind()).mean.expect("was filled");
            let case = case.counter("requests.inside_ns", "tier:target", 100.0 * times * client_ns).build();
            first(&path_of(&case.view())).own_ns
        };
        assert!(own(1.0).is_some());
        assert_eq!(own(6.0), None);
    }

    #[test]
    fn requests_that_failed_late_make_the_longest_that_one_can_be() {
        let own = |failed_ms: f64| {
            let case = case(0.0).edit(|case| case.fill(LatencyKind::Failure, spread(1_000, failed_ms * MS)));
            let client_ns = case.view().summary(case.view().felt_kind()).mean.expect("was filled");
            let case = case.counter("requests.inside_ns", "tier:target", 100.0 * 3.0 * client_ns).build();
            first(&path_of(&case.view())).own_ns
        };
        assert!(own(1e3).is_some());
        assert_eq!(own(1e-3), None, "who is refused at once was not waited for");
    }

    #[test]
    fn requests_that_cannot_be_told_apart_have_no_time_of_their_own() {
        let case = case(0.5).build();
        let path = path_of(&case.view());
        let requests = first(&path);
        assert_eq!((requests.own_ns, requests.rest_ns, requests.elsewhere_ratio), (None, None, None));
        assert!((requests.merged_ratio - 0.5).abs() < 0.01);
    }
}
