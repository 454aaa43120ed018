//! The burner of `squeeze`, in its own process.

use crate::exit::Exit;
use crate::here::program;
use anyhow::Context;
use sysdyno_run::{detach_burner, serve_burner};

/// What the process is called, wherever its file lies.
const NAME: &std::ffi::CStr = c"sysdyno-burner";

pub fn burn(is_detached: bool) -> anyhow::Result<Exit> {
    if !is_detached {
        // Its parent is not to be an ancestor of the one that burns.
        detach_burner(&program()?).context("cannot start the burner")?;
        return Ok(Exit::Done);
    }
    // Only a name is lost if this fails.
    let _ = rustix::thread::set_name(NAME);
    serve_burner()?;
    Ok(Exit::Done)
}
