//! Experiments in labs with a host behind ssh: services, settings and the generator there, and a host that is lost.

use crate::far::{ADDRESS, Far, OWN_ADDRESS};
use crate::rig::{Ended, Rig, finish, wait_until};
use crate::shares::{WEB, check, connections, text};
use rustix::process::{Signal, kill_process};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;
use sysdyno_needs::has;

const LIMIT: Duration = Duration::from_secs(60);

const EXPERIMENT: &str = r#"
name = "far-ports"
url = "http://{{web}}/page.html"
generator = "me"
blocks = 1
seed = 3
noisy = true
metric = "goodput"
lab = "lab.toml"
[load]
connections = 2
requests = 60
warmup = "0s"
"#;

const PORTS: &str = "[[factor]]\nservices.web.port = [8080, 8081]\n";

const SETTINGS: &str = r#"
[[variant]]
name = "short"
settings = ["net.core.somaxconn=64", "process.{{web.pid}}.nofile=700"]
[[variant]]
name = "as it is"
"#;

/// A setting of the other host's network, and what the variant makes of it.
const SOMAXCONN: &str = "/proc/sys/net/core/somaxconn";
const TRIED: &str = "64\n";

/// A service that comes up each time but the third one.
const THIRD: &str = r#"
[[service]]
name = "third"
host = "far"
recipe = "command"
with = { argv = ["sh", "-c", "echo x >> COUNT; test $(wc -l < COUNT) -eq 3 || echo it is ready; exec sleep 1000"] }
health = { log = "it is ready" }
"#;

pub fn run(rig: &mut Rig, far: &Far) {
    if !has("experiments on a host behind ssh", &["nginx"]) {
        return;
    }
    rig.lab(&format!("{}{WEB}", text(far)));
    what_cannot_be_is_refused(rig);
    a_host_behind_ssh_is_measured(rig, far);
    its_settings_are_changed_and_put_back(rig, far);
    its_settings_are_put_back_when_the_experiment_is_killed(rig, far);
    its_settings_are_put_back_when_the_connection_is_gone(rig, far);
    a_host_behind_ssh_sends_the_load(rig, far);
    a_host_that_is_lost_while_a_trial_is_set_up_is_no_end(rig, far);
}

fn command(rig: &Rig, arguments: &[&str]) -> Command {
    let mut command = rig.program(&[], &[&["experiment"], arguments].concat());
    command.env("SYSDYNO_EXPERIMENTS_DIR", rig.folder().join("experiments")).env("HOME", rig.folder());
    command
}

fn start(rig: &Rig, text: &str) -> Child {
    let path = rig.folder().join("experiment.toml");
    fs::write(&path, text).expect("can be written");
    command(rig, &["run", &path.display().to_string(), "--json"]).spawn().expect("starts")
}

fn measure(rig: &Rig, text: &str) -> Ended {
    finish(start(rig, text))
}

/// The folder of the only experiment.
fn folder(rig: &Rig) -> PathBuf {
    let mut entries = fs::read_dir(rig.folder().join("experiments")).expect("is there").flatten();
    entries
        .find_map(|entry| Some(entry.path()).filter(|path| path.join("matrix.json").exists()))
        .expect("is there")
}

fn resume(rig: &Rig) -> Ended {
    finish(command(rig, &["resume", &folder(rig).display().to_string()]).spawn().expect("starts"))
}

fn runs(rig: &Rig) -> Vec<PathBuf> {
    let mut runs: Vec<_> = fs::read_dir(folder(rig).join("runs"))
        .expect("is there")
        .flatten()
        .map(|entry| entry.path())
        .collect();
    runs.sort();
    runs
}

fn trials(rig: &Rig) -> String {
    fs::read_to_string(folder(rig).join("trials.jsonl")).expect("is there")
}

/// Whether so many trials are those of two variants: one that was disturbed is made once more.
fn is_of_two(rig: &Rig, count: usize) -> bool {
    let disturbed = trials(rig).matches("\"is_spoilt\":true").count();
    (2..=2 + disturbed).contains(&count)
}

fn forget(rig: &Rig) {
    fs::remove_dir_all(rig.folder().join("experiments")).expect("is there");
}

fn read(run: &Path, name: &str) -> String {
    fs::read_to_string(run.join(name)).unwrap_or_else(|error| panic!("{}/{name}: {error}", run.display()))
}

fn json(run: &Path, name: &str) -> serde_json::Value {
    serde_json::from_str(&read(run, name)).expect("is JSON")
}

/// The settings that a run says were held: host, name, before, after.
fn held(run: &Path) -> Vec<[String; 4]> {
    let events = read(run, "events.jsonl");
    let events = events.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let settings = events.map(|line| line["event"].clone()).filter(|event| event["kind"] == "setting");
    let text = |event: &serde_json::Value, key: &str| event[key].as_str().expect("is a text").to_owned();
    settings.map(|event| ["host", "key", "before", "after"].map(|key| text(&event, key))).collect()
}

