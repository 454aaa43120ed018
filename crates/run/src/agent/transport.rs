//! Connections to agents: to a process that this one starts, in a network namespace of this machine or through the system's
//! `ssh`, or through a tunnel that somebody else has made ([`AgentTunnel`]).
//!
//! Each process is a child of this process in its own process group, so that a Ctrl-C on the terminal does not reach it before this
//! process has decided what it means. No shell interprets user input: hosts are arguments, and the other host's shell only
//! gets constants, a length, and a digest.

use super::upload::{self, Upload};
use crate::error::{RunError, escaped};
use crate::program::Watchdog;
use std::fmt;
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;
use sysdyno_record::place::{HostPlace, HostWay, SshAddress};

/// Maximum amount kept of a process's standard error. Unit: bytes.
const MAX_SAID_BYTES: usize = 4096;

/// Most of it that is shown, in characters.
const SHOWN_CHARS: usize = 300;

/// How long a process that was ended may take to say its last words.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// How often an agent behind a pipe hears of this side.
const HEARTBEAT: Duration = Duration::from_secs(1);

const OWN_HINT: &str = "hint: this program must be able to start itself";
const NAMESPACE_HINT: &str = "hint: `ip netns list` lists the names; only root may enter a network namespace";
const SSH_HINT: &str = "hint: ssh must work without prompts: load your key, and accept the host's key; test \
                        with `ssh -o BatchMode=yes -o StrictHostKeyChecking=yes HOST true`";
/// Once the shell of the other host has spoken.
const SHELL_HINT: &str = "hint: sysdyno runs there from $TMPDIR or /tmp, which must have room for it and \
                          must not be mounted noexec; it needs mktemp, head, and sha256sum";
const FLEET_HINT: &str = "hint: `sysdyno fleet ls` shows which agents answer";
const SUDO_HINT: &str = "hint: sudo must work without a password: test with `ssh HOST sudo -n true`";

/// How to reach hosts.
#[derive(Clone, Debug)]
pub struct Ways {
    /// This program.
    pub program: PathBuf,
    /// Configuration for `ssh`; `None`: the user's own.
    pub ssh_config: Option<PathBuf>,
    /// Whether the agent on the other side is started by `sudo -n`.
    pub uses_sudo: bool,
    /// The fleet whose agents are meant; `None`: there is none.
    pub fleet: Option<Arc<dyn FleetWay>>,
}

/// The way to the agents of a fleet.
pub trait FleetWay: fmt::Debug + Send + Sync {
    /// Connects to the agent of a place.
    ///
    /// # Errors
    /// The broker cannot be reached, or the agent does not answer.
    fn open(&self, place: &HostPlace) -> Result<AgentConnection, RunError>;
}

/// Both directions of a connection to an agent.
pub struct AgentPipes {
    /// What the agent hears.
    pub input: File,
    /// What it says.
    pub output: File,
}

/// A way to an agent that is not a process of this host.
pub trait AgentTunnel: Send {
    /// Ends it, and says why it ended, if it did so by itself. Called again, it does nothing.
    fn end(&mut self) -> Option<String>;
}

/// A connection to an agent, with its pipes. It is ended when this is dropped.
pub struct AgentConnection {
    place: HostPlace,
    carrier: Carrier,
    pipes: Option<AgentPipes>,
    heartbeat: Duration,
    /// A hint for the case that the agent does not come up, at its current stage.
    hint: &'static str,
}

/// What is behind the pipes.
enum Carrier {
    Process { child: Child, said: Receiver<String> },
    Tunnel(Box<dyn AgentTunnel>),
}

impl AgentConnection {
    /// Starts an agent on a host. Whether it comes up is seen by its hello.
    ///
    /// # Errors
    /// No process can be started, or this program cannot be uploaded.
    pub fn open(place: &HostPlace, ways: &Ways) -> Result<AgentConnection, RunError> {
        match &place.way {
            HostWay::Here => AgentConnection::start(place, agent_command(ways), OWN_HINT),
            HostWay::Namespace(path) => {
                AgentConnection::start(place, namespace_command(path, ways), NAMESPACE_HINT)
            }
            HostWay::Ssh(address) => {
                let script = upload::script(ways.uses_sudo);
                let mut connection =
                    AgentConnection::start(place, ssh_command(address, &script, ways), SSH_HINT)?;
                connection.upload(ways)?;
                Ok(connection)
            }
            HostWay::Fleet(_) => match &ways.fleet {
                Some(fleet) => fleet.open(place),
                None => Err(RunError::Reach {
                    host: place.name.clone(),
                    cause: "this command does not use a fleet".into(),
                    hint: "hint: use netns:NAME, or USER@HOST for ssh".into(),
                }),
            },
        }
    }

