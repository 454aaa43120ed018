//! What an agent lets a controller do: a closed list of requests, each of which needs a permission that the agent's
//! administrator has given.
//!
//! | permission | requests |
//! |---|---|
//! | `load` | send a part of a load to another host |
//! | `loopback` | with `load`: to this host itself, at any of its addresses |
//! | `observe` | read counters, processes, listening sockets; take a profile |
//! | `lab` | carry out shares of labs: install and start programs, change settings, as the user of the agent |
//!
//! Facts and routes are told to whoever may load, observe, or bring up labs. Nothing is allowed that is not listed. A plan of a load
//! may not name files or Unix sockets of this host: a socket of a daemon that obeys whoever can connect would turn `load` into
//! starting programs. `lab` is the only permission that allows that, since the file of a lab says which programs run.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use sysdyno_observe::route;
use sysdyno_record::plan::{Endpoint, LoadPlan};
use sysdyno_record::route::Route;
use sysdyno_run::agent::wire::ToAgent;
use sysdyno_run::agent::{AgentRequest, PartCall};

/// Most threads of a part of a load, and most of its connections.
const MAX_THREADS: u32 = 1024;
const MAX_CONNECTIONS: u32 = 1_000_000;

/// Something that a controller may do on an agent's host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// Send load to other hosts.
    Load,
    /// Send load to the host itself.
    Loopback,
    /// Read the host.
    Observe,
    /// Carry out shares of labs.
    Lab,
}

impl Permission {
    /// All of them.
    pub const ALL: [Permission; 4] =
        [Permission::Load, Permission::Loopback, Permission::Observe, Permission::Lab];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Permission::Load => "load",
            Permission::Loopback => "loopback",
            Permission::Observe => "observe",
            Permission::Lab => "lab",
        }
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.word())
    }
}

/// A word that is no permission.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a permission\nhint: use load, loopback, observe, or lab, separated by commas")]
pub struct NoPermission(String);

impl FromStr for Permission {
    type Err = NoPermission;

    fn from_str(text: &str) -> Result<Permission, NoPermission> {
        let found = Permission::ALL.into_iter().find(|permission| permission.word() == text);
        found
            .ok_or_else(|| NoPermission(text.chars().take(40).collect::<String>().escape_debug().to_string()))
    }
}

/// What a controller may do here.
#[derive(Clone, Debug)]
pub struct AgentGate {
    /// The permissions that were given.
    pub allows: Vec<Permission>,
    /// Whether a controller's word counts that a target behind a router is its user's to load.
    pub trusts_word: bool,
}

impl AgentGate {
    /// A message as it may be passed on, or why it may not.
    pub(crate) fn pass(&self, message: ToAgent) -> Result<ToAgent, String> {
        match message {
            ToAgent::Hello(_) | ToAgent::Ping { .. } | ToAgent::Order(_) => Ok(message),
            ToAgent::Call(AgentRequest::Part(call)) => {
                self.need(Permission::Load, "send load")?;
                self.pass_part(*call).map(|call| ToAgent::Call(AgentRequest::Part(Box::new(call))))
            }
            ToAgent::Call(call) => self.pass_call(call).map(ToAgent::Call),
        }
    }

    fn pass_call(&self, call: AgentRequest) -> Result<AgentRequest, String> {
        match &call {
            AgentRequest::Facts
            | AgentRequest::Describe(_)
            | AgentRequest::Route(_)
            | AgentRequest::Links(_) => {
                if !self.has(Permission::Load) && !self.has(Permission::Lab) {
                    self.need(Permission::Observe, "read it")?;
                }
            }
            AgentRequest::StartSampling(_)
            | AgentRequest::Read
            | AgentRequest::StopSampling
            | AgentRequest::Survey
            | AgentRequest::Listening
            | AgentRequest::Profile(_) => self.need(Permission::Observe, "read it")?,
            AgentRequest::Share(_) => self.need(Permission::Lab, "bring up labs")?,
            AgentRequest::Part(_) => return Err("it was not checked".into()),
        }
        Ok(call)
    }

    /// A part of a load that this host may send, or why it may not.
    fn pass_part(&self, mut call: PartCall) -> Result<PartCall, String> {
        let plan = call.load_plan();
        let targets = std::iter::once(&plan.target).chain(plan.probes.iter().map(|probed| &probed.target));
        for target in targets {
            match &target.endpoint {
                Endpoint::Unix(_) => {
                    return Err("its administrator does not allow loads over Unix sockets".into());
                }
                Endpoint::Tcp(address) if is_own(address.ip()) => {
                    self.need(Permission::Loopback, "load this host itself")?;
                }
                Endpoint::Tcp(_) => {}
            }
        }
        if names_files(plan) {
            return Err(
                "a load of a fleet may not name files of the agent's host, such as those of --tls-ca, \
                        --tls-cert, and --tls-key"
                    .into(),
            );
        }
        let hosts = call.hosts.max(1);
        if plan.threads / hosts > MAX_THREADS || plan.connections / hosts > MAX_CONNECTIONS {
            return Err(format!(
                "a part has at most {MAX_THREADS} threads and {MAX_CONNECTIONS} connections"
            ));
        }
        call.is_target_mine &= self.trusts_word;
        Ok(call)
    }

    fn has(&self, permission: Permission) -> bool {
        self.allows.contains(&permission)
    }

    fn need(&self, permission: Permission, what: &str) -> Result<(), String> {
        if self.has(permission) {
            return Ok(());
        }
        let mut words: Vec<&str> = self.allows.iter().map(|one| one.word()).collect();
        words.push(permission.word());
        Err(format!(
            "its administrator does not allow controllers to {what}\nhint: start the agent there with --allow {}",
            words.join(",")
        ))
    }
}

