//! A link with delay and loss: how long frames are held, how many are lost, and that what comes is what was sent.

use crate::rig::{Rig, wait_until};
use serde_json::Value;
use std::time::Duration;

const DELAY_MS: f64 = 15.0;

/// What a machine that others use may add to the middle of the answers. Unit: milliseconds.
const DISTURBANCE_MS: f64 = 20.0;

/// Echoes that are sent over the link that loses.
const ECHOES: u64 = 300;

const HOSTS: &str = r#"name = "far"
[[host]]
name = "a"
[[host]]
name = "b"
[[link]]
between = ["a", "b"]
addresses = ["10.77.0.1/24", "10.77.0.2/24"]
"#;

pub fn run(rig: &mut Rig) {
    frames_are_held_for_the_delay(rig);
    as_many_are_lost_as_are_counted(rig);
    a_relay_that_died_is_told(rig);
}

fn status(rig: &Rig, code: i32) -> Value {
    let ended = rig.expect(&["status", "far", "--json"], code);
    let status: Value = serde_json::from_str(&ended.stdout).expect("is JSON");
    status["labs"][0].clone()
}

/// Echoes from `a` to `b`, as the program's own probe sees them.
fn probe(rig: &Rig, count: u64) -> Value {
    let own = env!("CARGO_BIN_EXE_sysdyno");
    let count = count.to_string();
    let probe = ["probe", "10.77.0.2", "-c", &count, "-i", "10ms", "-W", "2s", "--json"];
    let ended = rig.expect(&[&["exec", "far", "a", "--", own], &probe[..]].concat(), 0);
    let result: Value = serde_json::from_str(&ended.stdout).expect("is JSON");
    result["probe"].clone()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("'{value}' is no number"))
}

fn frames_are_held_for_the_delay(rig: &mut Rig) {
    let own = env!("CARGO_BIN_EXE_sysdyno");
    let server = format!(
        "[[service]]\nname = 'target'\nhost = 'b'\nrecipe = 'command'\n\
         with = {{ argv = ['sh', '-c', 'sleep 1000 | {own} target --listen 10.77.0.2:8080 --body-bytes 100000'] }}\n\
         health = {{ http = '/', port = '8080' }}\n"
    );
    rig.expect(&["up", &rig.lab(&format!("{HOSTS}delay = '{DELAY_MS}ms'\n{server}"))], 0);
    let probed = probe(rig, 40);
    assert_eq!(number(&probed["lost_count"]), 0, "{probed}");
    // The fastest echo is one that nothing else on the machine has held up.
    let min_ms = number(&probed["min_ns"]) as f64 / 1e6;
    let expected = 2.0 * DELAY_MS..=2.0 * DELAY_MS + DISTURBANCE_MS;
    assert!(expected.contains(&min_ms), "{min_ms} ms: {probed}");
    // Long segments and checksums that are left to the device come through whole.
    let runs = rig.folder().join("runs");
    let load = ["load", "http://10.77.0.2:8080/", "-n", "20", "-c", "2", "--json", "--runs-dir"];
    let loaded = rig.ask(&[&["exec", "far", "a", "--", own], &load[..], &[&runs.to_string_lossy()]].concat());
    assert!(loaded.stdout.contains("\"ok\": 20"), "{loaded:?}");
    let lab = status(rig, 0);
    let relay = &lab["links"][0]["relay"];
    for from in 0..2 {
        assert_eq!(number(&relay["from_ends"][from]["lost_count"]), 0, "{relay}");
        assert_eq!(number(&relay["from_ends"][from]["overflowed_count"]), 0, "{relay}");
    }
    rig.expect(&["down", "far"], 0);
    rig.check("a link with delay");
}

/// Packets that an interface of a host has received and sent, by its kernel.
fn packets(rig: &Rig, host: &str) -> [u64; 2] {
    let read = ["exec", "far", host, "--", "cat", "/proc/thread-self/net/dev"];
    let text = rig.expect(&read, 0).stdout;
    let line = text.lines().find_map(|line| line.trim().strip_prefix("eth0:")).expect("is there");
    let fields: Vec<u64> = line.split_whitespace().filter_map(|field| field.parse().ok()).collect();
    [fields[1], fields[9]]
}

fn as_many_are_lost_as_are_counted(rig: &mut Rig) {
    rig.expect(&["up", &rig.lab(&format!("{HOSTS}loss = '10%'\nseed = 7\n"))], 0);
    let probed = probe(rig, ECHOES);
    let (sent, lost) = (number(&probed["sent_count"]), number(&probed["lost_count"]));
    // The kernels of the hosts speak of themselves now and then: all have to be of one moment.
    let mut seen = Value::Null;
    let agrees = || {
        seen = status(rig, 0)["links"][0]["relay"]["from_ends"].clone();
        let of = |from: usize, name: &str| number(&seen[from][name]);
        let [a, b] = [packets(rig, "a"), packets(rig, "b")];
        [(0, a, b), (1, b, a)].into_iter().all(|(from, near, far)| {
            let gone = of(from, "lost_count") + of(from, "overflowed_count");
            near[1] == of(from, "forwarded_count") + gone && far[0] == of(from, "forwarded_count")
        })
    };
    assert!(wait_until(Duration::from_secs(20), agrees), "{seen}, and the kernel says otherwise");
    let lost_frames: u64 = (0..2).map(|from| number(&seen[from]["lost_count"])).sum();
    assert!(sent == ECHOES && (1..=lost_frames).contains(&lost), "{probed}, {seen}");
    // 10 % of at least 570 frames, give or take five standard deviations of the binomial (7.2).
    assert!((21..=150).contains(&lost_frames), "{lost_frames} of {seen}");
    rig.expect(&["down", "far"], 0);
    rig.check("a link with loss");
}

fn a_relay_that_died_is_told(rig: &mut Rig) {
    rig.expect(&["up", &rig.lab(&format!("{HOSTS}delay = '1ms'\n"))], 0);
    let pid = number(&status(rig, 0)["links"][0]["relay"]["pid"]);
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw).expect("is a pid");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("is there");
    let is_told = || {
        let status = rig.ask(&["status", "far"]);
        status.code == Some(1) && status.stdout.contains("no traffic passes: it was killed by signal 9")
    };
    assert!(wait_until(Duration::from_secs(20), is_told), "{:?}", rig.ask(&["status", "far"]));
    rig.expect(&["down", "far"], 0);
    rig.check("a relay that died");
}
