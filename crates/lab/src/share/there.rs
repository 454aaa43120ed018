//! The agent's side: builds shares of other machines' labs as labs of this machine.

use super::super::journal::{AgentProcess, LabJournal, LabRecord, MadeLab, read};
use super::super::labs::{Labs, UpOrder};
use super::super::plan::{LabPlan, is_kept_name, wrong_name};
use super::super::process::Held;
use super::super::up::may_make;
use super::super::{files, machine};
use super::settings::HeldForOthers;
use super::{Needs, ShareCall, ShareName, ShareReply, ShareStatus, sources};
use rustix::process::Signal;
use serde_json::Value;
use std::cell::RefCell;
use std::path::Path;
use std::time::Duration;
use sysdyno_observe::Roots;
use sysdyno_run::RunError;
use sysdyno_run::agent::{AgentLink, LabShares, Proceed, Ways};

/// How long an agent that is killed may take to end.
const LAST: Duration = Duration::from_secs(10);

/// Longest end of a log to send: a letter may take six bytes in a message. Unit: bytes.
const MAX_LOG_BYTES: u64 = 1 << 20;

/// Shares on this host.
#[derive(Debug)]
pub struct Shares {
    labs: Labs,
    open: Option<Open>,
    tried: HeldForOthers,
}

/// A share that is being put up or changed; its journal is held.
#[derive(Debug)]
struct Open {
    order: UpOrder,
    journal: LabJournal,
}

impl Shares {
    /// Shares among the labs of this host, below a state folder; `None`: that of the system. This program may have no name any
    /// more: it is started again by what the kernel keeps of it.
    pub fn below(state: Option<&Path>, version: &str) -> Shares {
        let ways = Ways {
            program: Roots::host().in_proc("self/exe"),
            ssh_config: None,
            uses_sudo: false,
            fleet: None,
        };
        Shares { labs: Labs::below(state, ways, version), open: None, tried: HeldForOthers::default() }
    }

    /// Does what another machine asks for; `link` says whether to go on.
    fn reply(&mut self, call: ShareCall, link: &mut dyn AgentLink) -> Result<ShareReply, RunError> {
        let link = RefCell::new(link);
        let is_stopped = || link.borrow_mut().tick() == Proceed::Stop;
        match call {
            ShareCall::Look { plan } => return self.needs(&plan).map(ShareReply::Needs),
            ShareCall::Provide { plan } => self.provide(&plan)?,
            ShareCall::Begin { plan, text } => self.begin(*plan, text, &is_stopped)?,
            ShareCall::Source { path, bytes } => self.take(&path, &bytes)?,
            ShareCall::Start { service } => self.start(&service, &is_stopped)?,
            ShareCall::Renew { share, services } => {
                self.open = None;
                self.made(&share)?;
                let (mut journal, made) = self.labs.open_patiently(&share.lab)?;
                let mut made = made.filter(|made| is_it(made, &share)).ok_or_else(|| gone(&share))?;
                self.labs.renew((&made, &mut journal), &services, &mut |_| {})?;
                services.iter().for_each(|service| made.begin.plan.replace(service));
                let order = self.order(made.begin.plan, String::new());
                self.open = Some(Open { order, journal });
            }
            ShareCall::Finish => {
                if let Some(mut open) = self.open.take() {
                    open.journal.append(&LabRecord::Up {})?;
                }
            }
            ShareCall::Status { share } => {
                let made = self.made(&share)?;
                let status = self.labs.status(&made.begin.name)?;
                let (is_up, is_of_this_boot) = (status.is_up, status.is_of_this_boot);
                let services = status.services;
                return Ok(ShareReply::Status(Box::new(ShareStatus { is_up, is_of_this_boot, services })));
            }
            ShareCall::Readings { share } => {
                let made = self.made(&share)?;
                return Ok(ShareReply::Readings(self.labs.readings(&made.begin.plan)));
            }
            ShareCall::Log { share, service, most_bytes } => {
                let made = self.made(&share)?;
                let logs = self.labs.logs(&made.begin.name, Some(&service), most_bytes.min(MAX_LOG_BYTES))?;
                return Ok(ShareReply::Log(logs.into_iter().map(|log| log.text).collect()));
            }
            ShareCall::Reload { share, service } => {
                let made = self.made(&share)?;
                self.labs.reload(&made.begin.name, &service)?;
            }
            ShareCall::Hold { share, kept, changes } => {
                self.made(&share)?;
                return self.tried.hold(&self.labs, &share.lab, kept, &changes);
            }
            ShareCall::LetGo { share, kept } => return self.tried.let_go(&self.labs, &share.lab, kept),
            ShareCall::Down { share, agents } => {
                return self.down(&share, &agents).map(|notes| ShareReply::Gone { notes });
            }
        }
        Ok(ShareReply::Done)
    }

    fn needs(&self, plan: &LabPlan) -> Result<Needs, RunError> {
        check_names(plan)?;
        let jars = self.labs.missing_jars(plan)?;
        let jars = jars.iter().map(|set| format!("{}, {} jars", set.name, set.count)).collect();
        Ok(Needs { missing: machine::missing(plan)?, jars })
    }

    fn provide(&self, plan: &LabPlan) -> Result<(), RunError> {
        check_names(plan)?;
        let missing = machine::missing(plan)?;
        if !missing.packages.is_empty() {
            machine::install(&missing.packages)?;
        }
        self.labs.missing_jars(plan)?.iter().try_for_each(|set| self.labs.fetch(set))
    }

