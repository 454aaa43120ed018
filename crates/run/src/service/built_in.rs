//! The built-in target as a child process: this same program, started again.
//!
//! The child prints the address on which it listens and serves until its standard input ends, so that it dies with its
//! parent, whatever kills the parent.

use crate::error::RunError;
use crate::program::Watchdog;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How long it may take until it listens.
const LIMIT: Duration = Duration::from_secs(30);

/// A built-in target that runs; it ends when this value is dropped.
#[derive(Debug)]
pub struct BuiltInTarget {
    child: Child,
    url: String,
}

impl BuiltInTarget {
    /// Starts `program` with `arguments` and waits until it prints its URL.
    ///
    /// # Errors
    /// It cannot be started, or ends without saying a URL.
    pub fn start(program: &Path, arguments: &[&str]) -> Result<BuiltInTarget, RunError> {
        let failed = |operation| {
            move |source| RunError::Process { operation, object: "the built-in target".into(), source }
        };
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed("start"))?;
        let mut line = String::new();
        let watchdog = Watchdog::over(&child, LIMIT).map_err(failed("watch"))?;
        let output = child.stdout.take().map(BufReader::new);
        let read = output.map_or(Ok(0), |mut output| output.read_line(&mut line));
        let read = watchdog.judge(read, LIMIT);
        let target = BuiltInTarget { child, url: line.trim().to_owned() };
        let read = read.map_err(failed("hear from"))?;
        if read == 0 || !target.url.starts_with("http://") {
            return Err(failed("hear from")(io::Error::other("it did not report its URL")));
        }
        Ok(target)
    }

    /// Where it listens.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for BuiltInTarget {
    fn drop(&mut self) {
        // The end of its input ends it; a child that does not heed that is killed.
        drop(self.child.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
