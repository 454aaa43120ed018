//! Sends this program to another host over the standard input of `ssh`, and starts it there.
//!
//! The shell of the other host is given one constant script with a length and a digest in it. It makes a private folder,
//! reads so many bytes into a file of it, compares their digest, opens the file, removes the folder, and runs what it
//! holds open: so nothing lies there while the agent works, and nothing is left whatever it dies of. Until then a trap
//! removes the folder.

use crate::error::LabError;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::io::{self, Seek, Write};
use std::path::Path;

/// This program, ready to be sent.
pub(super) struct Upload {
    file: std::fs::File,
    length_bytes: u64,
    sha256: String,
}

impl Upload {
    /// Reads a program and its digest.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn of(program: &Path) -> Result<Upload, LabError> {
        let failed = |source| LabError::Process {
            operation: "read",
            object: format!("this program '{}'", program.display()),
            source,
        };
        let mut file = std::fs::File::open(program).map_err(failed)?;
        let mut hash = Sha256::new();
        let length_bytes = io::copy(&mut file, &mut Hashing(&mut hash)).map_err(failed)?;
        file.rewind().map_err(failed)?;
        let sha256 = hash.finalize().iter().fold(String::new(), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        });
        Ok(Upload { file, length_bytes, sha256 })
    }

    /// Sends it.
    pub(super) fn send(mut self, to: &mut impl Write) -> io::Result<()> {
        io::copy(&mut self.file, to)?;
        to.flush()
    }
}

/// Takes bytes into a digest.
struct Hashing<'a>(&'a mut Sha256);

impl Write for Hashing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What the other host's shell is given: `sh` and, in quotes that every shell knows, a script without quotes of that kind.
pub(super) fn script(upload: &Upload, uses_sudo: bool) -> String {
    let (machine, length, digest) = (std::env::consts::ARCH, upload.length_bytes, &upload.sha256);
    let start = if uses_sudo { "sudo -n" } else { "exec" };
    let steps = [
        "set -eu; umask 077".to_owned(),
        format!("if [ \"$(uname -m)\" != {machine} ]"),
        format!("then echo \"this program is for {machine}, that host is $(uname -m)\" >&2; exit 65; fi"),
        "folder=$(mktemp -d \"${TMPDIR:-/tmp}/sysdyno.XXXXXXXXXX\")".to_owned(),
        "trap \"rm -rf \\\"\\$folder\\\"\" EXIT; trap \"exit 1\" HUP INT TERM".to_owned(),
        format!("head -c {length} >\"$folder/sysdyno\""),
        format!("echo \"{digest}  $folder/sysdyno\" | sha256sum -c - >/dev/null"),
        "chmod 700 \"$folder/sysdyno\"; exec 9<\"$folder/sysdyno\"; rm -rf \"$folder\"; trap - EXIT"
            .to_owned(),
        format!("{start} /proc/$$/fd/9 agent --stdio"),
    ];
    format!("exec sh -c '{}'", steps.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    fn upload(folder: &Path, text: &str) -> Upload {
        let program = folder.join("program");
        std::fs::write(&program, text).expect("writes");
        Upload::of(&program).expect("reads")
    }

    /// What the script does on this host with these bytes on its input: its output, and what it leaves in its folder.
    fn run(script: &str, input: &[u8], folder: &Path) -> (bool, String, usize) {
        let mut child = Command::new("sh")
            .args(["-c", script])
            .env("TMPDIR", folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        // It may end before it has read all of that.
        let _ = child.stdin.take().expect("is piped").write_all(input);
        let output = child.wait_with_output().expect("ends");
        let left = std::fs::read_dir(folder).expect("reads").count();
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned(), left)
    }

    #[test]
    fn what_was_sent_is_run_with_the_rest_of_the_input_and_nothing_is_left() {
        let (here, there) = (tempfile::tempdir().expect("makes"), tempfile::tempdir().expect("makes"));
        let program = "#!/bin/sh\necho \"$1 $2\"\ncat\n";
        let script = script(&upload(here.path(), program), false);
        let (is_done, said, left) = run(&script, format!("{program}and the rest").as_bytes(), there.path());
        assert_eq!((is_done, said.as_str(), left), (true, "agent --stdio\nand the rest", 0));
    }

    #[test]
    fn bytes_that_are_not_the_program_are_not_run_and_nothing_is_left() {
        let (here, there) = (tempfile::tempdir().expect("makes"), tempfile::tempdir().expect("makes"));
        let program = "#!/bin/sh\necho ran\n";
        let script = script(&upload(here.path(), program), false);
        for sent in ["", "#!/bin/sh\n", "#!/bin/sh\necho Ran\n"] {
            assert_eq!(run(&script, sent.as_bytes(), there.path()), (false, String::new(), 0), "{sent:?}");
        }
    }

    #[test]
    fn the_script_has_no_quote_that_would_end_it() {
        let here = tempfile::tempdir().expect("makes");
        let script = script(&upload(here.path(), "x"), true);
        assert_eq!(script.matches('\'').count(), 2, "{script}");
    }
}
