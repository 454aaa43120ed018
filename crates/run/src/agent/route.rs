//! What an agent reports about an address: where its host sends packets for it, and whose address it is.
//!
//! The server's host says whether the address is its own; each host that sends load says where packets to it go. [`Fence`]
//! decides, with one addition: load for an address of a lab that is up never leaves the machine.

use super::labs::{LabAddresses, LabHost};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use sysdyno_load::LoadError;
use sysdyno_load::target::{Fence, FenceJudgement, check_address};
use sysdyno_observe::{boot_id, host_addresses, own_network, route};
use sysdyno_record::plan::{Endpoint, LoadPlan, Target};
use sysdyno_record::route::{AllowList, HostAddress, Route};

/// Most addresses of a host, and networks of its lists, that are believed.
const MAX_COUNT: usize = 4096;

/// Longest name of an interface or of a place. Unit: characters.
const MAX_NAME_CHARS: usize = 200;

/// Which way is asked about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteCall {
    /// Where to.
    pub address: IpAddr,
    /// Addresses that connections come from; empty: the kernel chooses.
    pub sources: Vec<IpAddr>,
}

impl RouteCall {
    /// The way to a target; `None`: it is a Unix socket, which is on this host.
    fn of(target: &Target, sources: &[IpAddr]) -> Option<RouteCall> {
        match &target.endpoint {
            Endpoint::Tcp(address) => Some(RouteCall { address: address.ip(), sources: sources.to_vec() }),
            Endpoint::Unix(_) => None,
        }
    }
}

/// A host and the way from it to an address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RouteReport {
    /// Where packets go: one route for each source.
    pub routes: Vec<Route>,
    /// The network that the host is in, as no other one is called; `None`: it is hidden.
    pub network: Option<String>,
    /// Addresses of the host.
    pub addresses: Vec<HostAddress>,
    /// The host of a lab on that machine whose address it is; `None`: there is none, or it is reached without a router.
    pub lab: Option<LabHost>,
    /// The host's own lists of networks, in addition to the caller's.
    pub lists: Vec<AllowList>,
}

impl RouteReport {
    /// Examines this host, with its own lists; `labs`, if given, knows the addresses of labs.
    pub(super) fn here(
        call: &RouteCall,
        lists: &[AllowList],
        labs: Option<&dyn LabAddresses>,
    ) -> RouteReport {
        let sources = call.sources.iter().copied().map(Some);
        let sources = if call.sources.is_empty() { vec![None] } else { sources.collect() };
        let mut routes: Vec<Route> = Vec::new();
        for source in sources {
            let found = route(call.address, source);
            if !routes.contains(&found) {
                routes.push(found);
            }
        }
        let is_near = |route: &Route| matches!(route, Route::Own | Route::OnLink { .. });
        let labs = labs.filter(|_| !routes.iter().all(is_near));
        let lab = labs.and_then(|labs| labs.host_with(call.address));
        RouteReport {
            routes,
            network: boot_id().zip(own_network()).map(|(boot, inode)| format!("{boot}:{inode}")),
            addresses: host_addresses().unwrap_or_default(),
            lab,
            lists: lists.to_vec(),
        }
    }

    /// Whether the address is one of the host's own.
    pub fn is_own(&self) -> bool {
        self.routes.iter().all(|route| *route == Route::Own)
    }

    /// Whether the host reaches the address without a router.
    pub fn is_near(&self) -> bool {
        self.routes.iter().all(|route| matches!(route, Route::Own | Route::OnLink { .. }))
    }

    /// Whether packets may be sent from there to the address; of several ways the least allowed one counts.
    pub fn judge(&self, address: IpAddr, fence: &Fence) -> FenceJudgement {
        if let Some(lab) = &self.lab {
            let cause = format!("the address belongs to lab '{}', which is not reachable from here", lab.lab);
            return FenceJudgement::Refused { cause };
        }
        let mut fence = fence.clone();
        fence.lists.extend(self.lists.iter().cloned());
        let weight = |judgement: &FenceJudgement| match judgement {
            FenceJudgement::Passes => 0,
            FenceJudgement::Asks { .. } => 1,
            FenceJudgement::Refused { .. } => 2,
        };
        let judged = self.routes.iter().map(|route| fence.judge(address, route));
        judged
            .max_by_key(weight)
            .unwrap_or(FenceJudgement::Refused { cause: "its host does not report where".into() })
    }

