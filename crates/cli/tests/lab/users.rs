//! An experiment with simulated users: its short version measures the levels that it names, and its headline says up to how many
//! users the rules were met.

use crate::disturbance::{is_from_outside, lowered};
use crate::rig::{Rig, finish};
use std::fs;
use std::path::Path;
use sysdyno_needs::has;

const SESSION: &str = r#"
name = "pages"
[rules]
mix = 0.1
cycle = 1.0
[[operation]]
name = "Page"
path = "/page.html"
cycle = "100ms"
limit = "p90<5s"
next = { Page = 1, Gone = 1 }
[[operation]]
name = "Gone"
path = "/gone.html"
cycle = "100ms"
expect-status = [404]
next = { Page = 1 }
"#;

/// How long a trial is measured.
const SECONDS: f64 = 3.0;

const FILE: &str = r#"
name = "users"
url = "http://{{front}}/"
blocks = 1
seed = 3
noisy = true
metric = "operations"
[lab]
host = [{ name = "client" }, { name = "server" }]
link = [{ between = ["client", "server"], addresses = ["10.78.0.1/24", "10.78.0.2/24"] }]
[[lab.service]]
name = "front"
host = "server"
recipe = "nginx"
files = [{ path = "page.html", text = "hello" }]
[session]
session = "SESSION"
[load]
duration = "3s"
warmup = "1s"
[quick]
levels.users = ["20", "40"]
[[factor]]
name = "users"
[[factor.level]]
name = "20"
session.users = 20
[[factor.level]]
name = "30"
session.users = 30
[[factor.level]]
name = "40"
session.users = 40
"#;

pub fn run(rig: &mut Rig) {
    if !has("an experiment with users", &["nginx"]) {
        return;
    }
    let session = rig.folder().join("pages.toml");
    fs::write(&session, SESSION).expect("can be written");
    let path = rig.folder().join("users.toml");
    fs::write(&path, FILE.replace("SESSION", &session.display().to_string())).expect("can be written");
    let path = path.display().to_string();
    let experiments = rig.folder().join("experiments");
    let mut command = rig.program(&[], &["experiment", "run", &path, "--quick", "--json"]);
    command.env("SYSDYNO_EXPERIMENTS_DIR", &experiments);
    let ended = finish(command.env("HOME", rig.folder()).spawn().expect("starts"));
    assert!(matches!(ended.code, Some(0 | 3)), "{ended:?}");
    let found: serde_json::Value = serde_json::from_str(&ended.stdout).expect("is JSON");
    let headline = found["headline"].as_str().expect("is a text");
    if is_disturbed(&experiments) {
        println!("experiment with users: not judged, the machine was disturbed");
        fs::remove_dir_all(experiments).expect("is there");
        return rig.check("an experiment with users");
    }
    assert!(
        headline.starts_with("All rules were met by the server with up to 40 users ("),
        "{headline}\n{:#}",
        found["matrix"]
    );
    let variants = found["matrix"]["variants"].as_array().expect("is a list");
    let boards: Vec<_> = variants.iter().map(|variant| &variant["scoreboard"]).collect();
    for (board, users) in boards.iter().zip([20.0, 40.0]) {
        assert_eq!(
            (&board["users"], &board["passed_count"]),
            (&(users as u64).into(), &1.into()),
            "{board:#}"
        );
        assert_eq!(board["planned_hz"].as_f64().map(f64::round), Some(10.0 * users), "{board:#}");
        let operations = board["operations"].as_array().expect("is a list");
        let names: Vec<_> = operations.iter().map(|one| &one["name"]).collect();
        assert_eq!(names, ["Page", "Gone"], "{board:#}");
        let completed: u64 = operations.iter().filter_map(|one| one["completed_count"].as_u64()).sum();
        let rate_hz = board["rate_hz"].as_f64().expect("is a number");
        // A busy machine may be slower than the plan; nobody is faster.
        assert!(rate_hz > 0.0 && rate_hz < 10.5 * users, "{board:#}");
        assert!((rate_hz * SECONDS - completed as f64).abs() < 0.02 * completed as f64, "{board:#}");
    }
    assert_eq!(boards.len(), 2, "{found:#}");
    fs::remove_dir_all(experiments).expect("is there");
    rig.check("an experiment with users");
}

/// Whether another process or the hypervisor made a run of the experiment INVALID: then its rules are not met.
fn is_disturbed(experiments: &Path) -> bool {
    let folders = fs::read_dir(experiments).expect("is there").flatten();
    let runs = folders.flat_map(|folder| fs::read_dir(folder.path().join("runs"))).flatten().flatten();
    let analyses = runs.filter_map(|run| fs::read_to_string(run.path().join("analysis.json")).ok());
    let read = |text: String| serde_json::from_str(&text).expect("is JSON");
    analyses.map(read).any(|analysis| is_from_outside(&lowered(&analysis)))
}
