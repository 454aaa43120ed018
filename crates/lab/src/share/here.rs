//! The client side: has an agent on each host create, change, and tear down its share of a lab.

use super::super::journal::{LabJournal, LabRecord, MadeLab, MadeShare};
use super::super::labs::Labs;
use super::super::plan::{LabPlan, LabService};
use super::super::service::Site;
use super::reach::{NEVER, nothing_there};
use super::told::{bounded, bounded_needs};
use super::{NeedsOf, ShareCall, ShareReply, sources};
use sysdyno_run::RunError;

/// What is done to all that is of a lab, wherever it is.
impl Labs {
    /// What other machines need before services can be started there.
    ///
    /// # Errors
    /// A host cannot be reached.
    pub fn needs_there(&self, plan: &LabPlan) -> Result<Vec<NeedsOf>, RunError> {
        let mut reach = self.reach();
        let mut found = Vec::new();
        for (host, place) in plan.far_hosts() {
            let (door, plan) = (reach.door(place), Box::new(plan.share(host, "")));
            let ShareReply::Needs(needs) = reach.ask(&door, ShareCall::Look { plan }, NEVER)? else {
                return Err(RunError::Answer { request: "check what a lab needs" });
            };
            found.push(NeedsOf { host: host.to_owned(), needs: bounded_needs(needs) });
        }
        Ok(found)
    }

    /// Installs and fetches what another machine needs.
    ///
    /// # Errors
    /// It cannot be had there.
    pub fn provide_there(&self, plan: &LabPlan, host: &str) -> Result<(), RunError> {
        let mut reach = self.reach();
        let Some(place) = plan.far(host) else { return Ok(()) };
        let (door, plan) = (reach.door(place), Box::new(plan.share(host, "")));
        reach.ask(&door, ShareCall::Provide { plan }, NEVER).map(drop)
    }

    /// Begins the shares of a lab, each once it is in the journal.
    pub(crate) fn begin_shares(
        &self,
        site: &Site<'_>,
        of: &str,
        journal: &mut LabJournal,
        told: &mut dyn FnMut(&str),
    ) -> Result<Vec<MadeShare>, RunError> {
        let (order, mut reach) = (site.order, self.reach());
        let mut begun = Vec::new();
        for (host, place) in order.plan.far_hosts() {
            site.go_on()?;
            told(&format!("{}: setting up host {host}", order.plan.name));
            let (door, plan) = (reach.door(place), order.plan.share(host, of));
            let agents = vec![reach.process(&door)?];
            let (host, lab, of) = (host.to_owned(), plan.name.clone(), of.to_owned());
            let share = MadeShare { host, lab, of, door, agents };
            journal.append(&LabRecord::Share(share.clone()))?;
            let begin = ShareCall::Begin { plan: Box::new(plan), text: order.text.clone() };
            reach.order(&share, begin, site.is_stopped)?;
            sources::send(&order.plan, &share.host, &order.beside, &mut |call| {
                site.go_on()?;
                reach.order(&share, call, site.is_stopped).map(drop)
            })?;
            begun.push(share);
        }
        Ok(begun)
    }

    /// Starts a service where its host is.
    pub(crate) fn start(
        &self,
        site: &Site<'_>,
        service: &LabService,
        (shares, journal): (&[MadeShare], &mut LabJournal),
        told: &mut dyn FnMut(&str),
    ) -> Result<(), RunError> {
        let plan = &site.order.plan;
        told(&format!("{}: starting {} ({} on {})", plan.name, service.name, service.recipe, service.host));
        if plan.is_own(&service.host) {
            return site.start(service, journal);
        }
        let share = shares.iter().find(|share| share.host == service.host);
        let share = share.ok_or_else(|| nothing_there(&service.host))?;
        let start = ShareCall::Start { service: service.name.clone() };
        self.reach().order(share, start, site.is_stopped).map(drop)
    }

    /// Says in the shares of a lab that they are up.
    pub(crate) fn finish_shares(&self, shares: &[MadeShare]) -> Result<(), RunError> {
        let mut reach = self.reach();
        shares.iter().try_for_each(|share| reach.order(share, ShareCall::Finish, NEVER).map(drop))
    }

    /// Has services be other ones in the shares of a lab, and stops those of them that are there; says how the shares are
    /// reached.
    pub(crate) fn renew_shares(
        &self,
        made: &MadeLab,
        services: &[LabService],
        journal: &mut LabJournal,
    ) -> Result<Vec<MadeShare>, RunError> {
        let mut reach = self.reach();
        let mut renewed = Vec::new();
        for kept in made.shares.iter().rev() {
            let share = reach.meet_again(kept, journal)?;
            let renew = ShareCall::Renew { share: share.name(), services: services.to_vec() };
            reach.order(&share, renew, NEVER)?;
            renewed.push(share);
        }
        Ok(renewed)
    }

    /// Takes the shares of a lab away, last first; says which could not be, and why.
    pub(crate) fn take_shares(
        &self,
        made: &MadeLab,
        journal: &mut LabJournal,
        told: &mut dyn FnMut(&str),
        notes: &mut Vec<String>,
    ) -> Vec<String> {
        let mut failures = Vec::new();
        for share in made.shares.iter().rev() {
            told(&format!("{}: tearing down host {}", made.begin.name, share.host));
            match self.take_share(share, journal) {
                Ok(said) => notes.extend(said.into_iter().map(|note| format!("{}: {note}", share.host))),
                Err(error) => failures.push(format!(
                    "cannot tear down lab '{}' on host '{}': {error}",
                    made.begin.name, share.host
                )),
            }
        }
        failures
    }

    fn take_share(&self, share: &MadeShare, journal: &mut LabJournal) -> Result<Vec<String>, RunError> {
        let mut reach = self.reach();
        let door = reach.again(&share.door);
        let down = ShareCall::Down { share: share.name(), agents: share.agents.clone() };
        let ShareReply::Gone { notes } = reach.ask(&door, down, NEVER)? else {
            return Err(RunError::Answer { request: "tear down a share of a lab" });
        };
        journal.append(&LabRecord::Gone { host: share.host.clone() })?;
        Ok(bounded(notes))
    }
}
