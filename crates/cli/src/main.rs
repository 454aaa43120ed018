//! The `sysdyno` program: what was typed becomes a plan, the plan is run, the record is printed.
//!
//! This crate holds no domain logic. `args` says what can be typed, `settings` joins it with environment and files,
//! `plan` and `workload` make plans of it, `commands` has one file per command, `ui` is all that prints.

mod args;
mod commands;
mod exit;
mod experiment;
mod fence;
mod file;
mod matrix;
mod plan;
mod ramp;
mod session;
mod settings;
mod spread;
mod ui;
mod values;
mod wire;
mod work;
mod workload;

fn main() -> std::process::ExitCode {
    let cli = match args::read(std::env::args_os()) {
        args::Line::Command(cli) => cli,
        args::Line::Refused(error, hint) => return ui::refused(&error, hint),
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
