//! Who may give orders to agents, which ones, and what others' messages do.

use super::{LIMIT, document, is_thorough};
use crate::rig::fleet::{NEAR_NEEDS, NearFleet};
use crate::rig::program::{Program, Target};
use crate::rig::skip;
use std::path::Path;
use std::time::Duration;
use sysdyno_fleet::{Credentials, NatsClient};

#[test]
fn an_agent_does_only_what_it_was_started_for() {
    let test = "an_agent_does_only_what_it_was_started_for";
    let Some(mut near) = NearFleet::make() else { return skip(test, NEAR_NEEDS) };
    near.start_agent(&["--allow", "load"]);
    let (target, program) = (Target::start(&[]), Program::new());
    let load = ["load", target.url(), "-c", "1", "-n", "4", "--load-from", "fleet:a0"];
    let outcome = near.run(&program, &load);
    outcome.expect_code(2);
    let told = "cannot use host 'fleet:a0': its administrator does not allow controllers to load this host itself\n\
                hint: start the agent there with --allow load,loopback";
    assert!(outcome.stderr.contains(told), "{outcome}");
    let outcome = near.run(&program, &["load", target.url(), "-c", "1", "-n", "4", "--server", "fleet:a0"]);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("does not allow controllers to read it"), "{outcome}");
    assert!(outcome.stdout.is_empty(), "nothing was sent by the agent or beside it: {outcome}");
    let shown = near.run(&program, &["fleet", "top", "--count", "2", "--interval", "1s", "--json"]);
    let shown: Vec<serde_json::Value> =
        shown.stdout.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    let agent = &shown[1]["agents"][0];
    assert_eq!((&agent["name"], &agent["is_silent"]), (&"a0".into(), &false.into()), "{shown:?}");
    assert!(agent["busy_ratio"].as_f64().is_some_and(|ratio| (0.0..=1.0).contains(&ratio)), "{shown:?}");
    let audit = std::fs::read_to_string(near.state().join("fleet/agent/a0/audit.jsonl")).expect("is there");
    assert!(
        audit.lines().any(|line| line.contains("\"refused\"") && line.contains("send part of the load")),
        "{audit}"
    );
}

#[test]
fn an_agent_on_this_host_sends_what_this_process_would() {
    let test = "an_agent_on_this_host_sends_what_this_process_would";
    if !is_thorough(test) {
        return;
    }
    let Some(mut near) = NearFleet::make() else { return skip(test, NEAR_NEEDS) };
    near.start_agent(&["--allow", "load,loopback,observe", "--labels", "site=a"]);
    let (target, program) = (Target::start(&[]), Program::new());
    let load =
        ["load", target.url(), "-c", "3", "-n", "300", "--load-from", "fleet:site=a", "--server", "fleet:a0"];
    // It sends for a controller that reads it, too.
    let outcome = near.run(&program, &[&load[..], &["--json"]].concat());
    assert_eq!(outcome.count("ok"), 300, "{outcome}");
    assert_eq!(outcome.json()["generators"][0]["name"], "fleet:a0", "{outcome}");
    let folder = program.run_folder().expect("the run is kept");
    assert_eq!(document(&folder, "server.json")["name"], "fleet:a0", "{outcome}");
    let again = Program::new();
    let outcome =
        near.run(&again, &["load", target.url(), "-c", "1", "-n", "50", "--server", "fleet:a0", "--json"]);
    assert_eq!(outcome.count("ok"), 50, "{outcome}");
}

#[test]
fn who_has_no_credentials_or_those_of_another_is_not_let_in() {
    let test = "who_has_no_credentials_or_those_of_another_is_not_let_in";
    let Some(near) = NearFleet::make() else { return skip(test, NEAR_NEEDS) };
    let Some(other) = NearFleet::make() else { return skip(test, NEAR_NEEDS) };
    let program = Program::new();
    let list = |near: &NearFleet, file: &Path| {
        near.run(&program, &["fleet", "ls", "--nats-creds", &file.display().to_string()])
    };
    list(&near, &near.credentials("controller")).expect_code(0);
    // Another broker's certificate is not trusted, so nothing is sent to it.
    let text = std::fs::read_to_string(other.credentials("controller")).expect("is there");
    let broker = |near: &NearFleet| {
        let text = std::fs::read_to_string(near.credentials("controller")).expect("is there");
        text.lines().find(|line| line.starts_with("broker: ")).expect("is there").to_owned()
    };
    let forged = program.runs().join("forged.creds");
    let write = |text: &str| {
        std::fs::write(&forged, text).expect("writes");
        std::fs::set_permissions(&forged, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("sets");
    };
    write(&text.replace(&broker(&other), &broker(&near)));
    let outcome = list(&near, &forged);
    outcome.expect_code(2);
    assert!(
        outcome.stderr.contains("invalid peer certificate") && outcome.stderr.contains("hint: "),
        "{outcome}"
    );
    // The right certificate and another key.
    let own = std::fs::read_to_string(near.credentials("controller")).expect("is there");
    let seed = |text: &str| text.lines().find(|line| line.starts_with("SU")).expect("is there").to_owned();
    write(&own.replace(&seed(&own), &seed(&text)));
    let outcome = list(&near, &forged);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("it refused the login"), "{outcome}");
    assert!(!outcome.stderr.contains(&seed(&text)), "{outcome}");
    // An agent that is removed is locked out, also with a copy of its credentials.
    std::fs::copy(near.credentials("a1"), &forged).expect("copies");
    near.run(&program, &["fleet", "remove", "a1"]).expect_code(0);
    let outcome = list(&near, &forged);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("it refused the login"), "{outcome}");
    let outcome = near.run(&program, &["fleet", "remove", "a1"]);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("it is not known"), "{outcome}");
    // Without TLS there is no way in, and none beyond the loopback interface.
    let port = broker(&near).rsplit(':').next().expect("a port").to_owned();
    let outcome = near.run(&program, &["fleet", "ls", "--nats", &format!("nats://127.0.0.1:{port}")]);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("it requires TLS"), "{outcome}");
    let outcome = near.run(&program, &["fleet", "ls", "--nats", &format!("nats://10.0.0.1:{port}")]);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("on the loopback interface only"), "{outcome}");
}