    /// Received files are where sources are looked for.
    fn order(&self, plan: LabPlan, text: String) -> UpOrder {
        let beside = self.labs.folder_of(&plan.name).join(sources::FOLDER);
        UpOrder { plan, text, beside }
    }

    fn begin(&mut self, plan: LabPlan, text: String, is_stopped: &dyn Fn() -> bool) -> Result<(), RunError> {
        check_names(&plan)?;
        may_make(&plan)?;
        self.open = None;
        let order = self.order(plan, text);
        let (mut journal, _) = self.labs.begin(&order)?;
        let folder = self.labs.folder_of(&order.plan.name);
        self.labs.lay(&self.labs.site(&order, &folder, is_stopped), &mut journal)?;
        self.open = Some(Open { order, journal });
        Ok(())
    }

    fn open(&mut self) -> Result<&mut Open, RunError> {
        let none = || RunError::Refused("cannot continue a share of a lab: none is open".into());
        self.open.as_mut().ok_or_else(none)
    }

    fn take(&mut self, path: &str, bytes: &[u8]) -> Result<(), RunError> {
        let name = self.open()?.order.plan.name.clone();
        sources::take(&self.labs.folder_of(&name), path, bytes).map_err(|source| RunError::Process {
            operation: "keep",
            object: format!("'{}'", path.escape_debug()),
            source,
        })
    }

    fn start(&mut self, name: &str, is_stopped: &dyn Fn() -> bool) -> Result<(), RunError> {
        self.open()?;
        let Some(Open { order, journal }) = &mut self.open else { return Ok(()) };
        let unknown = || {
            RunError::Refused(format!(
                "cannot start '{}': it does not belong to this share",
                name.escape_debug()
            ))
        };
        let service = order.plan.service(name).filter(|service| order.plan.is_own(&service.host));
        let folder = self.labs.folder_of(&order.plan.name);
        self.labs.site(order, &folder, is_stopped).start(service.ok_or_else(unknown)?, journal)
    }

    /// What the journal of a share says, if there is this one.
    fn made(&self, share: &ShareName) -> Result<MadeLab, RunError> {
        self.find(share)?.filter(|made| is_it(made, share)).ok_or_else(|| gone(share))
    }

    /// What is kept under the name of a share.
    fn find(&self, share: &ShareName) -> Result<Option<MadeLab>, RunError> {
        if !is_kept_name(&share.lab) {
            return Err(gone(share));
        }
        read(&self.labs.journal_of(&share.lab))
    }

    /// Takes a share away; what is not there needs nothing.
    fn down(&mut self, share: &ShareName, agents: &[AgentProcess]) -> Result<Vec<String>, RunError> {
        self.open = None;
        agents.iter().for_each(end);
        match self.find(share)? {
            Some(made) if is_it(&made, share) => self.labs.down(&share.lab, &mut |_| {}),
            Some(_) => Ok(vec![format!("lab '{}' is a different one there; it was left alone", share.lab)]),
            // It cannot be read, which is told.
            None if self.labs.journal_of(&share.lab).exists() => self.labs.down(&share.lab, &mut |_| {}),
            None => {
                // A draft that a death has left speaks of nothing.
                let draft = self.labs.journal_of(&share.lab).with_extension("new");
                files::remove_file(&draft).map_err(|source| RunError::Process {
                    operation: "remove",
                    object: format!("journal '{}'", draft.display()),
                    source,
                })?;
                Ok(Vec::new())
            }
        }
    }
}

impl LabShares for Shares {
    fn carry_out(&mut self, call: Value, link: &mut dyn AgentLink) -> Result<Value, RunError> {
        let call: ShareCall = serde_json::from_value(call).map_err(unknown)?;
        serde_json::to_value(self.reply(call, link)?).map_err(unknown)
    }
}

/// What the two sides do not understand of each other.
fn unknown(error: serde_json::Error) -> RunError {
    RunError::Refused(format!("cannot carry out a share of a lab: {error}"))
}

/// Whether a lab is a share, and of this very lab.
fn is_it(made: &MadeLab, share: &ShareName) -> bool {
    made.begin.plan.share.as_ref().is_some_and(|own| own.of == share.of)
}

fn gone(share: &ShareName) -> RunError {
    RunError::Refused(format!("cannot find lab '{}': its share is gone", share.lab.escape_debug()))
}

/// Ends another agent that may be at work, so that it makes nothing from now on.
fn end(agent: &AgentProcess) {
    let is_this_boot = sysdyno_observe::boot_id().is_some_and(|boot| boot == agent.boot_id);
    if !is_this_boot || agent.process.pid == std::process::id() {
        return;
    }
    if let Some(held) = Held::of(agent.process) {
        held.signal(Signal::KILL);
        // One that cannot be killed just now holds the journal, and is met there.
        let _ = held.wait(LAST);
    }
}

/// Names become those of files: they are looked at again on the machine on which they do.
fn check_names(plan: &LabPlan) -> Result<(), RunError> {
    let names = plan.services.iter().map(|service| &service.name).chain(&plan.hosts);
    let is_wrong = |name: &&String| wrong_name(name).is_some();
    let is_share = plan.share.as_ref().is_some_and(|share| plan.hosts.contains(&share.host));
    match names.into_iter().find(is_wrong) {
        None if is_share && is_kept_name(&plan.name) => Ok(()),
        _ => Err(RunError::Refused("cannot carry out a share of a lab: this is not a plan for one".into())),
    }
}
