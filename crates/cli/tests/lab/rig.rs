//! What the tests of labs stand on: the program, a state folder, and a look at everything that a lab may leave.

use rustix::process::{WaitOptions, wait};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use sysdyno_needs::skip;
use tempfile::TempDir;

/// How long anything may take before it counts as hung.
const LIMIT: Duration = Duration::from_secs(120);

/// Whether the kernel limits CPU time, memory, and processes by cgroups; the test is skipped if not.
pub fn has_limits(test: &str) -> bool {
    let controllers = ["cpu", "memory", "pids"];
    let is_first =
        controllers.iter().all(|name| Path::new(&format!("/sys/fs/cgroup/{name}/cgroup.procs")).exists());
    let passed_on = fs::read_to_string("/sys/fs/cgroup/cgroup.subtree_control").unwrap_or_default();
    let is_second = controllers.iter().all(|name| passed_on.split_whitespace().any(|other| other == *name));
    if !is_first && !is_second {
        skip(test, &["cgroup-cpu"]);
    }
    is_first || is_second
}

/// The root group of the controller that limits disks.
const DISKS: &str = "/sys/fs/cgroup/blkio";

/// Whether the kernel limits a whole disk, as the first version of cgroups does; the test is skipped if not.
pub fn can_limit_disks(test: &str) -> bool {
    let can = Path::new(DISKS).join("blkio.throttle.write_iops_device").exists();
    if !can {
        skip(test, &["cgroup-blkio"]);
    }
    can
}

/// Requests per second to which the tests of this process limit disks, as no other one does meanwhile.
pub fn own_iops() -> u32 {
    1_000_000 + std::process::id() % 1_000_000
}

/// Disks that are limited to [`own_iops`], with the file that says so.
pub fn throttles() -> Vec<String> {
    let files = names(DISKS).into_iter().filter(|name| name.ends_with("_device"));
    let lines = files.flat_map(|file| {
        let text = fs::read_to_string(format!("{DISKS}/{file}")).unwrap_or_default();
        text.lines().map(|line| format!("{file} {line}")).collect::<Vec<_>>()
    });
    lines.filter(|line| line.ends_with(&format!(" {}", own_iops()))).collect()
}

/// How a run of the program ended.
#[derive(Debug)]
pub struct Ended {
    /// Exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// The stage.
pub struct Rig {
    folder: TempDir,
    before: BTreeSet<String>,
    /// How many points of each sweep a sample takes; `None`: all.
    pub sample: Option<usize>,
    pub kills_count: u32,
    /// What the program finds in its environment beside its state folder.
    pub environment: Vec<(String, String)>,
    checks_count: u32,
    wrong: Vec<String>,
}

impl Rig {
    pub fn new() -> Rig {
        mount_empty("/run");
        let folder = TempDir::new().expect("can be made");
        rustix::fs::chmod(folder.path(), 0o755.into()).expect("is ours");
        let is_whole = std::env::var("SYSDYNO_CRASH_TESTS").is_ok_and(|value| value == "all");
        let sample = (!is_whole).then_some(3);
        let (before, wrong) = (BTreeSet::new(), Vec::new());
        let environment = Vec::new();
        let mut rig = Rig { folder, before, sample, kills_count: 0, environment, checks_count: 0, wrong };
        rig.begin_anew();
        rig
    }

