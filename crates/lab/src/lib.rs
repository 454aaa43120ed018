//! Labs: hosts in network namespaces, links between them, and real services on them; also hosts that already exist.
//!
//! Promise: this crate measures nothing and computes no statistic. It builds what a file describes and tears it down again;
//! measuring is the job of `run`.
//!
//! Specified in `docs/reference/formats/lab.md`. Invariants, each with a test:
//! 1. every object is in the journal on disk before it is created;
//! 2. an object that is in no lab's journal, or is not the one that the journal describes, is never removed;
//! 3. if `up` or `down` dies at any point, `down` leaves nothing behind;
//! 4. the host's network is never touched: interfaces are created within namespaces; only volumes are mounted, in
//!    the lab's folder, and only their loop devices are throttled;
//! 5. a process is signaled only if its pid and start time are in the journal, or if it descends from such a process.
#![deny(unsafe_code)]

mod beside;
mod change;
mod check;
mod down;
mod file;
mod files;
mod found;
mod image;
mod jars;
mod journal;
mod keeper;
mod labs;
mod limits;
mod link;
mod machine;
mod metrics;
mod namespace;
mod outside;
mod own;
mod parameters;
mod paths;
mod plan;
mod plan_links;
mod problem;
mod process;
mod question;
mod recipe;
mod relay;
mod remount;
mod service;
mod service_status;
mod settings;
mod share;
mod stage;
mod status;
mod symptom;
mod sys;
mod throttle;
mod understand;
mod up;
mod values;
mod variant;
mod volume;
mod whose;

pub use beside::Companions;
pub use found::FoundHost;
pub use image::{HostImage, ImageFormat, START_SCRIPT, write_images};
pub use jars::JarSet;
pub use keeper::{KeeperSigns, keep};
pub use labs::{Labs, UpOrder};
pub use limits::ServiceLimits;
pub use machine::{Missing, install, missing};
pub use metrics::fastcgi_answer;
pub use outside::{HostSeat, Outside, ShareOf};
pub use parameters::ServiceParameter;
pub use plan::{Data, FileContent, LabPlan, LabService, wrong_name};
pub use plan_links::{Address, End, LabLink, Relay};
pub use recipe::{
    HealthCheck, Parameter, ParameterKind, Recipe, ServiceMetric, StopSignal, TunableKey,
    find as find_recipe, names as recipe_names,
};
pub use relay::{Forwarded, forward};
pub use service_status::ServiceStatus;
pub use settings::{HostPart, SettingJournal, StageSetting, part_of, tunable_of};
pub use share::{Needs, NeedsOf, ShareCall, ShareReply, Shares};
pub use stage::LabStage;
pub use status::{HostStatus, LabStatus, LinkStatus, RelayStatus, ServiceLog};
pub use up::may_make;
pub use whose::AddressesBelow;
