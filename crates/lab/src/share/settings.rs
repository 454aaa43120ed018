//! Settings of hosts behind ssh, held there by the agent: its `tune` keeps their journal, and its guardian restores them when
//! the agent ends, which it also does when the connection or the requesting machine is gone.

use super::super::journal::MadeShare;
use super::super::labs::Labs;
use super::super::settings::SettingJournal;
use super::reach::{NEVER, nothing_there};
use super::told::{MAX_TEXT, bounded};
use super::{ShareCall, ShareReply};
use std::fmt;
use std::time::Duration;
use sysdyno_record::change::SettingChange;
use sysdyno_record::event::SettingHeld;
use sysdyno_run::execute::{HeldHere, Tuning};
use sysdyno_run::{RunError, escaped};

/// How long the agent of a lost connection, and its guardian, may take to end.
const PATIENCE: Duration = Duration::from_secs(25);

/// Settings that an agent on another host holds.
pub(crate) struct HeldThere {
    share: MadeShare,
    kept: SettingJournal,
    /// What they are, and were.
    pub(crate) settings: Vec<SettingHeld>,
}

impl Labs {
    /// Has settings changed on a host behind ssh.
    ///
    /// # Errors
    /// The host cannot be reached, or they cannot be changed there; then nothing is.
    pub(crate) fn hold_there(
        &self,
        lab: &str,
        host: &str,
        kept: SettingJournal,
        changes: &[SettingChange],
    ) -> Result<HeldThere, RunError> {
        let (mut journal, made) = self.open_patiently(lab)?;
        let made = made.as_ref().and_then(|made| made.shares.iter().find(|share| share.host == host));
        let made = made.ok_or_else(|| nothing_there(host))?;
        let mut reach = self.reach();
        let share = reach.meet_again(made, &mut journal)?;
        let hold = ShareCall::Hold { share: share.name(), kept, changes: changes.to_vec() };
        let ShareReply::Held { settings } = reach.order(&share, hold, NEVER)? else {
            return Err(RunError::Answer { request: "change settings" });
        };
        let host = &share.door.place;
        let of_host = settings.iter().take(changes.len()).map(|setting| SettingHeld {
            host: host.clone(),
            key: escaped(&setting.key, MAX_TEXT),
            before: escaped(&setting.before, MAX_TEXT),
            after: escaped(&setting.after, MAX_TEXT),
        });
        let settings = of_host.collect();
        Ok(HeldThere { share, kept, settings })
    }

    /// Has them restored; returns those that do not have their old values.
    ///
    /// # Errors
    /// The agent that holds them is gone: their guardian restored them at an unknown time.
    pub(crate) fn let_go_there(&self, held: &HeldThere) -> Result<Vec<String>, RunError> {
        let let_go = ShareCall::LetGo { share: held.share.name(), kept: held.kept };
        match self.reach().order(&held.share, let_go, NEVER)? {
            ShareReply::LetGo { left } => Ok(bounded(left)),
            _ => Err(RunError::Answer { request: "restore settings" }),
        }
    }
}

/// Settings that this agent holds for labs of other machines.
#[derive(Default)]
pub(super) struct HeldForOthers(Vec<(String, SettingJournal, HeldHere)>);

impl fmt::Debug for HeldForOthers {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = self.0.iter().map(|(lab, kept, held)| (lab, kept, &held.settings));
        out.debug_list().entries(settings).finish()
    }
}

impl HeldForOthers {
    /// Changes settings of this host for a share.
    pub(super) fn hold(
        &mut self,
        labs: &Labs,
        lab: &str,
        kept: SettingJournal,
        changes: &[SettingChange],
    ) -> Result<ShareReply, RunError> {
        let changes = labs.with_pids(lab, changes)?;
        let held = tuning(labs, lab, kept).hold("here", &changes, PATIENCE)?;
        let settings = held.settings.clone();
        self.0.push((lab.to_owned(), kept, held));
        Ok(ShareReply::Held { settings })
    }

    /// Puts them back.
    pub(super) fn let_go(
        &mut self,
        labs: &Labs,
        lab: &str,
        kept: SettingJournal,
    ) -> Result<ShareReply, RunError> {
        let mut left = Vec::new();
        let is_meant = |(of, known, _): &(String, SettingJournal, HeldHere)| of == lab && *known == kept;
        while let Some(position) = self.0.iter().rposition(is_meant) {
            let (_, _, held) = self.0.remove(position);
            left.extend(tuning(labs, lab, kept).let_go(held)?);
        }
        Ok(ShareReply::LetGo { left })
    }
}

fn tuning(labs: &Labs, lab: &str, kept: SettingJournal) -> Tuning {
    Tuning {
        root: "/".into(),
        state: Some(labs.state_of(lab, kept)),
        program: labs.program().to_owned(),
        version: labs.version.clone(),
    }
}