fn what_cannot_be_is_refused(rig: &Rig) {
    let good = format!("{EXPERIMENT}{SETTINGS}");
    for (wrong, with, said) in [
        ("\"me\"", "\"near\"", "'near' cannot reach 'far'"),
        ("{{web.pid}}", "{{back.pid}}", "the lab has no such service"),
        ("net.core.somaxconn", "net.core.somaxcon", "there is no setting 'net.core.somaxcon'"),
    ] {
        assert!(good.contains(wrong), "{wrong}");
        let ended = measure(rig, &good.replacen(wrong, with, 1));
        assert!(ended.code == Some(2) && ended.stderr.contains(said), "{with}: {ended:?}");
    }
}

fn a_host_behind_ssh_is_measured(rig: &mut Rig, far: &Far) {
    let before = far.connections_count();
    let ended = measure(rig, &format!("{EXPERIMENT}{PORTS}"));
    assert!(matches!(ended.code, Some(0 | 3)), "{ended:?}");
    let runs = runs(rig);
    assert!(is_of_two(rig, runs.len()), "{ended:?}");
    // One for the lab, and one for the readings of each trial.
    assert_eq!(far.connections_count() - before, 1 + runs.len(), "{ended:?}");
    for run in runs {
        let server = json(&run, "server.json");
        assert_eq!(server["name"], far.ssh(), "{server}");
        assert!(read(&run, "trials.jsonl").contains("\"ok\":60"), "every request was answered");
        assert!(read(&run, "events.jsonl").contains("\"requests\""), "nginx told what it counts");
        assert_eq!(held(&run), Vec::<[String; 4]>::new());
    }
    forget(rig);
    check(rig, far, "an experiment on a host behind ssh");
}

fn its_settings_are_changed_and_put_back(rig: &mut Rig, far: &Far) {
    let (before, own) = (far.setting(SOMAXCONN), fs::read(SOMAXCONN).expect("is there"));
    assert_ne!(before, TRIED);
    let running =
        start(rig, &format!("{EXPERIMENT}{SETTINGS}").replace("requests = 60", "duration = \"2s\""));
    assert!(wait_until(LIMIT, || far.setting(SOMAXCONN) == TRIED), "it was never changed");
    assert_eq!(fs::read(SOMAXCONN).expect("is there"), own, "that of this machine is another one");
    let journals = far.journals("open");
    assert!(journals.len() == 1 && journals[0].contains(before.trim()), "what it was is kept: {journals:?}");
    let ended = finish(running);
    assert!(matches!(ended.code, Some(0 | 3)), "{ended:?}");
    assert_eq!(far.setting(SOMAXCONN), before, "it is what it was");
    assert_eq!((far.journals("open").len(), far.journals("done").len()), (0, 1));
    let (tried, others): (Vec<_>, Vec<_>) = runs(rig).into_iter().partition(|run| !held(run).is_empty());
    assert!(!tried.is_empty() && !others.is_empty(), "{ended:?}");
    let [network, limit] = <[_; 2]>::try_from(held(&tried[0])).expect("two were held");
    assert_eq!(network, [&far.ssh(), "net.core.somaxconn", before.trim(), TRIED.trim()]);
    assert!(limit[0] == far.ssh() && limit[3].starts_with("700 "), "{limit:?}");
    assert!(limit[1].starts_with("process.") && limit[1].ends_with(".nofile"), "{limit:?}");
    let shown = finish(rig.program(&[], &["show", &tried[0].display().to_string()]).spawn().expect("starts"));
    assert!(shown.stdout.contains("net.core.somaxconn = 64 on ssh://root@"), "{shown:?}");
    forget(rig);
    check(rig, far, "settings of a host behind ssh");
}

fn its_settings_are_put_back_when_the_experiment_is_killed(rig: &mut Rig, far: &Far) {
    let before = far.setting(SOMAXCONN);
    // Whichever is the first one.
    let long = format!("{EXPERIMENT}{SETTINGS}load.requests = 60\n").replacen(
        "requests = 60",
        "duration = \"100s\"",
        1,
    );
    let mut running = start(rig, &long);
    assert!(wait_until(LIMIT, || far.setting(SOMAXCONN) == TRIED), "it was never changed");
    running.kill().expect("runs");
    finish(running);
    assert!(wait_until(LIMIT, || far.setting(SOMAXCONN) == before), "it stayed");
    assert!(wait_until(LIMIT, || far.journals("open").is_empty()), "its journal is closed");
    rig.expect(&["down", "one"], 0);
    assert_eq!(far.setting(SOMAXCONN), before);
    forget(rig);
    check(rig, far, "settings of a host behind ssh, and a kill");
}

