//! Finds the control groups of processes: in the hierarchy that has a controller, version 1 or 2, as it is mounted here or
//! as the parents of this process see it.

use super::{HIDDEN, folder_of, normal, parents};
use crate::roots::Roots;
use crate::source::{cgroup, read_once};
use crate::watch::Watchlist;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use sysdyno_record::column::{CGROUP_GENERATOR, CGROUP_TARGET, cgroup_tier_scope};
use sysdyno_record::event::ProcessRole;

/// Folders of the version 2 hierarchy.
const VERSION_2_MOUNTS: [&str; 2] = ["fs/cgroup", "fs/cgroup/unified"];
/// Groups are nested at most this deep here; what is above is left out.
const MAX_LEVELS: usize = 12;
/// At most so many tiers have columns.
const MAX_TIERS: usize = 8;

/// A group where a hierarchy is mounted.
pub(super) struct GroupPlace {
    pub(super) mount: PathBuf,
    pub(super) group: PathBuf,
}

impl GroupPlace {
    /// The folders of the group and of its parents, its own first; empty for a group outside of what is visible here.
    pub(super) fn levels(&self) -> Vec<PathBuf> {
        if folder_of(&self.mount, &self.group).is_none() {
            return vec![];
        }
        let names: Vec<&OsStr> = self.group.components().filter_map(normal).collect();
        let folder =
            |depth: usize| names[..depth].iter().fold(self.mount.clone(), |path, name| path.join(name));
        (0..=names.len()).rev().take(MAX_LEVELS).map(folder).collect()
    }

    /// Whether there is such a group.
    pub(super) fn is_visible(&self) -> bool {
        folder_of(&self.mount, &self.group).is_some_and(|folder| folder.join("cgroup.procs").exists())
    }
}

/// The processes whose groups have columns, with the scopes of these: the first of the target, of the generator, and of each
/// tier behind the target.
pub(super) fn members(scene: &Watchlist, roles: &[(ProcessRole, &str)]) -> Vec<(u32, String)> {
    let of_role = |(role, scope): &(ProcessRole, &str)| Some((scene.first(*role)?.pid, (*scope).to_owned()));
    let mut members: Vec<(u32, String)> = roles.iter().filter_map(of_role).collect();
    let most = members.len() + MAX_TIERS;
    for process in scene.living(ProcessRole::Target) {
        let Some(tier) = &process.tier else { continue };
        let scope = cgroup_tier_scope(&tier.address);
        if members.len() < most && members.iter().all(|(_, known)| *known != scope) {
            members.push((process.pid, scope));
        }
    }
    members
}

/// The target and the generator.
pub(super) const BOTH_ROLES: [(ProcessRole, &str); 2] =
    [(ProcessRole::Target, CGROUP_TARGET), (ProcessRole::Generator, CGROUP_GENERATOR)];

/// Where the group of a process may be in the hierarchy that has a controller, which is one only.
///
/// `version_1`: where distributions mount the controller's hierarchy of version 1.
pub(super) fn places(
    roots: &Roots,
    pid: u32,
    (controller, version_1): (&str, &[&str]),
    buffer: &mut Vec<u8>,
) -> Result<Vec<GroupPlace>, String> {
    let parents = parents(roots, buffer);
    let path = roots.in_proc(&format!("{pid}/cgroup"));
    let text = read_once(&path, buffer).map_err(|error| error.to_string())?;
    let (mut old, mut unified) = (Vec::new(), Vec::new());
    let parsed = cgroup::parse(text, |membership| {
        let (mounts, found): (&[&str], &mut Vec<GroupPlace>) =
            match (membership.has_controller(controller), membership.is_unified()) {
                (true, _) => (version_1, &mut old),
                (_, true) => (&VERSION_2_MOUNTS, &mut unified),
                _ => return,
            };
        let near = mounts.iter().map(|mount| roots.in_sys(mount));
        let far = parents.iter().flat_map(|parent| mounts.iter().map(move |mount| (parent, mount)));
        let far = far.map(|(parent, mount)| roots.in_proc(&format!("{parent}/root/sys/{mount}")));
        let group = Path::new(OsStr::from_bytes(membership.path));
        found.extend(near.chain(far).map(|mount| GroupPlace { mount, group: group.to_path_buf() }));
    });
    parsed.map_err(|error| format!("cannot parse '{}': {error}", path.display()))?;
    Ok(if old.is_empty() { unified } else { old })
}

/// The levels of the first place that has any with this file; the error says why there are none.
pub(super) fn levels_with(places: &[GroupPlace], files: &[&str]) -> Result<Vec<PathBuf>, String> {
    let has_file = |folder: &PathBuf| files.iter().any(|file| folder.join(file).exists());
    let levels = places.iter().map(|place| place.levels().into_iter().filter(has_file).collect::<Vec<_>>());
    match levels.into_iter().find(|levels| !levels.is_empty()) {
        Some(levels) => Ok(levels),
        None if places.iter().any(GroupPlace::is_visible) => {
            Err(format!("no cgroup of the process has '{}'", files.join("' or '")))
        }
        None => Err(HIDDEN.to_owned()),
    }
}
