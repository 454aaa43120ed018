//! The guardian of a trial, in its own process.

use crate::exit::Exit;
use crate::ui::Ui;
use anyhow::anyhow;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::low_level::pipe;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use sysdyno_lab::service::roots_with_programs;
use sysdyno_tune::{Guard, GuardEnd, GuardOrder, StateFolder};

/// What the process is called, so that it is known in a list of processes.
const NAME: &std::ffi::CStr = c"tune-guardian";

pub fn guard(root: PathBuf, state: Option<PathBuf>, id: String, ui: &Ui) -> anyhow::Result<Exit> {
    let state = StateFolder::below(state.as_deref()).path().to_owned();
    match armed(&GuardOrder { state, root, id }) {
        Err(error) => {
            // Whoever starts a guardian reads one line from it.
            ui.print(&format!("{error:#}"));
            Ok(Exit::CannotRun)
        }
        Ok((guard, stop)) => {
            ui.print("armed");
            let end =
                guard.watch(std::io::stdin().as_fd(), stop.as_fd()).map_err(|error| anyhow!("{error}"))?;
            Ok(match end {
                GuardEnd::Undone(recovery) if !recovery.is_clean() => Exit::NotRestored,
                GuardEnd::Undone(_) | GuardEnd::Over => Exit::Done,
            })
        }
    }
}

fn armed(order: &GuardOrder) -> anyhow::Result<(Guard, UnixStream)> {
    // Only a name, a terminal and a chance to survive are lost if these fail.
    let _ = rustix::thread::set_name(NAME);
    let _ = rustix::process::setsid();
    sysdyno_tune::resist_memory_shortage();
    let (stop, told) = UnixStream::pair()?;
    for signal in [SIGTERM, SIGINT, SIGHUP, SIGQUIT] {
        pipe::register(signal, told.try_clone()?)?;
    }
    Ok((Guard::arm(order, roots_with_programs(&order.root)).map_err(|error| anyhow!("{error}"))?, stop))
}
