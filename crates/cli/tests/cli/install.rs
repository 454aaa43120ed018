//! `make install`: the unit that recovers settings at boot.

use crate::rig::skip;
use std::fs;
use std::path::Path;
use std::process::Command;

const UNITS: &str = "lib/systemd/system";

fn install(prefix: &Path, root: Option<&Path>) {
    let mut script = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/install"));
    script.arg(env!("CARGO_BIN_EXE_sysdyno")).arg(prefix).args(root);
    let output = script.output().expect("the script can be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_unit_that_recovers_settings_at_boot_is_installed_wanted_and_understood() {
    let folder = tempfile::tempdir().expect("a folder");
    let prefix = folder.path().join("usr");
    install(&prefix, None);
    let unit = prefix.join(UNITS).join("sysdyno-recover.service");
    let text = fs::read_to_string(&unit).expect("is there");
    let start = format!("ExecStart={}/bin/sysdyno tune recover\n", prefix.display());
    assert!(text.starts_with("[Unit]") && text.contains(&start) && !text.contains('@'), "{text}");
    let wanted = prefix.join(UNITS).join("sysinit.target.wants/sysdyno-recover.service");
    assert_eq!(fs::canonicalize(wanted).expect("leads to it"), fs::canonicalize(&unit).expect("is there"));
    match Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&unit).output() {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
        Err(_) => skip("what systemd says of the unit", &["systemd"]),
    }
}

#[test]
fn a_unit_in_a_package_names_the_program_where_it_is_going_to_be() {
    let root = tempfile::tempdir().expect("a folder");
    install(Path::new("/usr"), Some(root.path()));
    let unit = fs::read_to_string(root.path().join("usr").join(UNITS).join("sysdyno-recover.service"));
    assert!(unit.expect("is there").contains("ExecStart=/usr/bin/sysdyno tune recover\n"));
    assert!(root.path().join("usr/bin/sysdyno").is_file());
}
