//! The client side: queries the state of a lab's shares and acts on their services.

use super::super::journal::MadeLab;
use super::super::labs::Labs;
use super::super::plan::LabService;
use super::reach::{NEVER, ShareReach, nothing_there};
use super::told::{MAX_TEXT, reading_of};
use super::{ShareCall, ShareName, ShareReply, ShareStatus, shell};
use std::process::ExitStatus;
use sysdyno_record::place::HostWay;
use sysdyno_record::service::ServiceReading;
use sysdyno_run::agent::terminal_command;
use sysdyno_run::{RunError, escaped};

impl Labs {
    fn ask_share(
        &self,
        made: &MadeLab,
        host: &str,
        call: impl FnOnce(ShareName) -> ShareCall,
    ) -> Result<ShareReply, RunError> {
        let share = made.shares.iter().find(|share| share.host == host);
        let share = share.ok_or_else(|| nothing_there(host))?;
        let mut reach = self.reach();
        let door = reach.again(&share.door);
        reach.ask(&door, call(share.name()), NEVER)
    }

    /// The current state of a share, as it reports.
    pub(crate) fn share_status(&self, made: &MadeLab, host: &str) -> Result<ShareStatus, RunError> {
        match self.ask_share(made, host, |share| ShareCall::Status { share })? {
            ShareReply::Status(status) => Ok(*status),
            _ => Err(RunError::Answer { request: "report on a lab" }),
        }
    }

    /// The end of what a service on another host has printed.
    pub(crate) fn share_log(
        &self,
        made: &MadeLab,
        service: &LabService,
        most_bytes: u64,
    ) -> Result<String, RunError> {
        let (name, host) = (service.name.clone(), &service.host);
        let call = |share| ShareCall::Log { share, service: name, most_bytes };
        match self.ask_share(made, host, call)? {
            // A byte may have become a sign of three.
            ShareReply::Log(text) => Ok(text.chars().take(most_bytes as usize).collect()),
            _ => Err(RunError::Answer { request: "print a log" }),
        }
    }

    /// Has a service on another host read its files again.
    pub(crate) fn share_reload(&self, made: &MadeLab, service: &LabService) -> Result<(), RunError> {
        let name = service.name.clone();
        self.ask_share(made, &service.host, |share| ShareCall::Reload { share, service: name }).map(drop)
    }

    /// What services on other hosts tell just now: of what comes back, numbers of the tables of their recipes.
    pub(crate) fn share_readings(&self, made: &MadeLab) -> Vec<ServiceReading> {
        let plan = &made.begin.plan;
        let mut found = Vec::new();
        for (host, _) in plan.far_hosts() {
            let told = match self.ask_share(made, host, |share| ShareCall::Readings { share }) {
                Ok(ShareReply::Readings(readings)) => Ok(readings),
                Ok(_) => Err("it sent an unexpected answer".to_owned()),
                Err(error) => Err(escaped(&error.to_string(), MAX_TEXT)),
            };
            let of_host = plan.services.iter().filter(|service| service.host == host && !service.is_off);
            found.extend(of_host.filter_map(|service| reading_of(service, &told)));
        }
        found
    }

    /// Runs a command on a host behind ssh, with this terminal.
    pub(crate) fn run_there(
        &self,
        made: &MadeLab,
        host: &str,
        argv: &[String],
    ) -> Result<ExitStatus, RunError> {
        let share = made.shares.iter().find(|share| share.host == host);
        let share = share.ok_or_else(|| nothing_there(host))?;
        let reach = self.reach();
        let door = reach.again(&share.door);
        let HostWay::Ssh(address) = ShareReach::place(&door)?.way else {
            return Err(RunError::Refused(format!(
                "cannot run a command on host '{host}': it is an agent of a fleet, which offers no terminal\nhint: log in there"
            )));
        };
        let sudo = ["sudo", "-n", "--"].map(str::to_owned);
        let words: Vec<String> =
            if door.uses_sudo { sudo.iter().chain(argv).cloned().collect() } else { argv.to_vec() };
        let mut command = terminal_command(&address, &shell::command(&words), &reach.ways(&door));
        command.status().map_err(|source| RunError::Process {
            operation: "run",
            object: format!("'ssh' for host '{host}'"),
            source,
        })
    }
}
