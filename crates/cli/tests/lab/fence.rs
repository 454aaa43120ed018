//! An address of a lab that is typed outside of it is never sent out of the machine, whoever types it and whatever allows it.

use crate::rig::{Ended, Rig, finish};
use std::fs;
use std::process::Command;

const SHOP: &str = r#"name = "shop"
[[host]]
name = "web"
[[host]]
name = "client"
[[link]]
between = ["client", "web"]
addresses = ["10.77.0.1/24", "10.77.0.2/24"]
"#;

/// A user who may not look into a lab.
const NOBODY: &str = "65534";

pub fn run(rig: &mut Rig) {
    let way_out: [&[&str]; 4] = [
        &["link", "add", "out0", "type", "veth", "peer", "name", "out1"],
        &["addr", "add", "10.99.0.1/24", "dev", "out0"],
        &["link", "set", "out0", "up"],
        &["link", "set", "out1", "up"],
    ];
    way_out.iter().for_each(|words| ip(words));
    ip(&["route", "add", "default", "via", "10.99.0.2"]);
    rig.expect(&["up", &rig.lab(SHOP)], 0);
    let own = rig.folder().join("sysdyno");
    fs::copy(env!("CARGO_BIN_EXE_sysdyno"), &own).expect("can be copied");
    let before = begun_count();
    let commands: [&[&str]; 4] = [
        &["load", "http://10.77.0.2/x", "--target-is-mine", "-n", "1"],
        &["run", "http://10.77.0.2/x", "--target-is-mine"],
        &["load", "http://10.77.0.2/x", "--target-is-mine", "-n", "1", "--server", "netns:sysdyno-shop-web"],
        &["probe", "10.77.0.2:80", "--target-is-mine", "-c", "1"],
    ];
    for words in commands {
        refused(&typed(rig, &[], words), words);
    }
    let user = ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"];
    refused(&typed(rig, &user, commands[0]), commands[0]);
    assert_eq!(begun_count(), before, "something was sent");
    let inside =
        ["exec", "shop", "client", "--", env!("CARGO_BIN_EXE_sysdyno"), "probe", "10.77.0.2", "-c", "1"];
    rig.expect(&inside, 0);
    fs::remove_file(own).expect("is ours");
    rig.expect(&["down", "shop"], 0);
    ip(&["link", "del", "out0"]);
    rig.check("an address of a lab, typed outside");
}

/// A command of the program, in a fence that allows the lab.
fn typed(rig: &Rig, wrapper: &[&str], words: &[&str]) -> Ended {
    let program = rig.folder().join("sysdyno").display().to_string();
    let all: Vec<&str> = [wrapper, &[&program], words].concat();
    let mut command = Command::new(all[0]);
    command.args(&all[1..]).current_dir("/").env("SYSDYNO_STATE_DIR", rig.state());
    command.env("SYSDYNO_TARGET_ALLOW", "10.77.0.0/16").env("SYSDYNO_RUNS_DIR", "/nonexistent");
    // Settings of root are none of this user's business.
    command.env("HOME", "/nonexistent").env_remove("XDG_CONFIG_HOME");
    command.stdin(std::process::Stdio::null());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    finish(command.spawn().expect("starts"))
}

fn refused(ended: &Ended, words: &[&str]) {
    assert_eq!(ended.code, Some(2), "{words:?}: {ended:?}");
    let cause = "the address belongs to lab 'shop', which is not reachable from here";
    let hint = format!("hint: sudo sysdyno lab exec shop client -- sysdyno {} ", words[0]);
    assert!(ended.stderr.contains(cause) && ended.stderr.contains(&hint), "{words:?}: {ended:?}");
}

fn ip(words: &[&str]) {
    let ended = Command::new("ip").args(words).status();
    assert!(ended.is_ok_and(|status| status.success()), "ip {words:?}");
}

/// Connections and packets that this network has begun and sent.
fn begun_count() -> Vec<u64> {
    let text = fs::read_to_string("/proc/self/net/snmp").expect("is told");
    let count = |group: &str, name: &str| {
        let mut lines = text.lines().filter(|line| line.starts_with(group));
        let (names, values) = (lines.next().expect("names"), lines.next().expect("values"));
        let place = names.split(' ').position(|one| one == name).expect("is counted");
        values.split(' ').nth(place).and_then(|value| value.parse().ok()).expect("is a number")
    };
    vec![count("Tcp:", "ActiveOpens"), count("Icmp:", "OutEchos")]
}
