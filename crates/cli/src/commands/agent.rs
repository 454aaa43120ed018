//! Agents: of this host, of those of the server and of the generators, and this process as the agent of another one.

use super::fleet::NamedFleet;
use crate::args::AgentArgs;
use crate::exit::Exit;
use crate::fence;
use crate::here::program;
use crate::ui::Ui;
use std::fs::File;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;
use sysdyno_lab::{Labs, Shares};
use sysdyno_plan::options::{BrokerOptions, FleetOptions, ServerOptions, SshOptions};
use sysdyno_record::place::HostPlace;
use sysdyno_record::plan::Endpoint;
use sysdyno_run::agent::{self, AgentConnection, Fleet, FleetWay, RemoteAgent, Serving, Ways};

/// What the process is called, wherever its file lies.
const NAME: &std::ffi::CStr = c"sysdyno-agent";

/// Serves whoever holds the other end of the standard input.
pub fn serve(args: &AgentArgs) -> anyhow::Result<Exit> {
    // Only a name is lost if this fails.
    let _ = rustix::thread::set_name(NAME);
    if let Some(namespace) = &args.netns {
        agent::enter(namespace)?;
    }
    // Without buffers of their own: what was read is looked at, what was said is gone.
    let input = File::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(std::io::stdout().as_fd().try_clone_to_owned()?);
    let (version, state) = (env!("CARGO_PKG_VERSION"), args.state_dir.clone());
    let serving = Serving {
        version: version.to_owned(),
        guard: fence::guard_of_host(state.clone())?,
        shares: Box::new(move || Box::new(Shares::below(state.as_deref(), version))),
        lease: args.lease.map(|lease| lease.0.duration()),
    };
    agent::serve(input, output, serving)?;
    Ok(Exit::Done)
}

/// Reaches the server's host: the one that the user names, or the host of a lab that has the target's address; `None`: the
/// server is on this one, as far as is known.
pub fn reach(
    options: &ServerOptions,
    target: Option<&Endpoint>,
    ui: &Ui,
) -> anyhow::Result<Option<RemoteAgent>> {
    let ways = ways(&options.ssh, options.server_sudo, &options.fleet)?;
    let place = match (&options.server, target) {
        (Some(place), _) => place.0.clone(),
        (None, Some(Endpoint::Tcp(address))) if !address.ip().is_loopback() => {
            let state = std::env::var_os("SYSDYNO_STATE_DIR").map(PathBuf::from);
            let labs = Labs::below(state.as_deref(), ways.clone(), env!("CARGO_PKG_VERSION"));
            let Some(found) = labs.host_with(address.ip()) else { return Ok(None) };
            ui.note(&format!("the target is host '{}' of lab '{}'", found.host, found.lab));
            found.place
        }
        (None, _) => return Ok(None),
    };
    let agent = meet(&place, &ways)?;
    ui.note(&format!("also reading host '{}'; {}", agent.host(), clock_text(&agent)));
    Ok(Some(agent))
}

/// Reaches the host that the user names.
pub fn reach_host(
    place: &HostPlace,
    (ssh, broker): (&SshOptions, &BrokerOptions),
    uses_sudo: bool,
    ui: &Ui,
) -> anyhow::Result<RemoteAgent> {
    let agent = meet(place, &ways(ssh, uses_sudo, &FleetOptions::behind(broker))?)?;
    ui.note(&format!("reading host '{}'; {}", agent.host(), clock_text(&agent)));
    Ok(agent)
}

/// Reaches the hosts that send the load; `None`: this process does.
pub fn reach_generators(options: &ServerOptions, ui: &Ui) -> anyhow::Result<Option<Fleet>> {
    if options.load_from.is_empty() {
        return Ok(None);
    }
    let least = options.min_hosts.map(|count| count as usize);
    anyhow::ensure!(
        least.is_none_or(|least| least <= options.load_from.len()),
        "cannot begin: --load-from means {} hosts, and --min-hosts asks for {}",
        options.load_from.len(),
        least.unwrap_or_default()
    );
    let ways = ways(&options.ssh, false, &options.fleet)?;
    let mut hosts = Vec::new();
    for place in &options.load_from {
        let agent = meet(&place.0, &ways)?;
        ui.note(&format!("sending from host '{}'; {}", agent.host(), clock_text(&agent)));
        hosts.push(agent);
    }
    let least = least.unwrap_or(hosts.len());
    Ok(Some(Fleet::new(hosts).with_least(least)))
}

/// This program, and how ssh and a broker reach other hosts.
pub fn ways(options: &SshOptions, uses_sudo: bool, fleet: &FleetOptions) -> anyhow::Result<Ways> {
    let fleet: Option<Arc<dyn FleetWay>> = Some(Arc::new(NamedFleet::new(fleet)));
    Ok(Ways { program: program()?, ssh_config: options.ssh_config.clone(), uses_sudo, fleet })
}

fn meet(place: &HostPlace, ways: &Ways) -> anyhow::Result<RemoteAgent> {
    Ok(RemoteAgent::meet(AgentConnection::open(place, ways)?, env!("CARGO_PKG_VERSION"))?)
}

fn clock_text(agent: &RemoteAgent) -> String {
    let clock = agent.clock();
    match clock.is_same_clock {
        true => "same clock as this host".into(),
        false => format!("its clock is known to within {:.0} µs", clock.uncertainty_ns as f64 / 1e3),
    }
}
