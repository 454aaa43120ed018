//! Changes services of a lab that is up: each is stopped, recreated from its recipe, and started.
//!
//! Invariant: the new form of a service is in the journal on disk before the old one is stopped, so that `down` knows both at
//! any time.

use super::journal::{LabJournal, LabRecord, MadeLab};
use super::labs::{Labs, UpOrder};
use super::paths::{ended_of, log_of};
use super::plan::{LabPlan, LabService};
use super::{down, files, volume};
use std::collections::BTreeSet;
use std::io;
use sysdyno_run::RunError;

impl Labs {
    /// Makes the services of a lab what `order` says. Restarted are those that change, those that are told of one that
    /// does, and those that are named in `again`.
    ///
    /// # Errors
    /// There is no such lab, another process is at it, or a service does not come up.
    pub fn change(
        &self,
        order: &UpOrder,
        again: &[&str],
        told: &mut dyn FnMut(&str),
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<(), RunError> {
        let name = &order.plan.name;
        let object = || format!("lab '{name}'");
        let cannot = |source| RunError::Process { operation: "change", object: object(), source };
        let (mut journal, made) = self.open_patiently(name)?;
        let made = made.ok_or_else(|| cannot(io::Error::other("its journal cannot be read")))?;
        let changed = changed(&made.begin.plan, &order.plan, again);
        let services: Vec<LabService> =
            order.plan.services.iter().filter(|service| changed.contains(&service.name)).cloned().collect();
        let shares = self.renew_shares(&made, &services, &mut journal)?;
        self.renew((&made, &mut journal), &services, told)?;
        let folder = self.folder_of(name);
        let site = self.site(order, &folder, is_stopped);
        for service in services.iter().filter(|service| !service.is_off) {
            self.start(&site, service, (&shares[..], &mut journal), told)?;
        }
        self.finish_shares(&shares)
    }

    /// Writes down what services are going to be, stops those of them that are on this machine, and clears their folders.
    pub(super) fn renew(
        &self,
        (made, journal): (&MadeLab, &mut LabJournal),
        services: &[LabService],
        told: &mut dyn FnMut(&str),
    ) -> Result<(), RunError> {
        let object = || format!("lab '{}'", made.begin.name);
        let cannot = |source| RunError::Process { operation: "change", object: object(), source };
        let is_meant = |name: &str| services.iter().any(|service| service.name == name);
        for service in services {
            journal.append(&LabRecord::Service(Box::new(service.clone())))?;
        }
        down::stop_services(made, is_meant, told);
        volume::remove(made, is_meant, &mut Vec::new()).map_err(cannot)?;
        let folder = self.folder_of(&made.begin.name);
        for service in services {
            files::remove_tree(&folder.join(&service.name)).map_err(cannot)?;
            for old in [log_of(&folder, &service.name), ended_of(&folder, &service.name)] {
                files::remove_file(&old).map_err(cannot)?;
            }
        }
        Ok(())
    }
}

/// Names of the services to restart.
fn changed(before: &LabPlan, after: &LabPlan, again: &[&str]) -> BTreeSet<String> {
    let is_other = |service: &&LabService| before.service(&service.name) != Some(*service);
    let named = after.services.iter().filter(|service| again.contains(&service.name.as_str()));
    let mut changed: BTreeSet<String> =
        after.services.iter().filter(is_other).chain(named).map(|service| service.name.clone()).collect();
    // In the order of the file a service knows only those above it.
    for service in &after.services {
        let is_told = |value: &toml::Value| value.as_str().is_some_and(|text| changed.contains(text));
        if service.with.values().any(is_told) {
            changed.insert(service.name.clone());
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn lab(php: u32) -> LabPlan {
        let text = format!(
            "name = 'l'\n[[host]]\nname = 'h'\n\
             [[service]]\nname = 'php'\nhost = 'h'\nrecipe = 'php-fpm'\nwith = {{ max_children = {php} }}\n\
             [[service]]\nname = 'front'\nhost = 'h'\nrecipe = 'nginx'\nwith = {{ upstream = 'php', site = 'php' }}\n\
             [[service]]\nname = 'cache'\nhost = 'h'\nrecipe = 'memcached'\n"
        );
        LabPlan::parse(&text, Path::new("lab.toml")).expect("is in order")
    }

    #[test]
    fn what_changes_is_started_anew_and_what_is_told_of_it() {
        let names = |changed: BTreeSet<String>| changed.into_iter().collect::<Vec<_>>().join(" ");
        assert_eq!(names(changed(&lab(2), &lab(2), &[])), "");
        assert_eq!(names(changed(&lab(2), &lab(4), &[])), "front php");
        assert_eq!(names(changed(&lab(2), &lab(2), &["cache"])), "cache");
    }
}
