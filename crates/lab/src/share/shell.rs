//! Quotes a command for the shell of another host, whichever shell that is: each word reaches the program unchanged.
//!
//! `ssh` passes one text to the user's login shell. Here that text is `sh` and a script in single quotes, made of nothing but
//! plain letters and backslashes followed by digits, which every shell leaves unchanged between such quotes. In the script,
//! `printf` turns it into the command, with the quotes of sh (POSIX, XCU 2.2.2), and `sh` runs that.

use std::fmt::Write as _;

/// The text that runs these words.
pub(super) fn command(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
    format!("exec sh -c 'eval \"exec $(printf %b \"{}\")\"'", in_octal(&quoted.join(" ")))
}

/// As `printf %b` takes it (POSIX, XCU printf).
fn in_octal(text: &str) -> String {
    let mut plain = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'/' | b'.' | b'-' | b'_' | b' ' => plain.push(char::from(byte)),
            // Writing to a string cannot fail.
            _ => drop(write!(plain, "\\0{byte:03o}")),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    const WORDS: [&str; 14] = [
        "plain",
        "",
        "two words",
        "it's",
        "\"$HOME\" `id` $(id)",
        "a\\b\\\\c\\n",
        "; rm -rf nothing & #",
        "line\nline\n",
        "*?[a-z]~",
        "!history %percent",
        "-n",
        "{a,b} <(x) | y > z",
        "umläut ✓",
        "\t\x07\x1b[31m",
    ];

    #[test]
    fn every_word_reaches_the_program_as_it_is_through_every_shell_that_is_here() {
        let words: Vec<String> = ["printf", "<%s>"].into_iter().chain(WORDS).map(str::to_owned).collect();
        let expected: String = WORDS.iter().map(|word| format!("<{word}>")).collect();
        for shell in ["sh", "dash", "bash", "zsh", "fish", "tcsh", "ksh"] {
            let Ok(output) = Command::new(shell).arg("-c").arg(command(&words)).output() else { continue };
            assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{shell}: {output:?}");
        }
    }

    #[test]
    fn the_code_of_the_program_is_that_of_the_command() {
        let text = command(&["sh", "-c", "exit 7"].map(str::to_owned));
        let status = Command::new("sh").arg("-c").arg(text).status().expect("starts");
        assert_eq!(status.code(), Some(7));
    }
}
