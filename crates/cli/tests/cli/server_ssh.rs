//! `--server user@host`: an agent behind a real sshd in a network namespace, and every way in which that fails.

use crate::profile::can_profile;
use crate::rig::pair::{Pair, processes_with};
use crate::rig::program::{Outcome, Program, Running};
use crate::rig::ssh::{GUEST, OPERATOR, Sshd};
use crate::rig::{has, skip, wait_until};
use crate::serve::Served;
use crate::server_host::{agrees_with_the_server, lines};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(180);
const NEEDS: &[&str] = &["root", "iproute2", "sshd", "ssh", "ssh-keygen", "namespaces"];

/// Both hosts and the daemon on one of them; `None` where they cannot be had.
fn hosts() -> Option<(Pair, Sshd)> {
    let pair = Pair::make()?;
    let sshd = Sshd::start(&pair)?;
    Some((pair, sshd))
}

/// Nothing lies in the other host's folder for temporary files.
fn is_clean(sshd: &Sshd) -> bool {
    std::fs::read_dir(sshd.tmp()).expect("the folder is there").count() == 0
}

/// Nobody is left on the other host: no session, so no process of one.
fn is_left(sshd: &Sshd) -> bool {
    wait_until(Duration::from_secs(30), || sshd.sessions().is_empty() && is_clean(sshd))
}

#[test]
fn a_host_behind_ssh_is_read_and_agrees_with_the_server() {
    let Some((pair, sshd)) = hosts() else {
        return skip("a_host_behind_ssh_is_read_and_agrees_with_the_server", NEEDS);
    };
    let (target, program) = (pair.target(&[]), Program::new());
    let load = [
        "load",
        target.url(),
        "-c",
        "4",
        "-n",
        "2000",
        "--server",
        &sshd.server(),
        "--ssh-config",
        &sshd.config(),
        "--json",
    ];
    let outcome = Running::start(pair.command(&program, load)).finish(LIMIT);
    outcome.expect_code(0);
    agrees_with_the_server(&outcome, &program.run_folder().expect("the run is kept"), target);
    assert!(is_left(&sshd), "something is left on the other host");
}

#[test]
fn a_host_behind_ssh_is_watched_and_profiled() {
    let Some((pair, sshd)) = hosts() else {
        return skip("a_host_behind_ssh_is_watched_and_profiled", NEEDS);
    };
    let (target, program) = (pair.target(&[]), Program::new());
    let (server, config) = (sshd.server(), sshd.config());
    let ssh = ["--ssh-config", &config];
    let watch = ["watch", &server, "here", "--json", "--count", "2", "-i", "200ms"];
    let outcome = Running::start(pair.command(&program, [&watch[..], &ssh].concat())).finish(LIMIT);
    let lines: Vec<Value> = outcome.expect_code(0).stdout.lines().map(json).collect();
    let of = |host: &str| lines.iter().filter(|line| line["host"] == host).count();
    assert_eq!((of(&server), of("here"), lines.len()), (2, 2, 4), "{outcome}");
    assert!(lines.iter().all(|line| line["processes"].is_array()), "{outcome}");

    let profile = ["profile", "--server", &server, "-d", "300ms", "--json"];
    let outcome = Running::start(pair.command(&program, [&profile[..], &ssh].concat())).finish(LIMIT);
    if !outcome.stderr.contains("cannot profile this host") {
        assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
        assert_eq!(json(&outcome.stdout)["profile"]["host"], server.as_str());
        let nobody = ["profile", "--server", &server, "--tier", "nobody-there"];
        let outcome = Running::start(pair.command(&program, [&nobody[..], &ssh].concat())).finish(LIMIT);
        outcome.expect_code(2);
        assert!(outcome.stderr.contains("cannot profile tier 'nobody-there'"), "{outcome}");
        assert!(outcome.stderr.contains("\nhint: `ps -e`"), "{outcome}");

        let load = [
            "load",
            target.url(),
            "-d",
            "1s",
            "--warmup",
            "0s",
            "-r",
            "200",
            "--profile",
            "--server",
            &server,
        ];
        let outcome = Running::start(pair.command(&program, [&load[..], &ssh].concat())).finish(LIMIT);
        assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
        let folder = program.run_folder().expect("the run is kept");
        let text = std::fs::read_to_string(folder.join("profile.json")).expect("there is a profile");
        assert_eq!(json(&text)["host"], server.as_str());
    }
    assert!(is_left(&sshd), "something is left on the other host");
}

