//! The guardian of a trial, in its own process.

use crate::exit::Exit;
use crate::ui::Ui;
use anyhow::anyhow;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::low_level::pipe;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use sysdyno_run::service::roots_with_programs;
use sysdyno_tune::{GUARDIAN, GuardEnd, GuardOrder, StateFolder, Terminal, TrialGuard};

pub fn guard(
    root: PathBuf,
    state: Option<PathBuf>,
    id: String,
    terminal: Option<Terminal>,
    ui: &Ui,
) -> anyhow::Result<Exit> {
    let state = StateFolder::below(state.as_deref()).path().to_owned();
    match armed(&GuardOrder { state, root, id }) {
        Err(error) => {
            // Whoever starts a guardian reads one line from it.
            ui.print(&format!("{error:#}"));
            Ok(Exit::CannotRun)
        }
        Ok((guard, stop)) => {
            ui.print("armed");
            match guard.watch(std::io::stdin().as_fd(), stop.as_fd()) {
                GuardEnd::Over => Ok(Exit::Done),
                GuardEnd::Undone(recovery) => {
                    // What went as planned is in the journal; nobody has to be told of it.
                    if recovery.cause.is_some() || !recovery.is_clean() {
                        sysdyno_tune::tell(&super::text::told(&recovery), terminal.as_ref());
                    }
                    Ok(if recovery.is_clean() { Exit::Done } else { Exit::NotRestored })
                }
            }
        }
    }
}

fn armed(order: &GuardOrder) -> anyhow::Result<(TrialGuard, UnixStream)> {
    // Only a name, a terminal and a chance to survive are lost if these fail.
    let _ = rustix::thread::set_name(GUARDIAN);
    let _ = rustix::process::setsid();
    sysdyno_tune::resist_memory_shortage();
    let (stop, told) = UnixStream::pair()?;
    for signal in [SIGTERM, SIGINT, SIGHUP, SIGQUIT] {
        pipe::register(signal, told.try_clone()?)?;
    }
    Ok((TrialGuard::arm(order, roots_with_programs(&order.root)).map_err(|error| anyhow!("{error}"))?, stop))
}
