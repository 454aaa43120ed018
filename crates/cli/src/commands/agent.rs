//! Agents: of this host, of the server's host, and this process as the agent of another one.

use crate::args::{AgentArgs, ServerOptions};
use crate::exit::Exit;
use crate::ui::Ui;
use anyhow::Context;
use std::fs::File;
use std::os::fd::AsFd;
use sysdyno_lab::LabError;
use sysdyno_lab::agent::{
    self, Agent, Answer, Connection, Link, LocalAgent, Notice, Proceed, RemoteAgent, Request, Ways,
};

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
    agent::serve(input, output, env!("CARGO_PKG_VERSION"))?;
    Ok(Exit::Done)
}

/// Reaches the server's host; `None`: the server is on this one, as far as the user says.
pub fn reach(options: &ServerOptions, ui: &Ui) -> anyhow::Result<Option<RemoteAgent>> {
    let Some(place) = &options.server else { return Ok(None) };
    let ways = Ways {
        program: std::env::current_exe().context("cannot find this program")?,
        ssh_config: options.ssh_config.clone(),
        uses_sudo: options.server_sudo,
    };
    let agent = RemoteAgent::meet(Connection::open(&place.0, &ways)?, env!("CARGO_PKG_VERSION"))?;
    let clock = agent.clock();
    ui.note(&match clock.is_same_clock {
        true => format!("reads host '{}' too, which has this host's clock", agent.host()),
        false => format!(
            "reads host '{}' too; its clock is known within {:.0} µs",
            agent.host(),
            clock.uncertainty_ns as f64 / 1e3
        ),
    });
    Ok(Some(agent))
}

/// Has the agent of this host do one thing.
pub fn ask(request: Request) -> Result<Answer, LabError> {
    LocalAgent::default().call(request, &mut Silent)
}

/// The other side of an agent that has nothing to tell before it is done.
struct Silent;

impl Link for Silent {
    fn notice(&mut self, _: Notice) -> Result<(), LabError> {
        Ok(())
    }

    fn tick(&mut self) -> Proceed {
        Proceed::Continue
    }
}
