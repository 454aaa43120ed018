//! Shares: the parts of a lab on other machines, behind ssh or in a fleet. This same program builds each share there, as a
//! separate lab.
//!
//! ```text
//!   Labs here ─ Reach ─► ssh or broker ─► agent there ─ Shares ─► Labs there: its own journal, namespaces' names, services
//! ```
//! Invariants: a share and its agent are in the journal here before the share is begun there; tearing it down ends that agent
//! first, so that the agent cannot create anything afterwards. A lab there is touched only if it says that it is a share of
//! this very lab. Answers are text from another machine: bounded here, and not trusted.

mod asked;
mod here;
mod reach;
mod settings;
mod shell;
mod sources;
mod there;
mod told;

pub(super) use reach::ShareReach;
pub use there::Shares;
pub(super) use told::status_there;

use super::journal::AgentProcess;
use super::machine::Missing;
use super::plan::{LabPlan, LabService};
use super::service_status::ServiceStatus;
use super::settings::SettingJournal;
use serde::{Deserialize, Serialize};
use sysdyno_record::change::SettingChange;
use sysdyno_record::event::SettingHeld;
use sysdyno_record::service::ServiceReading;

/// Longest piece of a file per message, encoded as numbers. Unit: bytes.
const MAX_PIECE_BYTES: usize = 256 << 10;

/// Which share is meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareName {
    /// What it is called as a lab.
    pub lab: String,
    /// The lab that it is a share of, as no other lab is called.
    pub of: String,
}

/// What an agent is asked about a share of its host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShareCall {
    /// Say what services of this plan need that is not installed. Answer: [`ShareReply::Needs`].
    Look {
        /// The plan of the share.
        plan: Box<LabPlan>,
    },
    /// Install that, and fetch it. Answer: [`ShareReply::Done`].
    Provide {
        /// The plan of the share.
        plan: Box<LabPlan>,
    },
    /// Begin a share, which is then open. Answer: [`ShareReply::Done`].
    Begin {
        /// Its plan.
        plan: Box<LabPlan>,
        /// The file of the lab.
        text: String,
    },
    /// Append a piece to a file next to the lab file. Answer: [`ShareReply::Done`].
    Source {
        /// Its path relative to the lab file's folder.
        path: String,
        /// The piece.
        bytes: Vec<u8>,
    },
    /// Start a service of the open share, and wait until it is ready. Answer: [`ShareReply::Done`].
    Start {
        /// Its name.
        service: String,
    },
    /// Open a share again, in which services are other ones from now on; those of it are stopped. Answer:
    /// [`ShareReply::Done`].
    Renew {
        /// The share.
        share: ShareName,
        /// What they are going to be.
        services: Vec<LabService>,
    },
    /// The open share is up, and closed. Answer: [`ShareReply::Done`].
    Finish,
    /// Say what a share is now. Answer: [`ShareReply::Status`].
    Status {
        /// The share.
        share: ShareName,
    },
    /// Report the metrics of its services. Answer: [`ShareReply::Readings`].
    Readings {
        /// The share.
        share: ShareName,
    },
    /// Say the end of what a service has printed. Answer: [`ShareReply::Log`].
    Log {
        /// The share.
        share: ShareName,
        /// The service.
        service: String,
        /// At most so many bytes.
        most_bytes: u64,
    },
    /// Have a service read its files again. Answer: [`ShareReply::Done`].
    Reload {
        /// The share.
        share: ShareName,
        /// The service.
        service: String,
    },
    /// Change settings of this host, until they are restored or this agent ends. Answer: [`ShareReply::Held`].
    Hold {
        /// The share.
        share: ShareName,
        /// In which journal; one at a time.
        kept: SettingJournal,
        /// The settings.
        changes: Vec<SettingChange>,
    },
    /// Put back the settings of a journal that this agent has changed. Answer: [`ShareReply::LetGo`].
    LetGo {
        /// The share.
        share: ShareName,
        /// Which journal.
        kept: SettingJournal,
    },
    /// Take a share away, however far it was made. Answer: [`ShareReply::Gone`].
    Down {
        /// The share.
        share: ShareName,
        /// Agents that may still be at work on it, which are ended before.
        agents: Vec<AgentProcess>,
    },
}

impl ShareCall {
    /// The word for messages.
    pub(super) fn name(&self) -> &'static str {
        match self {
            ShareCall::Look { .. } => "check what a lab needs",
            ShareCall::Provide { .. } => "install what a lab needs",
            ShareCall::Begin { .. } => "start a share of a lab",
            ShareCall::Source { .. } => "send a file of a lab",
            ShareCall::Start { .. } => "start a service",
            ShareCall::Renew { .. } => "change services",
            ShareCall::Finish => "finish a share of a lab",
            ShareCall::Status { .. } => "report on a lab",
            ShareCall::Readings { .. } => "read metrics of services",
            ShareCall::Log { .. } => "print a log",
            ShareCall::Reload { .. } => "reload a service",
            ShareCall::Hold { .. } => "change settings",
            ShareCall::LetGo { .. } => "restore settings",
            ShareCall::Down { .. } => "tear down a share of a lab",
        }
    }
}

/// The answer of an agent. Untrusted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShareReply {
    /// It is done.
    Done,
    /// What has to be installed and fetched.
    Needs(Needs),
    /// What the share is.
    Status(Box<ShareStatus>),
    /// The metrics of its services.
    Readings(Vec<ServiceReading>),
    /// The end of a log.
    Log(String),
    /// Settings are changed.
    Held {
        /// In the order in which they were.
        settings: Vec<SettingHeld>,
    },
    /// Settings are restored.
    LetGo {
        /// Those that are not what they were.
        left: Vec<String>,
    },
    /// It is gone.
    Gone {
        /// What was left alone.
        notes: Vec<String>,
    },
}

/// What a host needs before services can be started there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Needs {
    /// Programs, and packages with them.
    pub missing: Missing,
    /// Sets of jars, each with its name and how many there are.
    pub jars: Vec<String>,
}

/// What another machine needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeedsOf {
    /// The host.
    pub host: String,
    /// What it needs.
    pub needs: Needs,
}

/// What a share is now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShareStatus {
    /// Whether it came up whole.
    pub(super) is_up: bool,
    /// Whether it is of this boot of its host.
    pub(super) is_of_this_boot: bool,
    /// Its services.
    pub(super) services: Vec<ServiceStatus>,
}
