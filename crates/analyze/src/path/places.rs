//! Where addresses are on the path of a request: a tier's, the server's own, or somebody's who could not be looked into.

use super::Group;
use crate::readings::Window;
use sysdyno_record::column::{self, ScopeKind, tier_scope};

/// Threads at a connection to somewhere outside, on average, for that to be a place on the path.
const OUTSIDE_MIN: f64 = 0.05;

/// Where each address that is asked has its place on a path.
pub(super) struct Places {
    /// Those of tiers, by position; of the tier that the load reaches, all that it listens at.
    tiers: Vec<Vec<String>>,
    /// Those behind the tiers that nobody could look into, each with the position of a tier whose threads ask there.
    pub(super) outside: Vec<(String, usize)>,
}

impl Places {
    pub(super) fn of(groups: &[Group], window: &Window, census: &Window) -> Places {
        let address = |scope: &String| scope[ScopeKind::Listener.prefix().len()..].to_owned();
        let addresses = |group: &Group| group.scopes(groups, window).iter().map(address).collect();
        let mut places = Places { tiers: groups.iter().map(addresses).collect(), outside: vec![] };
        let is_asked = |scope: &&str| asking_at(census, scope).is_some_and(|count| count >= OUTSIDE_MIN);
        for scope in census.scopes(column::WAITS_ASKING).into_iter().filter(is_asked) {
            let by = |group: &Group| asked_by(&tier_scope(group.address), scope);
            let asking = groups.iter().enumerate().find_map(|(at, group)| Some((at, by(group)?)));
            if let Some((at, address)) = asking.filter(|(_, address)| places.of_address(address).is_none()) {
                places.outside.push((address.to_owned(), at));
            }
        }
        places
    }

    pub(super) fn of_address(&self, address: &str) -> Option<usize> {
        let outside = || self.outside.iter().position(|(known, _)| known == address);
        self.own(address).or_else(|| Some(self.tiers.len() + outside()?))
    }

    /// The tier that listens there.
    pub(super) fn own(&self, address: &str) -> Option<usize> {
        self.tiers.iter().position(|known| known.iter().any(|known| known == address))
    }
}

/// How many at a time ask there: threads that wait for an answer, or for the connection. The latter is also seen of an event loop.
pub(super) fn asking_at(window: &Window, scope: &str) -> Option<f64> {
    let mean = |gauge| window.level(gauge, scope).map(|level| level.mean);
    [column::WAITS_ASKING, column::ASKED_CONNECTING].into_iter().filter_map(mean).reduce(f64::max)
}

/// The address in a scope of what the tier of the scope `own` asks; `None`: it is another tier's.
pub(super) fn asked_by<'a>(own: &str, scope: &'a str) -> Option<&'a str> {
    scope.strip_prefix(own)?.strip_prefix('>')
}

#[cfg(test)]
mod tests {
    use super::super::path_of;
    use crate::corpus::{Specimen, TARGET, with_tier};

    #[test]
    fn what_threads_ask_is_outside_unless_the_server_listens_there() {
        let case = with_tier(Specimen::open(100.0, 10.0), "php-fpm", "127.0.0.1:9000", 1, TARGET)
            .gauge("listener.queue_count", "listener:127.0.0.1:8081", 0.0)
            .gauge("waits.asking_count", "tier:127.0.0.1:9000>127.0.0.1:8081", 2.0)
            .gauge("waits.asking_count", "tier:127.0.0.1:9000>10.1.2.3:2003", 0.0)
            .gauge("asked.connecting_count", "tier:127.0.0.1:9000>10.1.2.3:2003", 1.0)
            .gauge("waits.asking_count", "tier:127.0.0.1:9000>10.1.2.4:80", 0.001)
            .build();
        let path = path_of(&case.view());
        let names: Vec<_> =
            path.iter().map(|tier| (tier.name.as_str(), tier.asked_by, tier.is_outside)).collect();
        let outside = ("10.1.2.3:2003", Some(1), true);
        assert_eq!(names, [("nginx", None, false), ("php-fpm", Some(0), false), outside]);
        let waits: Vec<_> = path[1].waits.iter().map(|wait| (wait.on, wait.threads_count)).collect();
        assert_eq!(waits, [(Some(0), 2.0), (Some(2), 1.0)]);
    }
}
