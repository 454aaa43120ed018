//! The service or container that a process runs in, by the name of its control group; and the processes of such a group.
//!
//! Container engines name a group after the 64 hexadecimal digits of the container (`docker-ID.scope`, `/docker/ID`), systemd
//! after its unit. Sources: cgroups(7); systemd.unit(5).

use crate::roots::Roots;
use crate::source::{cgroup, read_once};
use std::path::PathBuf;

/// Digits of a container's id, and how many of them its engine prints.
const ID_DIGITS: usize = 64;
const SHOWN_DIGITS: usize = 12;

/// Longest name; systemd's own may have 255 bytes.
const MAX_CHARS: usize = 64;

/// The unit of a process; `None`: its groups have no such name, or it is gone or hidden.
pub(super) fn of_process(roots: &Roots, pid: u32, buffer: &mut Vec<u8>) -> Option<String> {
    let text = read_once(&roots.in_proc(&format!("{pid}/cgroup")), buffer).ok()?;
    let mut found = None;
    cgroup::parse(text, |line| found = found.take().or_else(|| of_path(line.path))).ok()?;
    found
}

/// The processes in a control group: of this path, if the name begins with `/`, otherwise with a name that begins like this, or with
/// a container's id that does.
///
/// Source: `/proc/PID/cgroup`, in any hierarchy. Groups below are part of it.
pub fn cgroup_processes(name: &str) -> Vec<u32> {
    let (roots, mut buffer) = (Roots::host(), Vec::new());
    let pids = super::table::host_processes().into_iter().map(|process| process.pid);
    pids.filter(|pid| is_process_in(&roots, *pid, name, &mut buffer)).collect()
}

/// Where the kernel shows control groups.
pub fn cgroup_root() -> PathBuf {
    Roots::host().in_sys("fs/cgroup")
}

/// The folder of the control group that this process is in: of this controller of version 1; of version 2 if the name is empty.
/// `None`: there is no such hierarchy. Source: `/proc/self/cgroup`.
pub fn own_cgroup(controller: &str) -> Option<PathBuf> {
    let mut buffer = Vec::new();
    let text = read_once(&Roots::host().in_proc("self/cgroup"), &mut buffer).ok()?;
    let mut found = None;
    let is_it = |line: &cgroup::Membership| match controller {
        "" => line.is_unified(),
        _ => line.has_controller(controller),
    };
    let read =
        cgroup::parse(text, |line| found = found.take().or_else(|| is_it(&line).then(|| line.path.to_vec())));
    let path = String::from_utf8(found.filter(|_| read.is_ok())?).ok()?;
    Some(cgroup_root().join(controller).join(path.trim_start_matches('/')))
}

fn is_process_in(roots: &Roots, pid: u32, name: &str, buffer: &mut Vec<u8>) -> bool {
    let Ok(text) = read_once(&roots.in_proc(&format!("{pid}/cgroup")), buffer) else { return false };
    let mut is_in = false;
    let read = cgroup::parse(text, |line| is_in |= is_path_in(line.path, name));
    read.is_ok() && is_in
}

fn is_path_in(path: &[u8], name: &str) -> bool {
    let path = String::from_utf8_lossy(path);
    if name.starts_with('/') {
        let below = path.strip_prefix(name.trim_end_matches('/'));
        return below.is_some_and(|below| below.is_empty() || below.starts_with('/'));
    }
    let is_named = |part: &str| part.starts_with(name) || id_of(part).is_some_and(|id| id.starts_with(name));
    !name.is_empty() && path.split('/').any(is_named)
}

/// The id of a container in the name of its group.
fn id_of(part: &str) -> Option<&str> {
    part.trim_end_matches(".scope").rsplit('-').next().filter(|id| is_id(id))
}

/// The innermost name of a path that is one of a unit.
fn of_path(path: &[u8]) -> Option<String> {
    path.split(|byte| *byte == b'/').rev().find_map(|part| {
        let part = String::from_utf8_lossy(part);
        let is_unit = part.ends_with(".service") || part.ends_with(".scope");
        let name = id_of(&part)
            .map(|id| format!("container {}", &id[..SHOWN_DIGITS]))
            .or(is_unit.then(|| part.into()));
        name.map(|name: String| name.chars().take(MAX_CHARS).collect())
    })
}

fn is_id(text: &str) -> bool {
    text.len() == ID_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_containers_are_told_by_their_innermost_group() {
        let id = "0123456789abcdef".repeat(4);
        let check = |path: &str, expected: Option<&str>| {
            assert_eq!(of_path(path.as_bytes()).as_deref(), expected, "{path}");
        };
        check("/system.slice/mariadb.service", Some("mariadb.service"));
        check("/user.slice/user-0.slice/session-3.scope", Some("session-3.scope"));
        check(&format!("/system.slice/docker-{id}.scope"), Some("container 0123456789ab"));
        check(&format!("/docker/{id}"), Some("container 0123456789ab"));
        check(
            &format!("/kubepods.slice/pod1.slice/cri-containerd-{id}.scope/x"),
            Some("container 0123456789ab"),
        );
        check("/system.slice", None);
        check("/", None);
        check(&format!("/{}.service", "x".repeat(300)), Some(&"x".repeat(64)));
    }

    #[test]
    fn a_group_is_known_by_its_path_or_the_beginning_of_a_name() {
        let id = "0123456789abcdef".repeat(4);
        let check = |path: &str, name: &str, expected: bool| {
            assert_eq!(is_path_in(path.as_bytes(), name), expected, "'{name}' in {path}");
        };
        let unit = "/system.slice/php8.2-fpm.service/pool";
        check(unit, "php8.2-fpm.service", true);
        check(unit, "php", true);
        check(unit, "fpm", false);
        check(unit, "", false);
        check(unit, "/system.slice/", true);
        check(unit, "/system.slice/php8.2-fpm.service/pool", true);
        check(unit, "/system.slice/php", false);
        check(unit, "/", true);
        check(&format!("/system.slice/docker-{id}.scope"), "0123456789ab", true);
        check(&format!("/docker/{id}"), "0123", true);
        check(&format!("/docker/{id}"), "9abc", false);
    }

    #[test]
    fn the_first_hierarchy_that_has_a_name_tells() {
        let folder = tempfile::tempdir().expect("makes a folder");
        let own = folder.path().join("proc/7");
        std::fs::create_dir_all(&own).expect("makes folders");
        std::fs::write(own.join("cgroup"), "4:cpu:/\n1:name=systemd:/system.slice/a.service\n0::/\n")
            .expect("writes");
        let of = |pid| of_process(&Roots::at(folder.path()), pid, &mut Vec::new());
        assert_eq!((of(7).as_deref(), of(8)), (Some("a.service"), None));
    }
}