    /// An agent behind a tunnel, which shall hear of this side so often.
    pub fn through(
        place: &HostPlace,
        tunnel: Box<dyn AgentTunnel>,
        pipes: AgentPipes,
        heartbeat: Duration,
    ) -> AgentConnection {
        let (place, carrier, pipes) = (place.clone(), Carrier::Tunnel(tunnel), Some(pipes));
        AgentConnection { place, carrier, pipes, heartbeat, hint: FLEET_HINT }
    }

    /// An agent of this host for somebody else, who holds a lease: its part of a load ends when nothing is heard for `lease`.
    ///
    /// # Errors
    /// No process can be started.
    pub fn leased(program: &Path, lease: Duration) -> Result<AgentConnection, RunError> {
        let place = HostPlace { name: "here".into(), way: HostWay::Here };
        let mut command = Command::new(program);
        command.args(["agent", "--stdio", "--lease", &format!("{}ms", lease.as_millis())]);
        AgentConnection::start(&place, command, OWN_HINT)
    }

    fn start(
        place: &HostPlace,
        mut command: Command,
        hint: &'static str,
    ) -> Result<AgentConnection, RunError> {
        let failed = |source| RunError::Process {
            operation: "start",
            object: format!("'{}' for host '{}'", command_name(&place.way), place.name),
            source,
        };
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(failed)?;
        let files = child.stdin.take().zip(child.stdout.take());
        let pipes = files.map(|(input, output)| AgentPipes {
            input: OwnedFd::from(input).into(),
            output: OwnedFd::from(output).into(),
        });
        let (sender, said) = mpsc::channel();
        let errors = child.stderr.take();
        std::thread::spawn(move || {
            // Nobody may ask for it.
            let _ = sender.send(errors.map_or_else(String::new, last_words));
        });
        let (place, carrier) = (place.clone(), Carrier::Process { child, said });
        Ok(AgentConnection { place, carrier, pipes, heartbeat: HEARTBEAT, hint })
    }

    /// The host, as it was typed.
    pub(super) fn host(&self) -> &str {
        &self.place.name
    }

    /// Whether it leads through a tunnel, whose last words say all.
    pub(super) fn is_tunnel(&self) -> bool {
        matches!(self.carrier, Carrier::Tunnel(_))
    }

    /// How often the agent shall hear of this side.
    pub(super) fn heartbeat(&self) -> Duration {
        self.heartbeat
    }

    /// Both ends of the agent's pipes; once.
    ///
    /// # Panics
    /// If they are taken twice.
    pub fn take_pipes(&mut self) -> AgentPipes {
        self.pipes.take().expect("both are piped, and are taken once")
    }

    /// Sends this program over, or that of the other host's kind of machine; the agent that it becomes speaks first.
    fn upload(&mut self, ways: &Ways) -> Result<(), RunError> {
        let Some(pipes) = self.pipes.as_mut() else { return Ok(()) };
        let machine = upload::machine(&mut pipes.output).map_err(|cause| self.failure(&cause))?;
        self.hint = if ways.uses_sudo { SUDO_HINT } else { SHELL_HINT };
        let program = upload::program_for(&machine, &ways.program);
        let host = self.place.name.clone();
        let program = program.map_err(|(cause, hint)| RunError::Reach { host, cause, hint })?;
        let upload = Upload::of(&program)?;
        let Carrier::Process { child, .. } = &self.carrier else { return Ok(()) };
        let watchdog = Watchdog::over(child, upload::LIMIT);
        let sent = watchdog.and_then(|watchdog| {
            let sent = self.pipes.as_mut().map_or(Ok(()), |pipes| upload.send(&mut pipes.input));
            watchdog.judge(sent, upload::LIMIT)
        });
        sent.map_err(|error| self.failure(&format!("the program cannot be sent there: {error}")))
    }

