//! What happens to the state folder while a trial is made: it is moved, deleted, made read-only, filled, or fails.
//!
//! The state folder is on a file system of its own. A trial is stopped after every system call that touches it, and after
//! every write of a setting; then the state folder is lost in each of these ways, with the guardian alive or
//! killed, and the trial goes on or is killed. In the end everything must be as before, byte for byte.

use crate::kinds::Disk;
use crate::rig::{self, Rig, SPOOL};
use crate::scenarios;
use crate::snapshot::{STATE_DISK, Snapshot};
use crate::sweep::{CHANGES, Point, apply, read_points_where};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use sysdyno_needs::skip;

/// Size of the file system of the state folder. Unit: bytes.
const SIZE: u64 = 4 << 20;

/// What is done to the state folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loss {
    Moved,
    Deleted,
    /// As after an error of the file system (`errors=remount-ro`): EROFS.
    ReadOnly,
    /// ENOSPC.
    Full,
    /// The file system is shut down: EIO.
    Failing,
}

const LOSSES: [Loss; 5] = [Loss::Moved, Loss::Deleted, Loss::ReadOnly, Loss::Full, Loss::Failing];

/// One loss at one point.
#[derive(Clone, Copy, Debug)]
struct Case {
    loss: Loss,
    /// Whether the trial is killed; otherwise it goes on.
    is_killed: bool,
    /// Whether the guardian is killed before, if there is one yet.
    is_guardian_killed: bool,
}

/// All cases.
pub fn run(rig: &mut Rig) {
    rig.forget();
    let Some(stage) = Stage::new(rig) else { return };
    rig.elsewhere = Some(stage.state());
    rig.before = Snapshot::take();
    rig.changes = CHANGES.map(str::to_owned).to_vec();
    let touching = touching(rig, &stage);
    stage.sweep(rig, &touching, &[true, false]);
    // Between the first and the last of many settings.
    rig.changes = scenarios::all_changes();
    let settings_count = rig.changes.len();
    let written = traced(rig, is_setting);
    assert!(written.len() >= 60, "only {} settings are written", written.len());
    stage.sweep(rig, &written, &[true]);
    println!(
        "crash tests: the state folder was lost at {} system calls that touch it, and at {} writes of {settings_count} settings: {} times",
        touching.len(),
        written.len(),
        rig.counts.losses,
    );
    rig.elsewhere = None;
    rig.forget();
}

/// The file system of the state folder, mounted in this namespace.
struct Stage {
    disk: Disk,
    mounted: PathBuf,
}

impl Stage {
    /// Makes and mounts it; `None` where that cannot be.
    fn new(rig: &Rig) -> Option<Stage> {
        let disk = Disk::sized(rig, "state", SIZE)?;
        let mounted = rig.folder().join(STATE_DISK);
        fs::create_dir(&mounted).expect("can be made");
        let stage = Stage { disk, mounted };
        stage.mount().then_some(stage).or_else(|| {
            skip("losses of the state folder", &["e2fsprogs", "ext4"]);
            None
        })
    }

    fn state(&self) -> PathBuf {
        self.mounted.join("state")
    }

    fn moved(&self) -> PathBuf {
        self.mounted.join("moved")
    }

    /// Makes it anew, empty.
    fn mount(&self) -> bool {
        let (device, mounted) = (&self.disk.device, self.mounted.display());
        let script = format!(
            "mkfs.ext4 -q -F -m 0 -O ^has_journal {device} && mount -o errors=remount-ro {device} {mounted} && \
             chmod 755 {mounted}"
        );
        rig::run(Command::new("sh").args(["-c", &script])).code == Some(0)
    }

    fn make_anew(&self) {
        let ended = rig::run(Command::new("umount").args(["--lazy"]).arg(&self.mounted));
        assert_eq!(ended.code, Some(0), "{ended}");
        assert!(self.mount(), "it could be mounted before");
    }

