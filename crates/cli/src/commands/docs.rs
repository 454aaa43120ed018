//! Manual pages, completions and the command reference, all from the definitions of the parser.

use crate::args::Cli;
use crate::exit::Exit;
use crate::ui::Ui;
use anyhow::Context;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use std::fmt::Write;
use std::path::Path;

const SHELLS: [Shell; 3] = [Shell::Bash, Shell::Fish, Shell::Zsh];

pub fn completions(shell: Shell, ui: &Ui) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "sysdyno", &mut script);
    ui.print(&String::from_utf8(script).context("cannot print completions")?);
    Ok(Exit::Done)
}

pub fn write(folder: &Path) -> anyhow::Result<Exit> {
    let cannot = || format!("cannot write documents to '{}'", folder.display());
    let write = |name: String, bytes: Vec<u8>| std::fs::write(folder.join(name), bytes).with_context(cannot);
    std::fs::create_dir_all(folder).with_context(cannot)?;
    let mut root = Cli::command();
    root.build();
    for shell in SHELLS {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut root.clone(), "sysdyno", &mut script);
        write(format!("sysdyno.{shell}"), script)?;
    }
    write("sysdyno.1".into(), manual(&root)?)?;
    for command in visible(&root) {
        let named = command.clone().name(format!("sysdyno-{}", command.get_name()));
        write(format!("sysdyno-{}.1", command.get_name()), manual(&named)?)?;
    }
    write("cli.md".into(), reference(&root).into_bytes())?;
    Ok(Exit::Done)
}

fn visible(root: &Command) -> impl Iterator<Item = &Command> {
    root.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help")
}

fn manual(command: &Command) -> anyhow::Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone().disable_help_subcommand(true)).render(&mut page)?;
    Ok(page)
}

fn reference(root: &Command) -> String {
    let mut text = String::from(
        "# Commands\n\nMade by `cargo xtask docs` from the definitions in `crates/cli/src/args`; not to be edited.\n",
    );
    for command in std::iter::once(root).chain(visible(root)) {
        let name = if command.get_name() == "sysdyno" {
            "sysdyno".into()
        } else {
            format!("sysdyno {}", command.get_name())
        };
        let help = command.clone().bin_name(name.clone()).term_width(100).render_long_help().to_string();
        let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
        let _ = write!(text, "\n## {name}\n\n```text\n{}\n```\n", lines.join("\n").trim_end());
    }
    text
}
