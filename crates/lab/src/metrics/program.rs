//! Metrics that a service's own program prints, such as the client of a database.

use super::super::question::MAX_ANSWER;
use std::io;
use std::process::Command;
use std::time::Duration;
use sysdyno_run::program::Program;

/// How long a program may take.
const LIMIT: Duration = Duration::from_secs(2);

/// What a program prints, as text. It is ended when its time is over.
///
/// # Errors
/// It cannot be started, takes too long, or prints nothing or too much.
pub(super) fn printed(words: &[String]) -> io::Result<String> {
    let Some((program, arguments)) = words.split_first() else {
        return Err(io::Error::other("its recipe names no program"));
    };
    let mut command = Command::new(program);
    command.args(arguments).env_clear();
    let ended = Program::new(command, LIMIT).keeping(MAX_ANSWER + 1).run()?;
    match ended.output.len() {
        0 => Err(io::Error::other("its program printed nothing")),
        length if length > MAX_ANSWER => Err(io::Error::other("its program printed too much")),
        _ => Ok(String::from_utf8_lossy(&ended.output).into_owned()),
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
        for (script, said) in
            [("true", "printed nothing"), ("exec cat /dev/zero", "did not finish within 2s")]
        {
            let told = shell(script).expect_err(said).to_string();
            assert!(told.contains(said), "{told}");
        }
        assert!(printed(&["/no/such/program".to_owned()]).is_err());
        assert!(printed(&[]).is_err());
    }
}