#[test]
fn an_agent_of_another_version_is_named_and_not_used() {
    let test = "an_agent_of_another_version_is_named_and_not_used";
    let Some(near) = NearFleet::make() else { return skip(test, NEAR_NEEDS) };
    let program = Program::new();
    let credentials = Credentials::read(&near.credentials("a1"), None).expect("reads");
    let client = NatsClient::connect(&credentials.broker.expect("is there"), credentials.login, "other");
    let client = client.expect("connects");
    let asked = client.subscribe("sysdyno.1.who");
    let card = serde_json::json!({
        "name": "a1", "version": "9.9.9", "fleet_protocol": 9, "agent_protocol": 99, "labels": {},
        "allows": ["load"], "cpus_count": 4, "memory_bytes": null, "cpu": "\u{1b}[2J", "kernel": null, "leased_to": null,
    });
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (client, stop, card) = (&client, &stop, &card);
        scope.spawn(move || {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                if asked.recv_timeout(Duration::from_millis(50)).is_ok() {
                    client.publish("sysdyno.1.here.a1", card.to_string().as_bytes());
                    // Another agent's name is not its to say.
                    client.publish("sysdyno.1.here.a0", card.to_string().replace("a1", "a0").as_bytes());
                }
            }
        });
        let listed = near.run(&program, &["fleet", "ls"]);
        let load = near.run(&program, &["load", "http://10.0.0.1/", "-n", "1", "--load-from", "fleet:a1"]);
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(listed.stdout.contains("unusable: it runs version '9.9.9'"), "{listed}");
        assert!(!listed.stdout.contains("a0") && !listed.stdout.contains('\u{1b}'), "{listed}");
        load.expect_code(2);
        assert!(load.stderr.contains("cannot send from 'fleet:a1': it runs version '9.9.9'"), "{load}");
    });
}

#[test]
fn what_anybody_else_sends_changes_nothing_of_a_running_load() {
    let test = "what_anybody_else_sends_changes_nothing_of_a_running_load";
    if !is_thorough(test) {
        return;
    }
    let Some(mut near) = NearFleet::make() else { return skip(test, NEAR_NEEDS) };
    near.start_agent(&["--allow", "load,loopback"]);
    let (target, program) = (Target::start(&[]), Program::new());
    let credentials = Credentials::read(&near.credentials("controller"), None).expect("reads");
    let client = NatsClient::connect(&credentials.broker.expect("is there"), credentials.login, "hostile");
    let client = client.expect("connects");
    // It sees the sessions of others, as another controller does, or a broker that was taken over.
    let heard = client.subscribe("sysdyno.1.from.a0.*");
    let load = [
        "load",
        target.url(),
        "-c",
        "2",
        "-r",
        "200/s",
        "--arrival",
        "constant",
        "-d",
        "3s",
        "--load-from",
        "fleet:a0",
        "--json",
    ];
    let running = near.start(&program, &load);
    let first = heard.recv_timeout(Duration::from_secs(30)).expect("a session begins");
    let to = first.subject.replace("from", "to");
    let mut sent = 0u32;
    while let Ok(message) = heard.recv_timeout(Duration::from_secs(2)) {
        // Its own words back, others' cut and changed, and nothing at all: none of it is signed.
        let mut changed = message.payload.clone();
        if let Some(byte) = changed.get_mut((sent % 40) as usize) {
            *byte ^= 0xff;
        }
        let whole = &message.payload;
        for bytes in [&whole[..], &whole[..whole.len() / 2], &changed, b"", &[0xff; 4096]] {
            client.publish(&to, bytes);
            client.publish("sysdyno.1.to.a0.0123456789abcdef0123456789abcdef", bytes);
            client.publish("sysdyno.1.to.a0.x", bytes);
        }
        sent += 1;
    }
    let outcome = running.finish(LIMIT);
    assert!(outcome.code == Some(0) || outcome.is_disturbed(), "{outcome}");
    assert_eq!((outcome.count("scheduled"), outcome.count("ok")), (600, 600), "{outcome}");
    assert!(sent > 10, "nothing was heard of the session");
    assert!(near.agent_log().contains("no known controller has signed"), "{}", near.agent_log());
}
