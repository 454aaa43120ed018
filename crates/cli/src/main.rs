//! The `sysdyno` program: what was typed becomes a plan, the plan is run, the record is printed.
//!
//! This crate holds no domain logic. `args` says what can be typed, `settings` joins it with environment and files,
//! `sysdyno_plan` makes plans of it, for which `here` speaks for this host, `commands` has one file per command, `ui` is all
//! that prints.

mod args;
mod commands;
mod exit;
mod fence;
mod file;
mod here;
mod settings;
mod ui;

fn main() -> std::process::ExitCode {
    let cli = match args::read(std::env::args_os()) {
        args::CommandLine::Command(cli) => cli,
        args::CommandLine::Refused(error, hint) => return ui::refused(&error, hint),
    };
    let ui = ui::Ui::new(cli.color);
    match commands::dispatch(cli.command, &ui) {
        Ok(code) => code.into(),
        Err(error) => {
            ui.error(&error);
            exit::Exit::CannotRun.into()
        }
    }
}
