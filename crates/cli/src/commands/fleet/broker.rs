//! `sysdyno fleet up`, `down`, `status`, `add`, `remove`: the broker of this host.

use crate::args::FleetUpArgs;
use crate::exit::Exit;
use crate::ui::Ui;
use anyhow::{Context, bail};
use std::fmt::Write;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use sysdyno_fleet::{Broker, BrokerPlan, BrokerStatus};
use sysdyno_observe::host_addresses;

/// The port that brokers listen on.
const PORT: u16 = 4222;

/// Starts the broker, and says what to type on other hosts.
pub(super) fn up(folder: &Path, args: &FleetUpArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let listen = match &args.listen {
        Some(text) => listen_address(text)?,
        None if args.plaintext_loopback => SocketAddr::from(([127, 0, 0, 1], PORT)),
        None => SocketAddr::new(only_private_address()?, PORT),
    };
    let mut names = args.name.clone();
    if !listen.ip().is_unspecified() {
        names.push(listen.ip().to_string());
    }
    if names.is_empty() {
        bail!(
            "cannot start a broker on every address: its certificate needs a name\nhint: add --name NAME, by which agents reach this host"
        );
    }
    let mut broker = Broker::below(folder)?;
    broker.up(&BrokerPlan { listen, names, is_tls: !args.plaintext_loopback })?;
    broker.add(&args.agents)?;
    let status = broker.status().context("cannot start the broker: it has ended at once")?;
    ui.note(&format!("broker at {}, process {}", status.url, status.pid.unwrap_or_default()));
    let known: Vec<String> = status.members.iter().map(|member| member.name.clone()).collect();
    match known.is_empty() {
        true => ui.note("next: `sysdyno fleet add NAME` makes credentials for an agent"),
        false => ui.print(&to_type(&broker, &known)),
    }
    Ok(Exit::Done)
}

/// Makes credentials for agents.
pub(super) fn add(folder: &Path, names: &[String], ui: &Ui) -> anyhow::Result<Exit> {
    let mut broker = Broker::below(folder)?;
    broker.add(names)?;
    ui.print(&to_type(&broker, names));
    Ok(Exit::Done)
}

/// Locks agents out.
pub(super) fn remove(folder: &Path, names: &[String], ui: &Ui) -> anyhow::Result<Exit> {
    Broker::below(folder)?.remove(names)?;
    names.iter().for_each(|name| ui.note(&format!("{name}: locked out")));
    Ok(Exit::Done)
}

/// Stops the broker.
pub(super) fn down(folder: &Path, ui: &Ui) -> anyhow::Result<Exit> {
    let was_running = Broker::below(folder)?.down()?;
    ui.note(if was_running {
        "the broker has ended; its credentials are kept"
    } else {
        "no broker runs here"
    });
    Ok(Exit::Done)
}

/// Shows the broker.
pub(super) fn status(folder: &Path, ui: &Ui) -> anyhow::Result<Exit> {
    let Some(BrokerStatus { url, pid, members }) = Broker::below(folder)?.status() else {
        ui.note("there is no broker here");
        ui.note("hint: `sysdyno fleet up` starts one");
        return Ok(Exit::Done);
    };
    let state = pid.map_or("does not run".to_owned(), |pid| format!("process {pid}"));
    let mut text = format!("broker {url}: {state}\n");
    for member in &members {
        let _ = writeln!(text, "  agent {:<20} {}", member.name, member.key);
    }
    ui.print(&text);
    Ok(Exit::Done)
}

/// What an administrator types on each host.
fn to_type(broker: &Broker, names: &[String]) -> String {
    let mut text = String::from("Copy to each host, in any safe way, its own file:\n");
    let width = names.iter().map(String::len).max().unwrap_or_default();
    for name in names {
        let _ = writeln!(text, "  {name:<width$}  {}", broker.agent_file(name).display());
    }
    let _ = writeln!(
        text,
        "and start the agent there:\n  sysdyno fleet agent --creds {}.creds --allow load",
        names.first().map_or("NAME", String::as_str)
    );
    text
}

fn listen_address(text: &str) -> anyhow::Result<SocketAddr> {
    let found = text.parse().ok().or_else(|| Some(SocketAddr::new(text.parse().ok()?, PORT)));
    found.with_context(|| {
        format!("cannot listen on '{}': it is not ADDRESS or ADDRESS:PORT", text.escape_debug())
    })
}

/// The address at which agents reach this host, where there is only one that it could be.
fn only_private_address() -> anyhow::Result<IpAddr> {
    let is_private = |address: &IpAddr| match address {
        IpAddr::V4(address) => address.is_private(),
        IpAddr::V6(address) => address.is_unique_local(),
    };
    let all = host_addresses()?;
    let found: Vec<IpAddr> = all.iter().map(|one| one.address).filter(is_private).collect();
    match found[..] {
        [address] => Ok(address),
        _ => {
            let listed: Vec<String> = found.iter().map(IpAddr::to_string).collect();
            let listed = if listed.is_empty() { "none".to_owned() } else { listed.join(", ") };
            bail!(
                "cannot choose an address to listen on: this host has more than one private address, or none ({listed})\n\
                 hint: name it with --listen ADDRESS"
            )
        }
    }
}
