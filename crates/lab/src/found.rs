//! Finds the host of a lab that has an address: a load on that address needs this host's counters.

use super::labs::Labs;
use super::namespace;
use super::plan::LabPlan;
use super::plan_links::Address;
use std::net::IpAddr;
use sysdyno_record::place::HostPlace;

/// A host of a lab that is up, with the way there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundHost {
    /// The lab.
    pub lab: String,
    /// The host.
    pub host: String,
    /// The way there.
    pub place: HostPlace,
}

impl Labs {
    /// The host of a lab of this machine that has an address, and is in another network than the caller; `None`: there is none,
    /// or its journal cannot be read.
    pub fn host_with(&self, address: IpAddr) -> Option<FoundHost> {
        let labs = self.names().unwrap_or_default();
        labs.iter().find_map(|lab| {
            let made = self.made(lab).ok().filter(|made| made.is_up && !made.is_going_down)?;
            let is_of_this_boot = sysdyno_observe::boot_id().is_some_and(|boot| boot == made.begin.boot_id);
            let plan = &made.begin.plan;
            let host = holder(plan, address).filter(|_| is_of_this_boot)?;
            let place = place(plan, host)?;
            Some(FoundHost { lab: lab.clone(), host: host.to_owned(), place })
        })
    }
}

/// The host at an end of a link that has this address.
fn holder(plan: &LabPlan, address: IpAddr) -> Option<&str> {
    let mut ends = plan.links.iter().flat_map(|link| &link.ends);
    let has = |found: &Address| found.ip == address.to_canonical();
    ends.find(|end| end.address.as_ref().is_some_and(has)).map(|end| end.host.as_str())
}

/// The way to a host; `None`: its readings are those of the caller.
fn place(plan: &LabPlan, host: &str) -> Option<HostPlace> {
    if let Some(address) = plan.far(host) {
        return address.parse().ok();
    }
    let path = namespace::path_of(&plan.name, host);
    if plan.is_here(host) || namespace::is_own(&path) {
        return None;
    }
    format!("netns:{}", path.file_name()?.to_str()?).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_host_is_found_by_its_address_and_by_no_other_that_begins_like_it() {
        let text = "name = 'shop'\n[[host]]\nname = 'web'\n[[host]]\nname = 'client'\n[[link]]\nbetween = ['client', 'web']\n\
                    addresses = ['10.77.0.1/24', '10.77.0.2/24']\n";
        let plan = LabPlan::parse(text, Path::new("lab.toml")).expect("is a lab");
        let holder = |address: &str| holder(&plan, address.parse().expect("an address"));
        assert_eq!(holder("10.77.0.2"), Some("web"));
        assert_eq!(holder("::ffff:10.77.0.2"), Some("web"));
        assert_eq!(holder("10.77.0.20"), None);
        let place = place(&plan, "web").expect("is another namespace than that of the test");
        assert_eq!(place.name, "netns:sysdyno-shop-web");
    }
}