#[test]
fn a_watch_and_a_search_of_a_host_behind_ssh_are_recorded_and_served() {
    let test = "a_watch_and_a_search_of_a_host_behind_ssh_are_recorded_and_served";
    let Some((pair, sshd)) = hosts() else { return skip(test, NEEDS) };
    let (target, program) = (pair.target(&[]), Program::new());
    let (server, config) = (sshd.server(), sshd.config());
    let ask = |words: &[&str]| {
        Running::start(pair.command(&program, [words, &["--ssh-config", &config]].concat())).finish(LIMIT)
    };
    let watch = ask(&["watch", &server, "-c", "--csv", "--count", "6", "-i", "200ms", "--record"]);
    assert_eq!(watch.expect_code(0).stdout.lines().count(), 7, "{watch}");
    let watched = program.run_folder().expect("the watch is kept");
    let shown = program.run(["show", "--json"]);
    let document = shown.expect_code(0).json();
    assert_eq!((&document["kind"], &document["status"]), (&"watch".into(), &"complete".into()), "{shown}");

    let mut search =
        vec!["run", target.url(), "--effort", "quick", "--max-rate", "500/s", "--server", &server];
    search.extend(can_profile(test, &[]).then_some("--profile"));
    let outcome = ask(&search);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    let folders = std::fs::read_dir(program.runs()).expect("is there").flatten().map(|entry| entry.path());
    let found =
        folders.filter(|path| path.is_dir()).find(|path| *path != watched).expect("the search is kept");
    if search.contains(&"--profile") && !outcome.stderr.contains("cannot profile this host") {
        for name in ["profile.json", "profile-low.json"] {
            let text = std::fs::read_to_string(found.join(name)).expect("there is a profile");
            assert_eq!(json(&text)["host"], server.as_str(), "{name}");
        }
    }
    let served = Served::start(program.command(["serve"]));
    for folder in [&watched, &found] {
        let name = folder.file_name().expect("has a name").to_string_lossy();
        assert!(served.page("/list").contains(&*name), "{name} is not listed");
        let page = served.page(&format!("/runs/{name}"));
        assert!(page.starts_with("HTTP/1.1 200 "), "{name}: {}", &page[..page.len().min(200)]);
    }
    assert!(is_left(&sshd), "something is left on the other host");
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("is JSON")
}

#[test]
fn a_profile_that_is_not_allowed_there_is_refused_before_it_is_announced_and_sudo_takes_it() {
    let test = "a_profile_that_is_not_allowed_there_is_refused_before_it_is_announced_and_sudo_takes_it";
    let Some((pair, sshd)) = hosts() else { return skip(test, NEEDS) };
    if !can_profile(test, &["sudo"]) {
        return;
    }
    let (program, config) = (Program::new(), sshd.config());
    let taken = |user: &str, more: &[&str]| {
        let server = sshd.server_of(user);
        let profile = ["profile", "--server", &server, "--ssh-config", &config, "-d", "300ms", "--json"];
        Running::start(pair.command(&program, [&profile[..], more].concat())).finish(LIMIT)
    };
    let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    if paranoid.trim().parse().is_ok_and(|level: i32| level > 0) {
        let outcome = taken(GUEST, &[]);
        outcome.expect_code(2);
        assert!(outcome.stderr.contains("cannot profile this host: Permission denied"), "{outcome}");
        assert!(!outcome.stderr.contains("Sampling stacks"), "{outcome}");
    }
    let outcome = taken(OPERATOR, &["--server-sudo"]);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    assert!(outcome.stderr.contains("Sampling stacks of all processes"), "{outcome}");
    assert!(json(&outcome.stdout)["profile"]["kernel_unseen"].is_null(), "{outcome}");
    assert!(is_left(&sshd), "something is left on the other host");
}

#[test]
fn who_is_not_root_there_sees_the_server_by_sudo() {
    let Some((pair, sshd)) = hosts() else {
        return skip("who_is_not_root_there_sees_the_server_by_sudo", NEEDS);
    };
    if !has("who_is_not_root_there_sees_the_server_by_sudo", &["sudo"]) {
        return;
    }
    for way in [&[][..], &["--server-sudo"]] {
        let (target, program) = (pair.target(&[]), Program::new());
        let (server, config) = (sshd.server_of(OPERATOR), sshd.config());
        let load =
            ["load", target.url(), "-n", "2000", "--json", "--server", &server, "--ssh-config", &config];
        let outcome = Running::start(pair.command(&program, [&load, way].concat())).finish(LIMIT);
        // A machine that is taken away by its hypervisor measures nothing, and says so.
        assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
        let is_missed = outcome.stderr.contains("the server's processes were not found");
        assert_eq!(is_missed, way.is_empty(), "{outcome}");
        if !is_missed {
            agrees_with_the_server(&outcome, &program.run_folder().expect("the run is kept"), target);
        }
        assert!(is_left(&sshd), "something is left on the other host");
    }
}