    /// What is there now is no leftover.
    pub fn begin_anew(&mut self) {
        self.before = self.traces();
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn state(&self) -> PathBuf {
        self.folder().join("state")
    }

    /// Writes a lab's file, and says where.
    pub fn lab(&self, text: &str) -> String {
        let path = self.folder().join("lab.toml");
        fs::write(&path, text).expect("can be written");
        path.display().to_string()
    }

    /// The program, or `wrapper` with it behind.
    pub fn command(&self, wrapper: &[&str], arguments: &[&str]) -> Command {
        self.program(wrapper, &[&["lab"], arguments].concat())
    }

    /// Any command of the program, or `wrapper` with it behind.
    pub fn program(&self, wrapper: &[&str], arguments: &[&str]) -> Command {
        let own = [env!("CARGO_BIN_EXE_sysdyno")];
        let words: Vec<&str> = [wrapper, &own, arguments].concat();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("SYSDYNO_STATE_DIR", self.state()).stdin(Stdio::null());
        command.envs(std::env::var_os("SYSDYNO_TARGET_ALLOW").map(|allow| ("SYSDYNO_TARGET_ALLOW", allow)));
        command.envs(self.environment.iter().cloned());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn ask(&self, arguments: &[&str]) -> Ended {
        finish(self.command(&[], arguments).spawn().expect("starts"))
    }

    /// Runs the program, which has to end with this code.
    pub fn expect(&self, arguments: &[&str], code: i32) -> Ended {
        let ended = self.ask(arguments);
        assert_eq!(ended.code, Some(code), "{arguments:?}: {ended:?}");
        ended
    }

    /// Everything that a lab may leave: processes, mounts, links, names, files.
    fn traces(&self) -> BTreeSet<String> {
        bury();
        let mut found: BTreeSet<String> =
            processes().into_iter().map(|name| format!("process {name}")).collect();
        let mounts = fs::read_to_string("/proc/self/mountinfo").expect("is there");
        let place = |line: &str| line.split(' ').nth(4).unwrap_or_default().to_owned();
        found.extend(mounts.lines().map(|line| format!("mount {}", place(line))));
        found.extend(names("/sys/class/net").into_iter().map(|name| format!("link {name}")));
        // umount(8), which tests use, has a folder of its own there.
        let is_ours = |name: &String| name != "mount";
        found.extend(names("/run").into_iter().filter(is_ours).map(|name| format!("/run/{name}")));
        found.extend(names("/run/netns").into_iter().map(|name| format!("/run/netns/{name}")));
        let own = self.folder().to_string_lossy().into_owned();
        let loops = names("/sys/block").into_iter().filter_map(|name| {
            let file = fs::read_to_string(format!("/sys/block/{name}/loop/backing_file")).ok()?;
            file.contains(&own).then(|| format!("{name} {file}"))
        });
        found.extend(loops);
        for controller in ["", "cpu", "memory", "pids"] {
            let folder = format!("/sys/fs/cgroup/{controller}");
            let groups = names(&folder).into_iter().filter(|name| name.starts_with("sysdyno-"));
            found.extend(groups.map(|name| format!("cgroup {folder}/{name}")));
        }
        found.extend(throttles().into_iter().map(|line| format!("throttle {line}")));
        let state = self.state().join("lab");
        let kept = |name: &String| name != "lock";
        found.extend(
            names(&state.to_string_lossy()).into_iter().filter(kept).map(|name| format!("state {name}")),
        );
        found
    }

    /// Whether nothing is there that was not there at the beginning, and the other way round.
    pub fn check(&mut self, after: &str) {
        self.checks_count += 1;
        // A process that was killed is seen until it is buried.
        let is_same = wait_until(Duration::from_secs(5), || self.traces() == self.before);
        if !is_same {
            let now = self.traces();
            let left: Vec<&String> = now.symmetric_difference(&self.before).collect();
            println!("FAILED: after {after}: {left:?}");
            self.wrong.push(format!("after {after}: {left:?}"));
            // What follows begins clean.
            assert!(self.wrong.len() < 5, "{:#?}", self.wrong);
        }
    }

    pub fn figures(self) -> ExitCode {
        let Rig { kills_count, checks_count, wrong, .. } = self;
        println!("labs: {checks_count} times nothing was left, {kills_count} kills, {} wrong", wrong.len());
        if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

fn mount_empty(path: &str) {
    let status = Command::new("mount").args(["-t", "tmpfs", "tmpfs", path]).status();
    assert!(status.is_ok_and(|status| status.success()), "{path} can be mounted");
}

/// Waits for the end of a child and reads what it said.
pub fn finish(child: Child) -> Ended {
    let begin = Instant::now();
    let output = child.wait_with_output().expect("can be waited for");
    assert!(begin.elapsed() < LIMIT, "it hung");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ended { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Waits until `condition` holds, looking often; false if it does not within `limit`.
pub fn wait_until(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let begin = Instant::now();
    while !condition() {
        if begin.elapsed() > limit {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    true
}

/// Buries what has lost its parent: this is the first process of its namespace.
fn bury() {
    while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
}

/// All processes but this one.
fn processes() -> Vec<String> {
    let own = std::process::id().to_string();
    let is_pid = |name: &String| name.bytes().all(|byte| byte.is_ascii_digit()) && *name != own;
    let command = |pid: String| {
        let text = fs::read_to_string(format!("/proc/{pid}/cmdline")).ok()?;
        Some(format!("{pid} {}", text.replace('\0', " ")))
    };
    names("/proc").into_iter().filter(is_pid).filter_map(command).collect()
}

fn names(folder: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Links of the network that this process is in, by index and name, and their addresses.
pub fn host_network() -> Vec<String> {
    let mut found = names("/sys/class/net");
    found.sort();
    found
}
