//! Guardians of trials of settings: this same program, started again in its own session.
//!
//! A guardian prints `armed` when it holds its journal. If its standard input ends without a word, its parent is dead; a
//! word before the end releases the guardian.

use crate::program::Watchdog;
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use sysdyno_tune::{ArmGuardian, Armed, DETACH, GuardOrder, Terminal};

/// How long a guardian may take until it is armed.
const LIMIT: Duration = Duration::from_secs(30);

/// Starts guardians.
#[derive(Clone, Debug)]
pub struct Guardians {
    program: PathBuf,
}

impl Guardians {
    /// Guardians that run `program`, which is this one.
    pub fn of(program: PathBuf) -> Guardians {
        Guardians { program }
    }
}

impl ArmGuardian for Guardians {
    fn arm(&mut self, order: &GuardOrder) -> io::Result<Box<dyn Armed>> {
        let mut command = Command::new(&self.program);
        command.args(["tune", "guard"]).arg(&order.id).arg("--root").arg(&order.root);
        command.arg("--state-dir").arg(order.state.parent().unwrap_or(&order.state));
        if let Some(terminal) = Terminal::of(io::stderr()) {
            let uid = terminal.uid.to_string();
            command.arg("--terminal").arg(terminal.path).args(["--terminal-uid", &uid]);
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // It outlives this process, and must not hold what its terminal or its caller waits for.
            .stderr(Stdio::null())
            .spawn()?;
        let mut line = String::new();
        let watchdog = Watchdog::over(&child, LIMIT)?;
        let output = child.stdout.take().map(BufReader::new);
        let read = output.map_or(Ok(0), |mut output| output.read_line(&mut line));
        let read = watchdog.judge(read, LIMIT);
        if read.is_ok() && line.trim() == "armed" {
            return Ok(Box::new(Guardian { child: Some(child) }));
        }
        drop(child.stdin.take());
        let _ = child.kill();
        let _ = child.wait();
        let said = if line.trim().is_empty() { "it exited without a message" } else { line.trim() };
        Err(read.err().unwrap_or_else(|| io::Error::other(said.to_owned())))
    }
}

/// A guardian that runs. Dropping it closes its input, which is the sign to undo.
struct Guardian {
    /// `None` once it was let go.
    child: Option<Child>,
}

impl Armed for Guardian {
    fn detach(&mut self) -> io::Result<()> {
        let Some(mut child) = self.child.take() else { return Ok(()) };
        let input = child.stdin.as_mut().expect("its input was piped, and is kept");
        input.write_all(&[DETACH])
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        drop(child.stdin.take());
        // It may have to wait for a lock that this thread holds, so another one waits for it.
        std::thread::spawn(move || child.wait());
    }
}
