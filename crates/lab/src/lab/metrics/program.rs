//! What a service tells through a program of its own, such as the client of a database.

use super::super::question::MAX_ANSWER;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// How long a program may take.
const LIMIT: Duration = Duration::from_secs(2);

/// What a program prints, as text. It is ended when that is over, or its time is.
///
/// # Errors
/// It cannot be started, takes too long, or prints nothing or too much.
pub(super) fn printed(words: &[String]) -> io::Result<String> {
    let Some((program, arguments)) = words.split_first() else {
        return Err(io::Error::other("its recipe names no program"));
    };
    let mut child = Command::new(program)
        .args(arguments)
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()?;
    let (sender, printed) = mpsc::channel();
    let output = child.stdout.take();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = output.map_or(Ok(0), |output| output.take(MAX_ANSWER as u64 + 1).read_to_end(&mut bytes));
        // Nobody may wait for it any more.
        let _ = sender.send(read.map(|_| bytes));
    });
    let answer = printed.recv_timeout(LIMIT);
    // It may have ended already.
    let _ = child.kill();
    child.wait()?;
    let bytes = answer.map_err(|_| io::Error::other("its program did not end in time"))??;
    match bytes.len() {
        0 => Err(io::Error::other("its program printed nothing")),
        length if length > MAX_ANSWER => Err(io::Error::other("its program has no end")),
        _ => Ok(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> io::Result<String> {
        printed(&["/bin/sh", "-c", script].map(str::to_owned))
    }

    #[test]
    fn what_is_printed_is_the_answer() {
        assert_eq!(shell("echo 'Questions\t12'").expect("prints"), "Questions\t12\n");
    }

    #[test]
    fn what_prints_nothing_or_too_much_or_is_not_there_is_told() {
        for (script, said) in [("true", "printed nothing"), ("exec cat /dev/zero", "has no end")] {
            let told = shell(script).expect_err(said).to_string();
            assert!(told.contains(said), "{told}");
        }
        assert!(printed(&["/no/such/program".to_owned()]).is_err());
        assert!(printed(&[]).is_err());
    }
}