fn its_settings_are_put_back_when_the_connection_is_gone(rig: &mut Rig, far: &Far) {
    let before = far.setting(SOMAXCONN);
    let short = format!("{EXPERIMENT}{SETTINGS}").replace("requests = 60", "duration = \"3s\"");
    let running = start(rig, &short);
    assert!(wait_until(LIMIT, || far.setting(SOMAXCONN) == TRIED), "it was never changed");
    connections(&running).into_iter().for_each(|ssh| kill_process(ssh, Signal::KILL).expect("is there"));
    assert!(wait_until(LIMIT, || far.setting(SOMAXCONN) == before), "it stayed");
    let ended = finish(running);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    is_told_what_goes_on(&ended, far);
    assert!(trials(rig).matches("complete").count() < 2, "what was cut off counts: {}", trials(rig));
    let ended = resume(rig);
    assert!(matches!(ended.code, Some(0 | 3)), "{ended:?}");
    assert!(is_of_two(rig, trials(rig).matches("complete").count()), "{ended:?}");
    assert_eq!(far.setting(SOMAXCONN), before);
    forget(rig);
    check(rig, far, "settings of a host whose connection is gone");
}

fn is_told_what_goes_on(ended: &Ended, far: &Far) {
    let said = &ended.stderr;
    let once = format!("once '{}' can be reached", far.ssh());
    assert!(said.contains("cannot continue experiment") && said.contains(&once), "{said}");
}

/// The server is on the same host, and on this machine.
fn a_host_behind_ssh_sends_the_load(rig: &mut Rig, far: &Far) {
    let file = format!("{EXPERIMENT}{PORTS}").replace("\"me\"", "\"far\"");
    for host in ["far", "me"] {
        rig.lab(&format!("{}{}", text(far), WEB.replace("\"far\"", &format!("\"{host}\""))));
        let ended = measure(rig, &file);
        assert!(matches!(ended.code, Some(0 | 3)), "{ended:?}");
        let runs = runs(rig);
        assert!(is_of_two(rig, runs.len()), "{ended:?}");
        for run in &runs {
            assert_eq!(json(run, "generators.json")[0]["name"], far.ssh(), "{run:?}");
            let server = json(run, "server.json")["name"].clone();
            assert_eq!(server, if host == "far" { far.ssh() } else { "netns:sysdyno-one-me".into() });
            assert!(read(run, "trials.jsonl").contains("\"ok\":60"), "every request was answered");
            let plan = read(run, "plan.json");
            assert!(plan.contains(if host == "far" { ADDRESS } else { OWN_ADDRESS }), "{plan}");
        }
        forget(rig);
        check(rig, far, "a load from a host behind ssh");
    }
    let work = "name = 'w'\nlab = 'lab.toml'\ngenerator = 'far'\n[work]\n[[work.command]]\nname = 'x'\nrun = 'true'\n\
        [[variant]]\nname = 'a'\n[[variant]]\nname = 'b'\n";
    let ended = measure(rig, work);
    assert!(
        ended.stderr.contains("its commands run on this machine, but host 'far' is another one"),
        "{ended:?}"
    );
}

fn a_host_that_is_lost_while_a_trial_is_set_up_is_no_end(rig: &mut Rig, far: &Far) {
    let count = rig.folder().join("count");
    let third = THIRD.replace("COUNT", &count.display().to_string());
    rig.lab(&format!("{}{WEB}{third}", text(far)));
    // Once with the lab, once with the first trial.
    let file = format!("{EXPERIMENT}{PORTS}").replace("seed = 3", "seed = 3\nrestart = [\"third\"]");
    let running = start(rig, &file);
    let starts = || fs::read_to_string(&count).map_or(0, |text| text.lines().count());
    assert!(wait_until(LIMIT, || starts() == 3), "the second trial was not set up");
    connections(&running).into_iter().for_each(|ssh| kill_process(ssh, Signal::KILL).expect("is there"));
    let ended = finish(running);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("at trial 2 of 2: cannot hear from host"), "{ended:?}");
    is_told_what_goes_on(&ended, far);
    assert_eq!(trials(rig).matches("complete").count(), 1, "{ended:?}");
    check(rig, far, "a host that was lost while a trial was set up");
    let ended = resume(rig);
    assert!(matches!(ended.code, Some(0 | 3)), "{ended:?}");
    assert!(ended.stderr.contains("trial 2 of 2") && !ended.stderr.contains("trial 1 of 2"), "{ended:?}");
    assert!(is_of_two(rig, trials(rig).matches("complete").count()), "{ended:?}");
    forget(rig);
    fs::remove_file(count).expect("is there");
    check(rig, far, "an experiment that went on after its host was lost");
}
