//! What the crash tests stand on: the program, its processes, a state folder, and the count of what was seen.

use crate::snapshot::{OWN_FILE, Snapshot};
use rustix::process::{Pid, Signal, WaitOptions};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long anything may take before it counts as hung.
const LIMIT: Duration = Duration::from_secs(60);

/// Where second copies of journals are.
pub const SPOOL: &str = "/var/spool/sysdyno";

/// Mounts the sysfs of this network namespace, with the control groups that are below that of the host.
const OWN_SYS: &str = "kept=$(mktemp -d) && mount --rbind /sys/fs/cgroup $kept; mount -t sysfs sysfs /sys && \
                       mount --rbind $kept /sys/fs/cgroup; umount -l $kept; rmdir $kept";

/// How a run of the program ended.
pub struct Ended {
    /// Exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// What it printed, both streams.
    pub text: String,
}

impl fmt::Display for Ended {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "exit {:?}: {}", self.code, self.text)
    }
}

/// Counts of what was seen.
#[derive(Debug, Default)]
pub struct Counts {
    /// Points at which something was killed.
    pub kills: u32,
    /// System calls that failed.
    pub failures: u32,
    /// Pairs of kills.
    pub double_kills: u32,
    /// Times the guardian alone had put everything back.
    pub by_guardian: u32,
    /// Times that everything was as before.
    pub restored: u32,
    /// Settings that somebody else had changed, and that were left alone.
    pub conflicts: u32,
    /// Points at which something happened to the state folder.
    pub losses: u32,
    /// Programs of others that hung.
    pub hangs: u32,
    /// What was wrong.
    pub wrong: Vec<String>,
}

/// The stage.
pub struct Rig {
    folder: TempDir,
    /// How long programs that the program starts may take, if not as long as they have.
    pub program_timeout: Option<&'static str>,
    /// The state folder, if it is not in the folder of the stage.
    pub elsewhere: Option<PathBuf>,
    /// What everything was at the beginning.
    pub before: Snapshot,
    /// What was seen.
    pub counts: Counts,
    /// Whether all points are taken, or a sample.
    pub is_whole: bool,
    /// Whether only system calls by which something changes are points.
    pub has_effects_only: bool,
    /// How many points of each sweep a sample takes.
    pub sample: usize,
    /// Servers that run all the time.
    pub servers: Vec<u32>,
    /// The changes that sweeps make.
    pub changes: Vec<String>,
    begun: Instant,
}

impl Rig {
    /// A stage in the present namespaces.
    pub fn new() -> Rig {
        // Guardians outlive their parents; this process waits for them.
        rustix::process::set_child_subreaper(Some(rustix::process::getpid())).expect("can be a subreaper");
        run(Command::new("sh").args(["-c", OWN_SYS]));
        // Second copies of journals do not depend on the state folder; the host's are not touched.
        let spool =
            run(Command::new("mount").args(["-t", "tmpfs", "-o", "mode=0755", "tmpfs", "/var/spool"]));
        assert_eq!(spool.code, Some(0), "{spool}");
        let folder = tempfile::Builder::new().prefix(OWN_FILE).tempdir().expect("a folder");
        let is_whole = std::env::var("SYSDYNO_CRASH_TESTS").is_ok_and(|which| which == "all");
        let begun = Instant::now();
        Rig {
            folder,
            program_timeout: None,
            elsewhere: None,
            before: Snapshot::take(),
            counts: Counts::default(),
            is_whole,
            has_effects_only: false,
            sample: 8,
            servers: Vec::new(),
            changes: Vec::new(),
            begun,
        }
    }

    /// A folder of the stage.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The state folder.
    pub fn state(&self) -> PathBuf {
        self.elsewhere.clone().unwrap_or_else(|| self.folder.path().join("state"))
    }

    /// The program with arguments of `tune`.
    pub fn tune(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sysdyno"));
        self.prepare(&mut command);
        command.arg("tune").args(arguments);
        command
    }

    /// The program under strace with `options`.
    pub fn traced(&self, options: &[&str], arguments: &[&str]) -> Command {
        let mut command = Command::new("strace");
        self.prepare(&mut command);
        command.arg("-qq").args(options).arg(env!("CARGO_BIN_EXE_sysdyno")).arg("tune").args(arguments);
        command
    }

    fn prepare(&self, command: &mut Command) {
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.envs(std::env::var_os("SYSDYNO_TARGET_ALLOW").map(|allow| ("SYSDYNO_TARGET_ALLOW", allow)));
        command.env("SYSDYNO_STATE_DIR", self.state()).stdin(Stdio::null());
        command.envs(self.program_timeout.map(|timeout| ("SYSDYNO_PROGRAM_TIMEOUT", timeout)));
    }

    /// Runs the program.
    pub fn ask(&self, arguments: &[&str]) -> Ended {
        run(&mut self.tune(arguments))
    }

