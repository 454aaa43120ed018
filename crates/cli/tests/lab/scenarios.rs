//! What is done with labs, step by step.

use crate::rig::{Rig, wait_until};
use std::fs;
use std::io::Read;
use std::time::Duration;

/// Two hosts with a link, and one with delay and loss; a service that starts processes that try to get away from it, and one that answers.
pub const LAB: &str = r#"
name = "LAB"
[[host]]
name = "a"
[[host]]
name = "b"
[[link]]
between = ["a", "b"]
addresses = ["10.77.0.1/24", "10.77.0.2/24"]
queues = 2
mtu = 1400
[[link]]
between = ["b", "a"]
delay = "1ms"
loss = "1%"
[[service]]
name = "wild"
host = "a"
recipe = "command"
with = { argv = ["sh", "-c", "sleep 1000 & (setsid sleep 1000 &) ; exec sleep 1000"] }
[[service]]
name = "last"
host = "b"
recipe = "command"
with = { argv = ["sh", "-c", "echo it is ready; cat page >&2; exec sleep 1000"] }
files = [{ path = "page", text = "x" }]
health = { log = "it is ready" }
"#;

pub fn run(rig: &mut Rig) {
    a_lab_is_put_up_used_and_taken_away(rig);
    two_labs_do_not_meet(rig);
    what_is_not_of_a_lab_is_left_alone(rig);
    a_lab_that_cannot_be_made_leaves_nothing(rig);
    processes_of_a_killed_keeper_are_found(rig);
    guests_in_a_host_are_named_and_left_alone(rig);
    the_folder_of_names_stays_while_somebody_uses_it(rig);
}

fn named(name: &str) -> String {
    LAB.replace("LAB", name)
}

fn a_lab_is_put_up_used_and_taken_away(rig: &mut Rig) {
    let file = rig.lab(&named("one"));
    let up = rig.expect(&["up", &file], 0);
    assert!(up.stdout.starts_with("one: up\n"), "{up:?}");
    let again = rig.expect(&["up", &file], 2);
    assert!(again.stderr.contains("it already exists"), "{again:?}");
    let status: serde_json::Value =
        serde_json::from_str(&rig.expect(&["status", "one", "--json"], 0).stdout).expect("is JSON");
    let lab = &status["labs"][0];
    assert_eq!(lab["hosts"][1]["namespace"], "sysdyno-one-b");
    let pid = lab["services"][0]["pid"].as_u64().expect("it runs");
    let logs = rig.expect(&["logs", "one", "last"], 0);
    assert!(logs.stdout.starts_with("it is ready\n"), "{logs:?}");
    let read = ["exec", "one", "a", "--", "cat", "/proc/thread-self/net/dev"];
    let links = rig.expect(&read, 0).stdout;
    assert!(links.contains("eth0:") && links.contains("lo:"), "{links}");
    rig.expect(&["exec", "one", "a", "--", "sh", "-c", "exit 7"], 7);
    let ping = rig.ask(&["exec", "one", "a", "--", "ping", "-c", "1", "-W", "10", "10.77.0.2"]);
    assert!(ping.code == Some(0) || ping.stderr.contains("cannot run 'ping'"), "{ping:?}");
    // The end of a service is seen and told.
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw).expect("is a pid");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("is there");
    let is_told = || {
        let status = rig.ask(&["status", "one"]);
        status.code == Some(1) && status.stdout.contains("it was killed by signal 9")
    };
    assert!(wait_until(Duration::from_secs(20), is_told), "{:?}", rig.ask(&["status", "one"]));
    rig.expect(&["down", "one"], 0);
    rig.check("up and down");
    rig.expect(&["down", "one"], 2);
    rig.expect(&["status", "one"], 2);
}

fn two_labs_do_not_meet(rig: &mut Rig) {
    let first = rig.command(&[], &["up", &rig.lab(&named("one"))]).spawn().expect("starts");
    let other = rig.folder().join("other.toml");
    fs::write(&other, named("two")).expect("can be written");
    rig.expect(&["up", &other.display().to_string()], 0);
    assert_eq!(crate::rig::finish(first).code, Some(0));
    rig.expect(&["down", "one"], 0);
    rig.expect(&["status", "two"], 0);
    rig.expect(&["down", "--all"], 0);
    rig.check("two labs");
}

