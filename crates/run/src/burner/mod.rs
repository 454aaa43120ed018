//! The burner: a process of sysdyno that burns CPU time, so that others have less of it.
//!
//! It reads an order a line (a [`BurnSpec`], or `null` to rest) and answers each with what it burnt since the one before. It
//! ends with its input, and so with whoever gives the orders, however that dies; an order ends by itself after an hour.
//!
//! The process detaches itself from the one that starts it: a squeeze of that one's own CPU must not catch the burner.

mod burning;
mod debt;
mod follow;

use crate::error::RunError;
use crate::program::Watchdog;
use burning::Burning;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;
use sysdyno_record::squeeze::BurnSpec;

/// How long it may take until it is ready, or answers.
const LIMIT: Duration = Duration::from_secs(30);

/// Longest order. Unit: bytes.
const MAX_ORDER: u64 = 1 << 20;

/// What it says when it is ready.
const READY: &str = "ready";

/// CPU time that was burnt for one order, and that should have been. Unit: seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct BurntTime {
    pub(crate) burnt_s: f64,
    pub(crate) due_s: f64,
}

/// A burner that runs; it ends when this value is dropped.
#[derive(Debug)]
pub(crate) struct Burner {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    pid: u32,
}

impl Burner {
    /// Starts `program`, which is this one, as a burner.
    ///
    /// # Errors
    /// It cannot be started, or does not say that it is ready.
    pub(crate) fn start(program: &Path) -> Result<Burner, RunError> {
        let failed = |operation| {
            move |source| RunError::Process { operation, object: "the burner of CPU time".into(), source }
        };
        let mut child = Command::new(program)
            .arg("burn")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed("start"))?;
        let mut line = String::new();
        let watchdog = Watchdog::over(&child, LIMIT).map_err(failed("watch"))?;
        let (input, output) = (child.stdin.take(), child.stdout.take().map(BufReader::new));
        let broken = || failed("hear from")(io::ErrorKind::BrokenPipe.into());
        let (input, mut output) = input.zip(output).ok_or_else(broken)?;
        let read = watchdog.judge(output.read_line(&mut line), LIMIT);
        // It was there to start the burner, and is over.
        let _ = child.wait();
        read.map_err(failed("hear from"))?;
        let pid = line.trim().strip_prefix(READY).and_then(|pid| pid.trim().parse().ok());
        Ok(Burner { input, output, pid: pid.ok_or_else(broken)? })
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Has it burn from now on, or rest; what it burnt until now.
    ///
    /// # Errors
    /// It is dead.
    pub(crate) fn order(&mut self, spec: Option<&BurnSpec>) -> Result<BurntTime, RunError> {
        self.ask(spec).map_err(|source| RunError::Process {
            operation: "give orders to",
            object: "the burner of CPU time".into(),
            source,
        })
    }

    fn ask(&mut self, spec: Option<&BurnSpec>) -> io::Result<BurntTime> {
        let mut order = serde_json::to_vec(&spec)?;
        order.push(b'\n');
        self.input.write_all(&order)?;
        let mut answer = String::new();
        self.output.read_line(&mut answer)?;
        Ok(serde_json::from_str(&answer)?)
    }
}

/// Starts the burner in the place of this process, which ends. It has a process group for itself: Ctrl-C on a terminal goes to a whole
/// group, and the squeeze has yet to end its trial then.
///
/// # Errors
/// It cannot be started.
pub fn detach_burner(program: &Path) -> io::Result<Child> {
    Command::new(program).args(["burn", "--detached"]).process_group(0).spawn()
}

/// Burns by the orders of the standard input until that ends.
///
/// # Errors
/// Input or output are broken.
pub fn serve_burner() -> io::Result<()> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    writeln!(output, "{READY} {}", std::process::id())?;
    output.flush()?;
    let mut burning: Option<Burning> = None;
    loop {
        let mut order = Vec::new();
        let length = io::Read::take(&mut input, MAX_ORDER).read_until(b'\n', &mut order)?;
        if length == 0 {
            return Ok(());
        }
        let spec: Option<BurnSpec> = serde_json::from_slice(&order)?;
        let burnt = burning.take().map(Burning::stop).unwrap_or_default();
        burning = spec.map(Burning::start);
        serde_json::to_writer(&mut output, &burnt)?;
        output.write_all(b"\n")?;
        output.flush()?;
    }
}
