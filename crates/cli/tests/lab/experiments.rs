//! Experiments in a lab: a parameter of a service as a factor, a kill in the middle, and files that are wrong.

use crate::rig::{Ended, Rig, finish, wait_until};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;
use sysdyno_needs::has;

const LIMIT: Duration = Duration::from_secs(60);

/// Two ports of one nginx: a trial gets answers only if the service was started anew as its variant says.
const FILE: &str = r#"
name = "ports"
url = "http://{{front}}/page.html"
blocks = 2
seed = 3
noisy = true
metric = "goodput"
[lab]
host = [{ name = "client" }, { name = "server" }]
link = [{ between = ["client", "server"], addresses = ["10.78.0.1/24", "10.78.0.2/24"] }]
[[lab.service]]
name = "front"
host = "server"
recipe = "nginx"
files = [{ path = "page.html", text = "hello" }]
[load]
connections = 2
requests = REQUESTS
warmup = "0s"
[[factor]]
services.front.port = [8080, 8081]
[[factor]]
name = "queue"
[[factor.level]]
name = "as it is"
[[factor.level]]
name = "short"
settings = ["net.core.somaxconn=64", "process.{{front.pid}}.nofile=512"]
[quick]
blocks = 1
[quick.load]
requests = 40
"#;

/// Commands that find the files of a service, and one service that half of the variants do without.
const WORK: &str = r#"
name = "times"
blocks = 2
restart = ["idle"]
noisy = true
metric = "time"
takes = "1s"
[lab]
host = [{ name = "client" }, { name = "server" }]
[[lab.service]]
name = "idle"
host = "server"
recipe = "command"
with = { argv = ["sleep", "infinity"] }
files = [{ path = "a", text = "hello" }]
[[lab.service]]
name = "other"
host = "server"
recipe = "command"
with = { argv = ["sleep", "infinity"] }
[work]
rounds = 2
[[work.command]]
name = "copy"
run = "cp {{idle.data}}/a {{idle.folder}}/b"
clean = "rm {{idle.folder}}/b"
[[work.command]]
name = "look"
run = "test -d {{other.folder}}"
[[variant]]
name = "both"
[[variant]]
name = "one"
services.other.on = false
"#;

/// Commands of variants whose requests nginx counts; one of them says what it must not.
const COUNTED: &str = r#"
name = "counted"
generator = "client"
blocks = 1
noisy = true
metric = "rate"
takes = "1s"
[lab]
host = [{ name = "client" }, { name = "server" }]
link = [{ between = ["client", "server"], addresses = ["10.78.0.1/24", "10.78.0.2/24"] }]
[[lab.service]]
name = "front"
host = "server"
recipe = "nginx"
cpus = "0"
files = [{ path = "page.html", text = "hello" }]
[work]
timeout = "30s"
counter = "front.requests"
[[variant]]
name = "good"
[[variant.work.command]]
name = "send"
run = "sh -c '{{sysdyno}} load http://{{front}}/page.html -c 2 -n 400 --runs-dir {{front.folder}}/runs; true'"
expect-output = ["400 sent = 400 ok"]
[[variant]]
name = "wrong"
[[variant.work.command]]
name = "send"
run = "sh -c '{{sysdyno}} load http://{{front}}/page.html -c 2 -n 40 --runs-dir {{front.folder}}/runs; true'"
reject-output = ["40 sent = "]
"#;

pub fn run(rig: &mut Rig) {
    wrong_files(rig);
    commands_are_measured_where_a_service_may_be_off(rig);
    if !has("experiments with nginx", &["nginx"]) {
        return;
    }
    a_parameter_is_a_factor(rig);
    what_commands_ask_for_is_counted_by_the_service(rig);
    a_killed_one_goes_on_and_leaves_nothing(rig);
}

fn file(rig: &Rig, text: &str) -> String {
    let path = rig.folder().join("experiment.toml");
    fs::write(&path, text).expect("can be written");
    path.display().to_string()
}

fn command(rig: &Rig, arguments: &[&str]) -> Command {
    let mut command = rig.program(&[], &[&["experiment"], arguments].concat());
    command.env("SYSDYNO_EXPERIMENTS_DIR", rig.folder().join("experiments"));
    command.env("HOME", rig.folder());
    command
}

fn ask(rig: &Rig, arguments: &[&str]) -> Ended {
    finish(command(rig, arguments).spawn().expect("starts"))
}

/// The folder of the only experiment.
fn folder(rig: &Rig) -> Option<PathBuf> {
    let mut entries = fs::read_dir(rig.folder().join("experiments")).ok()?.flatten();
    entries.find_map(|entry| Some(entry.path()).filter(|path| path.join("matrix.json").exists()))
}

fn forget(rig: &Rig) {
    fs::remove_dir_all(rig.folder().join("experiments")).expect("is there");
}

/// Ports, with answers, of the runs of an experiment.
fn answered(rig: &Rig) -> Vec<(u64, u64)> {
    let runs = fs::read_dir(folder(rig).expect("is there").join("runs")).expect("is there").flatten();
    let mut found: Vec<(u64, u64)> = runs.filter_map(|run| answered_by(&run.path())).collect();
    found.sort_unstable();
    found
}

