//! Enters a network namespace before the process starts a second thread.
//!
//! `/sys` shows the interfaces of the network namespace in which it was mounted, so this process gets its own mount
//! namespace, with a fresh `/sys` of the new network namespace and the cgroups remounted below it. No other process sees
//! these mounts, and they disappear with this one.

use crate::error::RunError;
use rustix::fs::CWD;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_change, mount_remount,
    move_mount, open_tree,
};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use sysdyno_observe::Roots;

/// Moves this process into the network namespace of a file.
///
/// # Errors
/// There is no such file, it is not a network namespace, or this user may not enter it.
pub fn enter(path: &Path) -> Result<(), RunError> {
    let failed = |source: io::Error| RunError::Process {
        operation: "enter",
        object: format!("network namespace '{}'", path.display().to_string().escape_debug()),
        source,
    };
    let file = File::open(path).map_err(failed)?;
    move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))
        .map_err(|error| failed(error.into()))?;
    // Without it only the speeds of links are unknown.
    let _ = mount_own_sys().and_then(|()| close_sys());
    Ok(())
}

/// Gives the calling thread a `/sys` of the network namespace that it is in, seen by it and what it starts alone, whose
/// settings it can write.
pub fn mount_writable_sys() -> io::Result<()> {
    Ok(mount_own_sys()?)
}

/// Nothing below `/sys` is a program or a device.
const PLAIN: MountFlags = MountFlags::NOSUID.union(MountFlags::NODEV).union(MountFlags::NOEXEC);

/// Keeps this process from writing below its own `/sys`.
///
/// This mount alone: all mounts of a namespace's `/sys` share one file system, so that one which was mounted read-only
/// from the start would be read-only for all that come after it.
fn close_sys() -> Result<(), rustix::io::Errno> {
    mount_remount(&Roots::host().sys, MountFlags::BIND | MountFlags::RDONLY | PLAIN, "")
}

fn mount_own_sys() -> Result<(), rustix::io::Errno> {
    crate::sys::mounts::leave()?;
    let roots = Roots::host();
    let cgroups = roots.in_sys("fs/cgroup");
    mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)?;
    let kept = open_tree(CWD, &cgroups, OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::AT_RECURSIVE);
    mount("sysfs", &roots.sys, "sysfs", PLAIN, None)?;
    if let Ok(kept) = kept {
        move_mount(kept, "", CWD, &cgroups, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    }
    Ok(())
}