    /// As far as a host can have it.
    pub(super) fn bounded(mut self) -> RouteReport {
        let short = |text: &mut String| *text = text.chars().take(MAX_NAME_CHARS).collect();
        self.addresses.truncate(MAX_COUNT);
        self.addresses.iter_mut().for_each(|one| short(&mut one.interface));
        self.routes.truncate(MAX_COUNT);
        for route in &mut self.routes {
            match route {
                Route::OnLink { interface } | Route::Routed { interface, .. } => short(interface),
                Route::Nowhere { cause } | Route::Unknown { cause } => short(cause),
                Route::Own => {}
            }
        }
        self.lists.truncate(MAX_COUNT);
        for list in &mut self.lists {
            list.networks.truncate(MAX_COUNT);
            short(&mut list.source);
        }
        self.network.iter_mut().for_each(short);
        if let Some(lab) = &mut self.lab {
            [&mut lab.lab, &mut lab.host, &mut lab.from].into_iter().for_each(short);
        }
        self
    }
}

/// Refuses a load that may not leave this host, itself or one of its probes; what it takes the user's word for is refused too, unless that was given.
pub(super) fn authorize(
    plan: &LoadPlan,
    fence: &Fence,
    labs: Option<&dyn LabAddresses>,
) -> Result<(), LoadError> {
    let judge = |target: &Target, sources: &[IpAddr]| {
        // Whoever sends a plan has checked it, or says so.
        check_address(target)?;
        let Some(call) = RouteCall::of(target, sources) else { return Ok(()) };
        match RouteReport::here(&call, &[], labs).judge(call.address, fence) {
            FenceJudgement::Passes => Ok(()),
            FenceJudgement::Asks { cause } | FenceJudgement::Refused { cause } => {
                Err(LoadError::Outside { url: target.url.clone(), cause })
            }
        }
    };
    judge(&plan.target, &plan.origin.sources)?;
    plan.probes.iter().try_for_each(|probed| judge(&probed.target, &[]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(routes: &[Route]) -> RouteReport {
        RouteReport {
            routes: routes.to_vec(),
            network: None,
            addresses: Vec::new(),
            lab: None,
            lists: Vec::new(),
        }
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn the_least_allowed_of_several_sources_counts() {
        let (near, far) = (
            Route::OnLink { interface: "eth0".into() },
            Route::Routed { interface: "eth1".into(), gateway: None },
        );
        let open = Fence::default();
        let judge = |routes: &[Route]| report(routes).judge(ip("10.0.0.1"), &open);
        assert_eq!(judge(&[near.clone(), Route::Own]), FenceJudgement::Passes);
        assert!(matches!(judge(&[far, near]), FenceJudgement::Asks { .. }));
        assert!(matches!(judge(&[]), FenceJudgement::Refused { .. }));
    }

    #[test]
    fn a_plan_for_a_public_address_is_refused_whoever_sends_it() {
        let fence = Fence { lists: Vec::new(), is_target_mine: true };
        let told = |address: &str| {
            let target = Target {
                url: "http://x/".into(),
                endpoint: Endpoint::Tcp(address.parse().expect("an address")),
                host: "x".into(),
                path: "/".into(),
            };
            authorize(&LoadPlan::plain(target), &fence, None).err().map(|error| error.to_string())
        };
        assert!(told("8.8.8.8:80").is_some_and(|told| told.contains("a public address")));
        assert!(told("127.0.0.1:25").is_some_and(|told| told.contains("never loads port 25")));
        assert_eq!(told("127.0.0.1:80"), None);
    }

    #[test]
    fn an_address_of_a_lab_is_refused_whatever_is_allowed() {
        let network = "10.0.0.0/8".parse().expect("a network");
        let lists = vec![AllowList { networks: vec![network], source: "a file".into() }];
        let lab = LabHost { lab: "shop".into(), host: "web".into(), from: "client".into() };
        let far = Route::Routed { interface: "eth0".into(), gateway: None };
        let found = RouteReport { lab: Some(lab), ..report(&[far]) };
        let judged = found.judge(ip("10.0.0.1"), &Fence { lists, is_target_mine: true });
        assert!(
            matches!(&judged, FenceJudgement::Refused { cause } if cause.contains("lab 'shop'")),
            "{judged:?}"
        );
    }

    #[test]
    fn lists_of_the_host_count_beside_those_of_who_asks() {
        let list = |network: &str| AllowList {
            networks: vec![network.parse().expect("a network")],
            source: "a file".into(),
        };
        let found = RouteReport { lists: vec![list("10.1.0.0/16")], ..report(&[Route::Own]) };
        let fence = Fence { lists: vec![list("10.0.0.0/8")], is_target_mine: true };
        assert_eq!(found.judge(ip("10.1.0.1"), &fence), FenceJudgement::Passes);
        assert!(matches!(found.judge(ip("10.2.0.1"), &fence), FenceJudgement::Refused { .. }));
    }
}
