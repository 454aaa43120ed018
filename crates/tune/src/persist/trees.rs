//! Files next to sysdyno's own on real hosts: trees of Debian, Ubuntu, Fedora, and Alpine, from `tests/etc`, and unusual ones.

use super::home::{LINES, RULES};
use super::{Home, PersistedFile, forget, home, own, persist, write_other};
use crate::setting::UNITS;
use crate::testing::{Host, changes};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

const DEBIAN: &str = include_str!("../../tests/etc/debian-12.txt");
const UBUNTU: &str = include_str!("../../tests/etc/ubuntu-24.04.txt");
const FEDORA: &str = include_str!("../../tests/etc/fedora-40.txt");
const ALPINE: &str = include_str!("../../tests/etc/alpine-3.20.txt");

/// A host with such a tree, and settings of each kind.
fn host(tree: &str) -> Host {
    let host = Host::new();
    for line in tree.lines().filter(|line| !line.starts_with('#')) {
        let (kind, rest) = line.split_once(' ').expect("a kind and a path");
        let (path, text) = rest.split_once(" -> ").or_else(|| rest.split_once(" = ")).unwrap_or((rest, ""));
        let place = host.roots.place(path);
        fs::create_dir_all(place.parent().expect("is in a folder")).expect("makes");
        match kind {
            "d" => fs::create_dir_all(&place).expect("makes"),
            "l" => symlink(text, &place).expect("links"),
            "f" => fs::write(&place, text.replace("\\n", "\n")).expect("writes"),
            _ => panic!("not a line of a tree: {line}"),
        }
    }
    host.set("net.ipv4.tcp_fin_timeout", "60\n");
    host.put("/sys/class/net/eth0/tx_queue_len", "1000\n");
    host.put("/sys/kernel/mm/transparent_hugepage/defrag", "always [madvise] never\n");
    host
}

/// Everything below `/etc`: folders, texts, and where links lead.
fn etc(host: &Host) -> BTreeMap<String, String> {
    fn walk(path: &Path, found: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(path).expect("reads").flatten() {
            let (path, kind) = (entry.path(), entry.file_type().expect("has a type"));
            let what = if kind.is_symlink() {
                format!("-> {}", fs::read_link(&path).expect("leads somewhere").display())
            } else if kind.is_dir() {
                walk(&path, found);
                "folder".into()
            } else if kind.is_file() {
                fs::read_to_string(&path).expect("reads")
            } else {
                "other".into()
            };
            found.insert(path.display().to_string(), what);
        }
    }
    let mut found = BTreeMap::new();
    walk(&host.roots.place("/etc"), &mut found);
    found
}

const SYSCTL: &str = "net.ipv4.tcp_fin_timeout=55";
const DEVICE: &str = "netdev.eth0.tx_queue_len=500";
const KERNEL: &str = "thp.defrag=never";

/// Keeps a limit as `persist` does for a process of that unit.
fn keep_limit(host: &Host, unit: &str) -> Home {
    let home = Home {
        file: format!("{UNITS}/{unit}.d/90-sysdyno.conf"),
        key: format!("{unit}.nofile"),
        line: "LimitNOFILE=65536".into(),
    };
    own::read(&home.file, &host.roots).expect("is not there, or ours");
    let lines = BTreeMap::from([(home.key.clone(), home.line.clone())]);
    write_other(&PersistedFile { file: home.file.clone(), lines }, &host.roots).expect("keeps");
    home
}

#[test]
fn settings_are_kept_and_taken_out_again_beside_everything_that_distributions_have_there() {
    for (name, tree) in [("Debian", DEBIAN), ("Ubuntu", UBUNTU), ("Fedora", FEDORA)] {
        let host = host(tree);
        let before = etc(&host);
        let kept = persist(&changes(&[SYSCTL, DEVICE, KERNEL]), &host.roots).expect(name);
        assert_eq!((kept.settings.len(), kept.others.len()), (1, 2), "{name}");
        let limit = keep_limit(&host, "httpd.service");
        let kept = persist(&changes(&[SYSCTL]), &host.roots).expect(name);
        assert_eq!(kept.others.len(), 3, "{name}: {kept:?}");
        assert_eq!(kept.overridden, [], "{name}");
        forget(&[limit.key], &host.roots).expect(name);
        assert!(!host.roots.place(&limit.file).exists(), "{name}");
        forget(&[], &host.roots).expect(name);
        assert_eq!(etc(&host), before, "{name}");
    }
}

#[test]
fn what_nothing_would_read_at_boot_is_refused() {
    let host = host(ALPINE);
    let before = etc(&host);
    persist(&changes(&[SYSCTL]), &host.roots).expect("OpenRC reads sysctls");
    for (setting, reader) in [(DEVICE, "udev"), (KERNEL, "systemd-tmpfiles")] {
        let refused = persist(&changes(&[setting]), &host.roots).expect_err("is refused").to_string();
        assert!(refused.contains("nothing on this host reads") && refused.contains(reader), "{refused}");
    }
    forget(&[], &host.roots).expect("forgets");
    assert_eq!(etc(&host), before);
}

#[test]
fn entries_beside_our_drop_ins_may_be_anything() {
    let host = host(DEBIAN);
    host.put(&format!("{UNITS}/file.service.d"), "a file where a folder is expected");
    let link =
        |to: &str, name: &str| symlink(to, host.roots.place(&format!("{UNITS}/{name}"))).expect("links");
    link("nowhere", "broken.service.d");
    link("loop.service.d", "loop.service.d");
    link("sshd.service", "alias.service.d");
    let unread = host.roots.place(&format!("{UNITS}/unread.service.d"));
    fs::create_dir(&unread).expect("makes");
    let mode = rustix::fs::Mode::from_raw_mode(0o644);
    rustix::fs::mkfifoat(rustix::fs::CWD, host.roots.place(&format!("{UNITS}/pipe.service.d")), mode)
        .expect("makes");
    let before = etc(&host);
    persist(&changes(&[SYSCTL]), &host.roots).expect("persists");
    forget(&[], &host.roots).expect("forgets");
    assert_eq!(etc(&host), before);

    symlink("../sshd.service", unread.join("90-sysdyno.conf")).expect("links");
    let refused = persist(&changes(&[SYSCTL]), &host.roots).expect_err("is refused").to_string();
    assert!(refused.contains("it is a symbolic link"), "{refused}");
}

#[test]
fn folders_that_are_made_for_our_files_can_be_read_by_all() {
    let host = host(ALPINE);
    host.put("/usr/bin/udevadm", "");
    persist(&changes(&[DEVICE]), &host.roots).expect("persists");
    for folder in ["/etc/udev", "/etc/udev/rules.d"] {
        let mode = fs::metadata(host.roots.place(folder)).expect("is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o755, "{folder}");
    }
    assert!(host.roots.place(RULES).exists() && !host.roots.place(LINES).exists());
    assert!(home::drop_ins(&host.roots).is_empty());
}
