//! Sends a program to another host over the standard input of `ssh`, and starts it there.
//!
//! The other host's shell runs a constant script. It prints its machine type, receives a length and a digest, creates a
//! private folder, reads that many bytes into a file there, checks their digest, opens the file, removes the folder, and runs
//! the program from the open file: so no file exists there while the agent works, and none is left behind, however the agent
//! dies. Until then, a trap removes the folder.
//!
//! The program is this one if the machine type matches; otherwise it is `sysdyno-MACHINE-linux` next to it, built by
//! `make dist`.

use super::serve::is_readable;
use crate::error::RunError;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What the script begins its first line with.
const GREETING: &str = "sysdyno on ";

/// Longest first line, and longest name of a kind of machines (`utsname` has room for more, the kernel uses less). Unit:
/// bytes.
const MAX_LINE: usize = 128;
const MAX_MACHINE: usize = 32;

/// How long the way there may take.
const FIRST_LINE: Duration = Duration::from_secs(60);

/// How long the program may take to get there.
pub(super) const LIMIT: Duration = Duration::from_secs(600);

/// A program, ready to be sent.
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
    pub(super) fn of(program: &Path) -> Result<Upload, RunError> {
        let failed = |source| RunError::Process {
            operation: "read",
            object: format!("program '{}'", program.display()),
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

    /// Sends it, and before that what it will be.
    pub(super) fn send(mut self, to: &mut impl Write) -> io::Result<()> {
        writeln!(to, "{} {}", self.length_bytes, self.sha256)?;
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

/// The machine type that the script reports, as printed by `uname -m`.
///
/// # Errors
/// It reports something else, or nothing.
pub(super) fn machine(output: &mut (impl Read + AsFd)) -> Result<String, String> {
    let (mut line, mut byte) = (Vec::new(), [0]);
    // What follows the line is not ours to read.
    while line.last() != Some(&b'\n') {
        let is_readable = is_readable(&*output, FIRST_LINE).map_err(|error| error.to_string())?;
        if !is_readable {
            return Err(format!("it did not respond for {} s", FIRST_LINE.as_secs()));
        }
        let length = output.read(&mut byte).map_err(|error| error.to_string())?;
        if length == 0 {
            return Err("its process exited".into());
        }
        line.extend(byte);
        if line.len() > MAX_LINE {
            break;
        }
    }
    let line = String::from_utf8_lossy(&line);
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let named = line.trim_end().strip_prefix(GREETING);
    let named = named.filter(|name| (1..=MAX_MACHINE).contains(&name.len()) && name.chars().all(is_plain));
    named.map(str::to_owned).ok_or_else(|| {
        format!("its shell printed '{}', which breaks the agent's protocol", line.trim_end().escape_debug())
    })
}

/// The program for a machine type: this one, or one next to it.
///
/// # Errors
/// There is none: why not, and what to do.
pub(super) fn program_for(machine: &str, own: &Path) -> Result<PathBuf, (String, String)> {
    if machine == std::env::consts::ARCH {
        return Ok(own.to_owned());
    }
    let name = format!("sysdyno-{machine}-linux");
    let other = own.with_file_name(&name);
    if other.is_file() {
        return Ok(other);
    }
    let cause = format!(
        "this program is for {}, but that host is {machine}, and there is no '{}' to send",
        std::env::consts::ARCH,
        other.display()
    );
    let hint = format!("hint: `make dist` builds dist/{name}; copy it there");
    Err((cause, hint))
}

/// What the other host's shell is given: `sh` and, in quotes that every shell knows, a script without quotes of that kind.
pub(super) fn script(uses_sudo: bool) -> String {
    let start = if uses_sudo { "sudo -n" } else { "exec" };
    let greet = format!("echo \"{GREETING}$(uname -m)\"");
    let run = format!("{start} /proc/$$/fd/9 agent --stdio");
    let steps = [
        "set -eu; umask 077",
        &greet,
        "read -r length digest",
        "folder=$(mktemp -d \"${TMPDIR:-/tmp}/sysdyno.XXXXXXXXXX\")",
        "trap \"rm -rf \\\"\\$folder\\\"\" EXIT; trap \"exit 1\" HUP INT TERM",
        "head -c \"$length\" >\"$folder/sysdyno\"",
        "echo \"$digest  $folder/sysdyno\" | sha256sum -c - >/dev/null",
        "chmod 700 \"$folder/sysdyno\"; exec 9<\"$folder/sysdyno\"; rm -rf \"$folder\"; trap - EXIT; umask 022",
        &run,
    ];
    format!("exec sh -c '{}'", steps.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    fn write(folder: &Path, text: &str) -> PathBuf {
        let program = folder.join(format!("program-{}", text.len()));
        std::fs::write(&program, text).expect("writes");
        program
    }

    fn upload(folder: &Path, text: &str) -> Upload {
        Upload::of(&write(folder, text)).expect("reads")
    }

    /// What the script does on this host when it is sent this, after its first line: its output, and what it leaves in its
    /// folder.
    fn run(upload: Upload, more: &[u8], folder: &Path) -> (bool, String, usize) {
        let mut child = Command::new("sh")
            .args(["-c", &script(false)])
            .env("TMPDIR", folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        let mut output = child.stdout.take().expect("is piped");
        assert_eq!(machine(&mut output).as_deref(), Ok(std::env::consts::ARCH));
        let mut input = child.stdin.take().expect("is piped");
        // It may end before it has read all of that.
        let _ = upload.send(&mut input).and_then(|()| input.write_all(more));
        drop(input);
        let mut said = String::new();
        output.read_to_string(&mut said).expect("can be read");
        let status = child.wait().expect("ends");
        let left = std::fs::read_dir(folder).expect("reads").count();
        (status.success(), said, left)
    }

    #[test]
    fn what_was_sent_is_run_with_the_rest_of_the_input_and_nothing_is_left() {
        let (here, there) = (tempfile::tempdir().expect("makes"), tempfile::tempdir().expect("makes"));
        let program = "#!/bin/sh\necho \"$1 $2\"\ncat\n";
        let (is_done, said, left) = run(upload(here.path(), program), b"and the rest", there.path());
        assert_eq!((is_done, said.as_str(), left), (true, "agent --stdio\nand the rest", 0));
    }

    #[test]
    fn bytes_that_are_not_the_program_are_not_run_and_nothing_is_left() {
        let [here, other, there] = [(); 3].map(|()| tempfile::tempdir().expect("makes"));
        let program = "#!/bin/sh\necho ran\n";
        for sent in ["", "#!/bin/sh\n", "#!/bin/sh\necho Ran\n"] {
            let promised = upload(here.path(), program);
            let promised = Upload { file: upload(other.path(), sent).file, ..promised };
            assert_eq!(run(promised, b"", there.path()), (false, String::new(), 0), "{sent:?}");
        }
    }

    #[test]
    fn the_script_has_no_quote_that_would_end_it() {
        let script = script(true);
        assert_eq!(script.matches('\'').count(), 2, "{script}");
    }

    #[test]
    fn only_a_machine_is_taken_from_the_first_line() {
        let hear = |bytes: &[u8]| {
            let mut file = tempfile::tempfile().expect("makes");
            file.write_all(bytes).and_then(|()| file.rewind()).expect("writes");
            let heard = machine(&mut file);
            let mut rest = Vec::new();
            file.read_to_end(&mut rest).expect("reads");
            (heard, rest.len())
        };
        assert_eq!(hear(b"sysdyno on aarch64\nmore"), (Ok("aarch64".to_owned()), 4));
        let (heard, _) = hear(b"Welcome to \x1b[31mhost\n");
        let told = heard.expect_err("is no greeting");
        assert_eq!(told, "its shell printed 'Welcome to \\u{1b}[31mhost', which breaks the agent's protocol");
        for wrong in ["sysdyno on \n", "sysdyno on ../x\n", "sysdyno on", &"x".repeat(9999)] {
            assert!(hear(wrong.as_bytes()).0.is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_host_of_another_kind_gets_the_program_that_lies_beside() {
        let here = tempfile::tempdir().expect("makes");
        let own = here.path().join("sysdyno");
        assert_eq!(program_for(std::env::consts::ARCH, &own), Ok(own.clone()));
        let (cause, hint) = program_for("mips64", &own).expect_err("is not there");
        let wanted = here.path().join("sysdyno-mips64-linux");
        let place = wanted.display();
        assert!(
            cause.ends_with(&format!("but that host is mips64, and there is no '{place}' to send")),
            "{cause}"
        );
        assert_eq!(hint, "hint: `make dist` builds dist/sysdyno-mips64-linux; copy it there");
        std::fs::write(&wanted, "").expect("writes");
        assert_eq!(program_for("mips64", &own), Ok(wanted));
    }
}