/// Whether packets to an address never leave the host: one of the loopback interface or of another one, also in IPv6 clothing.
fn is_own(address: IpAddr) -> bool {
    address.to_canonical().is_unspecified() || route(address, None) == Route::Own
}

/// Whether a plan names files, or is of a kind that is made from files and not divided over hosts.
fn names_files(plan: &LoadPlan) -> bool {
    let (tls, workload) = (plan.wire.tls.as_ref(), &plan.workload);
    let for_tls = tls
        .is_some_and(|tls| tls.ca_file.is_some() || tls.certificate_file.is_some() || tls.key_file.is_some());
    for_tls || !workload.files.is_empty() || workload.log.is_some() || workload.session.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_observe::host_addresses;
    use sysdyno_record::plan::Target;
    use sysdyno_run::agent::wire::PartSignal;

    fn gate(words: &str) -> AgentGate {
        let allows = words.split_terminator(',').map(|word| word.parse().expect("a permission")).collect();
        AgentGate { allows, trusts_word: false }
    }

    /// A part of a load as a controller sends it.
    fn part(endpoint: Endpoint) -> AgentRequest {
        let target = Target { url: "http://x/".into(), endpoint, host: "x".into(), path: "/".into() };
        let plan = LoadPlan::plain(target);
        let call = serde_json::json!({
            "trial": 1, "host": 0, "hosts": 1, "threads_before": 0, "machine_threads": 1,
            "is_target_mine": true, "plan": plan, "body": [],
        });
        AgentRequest::Part(Box::new(serde_json::from_value(call).expect("a part")))
    }

    fn at(address: &str) -> Endpoint {
        Endpoint::Tcp(address.parse().expect("an address"))
    }

    fn is_passed(words: &str, request: AgentRequest) -> bool {
        gate(words).pass(ToAgent::Call(request)).is_ok()
    }

    #[test]
    fn nothing_is_allowed_that_was_not_given() {
        let share = || AgentRequest::Share(serde_json::json!({}));
        for request in [AgentRequest::Facts, AgentRequest::Survey, share(), part(at("10.0.0.1:80"))] {
            assert!(!is_passed("", request.clone()), "{request:?}");
        }
        assert!(is_passed("load", AgentRequest::Facts) && is_passed("observe", AgentRequest::Facts));
        assert!(is_passed("load", part(at("10.0.0.1:80"))) && !is_passed("observe", part(at("10.0.0.1:80"))));
        assert!(is_passed("observe", AgentRequest::Survey) && !is_passed("load", AgentRequest::Survey));
        assert!(!is_passed("load,loopback,observe", share()) && is_passed("lab", share()));
        assert!(!is_passed("lab", AgentRequest::Survey) && !is_passed("lab", part(at("10.0.0.1:80"))));
        assert!(gate("").pass(ToAgent::Ping { sequence: 1 }).is_ok());
        assert!(gate("").pass(ToAgent::Order(PartSignal::Stop)).is_ok());
    }

    #[test]
    fn a_refusal_says_what_to_start_the_agent_with() {
        let told = gate("observe").pass(ToAgent::Call(part(at("10.0.0.1:80")))).expect_err("is refused");
        assert!(told.ends_with("hint: start the agent there with --allow observe,load"), "{told}");
    }

    #[test]
    fn a_load_reaches_neither_the_host_itself_nor_its_sockets() {
        for own in
            ["127.0.0.1:80", "127.8.0.1:80", "[::1]:80", "[::ffff:127.0.0.1]:80", "0.0.0.0:80", "[::]:80"]
        {
            assert!(!is_passed("load", part(at(own))), "{own}");
            assert!(is_passed("load,loopback", part(at(own))), "{own}");
        }
        for own in host_addresses().expect("the kernel lists them") {
            let own = Endpoint::Tcp((own.address, 80).into());
            assert!(!is_passed("load", part(own.clone())), "{own:?}");
        }
        let socket = || part(Endpoint::Unix("/run/docker.sock".into()));
        assert!(!is_passed("load,loopback,observe", socket()));
    }

    #[test]
    fn a_load_names_no_file_of_the_host() {
        let AgentRequest::Part(call) = part(at("10.0.0.1:80")) else { panic!("it is another request") };
        let passes = |edit: &dyn Fn(&mut serde_json::Value)| {
            let mut value = serde_json::to_value(&call).expect("encodes");
            edit(&mut value["plan"]);
            let call = serde_json::from_value(value).expect("a part");
            is_passed("load", AgentRequest::Part(Box::new(call)))
        };
        assert!(passes(&|_| {}));
        let tls = |key: &'static str| {
            move |plan: &mut serde_json::Value| {
                plan["wire"] = serde_json::json!({ "tls": {
                    "server_name": "x", "version": null, "resume_ratio": 0.0, "is_insecure": false,
                    "ca_file": null, "certificate_file": null, "key_file": null,
                }});
                if !key.is_empty() {
                    plan["wire"]["tls"][key] = "/etc/shadow".into();
                }
            }
        };
        assert!(passes(&tls("")));
        for key in ["ca_file", "certificate_file", "key_file"] {
            assert!(!passes(&tls(key)), "{key}");
        }
    }

    #[test]
    fn a_controllers_word_counts_only_where_it_is_trusted() {
        for trusts_word in [false, true] {
            let gate = AgentGate { trusts_word, ..gate("load") };
            let passed = gate.pass(ToAgent::Call(part(at("10.0.0.1:80")))).expect("passes");
            let ToAgent::Call(AgentRequest::Part(call)) = passed else { panic!("it is another request") };
            assert_eq!(call.is_target_mine, trusts_word);
        }
    }
}
