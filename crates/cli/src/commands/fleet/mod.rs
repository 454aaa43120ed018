//! `sysdyno fleet`: a broker on this host, this host as an agent, and the agents that are there.

mod access;
mod agent;
mod broker;
mod list;
mod served;
mod top;

pub use access::{NamedFleet, expanded};
pub use served::FleetShown;

use crate::args::{FleetArgs, FleetCommand};
use crate::exit::Exit;
use crate::settings::fleet_folder;
use crate::ui::Ui;
use anyhow::anyhow;
use sysdyno_fleet::FleetError;

/// Does what was typed.
pub fn fleet(args: FleetArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let folder = fleet_folder(args.state_dir.as_deref())?;
    let done = match args.command {
        FleetCommand::Up(up) => broker::up(&folder, &up, ui),
        FleetCommand::Down => broker::down(&folder, ui),
        FleetCommand::Status => broker::status(&folder, ui),
        FleetCommand::Add { names } => broker::add(&folder, &names, ui),
        FleetCommand::Remove { names } => broker::remove(&folder, &names, ui),
        FleetCommand::Agent(agent) => agent::agent(&folder, agent, ui),
        FleetCommand::Ls(list) => list::list(&folder, &list, ui),
        FleetCommand::Top(top) => top::top(&folder, &top, ui),
    };
    // Errors of a fleet have their cause in their text already.
    done.map_err(|error| match error.downcast_ref::<FleetError>() {
        Some(said) => anyhow!("{said}"),
        None => error,
    })
}
