//! A broker on this host: a nats-server with a configuration of its own, and credentials for a controller and for agents.
//!
//! ```text
//!   STATE/fleet/  broker.json   what it is: address, agents, process
//!                 broker.conf   the configuration of nats-server       broker.log
//!                 ca.pem ca.key server.pem server.key                  certificates
//!                 controller.creds   agents/NAME.creds                 credentials, mode 0600
//! ```
//! Everything is made from `broker.json`; credentials are made once and never again, so that an agent keeps its own.

mod certificate;
mod config;
mod process;

use self::certificate::Authority;
use self::config::Configuration;
use self::process::BrokerProcess;
use crate::credentials::{self, Credentials};
use crate::error::FleetError;
use crate::files;
use crate::nats::{BrokerUrl, NatsClient, PublicKey, SigningKey};
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use sysdyno_record::fleet::is_fleet_name;
use sysdyno_run::clock;

const SERVER_CERTIFICATE: &str = "server.pem";
const SERVER_KEY: &str = "server.key";
const AUTHORITY_CERTIFICATE: &str = "ca.pem";
const AUTHORITY_KEY: &str = "ca.key";
const CONFIGURATION: &str = "broker.conf";
const LOG: &str = "broker.log";
const STATE: &str = "broker.json";
const CONTROLLER: &str = "controller.creds";

/// How long a broker may take to come up.
const COMING_UP: Duration = Duration::from_secs(10);

/// Between two attempts to log in.
const AGAIN: Duration = Duration::from_millis(50);

/// What the broker's own connections are called.
const CLIENT: &str = "sysdyno fleet";

/// Most agents of a fleet.
const MAX_AGENTS: usize = 1024;

/// Longest file of its own. Unit: bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// How a broker is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokerPlan {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Names and addresses under which agents reach it, the one that they are told first.
    pub names: Vec<String>,
    /// Whether it is encrypted; without that it may listen on the loopback interface only.
    pub is_tls: bool,
}

/// An agent that a broker knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrokerMember {
    /// Its name.
    pub name: String,
    /// Its public key.
    pub key: String,
}

/// What a broker is, as kept on the disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct BrokerState {
    listen: SocketAddr,
    names: Vec<String>,
    is_tls: bool,
    members: Vec<BrokerMember>,
    process: Option<BrokerProcess>,
}

/// What a broker is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokerStatus {
    /// Its URL, as agents use it.
    pub url: BrokerUrl,
    /// Its process; `None`: it does not run.
    pub pid: Option<u32>,
    /// The agents that it knows.
    pub members: Vec<BrokerMember>,
}

/// The broker of a state folder.
#[derive(Debug)]
pub struct Broker {
    folder: PathBuf,
    state: Option<BrokerState>,
}