    /// Each loss in turn; all of them, or a sample of points, each with one.
    fn sweep(&self, rig: &mut Rig, points: &[Point], killed: &[bool]) {
        let cases = || {
            LOSSES.into_iter().flat_map(|loss| {
                killed.iter().flat_map(move |is_killed| {
                    [false, true].map(|is_guardian_killed| Case {
                        loss,
                        is_killed: *is_killed,
                        is_guardian_killed,
                    })
                })
            })
        };
        let step = if rig.is_whole { 1 } else { (points.len() / rig.sample).max(1) };
        for (index, point) in points.iter().enumerate().step_by(step) {
            let all = cases().count();
            // A stride that shares no factor with the number of cases takes them all in turn.
            let sampled = cases().nth((index / step * 7) % all);
            let chosen: Vec<Case> =
                if rig.is_whole { cases().collect() } else { sampled.into_iter().collect() };
            chosen.into_iter().for_each(|case| self.lose(rig, point, case));
        }
    }

    fn lose(&self, rig: &mut Rig, point: &Point, case: Case) {
        let what = format!("{case:?} at {point:?}");
        let running = Stopped::at(rig, point);
        if let Some(pid) = running.pid.filter(|_| case.is_guardian_killed) {
            children(pid).into_iter().for_each(end);
        }
        let is_lost = self.happen(case.loss);
        let said = running.go_on(if case.is_killed { Signal::KILL } else { Signal::CONT });
        let what = format!("{what}, which ended with {said}");
        // What was lost before anything was in it is made again.
        if !is_lost || self.state().exists() {
            // It is still there for its guardian, which would wait for the deadline. There may be nothing to undo, and a
            // guardian whose trial was cut off may be done with it already.
            let undone = rig.ask(&["undo"]);
            if !matches!(undone.code, Some(0 | 2)) && !rig.have_orphans_ended() {
                rig.wrong(format!("{what}, then undone: {undone}"));
            }
            rig.guardians().into_iter().for_each(|guardian| kill(guardian, Signal::TERM));
        }
        if !rig.have_orphans_ended() {
            rig.wrong(format!("{what}: the guardian does not end: {:?}", rig.guardians()));
            rig.kill_guardians();
        }
        let differences = rig.before.differences(&Snapshot::take());
        let is_restored = differences.is_empty();
        rig.counts.by_guardian += u32::from(is_restored && !case.is_guardian_killed);
        let is_nobody_left = case.is_killed && case.is_guardian_killed;
        if !is_restored && !is_nobody_left {
            rig.wrong(format!("{what}: nobody restored before the next command: {differences:?}"));
        }
        if case.loss == Loss::Moved {
            let moved = self.moved().display().to_string();
            self.recover(rig, &["--state-dir", &moved, "recover"], &what);
        }
        self.make_anew();
        self.recover(rig, &["recover"], &what);
        rig.counts.losses += 1;
        rig.check(&what);
        let _ = fs::remove_dir_all(SPOOL);
        let _ = fs::remove_dir_all(self.state());
    }

    fn recover(&self, rig: &mut Rig, arguments: &[&str], what: &str) {
        let recovered = rig.ask(arguments);
        if recovered.code != Some(0) {
            rig.wrong(format!("{what}, then {arguments:?}: {recovered}"));
        }
    }

    /// Has it happen; whether the state folder is not in its place any more, which it may not have been before.
    fn happen(&self, loss: Loss) -> bool {
        match loss {
            Loss::Moved => return fs::rename(self.state(), self.moved()).is_ok(),
            Loss::Deleted => return fs::remove_dir_all(self.state()).is_ok(),
            Loss::ReadOnly => {
                let trigger = format!("/sys/fs/ext4/{}/trigger_fs_error", self.disk.name());
                fs::write(trigger, "planted").expect("root can write");
            }
            Loss::Full => fill(&self.mounted.join("filler")),
            Loss::Failing => {
                // EXT4_IOC_SHUTDOWN, EXT4_GOING_FLAGS_NOLOGFLUSH.
                let script = "import fcntl, os, struct, sys\n\
                    folder = os.open(sys.argv[1], os.O_RDONLY)\n\
                    fcntl.ioctl(folder, 0x8004587d, struct.pack('I', 2))";
                let ended =
                    rig::run(Command::new("/usr/bin/python3").args(["-c", script]).arg(&self.mounted));
                assert_eq!(ended.code, Some(0), "{ended}");
            }
        }
        false
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        rig::run(Command::new("umount").args(["--lazy"]).arg(&self.mounted));
    }
}