fn answered_by(run: &std::path::Path) -> Option<(u64, u64)> {
    let line = |name: &str, key: &str| {
        let text = fs::read_to_string(run.join(name)).ok()?;
        let all = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        all.filter_map(|line| line.get(key).cloned()).next_back()
    };
    let url = line("trials.jsonl", "begin")?["plan"]["target"]["url"].as_str()?.to_owned();
    let port = url.split(':').nth(2)?.split('/').next()?.parse().ok()?;
    let server: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(run.join("server.json")).ok()?).ok()?;
    assert!(server["name"].as_str().is_some_and(|name| name.starts_with("netns:sysdyno-ports")), "{server}");
    let answered = line("trials.jsonl", "end")?["summary"]["total"]["ok"].as_u64()?;
    // Of the two questions what it has counted, one or both come between.
    let counted = counted_by_nginx(run);
    assert!((answered..=answered + 2).contains(&counted), "{counted} of {answered}");
    Some((port, answered))
}

/// Requests of a trial as the server itself has told them.
fn counted_by_nginx(run: &std::path::Path) -> u64 {
    let text = fs::read_to_string(run.join("events.jsonl")).expect("is there");
    let told = |moment: &str| {
        let events = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let event = events.map(|line| line["event"].clone()).find(|event| event["moment"] == moment);
        let event = event.unwrap_or_else(|| panic!("nothing was told at the {moment}"));
        let values = event["reading"]["values"].as_array().expect("is a list").clone();
        let requests = values.iter().find(|value| value["name"] == "requests").expect("is told");
        requests["value"].as_f64().expect("is a number") as u64
    };
    told("end") - told("begin")
}

fn a_parameter_is_a_factor(rig: &mut Rig) {
    let path = file(rig, &FILE.replace("REQUESTS", "400"));
    let said = ask(rig, &["plan", &path]);
    assert!(said.stdout.contains("front: nginx on server"), "{said:?}");
    let ended = ask(rig, &["run", &path, "--quick"]);
    assert!(matches!(ended.code, Some(0 | 3)), "{ended:?}");
    assert_eq!(answered(rig), [(8080, 40), (8080, 40), (8081, 40), (8081, 40)], "{ended:?}");
    rig.check("an experiment in a lab");
    forget(rig);
}

fn commands_are_measured_where_a_service_may_be_off(rig: &mut Rig) {
    let path = file(rig, WORK);
    let ended = ask(rig, &["run", &path, "--json"]);
    // Without the service there is no folder to look at.
    assert_eq!(ended.code, Some(3), "{ended:?}");
    let found: serde_json::Value = serde_json::from_str(&ended.stdout).expect("is JSON");
    let names: Vec<&str> = found["operations"]
        .as_array()
        .expect("is a list")
        .iter()
        .filter_map(|operation| operation["operation"].as_str())
        .collect();
    assert_eq!(names, ["all commands", "copy", "look"], "{found:#}");
    let sides = found["sides"].as_array().expect("is a list");
    let refused: Vec<Option<bool>> = sides.iter().map(|side| side["is_refused"].as_bool()).collect();
    assert_eq!(refused, [Some(false), Some(true)], "{found:#}");
    let copies = &found["operations"][1]["metrics"][0]["sides"];
    assert!(
        (0..2).all(|side| copies[side]["runs"].as_array().is_some_and(|runs| runs.len() == 2)),
        "{found:#}"
    );
    rig.check("an experiment of commands in a lab");
    forget(rig);
    for (wrong, with, said) in [
        ("{{idle.data}}", "{{none.data}}", "the lab has no such service"),
        (
            "{{idle.data}}",
            "{{idle.pid}}",
            "a place is SERVICE, SERVICE.host, SERVICE.port, SERVICE.folder, or SERVICE.data",
        ),
        ("\"idle\"]", "\"none\"]", "its lab has no service 'none' to restart"),
        ("other.on = false", "other.on = 1", "it takes true or false"),
        ("name = \"look\"", "name = \"copy\"", "two of its commands have the name 'copy'"),
        ("metric = \"time\"", "metric = \"p99\"", "'p99' is not a metric"),
        ("blocks = 2", "blocks = 2\nurl = \"http://{{idle}}/\"", "it has both a url and measured commands"),
    ] {
        assert!(WORK.contains(wrong), "{wrong}");
        let ended = ask(rig, &["run", &file(rig, &WORK.replacen(wrong, with, 1))]);
        assert_eq!(ended.code, Some(2), "{wrong}: {ended:?}");
        assert!(ended.stderr.contains(said), "{wrong}: {ended:?}");
    }
}

