//! Commands that run on a host of a lab alongside some work: a neighbor that uses CPUs, a client that holds a lock.
//!
//! A separate thread starts them in the host's network namespace, and they die with it. Each has its own session, and every
//! process of that session is gone at the end.

use super::labs::Labs;
use super::plan::LabPlan;
use super::stage::LabStage;
use super::{namespace, sys};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use sysdyno_record::command::CommandSpec;
use sysdyno_run::{RunError, clock};

/// How long they have to put right what they did.
const GRACE: Duration = Duration::from_secs(1);

/// Between two looks whether one has ended.
const STEP: Duration = Duration::from_millis(10);

/// Commands that run until this is dropped.
#[derive(Debug)]
pub struct Companions {
    /// Dropped first: the thread waits for that.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Companions {
    fn drop(&mut self) {
        drop(self.stop.take());
        // What it was to end, it has ended also if it died.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl LabStage {
    /// Starts commands on the host of a service.
    ///
    /// # Errors
    /// As [`Labs::beside`].
    pub(super) fn beside(
        &self,
        service: &str,
        commands: &[CommandSpec],
    ) -> Result<Option<Companions>, RunError> {
        let plan = &self.order.plan;
        let host = plan.host_of(service).unwrap_or_default();
        self.labs.beside(plan, host, commands)
    }
}

impl Labs {
    /// Starts commands on a host of this machine, with the places of services in their words filled in, and `{{SERVICE.pid}}`;
    /// `None`: there are none.
    ///
    /// # Errors
    /// The host is another machine, a word names no service that runs, or one cannot be started.
    pub fn beside(
        &self,
        plan: &LabPlan,
        host: &str,
        commands: &[CommandSpec],
    ) -> Result<Option<Companions>, RunError> {
        if commands.is_empty() {
            return Ok(None);
        }
        if plan.far(host).is_some() {
            let cause = format!("cannot run commands beside the load on '{host}': it is another machine");
            return Err(RunError::Refused(cause));
        }
        let filled: Vec<Vec<String>> = commands
            .iter()
            .map(|command| command.words.iter().map(|word| self.filled(plan, host, word)).collect())
            .collect::<Result<_, RunError>>()?;
        let path = namespace::path_of(&plan.name, host);
        let (stop, stopped) = channel();
        let (told, started) = channel();
        let begin = move || {
            let children = namespace::enter(&path).and_then(|()| start_all(&filled));
            let (children, said) = match children {
                Ok(children) => (children, Ok(())),
                Err(error) => (Vec::new(), Err(error)),
            };
            // Who asked waits for this.
            let _ = told.send(said);
            end(children, &stopped);
        };
        let cannot = |source| RunError::Process {
            operation: "run",
            object: format!("commands on host '{host}' of lab '{}'", plan.name),
            source,
        };
        let thread = std::thread::Builder::new().name("beside".into()).spawn(begin).map_err(cannot)?;
        let beside = Companions { stop: Some(stop), thread: Some(thread) };
        let said =
            started.recv().unwrap_or_else(|_| Err(io::Error::other("the thread that starts them died")));
        said.map(|()| Some(beside)).map_err(cannot)
    }

    fn filled(&self, plan: &LabPlan, host: &str, word: &str) -> Result<String, RunError> {
        let mut word = word.to_owned();
        for service in plan.services.iter().filter(|service| !service.is_off) {
            let place = format!("{{{{{}.pid}}}}", service.name);
            if !word.contains(&place) {
                continue;
            }
            let pid = self.pid_of(&plan.name, &service.name)?.ok_or_else(|| {
                RunError::Refused(format!("cannot run a command beside '{}': it has ended", service.name))
            })?;
            word = word.replace(&place, &pid.to_string());
        }
        plan.fill(host, &self.folder_of(&plan.name), &word)
    }
}

fn start_all(commands: &[Vec<String>]) -> io::Result<Vec<Child>> {
    let mut children = Vec::new();
    for words in commands {
        match start(words) {
            Ok(child) => children.push(child),
            Err(error) => {
                children.into_iter().for_each(end_one);
                return Err(error);
            }
        }
    }
    Ok(children)
}

fn start(words: &[String]) -> io::Result<Child> {
    let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    sys::namespace::bind_to_parent(&mut command);
    let named = |error: io::Error| {
        io::Error::new(error.kind(), format!("cannot start '{}': {error}", program.escape_debug()))
    };
    command.spawn().map_err(named)
}

/// Waits until nobody wants them any more, and ends them.
fn end(children: Vec<Child>, stopped: &Receiver<()>) {
    // Nothing is ever sent: it ends with the sender.
    let _ = stopped.recv();
    children.into_iter().for_each(end_one);
}

/// Ends it and all that it started: it leads its session, and so their group, whose number nobody else has before it is
/// waited for.
fn end_one(mut child: Child) {
    let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return };
    let _ = kill_process_group(group, Signal::TERM);
    let end = clock::monotonic().after(GRACE);
    while clock::monotonic() < end && is_running(group) {
        std::thread::sleep(STEP);
    }
    let _ = kill_process_group(group, Signal::KILL);
    let _ = child.wait();
}

fn is_running(pid: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::Pid(pid), options), Ok(None))
}