fn what_is_not_of_a_lab_is_left_alone(rig: &mut Rig) {
    // A name that is taken.
    let taken = "/run/netns/sysdyno-one-b";
    fs::create_dir_all("/run/netns").expect("can be made");
    fs::write(taken, "").expect("can be written");
    let refused = rig.expect(&["up", &rig.lab(&named("one"))], 2);
    assert!(
        refused.stderr.contains("does not belong to a lab") && fs::metadata(taken).is_ok(),
        "{refused:?}"
    );
    fs::remove_file(taken).expect("is there");
    fs::remove_dir("/run/netns").expect("is there");
    // A name that somebody has given to another namespace since.
    rig.expect(&["up", &rig.lab(&named("one"))], 0);
    let script = "umount /run/netns/sysdyno-one-a && unshare --net mount --bind /proc/self/ns/net /run/netns/sysdyno-one-a";
    let status = std::process::Command::new("sh").args(["-c", script]).status();
    assert!(status.is_ok_and(|status| status.success()), "a namespace can be replaced");
    let down = rig.expect(&["down", "one"], 0);
    assert!(
        down.stderr.contains("it was left alone") && fs::metadata("/run/netns/sysdyno-one-a").is_ok(),
        "{down:?}"
    );
    let script = "umount /run/netns/sysdyno-one-a && rm /run/netns/sysdyno-one-a && umount /run/netns && rmdir /run/netns";
    let status = std::process::Command::new("sh").args(["-c", script]).status();
    assert!(status.is_ok_and(|status| status.success()), "it is still there");
    let _ = fs::remove_file(rig.state().join("lab/netns"));
    rig.check("names of others");
}

fn a_lab_that_cannot_be_made_leaves_nothing(rig: &mut Rig) {
    let broken = named("one").replace("exec sleep 1000\"] }\nfiles", "exit 3\"] }\nfiles");
    let failed = rig.expect(&["up", &rig.lab(&broken)], 2);
    let is_told = failed.stderr.contains("service 'last'") && failed.stderr.contains("exited with code 3");
    assert!(is_told, "{failed:?}");
    rig.check("a service that does not start");
    let broken = named("one").replace("\"sh\", \"-c\", \"echo", "\"/nowhere\", \"-c\", \"echo");
    let failed = rig.expect(&["up", &rig.lab(&broken)], 2);
    assert!(failed.stderr.contains("cannot start '/nowhere'"), "{failed:?}");
    rig.check("a program that is not there");
}

fn processes_of_a_killed_keeper_are_found(rig: &mut Rig) {
    let text = named("one").replace("(setsid sleep 1000 &) ; ", "");
    rig.expect(&["up", &rig.lab(&text)], 0);
    let journal = fs::read_to_string(rig.state().join("lab/one.wal")).expect("is there");
    let keepers = journal.lines().filter_map(|line| line.split_once("\"keeper\"")?.1.split_once("\"pid\":"));
    for (_, rest) in keepers {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        let pid = digits.parse().ok().and_then(rustix::process::Pid::from_raw).expect("is a pid");
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("is there");
    }
    rig.expect(&["down", "one"], 0);
    rig.check("keepers that were killed");
}

fn guests_in_a_host_are_named_and_left_alone(rig: &mut Rig) {
    rig.expect(&["up", &rig.lab(&named("one"))], 0);
    let guest = ["exec", "one", "a", "--", "sh", "-c", "echo here; exec sleep 1000"];
    let mut guest = rig.command(&[], &guest).spawn().expect("starts");
    let mut said = [0; 5];
    guest.stdout.as_mut().expect("is piped").read_exact(&mut said).expect("it says that it is there");
    let down = rig.expect(&["down", "one"], 0);
    let is_told = down.stderr.contains("does not belong to the lab and keeps running without host 'a'");
    assert!(is_told, "{down:?}");
    assert!(guest.try_wait().expect("is a child").is_none(), "it goes on");
    let number = down.stderr.split("process ").nth(1).and_then(|rest| rest.split(' ').next());
    let pid =
        number.and_then(|number| rustix::process::Pid::from_raw(number.parse().ok()?)).expect("is told");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("is there");
    assert_eq!(crate::rig::finish(guest).code, Some(137));
    rig.check("a guest");
}

fn the_folder_of_names_stays_while_somebody_uses_it(rig: &mut Rig) {
    rig.expect(&["up", &rig.lab(&named("one"))], 0);
    let other = "/run/netns/of-somebody-else";
    fs::write(other, "").expect("can be written");
    rig.expect(&["down", "one"], 0);
    assert!(fs::metadata(other).is_ok(), "what somebody else made is there");
    fs::remove_file(other).expect("is there");
    // The next lab takes the folder away, since a lab made it.
    rig.expect(&["up", &rig.lab(&named("one"))], 0);
    rig.expect(&["down", "one"], 0);
    rig.check("a folder that was in use");
}