fn what_commands_ask_for_is_counted_by_the_service(rig: &mut Rig) {
    let ended = ask(rig, &["run", &file(rig, COUNTED), "--json"]);
    // A command whose output is wrong did not succeed.
    assert_eq!(ended.code, Some(3), "{ended:?}");
    let found: serde_json::Value = serde_json::from_str(&ended.stdout).expect("is JSON");
    assert!(
        found["gates"][0]["text"].as_str().is_some_and(|text| text.contains(
            "its output contains '40 sent = \
                                                                             '"
        )),
        "{found:#}"
    );
    let metrics = found["operations"][0]["metrics"].as_array().expect("is a list");
    let known: Vec<&str> = metrics
        .iter()
        .filter(|metric| metric["sides"][0]["median"].is_f64())
        .filter_map(|metric| metric["metric"].as_str())
        .collect();
    // The time of 400 answers may be less than a tick of the kernel's.
    assert!(known.starts_with(&["rate", "cpu"]), "{found:#}");
    let run = found["sides"][0]["runs"][0]["id"].as_str().expect("has a name");
    let text = fs::read_to_string(folder(rig).expect("is there").join("runs").join(run).join("work.json"));
    let work: serde_json::Value = serde_json::from_str(&text.expect("is there")).expect("is JSON");
    // Of the two questions what it has counted, one or both come between.
    let counted = work["served"]["operations_count"]["median"].as_f64().expect("is a number");
    assert!((400.0..=402.0).contains(&counted), "{work:#}");
    assert!(work["limit"].as_str().is_some_and(|limit| limit.contains("front used 0.")), "{work:#}");
    assert!(work["limit"].as_str().is_some_and(|limit| limit.contains("of 1 CPU")), "{work:#}");
    let kept = folder(rig).expect("is there").display().to_string();
    let again = ask(rig, &["report", &kept, "--json"]);
    assert_eq!((again.code, &again.stdout), (Some(3), &ended.stdout), "{again:?}");
    rig.check("an experiment of commands that are counted");
    forget(rig);
    let wrong = [
        ("front.requests", "front.waiting", "counters of recipe 'nginx' are accepted, handled, requests"),
        ("front.requests", "back.requests", "the lab has no such service"),
        ("front.requests", "requests", "write SERVICE.COUNTER"),
        ("metric = \"rate\"", "metric = \"p99\"", "use one of time, rate, cpu, server-cpu"),
        ("cpus = \"0\"", "cpus = \"none\"", "this is not a list of CPUs"),
        ("\"400 sent = 400 ok\"", "\"\"", "or one that is empty"),
    ];
    refuses(rig, COUNTED, &[], &wrong);
}

/// Each file in which one place of a good one is another text is refused, before anything is done, and the error says why.
fn refuses(rig: &Rig, good: &str, options: &[&str], wrong: &[(&str, &str, &str)]) {
    for (place, with, said) in wrong {
        assert!(good.contains(place), "{place}");
        let path = file(rig, &good.replacen(place, with, 1));
        let ended = ask(rig, &[&["run", &path], options].concat());
        assert_eq!(ended.code, Some(2), "{place}: {ended:?}");
        assert!(ended.stderr.contains(said), "{place}: {ended:?}");
    }
}

fn a_killed_one_goes_on_and_leaves_nothing(rig: &mut Rig) {
    let path = file(rig, &FILE.replace("REQUESTS", "300"));
    let mut running = command(rig, &["run", &path]).spawn().expect("starts");
    let trials = || folder(rig).and_then(|folder| fs::read_to_string(folder.join("trials.jsonl")).ok());
    let is_under_way = || trials().is_some_and(|lines| lines.matches("began").count() >= 2);
    assert!(wait_until(LIMIT, is_under_way), "no second trial began");
    running.kill().expect("runs");
    finish(running);
    let kept = folder(rig).expect("is there").display().to_string();
    let ended = ask(rig, &["resume", &kept]);
    assert!(matches!(ended.code, Some(0 | 3)), "{ended:?}");
    assert_eq!(trials().expect("is there").matches("complete").count(), 8, "{ended:?}");
    rig.check("an experiment that was killed, and resumed");
    forget(rig);
}

fn wrong_files(rig: &mut Rig) {
    let good = FILE.replace("REQUESTS", "40");
    let wrong = [
        ("services.front.port", "services.back.port", "has no such service, only front"),
        ("services.front.port", "services.front.speed", "recipe 'nginx' has no such parameter"),
        ("[8080, 8081]", "[8080, 0]", "it takes an integer from 1 to 65535"),
        ("[8080, 8081]", "8080", "takes a list of values"),
        ("{{front}}", "10.78.0.2", "it does not name a service of the lab"),
        ("recipe = \"nginx\"", "recipe = \"iis\"", "there is no such recipe"),
        ("net.core.somaxconn", "net.core.somaxcon", "there is no setting 'net.core.somaxcon'"),
        ("name = \"short\"", "name = \"short\"\nservices.front.port = 1", "two of its levels change"),
        ("blocks = 2", "blocks = 2\ngenerator = \"mars\"", "its lab has no host 'mars'"),
    ];
    refuses(rig, &good, &["--quick"], &wrong);
    let without = good.split("[quick]").next().expect("it has one").to_owned();
    let ended = ask(rig, &["run", &file(rig, &without), "--quick"]);
    assert!(ended.code == Some(2) && ended.stderr.contains("it has no short version"), "{ended:?}");
    rig.check("files that are wrong");
}
