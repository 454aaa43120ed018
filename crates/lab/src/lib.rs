//! Labs: hosts in network namespaces, links between them, real services on them; and hosts that are there already.
//!
//! Promise: this crate measures nothing and computes no statistic. It makes what a file says, and takes it away again; what is
//! measured on it is `run`'s.
//!
//! Specified in `docs/reference/formats/lab.md`. Invariants, each with a test:
//! 1. whatever is made is in the journal, on the disk, before it is made;
//! 2. whatever is in no journal of a lab, or is another one than the journal says, is not taken away;
//! 3. after a death at any point of `up` or `down`, `down` leaves nothing;
//! 4. the network of the host is not touched: interfaces are made within namespaces; nothing is mounted but volumes, in
//!    the lab's folder;
//! 5. a process is signalled only if pid and start time are those of the journal, or it descends from one that is.
#![deny(unsafe_code)]

mod beside;
mod change;
mod check;
mod down;
mod file;
mod files;
mod found;
mod jars;
mod journal;
mod keeper;
mod labs;
mod link;
mod machine;
mod metrics;
mod namespace;
mod outside;
mod own;
mod paths;
mod plan;
mod plan_links;
mod problem;
mod process;
mod question;
mod recipe;
mod relay;
mod service;
mod service_status;
mod settings;
mod share;
mod stage;
mod status;
mod symptom;
mod sys;
mod understand;
mod up;
mod values;
mod variant;
mod volume;
mod whose;

pub use beside::Companions;
pub use found::FoundHost;
pub use jars::JarSet;
pub use keeper::{KeeperSigns, keep};
pub use labs::{Labs, UpOrder};
pub use machine::{Missing, install, missing};
pub use metrics::fastcgi_answer;
pub use outside::{HostSeat, Outside, ShareOf};
pub use plan::{Data, FileContent, LabPlan, LabService, wrong_name};
pub use plan_links::{Address, End, LabLink, Relay};
pub use recipe::{
    HealthCheck, Parameter, ParameterKind, Recipe, ServiceMetric, StopSignal, TunableKey,
    find as find_recipe, names as recipe_names,
};
pub use relay::{Forwarded, forward};
pub use service_status::ServiceStatus;
pub use settings::{HostPart, SettingJournal, StageSetting, part_of};
pub use share::{Needs, NeedsOf, ShareCall, ShareReply, Shares};
pub use stage::LabStage;
pub use status::{HostStatus, LabStatus, LinkStatus, RelayStatus, ServiceLog};
pub use up::may_make;
pub use whose::AddressesBelow;
