//! `sysdyno fleet agent`: this host as an agent.

use super::access::VERSION;
use crate::args::FleetAgentArgs;
use crate::exit::Exit;
use crate::here::program;
use crate::ui::{Signals, Ui};
use anyhow::Context;
use std::path::Path;
use std::sync::Arc;
use sysdyno_fleet::{AgentGate, AgentSetup, BrokerUrl, Credentials, NatsClient, Permission, serve_fleet};

/// What the process is called, wherever its file lies.
const NAME: &std::ffi::CStr = c"sysdyno-fleet";

/// Serves controllers until a signal comes.
pub(super) fn agent(folder: &Path, args: FleetAgentArgs, ui: &Ui) -> anyhow::Result<Exit> {
    // Only a name is lost if this fails.
    let _ = rustix::thread::set_name(NAME);
    let signals = Signals::listen().context("cannot listen to signals")?;
    let credentials = Credentials::read(&args.creds, args.ca.as_deref())?;
    let name = credentials.name.context(
        "cannot start the agent: its credentials name no agent\nhint: `sysdyno fleet add NAME`, where the broker runs, \
         makes credentials for an agent",
    )?;
    let typed = args.nats.as_deref().map(str::parse::<BrokerUrl>).transpose()?;
    let url = typed.or(credentials.broker).context(
        "cannot start the agent: its credentials name no broker\nhint: --nats tls://HOST:PORT names it",
    )?;
    let client = Arc::new(NatsClient::connect(&url, credentials.login, &format!("sysdyno agent {name}"))?);
    let words: Vec<&str> = args.allow.iter().map(|permission| Permission::word(*permission)).collect();
    let allowed = if words.is_empty() { "nothing (see --allow)".to_owned() } else { words.join(", ") };
    ui.note(&format!("agent '{name}' at {url}; allowed: {allowed}"));
    let setup = AgentSetup {
        state: folder.join("agent").join(&name),
        name,
        version: VERSION.to_owned(),
        labels: args.labels,
        gate: AgentGate { allows: args.allow, trusts_word: args.trust_target_is_mine },
        controllers: credentials.controllers,
        program: program()?,
    };
    serve_fleet(&client, setup, &mut |line| ui.note(line), &|| signals.is_interrupted())?;
    Ok(Exit::Done)
}