/// A load that does not begin; why not.
fn refused(pair: &Pair, sshd: &Sshd, user: &str, more: &[&str]) -> Outcome {
    let (target, program) = (pair.target(&[]), Program::new());
    let server = sshd.server_of(user);
    let load = ["load", target.url(), "-n", "1", "--server", &server].into_iter().chain(more.iter().copied());
    let outcome = Running::start(pair.command(&program, load)).finish(LIMIT);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains(&format!("cannot reach host '{server}': ")), "{outcome}");
    assert!(outcome.stderr.contains("hint: "), "{outcome}");
    assert_eq!(program.run_folder(), None, "a run was begun: {outcome}");
    assert!(is_left(sshd), "something is left on the other host: {outcome}");
    assert_eq!(target.counts()["requests"], 0, "something was sent: {outcome}");
    outcome
}

#[test]
fn a_key_that_opens_nothing_and_a_host_key_that_changed_end_before_anything_is_sent() {
    let Some((pair, sshd)) = hosts() else {
        return skip("a_key_that_opens_nothing_and_a_host_key_that_changed", NEEDS);
    };
    let outcome = refused(&pair, &sshd, "root", &["--ssh-config", &sshd.client("stranger", "host")]);
    assert!(outcome.stderr.contains("Permission denied"), "{outcome}");
    let outcome = refused(&pair, &sshd, "root", &["--ssh-config", &sshd.client("user", "stranger")]);
    assert!(outcome.stderr.contains("Host key verification failed"), "{outcome}");
}

#[test]
fn a_full_disk_there_and_a_sudo_that_asks_are_told() {
    let Some((pair, sshd)) = hosts() else {
        return skip("a_full_disk_there_and_a_sudo_that_asks_are_told", NEEDS);
    };
    let outcome = refused(&pair, &sshd, GUEST, &["--ssh-config", &sshd.config(), "--server-sudo"]);
    // Where there is none, the shell says so.
    let causes = ["sudo: a password is required", "sudo: not found", "sudo: command not found"];
    let is_told = causes.iter().any(|cause| outcome.stderr.contains(cause));
    assert!(is_told && outcome.stderr.contains("test with `ssh HOST sudo -n true`"), "{outcome}");
    if !sshd.fill_disk() {
        return skip("a_full_disk_there_is_told", &["nsenter"]);
    }
    let outcome = refused(&pair, &sshd, "root", &["--ssh-config", &sshd.config()]);
    assert!(outcome.stderr.contains("No space left on device"), "{outcome}");
    assert!(outcome.stderr.contains("hint: sysdyno runs there from $TMPDIR or /tmp"), "{outcome}");
}

#[test]
fn a_connection_that_is_killed_stops_the_load_and_leaves_nothing() {
    let Some((pair, sshd)) = hosts() else {
        return skip("a_connection_that_is_killed_stops_the_load_and_leaves_nothing", NEEDS);
    };
    let (target, program) = (pair.target(&[]), Program::new());
    let load = [
        "load",
        target.url(),
        "-c",
        "2",
        "-d",
        "170s",
        "--server",
        &sshd.server(),
        "--ssh-config",
        &sshd.config(),
        "--json",
    ];
    let running = Running::start(pair.command(&program, load));
    let is_read = || {
        let folder = program.run_folder();
        folder.is_some_and(|folder| lines(&folder, "intervals.jsonl").len() > 1)
    };
    assert!(wait_until(LIMIT, is_read), "the load never began");
    assert!(is_clean(&sshd), "the program lies about on the other host while it runs");
    for session in sshd.sessions() {
        let session = Pid::from_raw(session as i32).expect("a process has a number");
        kill_process(session, Signal::KILL).expect("it is there");
    }
    let outcome = running.finish(LIMIT);
    outcome.expect_code(3);
    assert!(outcome.reasons().contains(&"V41".to_owned()), "{outcome}");
    let folder = program.run_folder().expect("the run is kept");
    let events = lines(&folder, "events.jsonl");
    assert!(events.iter().any(|event| event["event"]["kind"] == "host_lost"), "{events:?}");
    assert!(is_left(&sshd), "something is left on the other host");
    let inner = sshd.inner_tmp();
    let inner = inner.to_string_lossy();
    let mine = |pid: &u32| {
        let target = std::fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
        target.to_string_lossy().contains(&*inner)
    };
    let is_gone = || !processes_with(&["agent", "--stdio"]).iter().any(mine);
    assert!(wait_until(Duration::from_secs(30), is_gone), "the agent outlives its connection");
}