    /// Runs the program, which has to end with this code.
    pub fn expect(&self, arguments: &[&str], code: i32) -> Ended {
        let ended = self.ask(arguments);
        assert_eq!(ended.code, Some(code), "{arguments:?}: {ended}");
        ended
    }

    /// Waits until every process that was left behind has ended.
    pub fn wait_for_orphans(&self) {
        let have_ended = self.have_orphans_ended();
        let left: Vec<String> = self.others().into_iter().map(described).collect();
        assert!(have_ended, "a process does not end: {left:#?}");
    }

    /// Whether every process that was left behind ends within the limit.
    pub fn have_orphans_ended(&self) -> bool {
        let begun = Instant::now();
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some(_)) => {}
                Ok(None) if self.others().is_empty() => return true,
                Ok(None) if begun.elapsed() >= LIMIT => return false,
                Ok(None) => std::thread::sleep(Duration::from_millis(1)),
                Err(_) => return true,
            }
        }
    }

    /// Children that live and are no servers of the stage.
    fn others(&self) -> Vec<i32> {
        let own = std::process::id();
        let children = fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
        let pids = children.split_whitespace().filter_map(|pid| pid.parse().ok());
        pids.filter(|pid| self.servers.iter().all(|server| i32::try_from(*server) != Ok(*pid))).collect()
    }

    /// Guardians that live.
    pub fn guardians(&self) -> Vec<Pid> {
        let own = std::process::id();
        let children = fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
        let is_guardian = |pid: &i32| {
            fs::read_to_string(format!("/proc/{pid}/comm"))
                .is_ok_and(|name| name.trim() == "tune-guardian" || name.trim() == "sysdyno")
        };
        let pids = children.split_whitespace().filter_map(|pid| pid.parse().ok()).filter(is_guardian);
        pids.filter_map(Pid::from_raw).collect()
    }

    /// Kills guardians, as memory shortage or a person might, and waits until they are gone.
    pub fn kill_guardians(&self) {
        for pid in self.guardians() {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
            let _ = rustix::process::waitpid(Some(pid), WaitOptions::empty());
        }
    }

    /// Counts whether everything is as before.
    pub fn check(&mut self, what: &str) -> bool {
        let differences = self.before.differences(&Snapshot::take());
        let count = |folder: PathBuf| fs::read_dir(folder.join("tune/open")).map_or(0, Iterator::count);
        let left = count(self.state()) + count(SPOOL.into());
        let is_clean = differences.is_empty() && left == 0;
        if is_clean {
            self.counts.restored += 1;
        } else {
            self.wrong(format!("{what}: {left} journals left open, {differences:?}"));
            // One mistake is one mistake: the next point starts from where this one should have ended.
            self.kill_guardians();
            self.before.write_back(&Snapshot::take());
        }
        is_clean
    }

    /// Notes what was wrong.
    pub fn wrong(&mut self, what: String) {
        println!("FAILED: {what}");
        self.counts.wrong.push(what);
        assert!(self.counts.wrong.len() < 20, "too much is wrong to go on");
    }

    /// Empties the state folder, so that thousands of journals do not slow the next ones down.
    pub fn forget(&self) {
        let _ = fs::remove_dir_all(self.state());
        let _ = fs::remove_dir_all(SPOOL);
    }

    /// Prints what was seen.
    pub fn figures(self) -> ExitCode {
        let Counts { kills, failures, double_kills, by_guardian, restored, conflicts, wrong, .. } =
            &self.counts;
        let Counts { losses, hangs, .. } = &self.counts;
        println!(
            "crash tests: {kills} kill points, {double_kills} double kills, {failures} failed system calls, {losses} losses of \
             the state folder, {hangs} programs that hung; {restored} restored ({by_guardian} by the guardian alone), {conflicts} conflicts left alone, {} wrong; {} values \
             compared each time; {:.0} s",
            wrong.len(),
            self.before.len(),
            self.begun.elapsed().as_secs_f64()
        );
        if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// Runs a command to its end.
pub fn run(command: &mut Command) -> Ended {
    let Output { status, stdout, stderr } = command.output().expect("a program can be run");
    let text = String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned();
    Ended { code: status.code(), text }
}

/// Whether something becomes true within the limit.
pub fn wait_until(is_so: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < LIMIT {
        if is_so() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    false
}

/// What a process that should have ended is at: its name, state, system call, and descriptors.
fn described(pid: i32) -> String {
    let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
    let status = read("status");
    let state: Vec<&str> =
        status.lines().filter(|line| line.starts_with("Name:") || line.starts_with("State:")).collect();
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let opened: Vec<String> = descriptors
        .filter_map(|entry| Some(fs::read_link(entry.path()).ok()?.to_string_lossy().into_owned()))
        .collect();
    format!("{pid}: {state:?}, in '{}' ({}), with {opened:?}", read("syscall").trim(), read("wchan").trim())
}
