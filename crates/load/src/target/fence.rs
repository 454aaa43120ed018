//! Which addresses may be loaded: the fence around this host.
//!
//! Two rules. If a file or a variable lists networks ([`AllowList`]), nothing else may be loaded, and no option lifts that;
//! if there are several lists, each one applies. Without a list, targets that need no router may be loaded: this host, and
//! hosts on networks in which it has an address. For any other target, users must confirm that it is theirs.

use std::net::IpAddr;
use sysdyno_record::route::{AllowList, Network, Route};

/// What may be loaded.
#[derive(Clone, Debug, Default)]
pub struct Fence {
    /// Lists of networks, each of which must have an address.
    pub lists: Vec<AllowList>,
    /// Whether the user says that the target is theirs to load.
    pub is_target_mine: bool,
}

/// Whether an address may be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FenceJudgement {
    /// It may.
    Passes,
    /// If the user says that it is theirs.
    Asks {
        /// Why, as a part of a sentence.
        cause: String,
    },
    /// It may not.
    Refused {
        /// Why not, as a part of a sentence.
        cause: String,
    },
}

impl Fence {
    /// Whether packets may be sent to `address` by `route`.
    pub fn judge(&self, address: IpAddr, route: &Route) -> FenceJudgement {
        if let Some(list) = self.lists.iter().find(|list| !list.contains(address)) {
            return FenceJudgement::Refused { cause: outside(list) };
        }
        let is_allowed = self.is_target_mine || !self.lists.is_empty();
        match route {
            Route::Own | Route::OnLink { .. } => FenceJudgement::Passes,
            Route::Nowhere { cause } => FenceJudgement::Refused { cause: cause.clone() },
            Route::Routed { .. } | Route::Unknown { .. } if is_allowed => FenceJudgement::Passes,
            Route::Routed { interface, gateway } => {
                let way = gateway.map_or(String::new(), |gateway| format!(" and router {gateway}"));
                let cause = format!(
                    "packets to it leave through '{interface}'{way} for a network where this host has no \
                     address"
                );
                FenceJudgement::Asks { cause }
            }
            Route::Unknown { cause } => FenceJudgement::Asks {
                cause: format!("the kernel cannot tell where packets to it go ({cause})"),
            },
        }
    }
}

fn outside(list: &AllowList) -> String {
    let networks: Vec<String> = list.networks.iter().map(Network::to_string).collect();
    match networks.is_empty() {
        true => format!("{} allows no address at all", list.source),
        false => format!("{} allows only {}", list.source, networks.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    fn routed() -> Route {
        Route::Routed { interface: "eth0".into(), gateway: Some(ip("10.0.0.1")) }
    }

    fn fence(lists: &[&str], is_target_mine: bool) -> Fence {
        let list = |text: &&str| AllowList {
            networks: text.split_terminator(',').map(|network| network.parse().expect("a network")).collect(),
            source: "/etc/sysdyno.toml".into(),
        };
        Fence { lists: lists.iter().map(list).collect(), is_target_mine }
    }

    #[test]
    fn without_a_list_only_what_lies_behind_a_router_takes_a_word() {
        let link = Route::OnLink { interface: "eth0".into() };
        let open = fence(&[], false);
        assert_eq!(open.judge(ip("10.0.0.7"), &Route::Own), FenceJudgement::Passes);
        assert_eq!(open.judge(ip("10.0.0.7"), &link), FenceJudgement::Passes);
        let FenceJudgement::Asks { cause } = open.judge(ip("10.9.0.7"), &routed()) else {
            panic!("it passes")
        };
        assert!(cause.contains("'eth0' and router 10.0.0.1"), "{cause}");
        let tunnel = Route::Routed { interface: "tun0".into(), gateway: None };
        assert!(matches!(open.judge(ip("10.9.0.7"), &tunnel), FenceJudgement::Asks { .. }));
        assert!(matches!(
            open.judge(ip("10.9.0.7"), &Route::Unknown { cause: String::new() }),
            FenceJudgement::Asks { .. }
        ));
        assert_eq!(fence(&[], true).judge(ip("10.9.0.7"), &routed()), FenceJudgement::Passes);
    }

    #[test]
    fn a_list_is_the_whole_fence_and_no_word_lifts_it() {
        let listed = fence(&["127.0.0.0/8,10.77.0.0/16"], true);
        for route in [Route::Own, Route::OnLink { interface: "eth0".into() }, routed()] {
            assert_eq!(listed.judge(ip("10.77.1.2"), &route), FenceJudgement::Passes);
            let FenceJudgement::Refused { cause } = listed.judge(ip("10.78.1.2"), &route) else {
                panic!("{route:?}")
            };
            assert_eq!(cause, "/etc/sysdyno.toml allows only 127.0.0.0/8, 10.77.0.0/16");
        }
        let nothing = fence(&[""], true);
        let expected = FenceJudgement::Refused { cause: "/etc/sysdyno.toml allows no address at all".into() };
        assert_eq!(nothing.judge(ip("127.0.0.1"), &Route::Own), expected);
    }

    #[test]
    fn of_several_lists_each_one_counts() {
        let both = fence(&["10.0.0.0/8", "10.77.0.0/16"], false);
        assert_eq!(both.judge(ip("10.77.0.1"), &routed()), FenceJudgement::Passes);
        assert!(matches!(both.judge(ip("10.78.0.1"), &routed()), FenceJudgement::Refused { .. }));
        assert!(matches!(both.judge(ip("127.0.0.1"), &Route::Own), FenceJudgement::Refused { .. }));
    }

    #[test]
    fn nowhere_is_refused_whatever_is_allowed() {
        let nowhere = Route::Nowhere { cause: "there is no route to it".into() };
        for fence in [fence(&[], true), fence(&["10.0.0.0/8"], true)] {
            assert!(matches!(fence.judge(ip("10.0.0.1"), &nowhere), FenceJudgement::Refused { .. }));
        }
    }
}