impl Broker {
    /// The broker of a folder, which need not be there.
    ///
    /// # Errors
    /// Its description cannot be read.
    pub fn below(folder: &Path) -> Result<Broker, FleetError> {
        let path = folder.join(STATE);
        let state = match files::open_to_read(&path) {
            Ok(file) => {
                let text = text_of(file).map_err(FleetError::io("read", shown(&path)))?;
                let state = serde_json::from_str(&text).map_err(std::io::Error::from);
                Some(state.map_err(FleetError::io("read", shown(&path)))?)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(FleetError::io("read", shown(&path))(error)),
        };
        Ok(Broker { folder: folder.to_owned(), state })
    }

    /// What it is; `None`: there is none.
    pub fn status(&self) -> Option<BrokerStatus> {
        let state = self.state.as_ref()?;
        let running = state.process.filter(|process| process.is_running());
        Some(BrokerStatus {
            url: url(state).ok()?,
            pid: running.map(|process| process.pid),
            members: state.members.clone(),
        })
    }

    /// The credentials of controllers.
    pub fn controller_file(&self) -> PathBuf {
        self.folder.join(CONTROLLER)
    }

    /// The credentials of an agent.
    pub fn agent_file(&self, name: &str) -> PathBuf {
        self.folder.join("agents").join(format!("{name}.creds"))
    }

    /// Configures it as planned and starts it, if it does not run as planned already.
    ///
    /// # Errors
    /// A file cannot be written, nats-server is not installed, or it does not come up.
    pub fn up(&mut self, plan: &BrokerPlan) -> Result<(), FleetError> {
        if !plan.is_tls && !plan.listen.ip().is_loopback() {
            return Err(FleetError::Refused(
                "cannot start a broker without TLS: it would listen beyond the loopback interface\nhint: leave out \
                 --plaintext-loopback"
                    .into(),
            ));
        }
        files::make_folder(&self.folder).map_err(FleetError::io("use", shown(&self.folder)))?;
        let old = self.state.take();
        let (listen, names, is_tls) = (plan.listen, plan.names.clone(), plan.is_tls);
        let is_same =
            old.as_ref().is_some_and(|old| (old.listen, &old.names, old.is_tls) == (listen, &names, is_tls));
        let running = old.as_ref().and_then(|old| old.process).filter(|process| process.is_running());
        let members = old.map_or_else(Vec::new, |old| old.members);
        self.state = Some(BrokerState { listen, names, is_tls, members, process: running });
        self.make_certificates(is_same)?;
        self.make_controller()?;
        self.refresh_agents()?;
        self.write()?;
        match running {
            Some(process) if is_same => {
                process.reload();
                return Ok(());
            }
            Some(process) => drop(process.end()),
            None => {}
        }
        let process = BrokerProcess::start(&self.folder.join(CONFIGURATION), &self.folder.join(LOG))?;
        self.state_mut()?.process = Some(process);
        self.write()?;
        self.await_login(process, &self.controller_file())
    }

    /// Waits until whoever has these credentials can log in.
    fn await_login(&self, process: BrokerProcess, file: &Path) -> Result<(), FleetError> {
        let credentials = Credentials::read(file, None)?;
        let url = self.local_url()?;
        let end = clock::monotonic().after(COMING_UP);
        loop {
            let failure = match NatsClient::connect(&url, credentials.login.clone(), CLIENT) {
                Ok(_) => return Ok(()),
                Err(error) => error,
            };
            if !process.is_running() {
                let words = process::last_words(&self.folder.join(LOG));
                return Err(FleetError::Refused(format!("cannot start nats-server: {words}")));
            }
            if clock::monotonic() > end {
                return Err(failure);
            }
            std::thread::sleep(AGAIN);
        }
    }

    /// Waits until whoever has these credentials cannot log in any more.
    fn await_refusal(&self, credentials: &Credentials) -> Result<(), FleetError> {
        let url = self.local_url()?;
        let end = clock::monotonic().after(COMING_UP);
        while NatsClient::connect(&url, credentials.login.clone(), CLIENT).is_ok() {
            if clock::monotonic() > end {
                return Err(FleetError::Refused(
                    "cannot lock the agent out: the broker still lets it in\nhint: restart the broker: `sysdyno fleet \
                     down`, then `sysdyno fleet up`"
                        .into(),
                ));
            }
            std::thread::sleep(AGAIN);
        }
        Ok(())
    }

    /// Its URL as this host reaches it: by an address that its certificate has.
    fn local_url(&self) -> Result<BrokerUrl, FleetError> {
        let state = self.state_ref()?;
        let listen = state.listen;
        if listen.ip().is_unspecified() {
            return url(state);
        }
        let scheme = if state.is_tls { "tls" } else { "nats" };
        format!("{scheme}://{listen}")
            .parse()
            .map_err(|error| FleetError::Refused(format!("cannot use the broker: {error}")))
    }

    /// Makes credentials for agents, and lets them in. Names that are known stay as they are.
    ///
    /// # Errors
    /// A name cannot be one, or a file cannot be written.
    pub fn add(&mut self, names: &[String]) -> Result<(), FleetError> {
        let mut last = None;
        for name in names {
            if !is_fleet_name(name) {
                return Err(FleetError::Refused(format!(
                    "cannot add agent '{}': a name has letters, digits, '-', and '_', and is not 'all'",
                    name.chars().take(80).collect::<String>().escape_debug()
                )));
            }
            if self.state_ref()?.members.iter().any(|member| member.name == *name) {
                continue;
            }
            if self.state_ref()?.members.len() == MAX_AGENTS {
                return Err(FleetError::Refused(format!(
                    "cannot add agent '{name}': a fleet has at most {MAX_AGENTS}"
                )));
            }
            let key = SigningKey::generate();
            self.write_agent(name, &key)?;
            let member = BrokerMember { name: name.clone(), key: key.public().to_string() };
            self.state_mut()?.members.push(member);
            last = Some(self.agent_file(name));
        }
        self.write()?;
        match (self.reload()?, last) {
            (Some(process), Some(file)) => self.await_login(process, &file),
            _ => Ok(()),
        }
    }

    /// Locks agents out, and removes their credentials here.
    ///
    /// # Errors
    /// One is not known, or a file cannot be written.
    pub fn remove(&mut self, names: &[String]) -> Result<(), FleetError> {
        let mut last = None;
        for name in names {
            let members = &mut self.state_mut()?.members;
            let Some(at) = members.iter().position(|member| member.name == *name) else {
                return Err(FleetError::Refused(format!(
                    "cannot remove agent '{}': it is not known\nhint: `sysdyno fleet status` lists the agents",
                    name.chars().take(80).collect::<String>().escape_debug()
                )));
            };
            members.remove(at);
            let path = self.agent_file(name);
            // One whose file is gone cannot be tried.
            last = Credentials::read(&path, None).ok().or(last);
            files::remove(&path).map_err(FleetError::io("remove", shown(&path)))?;
        }
        self.write()?;
        match (self.reload()?, last) {
            (Some(_), Some(credentials)) => self.await_refusal(&credentials),
            _ => Ok(()),
        }
    }

    /// Ends it; its credentials stay. False: it did not run.
    ///
    /// # Errors
    /// Its description cannot be written.
    pub fn down(&mut self) -> Result<bool, FleetError> {
        let Some(state) = self.state.as_mut() else { return Ok(false) };
        let was_running = state.process.take().is_some_and(BrokerProcess::end);
        self.write()?;
        Ok(was_running)
    }

    /// Has the broker read its configuration again; `None`: it does not run.
    fn reload(&self) -> Result<Option<BrokerProcess>, FleetError> {
        let running = self.state_ref()?.process.filter(|process| process.is_running());
        running.iter().for_each(|process| process.reload());
        Ok(running)
    }

    fn state_ref(&self) -> Result<&BrokerState, FleetError> {
        self.state.as_ref().ok_or_else(no_broker)
    }

    fn state_mut(&mut self) -> Result<&mut BrokerState, FleetError> {
        self.state.as_mut().ok_or_else(no_broker)
    }

    /// Writes its description, and the configuration that follows from it.
    fn write(&self) -> Result<(), FleetError> {
        let state = self.state_ref()?;
        let controller = Credentials::read(&self.controller_file(), None)?.login.key.public();
        let agents = state
            .members
            .iter()
            .filter_map(|member| Some((member.name.clone(), PublicKey::parse(&member.key)?)));
        let configuration = Configuration {
            listen: state.listen,
            folder: &self.folder,
            is_tls: state.is_tls,
            controller,
            agents: agents.collect(),
        };
        let text = serde_json::to_string_pretty(state).map_err(std::io::Error::from);
        let text = text.map_err(FleetError::io("write", shown(&self.folder.join(STATE))))?;
        self.put(STATE, &text)?;
        self.put(CONFIGURATION, &configuration.text())
    }

    fn put(&self, name: &str, text: &str) -> Result<(), FleetError> {
        let path = self.folder.join(name);
        files::replace(&path, text).map_err(FleetError::io("write", shown(&path)))
    }

    fn read(&self, name: &str) -> Option<String> {
        files::open_to_read(&self.folder.join(name)).and_then(text_of).ok()
    }

    /// Makes what is missing; a server's certificate anew where its names have changed.
    fn make_certificates(&self, is_same: bool) -> Result<(), FleetError> {
        let failed = |error: rcgen::Error| FleetError::Refused(format!("cannot make a certificate: {error}"));
        let authority = match (self.read(AUTHORITY_KEY), self.read(AUTHORITY_CERTIFICATE)) {
            (Some(key), Some(certificate)) => Authority { key, certificate },
            _ => {
                let authority = Authority::new().map_err(failed)?;
                self.put(AUTHORITY_KEY, &authority.key)?;
                self.put(AUTHORITY_CERTIFICATE, &authority.certificate)?;
                authority
            }
        };
        if is_same && self.read(SERVER_CERTIFICATE).is_some() && self.read(SERVER_KEY).is_some() {
            return Ok(());
        }
        let server = authority.server(&self.state_ref()?.names).map_err(failed)?;
        self.put(SERVER_KEY, &server.key)?;
        self.put(SERVER_CERTIFICATE, &server.certificate)
    }

    /// Writes the credentials of controllers, with a new key if there is none.
    fn make_controller(&self) -> Result<(), FleetError> {
        let known = Credentials::read(&self.controller_file(), None).ok();
        let key = known.map_or_else(SigningKey::generate, |known| {
            SigningKey::from_seed(&known.login.key.seed()).unwrap_or_else(SigningKey::generate)
        });
        let text = credentials::text(None, &url(self.state_ref()?)?, &[], &self.authority()?, &key);
        self.put(CONTROLLER, &text)
    }

    /// Writes the credentials of all agents again: the broker may have another address now.
    fn refresh_agents(&self) -> Result<(), FleetError> {
        for member in &self.state_ref()?.members {
            if let Ok(known) = Credentials::read(&self.agent_file(&member.name), None) {
                self.write_agent(&member.name, &known.login.key)?;
            }
        }
        Ok(())
    }

    fn write_agent(&self, name: &str, key: &SigningKey) -> Result<(), FleetError> {
        let folder = self.folder.join("agents");
        files::make_folder(&folder).map_err(FleetError::io("use", shown(&folder)))?;
        let controller = Credentials::read(&self.controller_file(), None)?.login.key.public();
        let url = url(self.state_ref()?)?;
        let text = credentials::text(Some(name), &url, &[controller], &self.authority()?, key);
        let path = self.agent_file(name);
        files::replace(&path, &text).map_err(FleetError::io("write", shown(&path)))
    }

    /// The authority's certificate, as PEM.
    fn authority(&self) -> Result<String, FleetError> {
        self.read(AUTHORITY_CERTIFICATE).ok_or_else(no_broker)
    }
}

fn url(state: &BrokerState) -> Result<BrokerUrl, FleetError> {
    let name = state.names.first().map_or_else(|| state.listen.ip().to_string(), Clone::clone);
    let name = if name.contains(':') { format!("[{name}]") } else { name };
    let scheme = if state.is_tls { "tls" } else { "nats" };
    let text = format!("{scheme}://{name}:{}", state.listen.port());
    text.parse().map_err(|error| FleetError::Refused(format!("cannot use the broker: {error}")))
}

fn no_broker() -> FleetError {
    FleetError::Refused(
        "cannot change the broker: there is none here\nhint: `sysdyno fleet up` starts one".into(),
    )
}

fn shown(path: &Path) -> String {
    format!("'{}'", path.display())
}

fn text_of(file: std::fs::File) -> std::io::Result<String> {
    let mut text = String::new();
    file.take(MAX_FILE_BYTES).read_to_string(&mut text)?;
    Ok(text)
}