/// Writes a file until nothing fits any more, not even a byte.
fn fill(path: &Path) {
    use std::io::Write;
    let mut file = fs::File::create(path).expect("one more file can be made");
    let mut block = vec![0u8; 64 << 10];
    while !block.is_empty() {
        match file.write(&block) {
            Ok(written_bytes) => block.truncate(written_bytes),
            Err(_) => block.truncate(block.len() / 2),
        }
    }
    // What is only in memory yet has its place by now, or none.
    let _ = file.sync_all();
}

/// A trial that is being made and was stopped at a point, under strace.
struct Stopped {
    strace: Child,
    /// `None` if it ended before it came there.
    pid: Option<Pid>,
}

impl Stopped {
    fn at(rig: &Rig, point: &Point) -> Stopped {
        let log = rig.folder().join("stop");
        let _ = fs::remove_file(&log);
        let (place, only) = (log.display().to_string(), format!("trace={}", point.call));
        let mut command = rig.traced(&["-o", &place, "-e", &only, "-e", &point.stop()], &apply(rig));
        let mut strace =
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("strace can be run");
        let mut has_ended = false;
        loop {
            let trace = fs::read_to_string(&log).unwrap_or_default();
            if has_ended || trace.contains("--- stopped by SIGSTOP ---") {
                break;
            }
            has_ended = strace.try_wait().expect("can be asked").is_some();
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let own = Pid::from_child(&strace);
        let pid = if has_ended { None } else { children(own).into_iter().next() };
        Stopped { strace, pid }
    }

    /// Has it go on, or end, and waits for its end; what it said.
    fn go_on(self, signal: Signal) -> String {
        self.pid.into_iter().for_each(|pid| kill(pid, signal));
        let ended = self.strace.wait_with_output().expect("can be awaited");
        format!("{}: {}", ended.status, String::from_utf8_lossy(&ended.stderr).trim())
    }
}

fn kill(pid: Pid, signal: Signal) {
    // It may have ended meanwhile.
    let _ = kill_process(pid, signal);
}

/// Kills a process and waits until it is dead: until then, it could still be told something.
fn end(pid: Pid) {
    kill(pid, Signal::KILL);
    let stat = format!("/proc/{}/stat", pid.as_raw_nonzero());
    // Its parent is stopped and does not reap it.
    while fs::read_to_string(&stat).is_ok_and(|text| !text.contains(") Z ")) {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

fn children(pid: Pid) -> Vec<Pid> {
    let pid = pid.as_raw_nonzero();
    let list = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    list.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect()
}

/// Calls of a trial that touch the state folder, or write a setting.
fn touching(rig: &Rig, stage: &Stage) -> Vec<Point> {
    let disk = stage.mounted.display().to_string();
    // A descriptor that is copied or closed does not touch the folder that it is of.
    let touches =
        |line: &str| line.contains(&disk) && !line.starts_with("fcntl(") && !line.starts_with("close(");
    traced(rig, |line| touches(line) || is_setting(line))
}

fn is_setting(line: &str) -> bool {
    line.starts_with("write(") && line.contains("</proc/sys/")
}

fn traced(rig: &Rig, is_meant: impl Fn(&str) -> bool) -> Vec<Point> {
    let log = rig.folder().join("trace");
    // Descriptors are shown with their paths.
    let ended = rig::run(&mut rig.traced(&["-y", "-o", &log.to_string_lossy()], &apply(rig)));
    assert_eq!(ended.code, Some(0), "{ended}");
    rig.expect(&["undo"], 0);
    rig.wait_for_orphans();
    rig.forget();
    let trace = fs::read_to_string(log).expect("strace wrote");
    read_points_where(&trace, is_meant)
}
