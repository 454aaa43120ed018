//! Labs with a host behind ssh: put up, used, killed, taken away; nothing is left on either side.

use crate::far::{ADDRESS, Far, OWN_ADDRESS};
use crate::far_experiments;
use crate::kills;
use crate::rig::{Ended, Rig, finish, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::process::{Child, Stdio};
use std::time::Duration;
use sysdyno_needs::has;

/// This machine as it is, a namespace, and one behind ssh, with services that start processes which try to get away.
const LAB: &str = r#"
name = "one"
[[host]]
name = "me"
here = true
address = "OWN"
[[host]]
name = "near"
[[host]]
name = "far"
ssh = "SSH"
[[service]]
name = "wild"
host = "far"
recipe = "command"
with = { argv = ["sh", "-c", "echo it is ready; sleep 1000 & (setsid sleep 1000 &) ; exec sleep 1000"] }
files = [{ path = "a", source = "beside" }]
health = { log = "it is ready" }
[[service]]
name = "own"
host = "me"
recipe = "command"
with = { argv = ["sleep", "1000"] }
"#;

pub const WEB: &str = r#"
[[service]]
name = "web"
host = "far"
recipe = "nginx"
with = { port = 8080, workers = 1 }
files = [{ path = "page.html", text = "hello" }, { path = "site", source = "beside" }]
"#;

pub fn run(rig: &mut Rig) {
    if !has("a lab with a host behind ssh", &["sshd", "ssh", "ssh-keygen", "iproute2", "nsenter"]) {
        return;
    }
    let far = Far::start(rig);
    rig.environment = vec![("SYSDYNO_SSH_CONFIG".into(), far.config("user"))];
    rig.begin_anew();
    fs::create_dir_all(rig.folder().join("beside/deep")).expect("can be made");
    fs::write(rig.folder().join("beside/deep/page"), "from beside").expect("can be written");
    a_share_is_put_up_used_and_taken_away(rig, &far);
    a_share_that_is_there_already_is_refused_and_stays(rig, &far);
    a_key_that_opens_nothing_makes_nothing(rig, &far);
    what_is_not_installed_there_is_told_with_its_host(rig, &far);
    a_host_that_cannot_be_reached_is_named_and_taken_away_later(rig, &far);
    a_share_that_is_gone_already_is_no_error(rig, &far);
    a_service_that_does_not_start_there_leaves_nothing(rig, &far);
    an_agent_that_is_still_at_work_is_ended_before(rig, &far);
    far_experiments::run(rig, &far);
    kill_up_and_down(rig, &far);
}

/// The lab on this machine and that one.
pub fn text(far: &Far) -> String {
    LAB.replace("OWN", OWN_ADDRESS).replace("SSH", &far.ssh())
}

/// Nothing is left on either side.
pub fn check(rig: &mut Rig, far: &Far, after: &str) {
    rig.check(after);
    assert_eq!(far.left(), Vec::<String>::new(), "on the other host, after {after}");
}

fn status(rig: &Rig, code: i32) -> serde_json::Value {
    let said = rig.expect(&["status", "one", "--json"], code).stdout;
    let status: serde_json::Value = serde_json::from_str(&said).expect("is JSON");
    status["labs"][0].clone()
}

fn a_share_is_put_up_used_and_taken_away(rig: &mut Rig, far: &Far) {
    let has_nginx = has("nginx behind ssh", &["nginx"]);
    let file = rig.lab(&format!("{}{}", text(far), if has_nginx { WEB } else { "" }));
    let dry = rig.expect(&["up", "--dry-run", &file], 0).stdout;
    assert!(dry.contains("as lab one-far there") && dry.contains("this machine"), "{dry}");
    let up = rig.expect(&["up", &file], 0);
    assert!(up.stdout.starts_with("one: up\n") && up.stdout.contains("ssh root@"), "{up:?}");
    let lab = status(rig, 0);
    assert_eq!(
        (&lab["hosts"][2]["is_there"], &lab["hosts"][2]["addresses"][0]),
        (&true.into(), &ADDRESS.into())
    );
    assert!(
        lab["services"].as_array().expect("is a list").iter().all(|service| service["is_healthy"] == true)
    );
    let served = far.state().join("lab/one-far/wild/data/a/deep/page");
    assert_eq!(fs::read_to_string(served).expect("came along"), "from beside");
    assert!(rig.expect(&["logs", "one", "wild"], 0).stdout.starts_with("it is ready\n"));
    words_reach_the_other_host_as_they_are(rig);
    if has_nginx {
        nginx_answers(rig, &lab);
    }
    rig.expect(&["down", "one"], 0);
    check(rig, far, "up and down of a share");
}

fn words_reach_the_other_host_as_they_are(rig: &Rig) {
    let words = ["", "two words", "it's \"quoted\"", "$(id) `id` $HOME", "a\\b\n;&|<>", "*", "-n", "ü"];
    let ask = [&["exec", "one", "far", "--", "printf", "<%s>"], &words[..]].concat();
    let said = rig.expect(&ask, 0).stdout;
    assert_eq!(said, words.map(|word| format!("<{word}>")).concat());
    rig.expect(&["exec", "one", "far", "--", "sh", "-c", "exit 7"], 7);
    let network =
        |host: &str| rig.expect(&["exec", "one", host, "--", "cat", "/proc/thread-self/net/dev"], 0).stdout;
    assert!(network("far").contains("far1:") && network("me").contains("far0:"));
    assert!(!network("near").contains("far"));
}

fn nginx_answers(rig: &Rig, lab: &serde_json::Value) {
    let web = &lab["services"][2];
    assert_eq!(web["endpoint"], format!("{ADDRESS}:8080"), "{web}");
    assert!(
        web["values"].as_array().is_some_and(|values| values.iter().all(|value| value["value"].is_number()))
    );
    let fetch = |path: &str| {
        let url = format!("http://{ADDRESS}:8080{path}");
        rig.expect(&["exec", "one", "me", "--", "curl", "--silent", "--fail", "--max-time", "20", &url], 0)
            .stdout
    };
    assert_eq!((fetch("/page.html"), fetch("/site/deep/page")), ("hello".into(), "from beside".into()));
    rig.expect(&["reload", "one", "web"], 0);
    assert_eq!(fetch("/page.html"), "hello");
    let refused = rig.expect(&["reload", "one", "wild"], 2);
    assert!(refused.stderr.contains("it reads its configuration only at start"), "{refused:?}");
}

/// A lab that has nothing on this machine.
fn only_far(far: &Far) -> String {
    let (before, after) = (LAB.find("[[host]]\nname = \"me\""), LAB.find("[[host]]\nname = \"far\""));
    let (before, after) = (before.expect("is there"), after.expect("is there"));
    let own = LAB.find("[[service]]\nname = \"own\"").expect("is there");
    format!("{}{}", &LAB[..before], &LAB[after..own]).replace("SSH", &far.ssh())
}

fn a_share_that_is_there_already_is_refused_and_stays(rig: &mut Rig, far: &Far) {
    let file = rig.lab(&only_far(far));
    let other = rig.folder().join("other").display().to_string();
    rig.expect(&["up", &file, "--state-dir", &other], 0);
    let refused = rig.expect(&["up", &file], 2);
    assert!(refused.stderr.contains("lab 'one-far': it already exists"), "{refused:?}");
    rig.expect(&["status", "one"], 2);
    rig.expect(&["status", "one", "--state-dir", &other], 0);
    rig.expect(&["down", "one", "--state-dir", &other], 0);
    check(rig, far, "a share of another lab");
}

fn a_key_that_opens_nothing_makes_nothing(rig: &mut Rig, far: &Far) {
    let file = rig.lab(&text(far));
    let refused = rig.expect(&["up", &file, "--ssh-config", &far.config("stranger")], 2);
    let said = &refused.stderr;
    assert!(said.contains("cannot reach host 'ssh://") && said.contains("Permission denied"), "{said}");
    check(rig, far, "a key that opens nothing");
}

/// Its state folder is new, so that jars are missing wherever this runs.
fn what_is_not_installed_there_is_told_with_its_host(rig: &mut Rig, far: &Far) {
    let services = "[[service]]\nname = 'names'\nhost = 'far'\nrecipe = 'hdfs-namenode'\nwith = { replication = 1 }\n\
        [[service]]\nname = 'data'\nhost = 'far'\nrecipe = 'hdfs-datanode'\nwith = { namenode = 'names' }\n";
    let refused = rig.expect(&["up", &rig.lab(&format!("{}{services}", text(far)))], 2);
    let said = &refused.stderr;
    let is_told = said.contains("mvn would fetch on host 'far': hadoop");
    assert!(is_told && said.contains("no terminal"), "{said}");
    check(rig, far, "jars that are not there");
}

fn a_host_that_cannot_be_reached_is_named_and_taken_away_later(rig: &mut Rig, far: &Far) {
    rig.expect(&["up", &rig.lab(&text(far))], 0);
    let closed = far.config("stranger");
    let told = rig.expect(&["status", "one", "--ssh-config", &closed], 1);
    assert!(told.stdout.contains("cannot reach host") && told.stdout.contains("(missing)"), "{told:?}");
    assert!(!told.stdout.contains("\\n"), "a hint has no place on the line of a service: {told:?}");
    let down = rig.expect(&["down", "one", "--ssh-config", &closed], 2);
    let is_told = |down: &Ended| {
        down.stderr.contains("cannot tear down lab 'one' on host 'far': cannot reach host")
            && down.stderr.contains("`sysdyno lab down one` removes what is left there")
    };
    assert!(is_told(&down), "{down:?}");
    assert!(!fs::exists("/run/netns").expect("can be looked at"), "what is here is gone");
    assert!(far.state().join("lab/one-far.wal").exists(), "what is there is there");
    let down = rig.expect(&["down", "one", "--ssh-config", &closed], 2);
    assert!(is_told(&down), "{down:?}");
    // What was given to `up` is in the journal.
    let kept = std::mem::take(&mut rig.environment);
    rig.expect(&["down", "one"], 0);
    rig.environment = kept;
    check(rig, far, "a host that was away");
}

fn a_share_that_is_gone_already_is_no_error(rig: &mut Rig, far: &Far) {
    rig.expect(&["up", &rig.lab(&text(far))], 0);
    let own = env!("CARGO_BIN_EXE_sysdyno");
    let mut there = far.command(&[own, "lab", "down", "one-far"]);
    let down = finish(there.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts"));
    assert_eq!(down.code, Some(0), "{down:?}");
    let told = rig.expect(&["status", "one"], 1);
    assert!(told.stdout.contains("its share is gone"), "{told:?}");
    rig.expect(&["down", "one"], 0);
    check(rig, far, "a share that was taken away there");
}

fn a_service_that_does_not_start_there_leaves_nothing(rig: &mut Rig, far: &Far) {
    let broken = text(far).replace("exec sleep 1000\"] }\nfiles", "exit 3\"] }\nfiles");
    let failed = rig.expect(&["up", &rig.lab(&broken.replace("echo it is ready; ", ""))], 2);
    let said = &failed.stderr;
    assert!(said.contains("cannot start service 'wild'") && said.contains("exited with code 3"), "{said}");
    check(rig, far, "a service that does not start there");
}

/// Connections of the program to other hosts.
pub fn connections(program: &Child) -> Vec<Pid> {
    let children =
        fs::read_to_string(format!("/proc/{0}/task/{0}/children", program.id())).expect("is there");
    children.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect()
}

/// `up` is killed while its connection hangs, so that the other host does not hear of it.
fn an_agent_that_is_still_at_work_is_ended_before(rig: &mut Rig, far: &Far) {
    let endless = text(far).replace("log = \"it is ready\"", "log = \"it is never ready\"");
    let mut up = rig.command(&[], &["up", &rig.lab(&endless)]).spawn().expect("starts");
    let journal = far.state().join("lab/one-far.wal");
    let is_waiting = || fs::read_to_string(&journal).is_ok_and(|text| text.contains("\"main\""));
    assert!(wait_until(Duration::from_secs(60), is_waiting), "the service was not started");
    let connections = connections(&up);
    assert!(!connections.is_empty(), "there is a connection");
    connections.iter().for_each(|ssh| kill_process(*ssh, Signal::STOP).expect("is there"));
    up.kill().expect("is a child");
    finish(up);
    rig.expect(&["down", "one"], 0);
    assert_eq!(far.left(), Vec::<String>::new(), "while the agent thinks that it is still wanted");
    connections.iter().for_each(|ssh| kill_process(*ssh, Signal::KILL).expect("is there"));
    check(rig, far, "an agent that was still at work");
}

fn kill_up_and_down(rig: &mut Rig, far: &Far) {
    let file = rig.lab(&text(far));
    let sample = rig.sample;
    // Each takes seconds, of which ssh is most.
    rig.sample = Some(sample.unwrap_or(60));
    let mut look = |rig: &mut Rig, after: &str| check(rig, far, after);
    kills::kill_up_at_calls(rig, &file, &mut look);
    kills::kill_down_at_calls(rig, &file, &mut look);
    kills::kill_up_at_moments(rig, &file, &mut look);
    rig.sample = sample;
}