    /// Why the agent did not come up: its process's last output, or else `cause`.
    pub(super) fn failure(&mut self, cause: &str) -> RunError {
        let said = self.end();
        RunError::Reach {
            host: self.place.name.clone(),
            cause: said.unwrap_or_else(|| cause.to_owned()),
            hint: self.hint.to_owned(),
        }
    }

    /// Ends the process, and says what it said last, escaped; `None`: nothing, or it was heard already.
    pub fn end(&mut self) -> Option<String> {
        drop(self.pipes.take());
        let said = match &mut self.carrier {
            Carrier::Process { child, said } => last_of(child, said)?,
            Carrier::Tunnel(tunnel) => tunnel.end()?,
        };
        let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let last = lines[lines.len().saturating_sub(2)..].join("; ");
        let shown = escaped(last.trim_start_matches("error: "), SHOWN_CHARS);
        (!shown.is_empty()).then_some(shown)
    }
}

/// Ends a process; what it said last.
fn last_of(child: &mut Child, said: &Receiver<String>) -> Option<String> {
    // Its own end says more than what a signal leaves of it.
    let words = said.recv_timeout(LAST_WORDS).ok();
    // It may have ended already.
    let _ = child.kill();
    let _ = child.wait();
    words.or_else(|| said.recv_timeout(LAST_WORDS).ok())
}

impl Drop for AgentConnection {
    fn drop(&mut self) {
        // The end of its input ends an agent, and lets the shell around it clean up.
        let _ = self.end();
    }
}

fn command_name(way: &HostWay) -> &'static str {
    match way {
        HostWay::Here | HostWay::Namespace(_) | HostWay::Fleet(_) => "sysdyno agent",
        HostWay::Ssh(_) => "ssh",
    }
}

fn agent_command(ways: &Ways) -> Command {
    let mut command = Command::new(&ways.program);
    command.args(["agent", "--stdio"]);
    command
}

fn namespace_command(path: &Path, ways: &Ways) -> Command {
    let mut command = agent_command(ways);
    command.arg("--netns").arg(path);
    command
}

fn ssh_command(address: &SshAddress, script: &str, ways: &Ways) -> Command {
    ssh_with("-T", address, script, ways)
}

/// Runs a script of another host's shell with the terminal of this process, if it has one.
pub fn terminal_command(address: &SshAddress, script: &str, ways: &Ways) -> Command {
    ssh_with(if io::stdin().is_terminal() { "-t" } else { "-T" }, address, script, ways)
}

fn ssh_with(terminal: &str, address: &SshAddress, script: &str, ways: &Ways) -> Command {
    let mut command = Command::new("ssh");
    command.args([terminal, "-x", "-a"]);
    for option in SSH_OPTIONS {
        command.args(["-o", option]);
    }
    if let Some(file) = &ways.ssh_config {
        command.arg("-F").arg(file);
    }
    if let Some(port) = address.port {
        command.args(["-p", &port.to_string()]);
    }
    if let Some(user) = &address.user {
        command.args(["-l", user]);
    }
    command.arg("--").arg(&address.host).arg(script);
    command
}

/// Nothing is asked, no unknown host is believed, nothing is forwarded, and a dead link is noticed.
const SSH_OPTIONS: &[&str] = &[
    "BatchMode=yes",
    "StrictHostKeyChecking=yes",
    "ClearAllForwardings=yes",
    "PermitLocalCommand=no",
    "EscapeChar=none",
    "ControlPath=none",
    "LogLevel=ERROR",
    "ConnectTimeout=10",
    "ServerAliveInterval=5",
    "ServerAliveCountMax=3",
];

/// The end of the output; reading continues so that the writer never blocks.
fn last_words(mut errors: ChildStderr) -> String {
    let (mut kept, mut piece) = (Vec::new(), [0; 1024]);
    loop {
        match errors.read(&mut piece) {
            Ok(0) => break,
            Ok(length) => {
                kept.extend_from_slice(&piece[..length]);
                kept.drain(..kept.len().saturating_sub(MAX_SAID_BYTES));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    String::from_utf8_lossy(&kept).into_owned()
}
