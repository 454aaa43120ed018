//! One file per command.

mod agent;
mod autotune;
mod burn;
mod compare;
mod demo;
mod docs;
mod experiment;
mod explain;
mod facts;
mod fleet;
mod inject;
mod lab;
mod links;
mod load;
mod probe;
mod profile;
mod prove;
mod record;
mod run;
mod runs;
mod selftest;
mod serve;
mod show;
mod squeeze;
mod target;
mod tryout;
mod tune;
mod watch;
mod watched;
mod work;

use crate::args::Command;
use crate::exit::Exit;
use crate::ui::Ui;

/// Does what was typed.
pub fn dispatch(command: Command, ui: &Ui) -> anyhow::Result<Exit> {
    sysdyno_run::program::check_program_timeout().map_err(|cause| anyhow::anyhow!(cause))?;
    if !matches!(
        command,
        Command::Tune(_)
            | Command::Completions { .. }
            | Command::Docs { .. }
            | Command::Agent(_)
            | Command::Burn { .. }
            | Command::Target(_)
    ) {
        tune::remind(ui);
    }
    match command {
        Command::Demo(args) => demo::demo(&args, ui),
        Command::Run(args) => run::run(*args, ui),
        Command::Load(args) => load::load(*args, ui),
        Command::Try(args) => tryout::try_changes(*args, ui),
        Command::Squeeze(args) => squeeze::squeeze(*args, ui),
        Command::Autotune(args) => autotune::autotune(*args, ui),
        Command::Experiment(args) => experiment::experiment(args, ui),
        Command::Tune(args) => tune::tune(args, ui),
        Command::Lab(args) => lab::lab(args, ui),
        Command::Fleet(args) => fleet::fleet(args, ui),
        Command::Probe(args) => probe::probe(args, ui),
        Command::Profile(args) => profile::profile(&args, ui),
        Command::Watch(args) => watch::watch(&args, ui),
        Command::Compare(args) => compare::compare_runs(*args, ui),
        Command::Facts(args) => facts::facts(&args, ui),
        Command::Links(args) => links::links(&args, ui),
        Command::Runs(args) => runs::runs(args, ui),
        Command::Show(args) => show::show(args, ui),
        Command::Explain(args) => explain::explain(args, ui),
        Command::Serve(args) => serve::serve(args, ui),
        Command::Inject(args) => inject::inject(&args, ui),
        Command::Selftest(args) => selftest::selftest(args, ui),
        Command::Report(args) => show::report(args, ui),
        Command::Completions { shell } => docs::completions(shell, ui),
        Command::Docs { folder } => docs::write(&folder),
        Command::Agent(args) => agent::serve(&args),
        Command::Burn { detached } => burn::burn(detached),
        Command::Target(args) => target::serve(&args, ui),
    }
}
