//! Faults that are planted on purpose: for a while, also when sysdyno dies meanwhile, and named by the diagnosis.

use crate::rig::{Ended, Rig, finish, wait_until};
use std::fs;
use std::process::Child;
use std::time::Duration;
use sysdyno_needs::has;

const LIMIT: Duration = Duration::from_secs(60);

const LAB: &str = r#"
name = "faults"
host = [{ name = "server" }]
[[service]]
name = "front"
host = "server"
recipe = "nginx"
with = { worker_connections = 512 }
files = [{ path = "page.html", text = "hello" }]
"#;

pub fn run(rig: &mut Rig) {
    if !has("faults in nginx", &["nginx"]) {
        return;
    }
    a_fault_is_planted_for_a_while(rig);
    commands_run_beside_a_lab_and_put_right_what_they_did(rig);
    what_a_killed_one_has_planted_is_removed(rig);
    a_planted_fault_is_named_and_a_healthy_server_is_not_accused(rig);
}

fn inject(rig: &Rig, arguments: &[&str]) -> Child {
    rig.program(&[], &[&["inject"], arguments].concat()).spawn().expect("starts")
}

/// Connections that a worker of the lab's nginx may have, as its configuration says.
fn worker_connections(rig: &Rig) -> Option<u32> {
    let text = fs::read_to_string(rig.state().join("lab/faults/front/nginx.conf")).ok()?;
    text.split_once("worker_connections ")?.1.split_once(';')?.0.parse().ok()
}

fn a_fault_is_planted_for_a_while(rig: &mut Rig) {
    rig.expect(&["up", &rig.lab(LAB)], 0);
    let planted = inject(rig, &["nginx-connections", "--lab", "faults", "--level", "3", "--for", "1s"]);
    assert!(wait_until(LIMIT, || worker_connections(rig) == Some(16)), "nothing was planted");
    let ended = finish(planted);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stderr.contains("planted in lab 'faults': front.worker_connections=16"), "{ended:?}");
    assert_eq!(worker_connections(rig), Some(512), "{ended:?}");
    let refused = finish(inject(rig, &["php-pool", "--lab", "faults"]));
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("the lab has no service of recipe 'php-fpm'"), "{refused:?}");
    rig.expect(&["down", "faults"], 0);
    rig.check("a fault that was planted");
}

/// Workers of the lab's nginx that are stopped.
fn stopped_count() -> usize {
    let states = fs::read_dir("/proc").into_iter().flatten().flatten();
    let stat = states.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    stat.filter(|text| text.contains("(nginx) T ")).count()
}

fn commands_run_beside_a_lab_and_put_right_what_they_did(rig: &mut Rig) {
    rig.expect(&["up", &rig.lab(LAB)], 0);
    let planted = inject(rig, &["stopped", "--lab", "faults", "--level", "3", "--for", "3s"]);
    assert!(wait_until(LIMIT, || stopped_count() > 0), "nothing was stopped");
    let ended = finish(planted);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(stopped_count(), 0, "{ended:?}");
    rig.expect(&["down", "faults"], 0);
    rig.check("a fault that commands plant");
}

fn what_a_killed_one_has_planted_is_removed(rig: &mut Rig) {
    rig.expect(&["up", &rig.lab(LAB)], 0);
    let mut planted = inject(rig, &["nginx-connections", "--lab", "faults", "--level", "3"]);
    assert!(wait_until(LIMIT, || worker_connections(rig) == Some(16)), "nothing was planted");
    planted.kill().expect("runs");
    finish(planted);
    let removed = finish(inject(rig, &["--lab", "faults", "--remove"]));
    assert_eq!(removed.code, Some(0), "{removed:?}");
    assert_eq!(worker_connections(rig), Some(512), "{removed:?}");
    rig.expect(&["down", "faults"], 0);
    rig.check("a fault whose sysdyno was killed");
}

fn a_planted_fault_is_named_and_a_healthy_server_is_not_accused(rig: &mut Rig) {
    let folder = rig.folder().join("experiments");
    let place = folder.display().to_string();
    let arguments = ["nginx-connections", "narrow-link", "--level", "3", "--json", "--folder", &place];
    let mut command = rig.program(&[], &[&["selftest", "diagnose"], &arguments[..]].concat());
    let ended: Ended = finish(command.env("HOME", rig.folder()).spawn().expect("starts"));
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let judged: serde_json::Value = serde_json::from_str(&ended.stdout).expect("is JSON");
    let judged = judged.as_array().expect("is a list");
    assert_eq!(judged.len(), 2, "{judged:#?}");
    for case in judged {
        let named = case["grade"].as_str().unwrap_or_default();
        assert!(matches!(named, "right" | "suspected" | "second"), "{case:#}");
    }
    rig.check("faults that were planted to be named");
    fs::remove_dir_all(folder).expect("is there");
}
