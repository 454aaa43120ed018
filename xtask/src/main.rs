//! Chores of the repository: `cargo xtask tidy` checks what the house rules promise, `cargo xtask docs` writes the
//! documents that are built from the program.
//!
//! Nothing here ships. What a chore prints is its product, so printing is allowed in this crate.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a chore's product is what it prints")]

mod docs;
mod tidy;

use anyhow::{Result, bail};
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask COMMAND

  tidy    check the rules of the house; lists every violation, exit code 1 if there is one
  cycles  print the cycles between modules, of the crates that are named or of all: files, and what ties each to the next
  docs    [--into FOLDER] write the man pages, the completions, and the reference of commands, checks, settings, and facts,
          which are built from the program; into docs/reference if no folder is named";

fn main() -> ExitCode {
    match run(std::env::args().skip(1).collect()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: Vec<String>) -> Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the repository");
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => tidy::run(root),
        ["docs"] => docs::write(root, None),
        ["docs", "--into", folder] => docs::write(root, Some(Path::new(folder))),
        ["cycles", ref names @ ..] => tidy::print_cycles(root, names),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        _ => bail!("cannot run '{}': unknown chore\n{USAGE}", arguments.join(" ")),
    }
}
