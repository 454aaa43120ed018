//! The server as a browser sees it, byte by byte: who gets in, what a response allows, and a run that grows.

use crate::{AccessToken, Pages, RunsOrdered, ServeError, ServeOptions, ServedAgent, ServedLab, serve};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};
use sysdyno_record::experiment::{EXPERIMENT_SCHEMA, ExperimentPlan, ExperimentVariant};
use sysdyno_record::load::{Interval, LatencySet};
use sysdyno_record::manifest::{ClockPair, RunKind, RunStatus, Tool};
use sysdyno_record::plan::{Endpoint, LoadPlan, Plan, Target};
use sysdyno_record::store::{ExperimentFolder, NewRun, RunWriter};
use sysdyno_record::units::{MonoNs, WallNs};
use tempfile::TempDir;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../record/tests/golden/sysdyno.run-1");

/// Beside the runs, but hidden among them, so that there is one folder for all.
const EXPERIMENTS: &str = ".experiments";

/// No answer takes that long, on a machine that is busy too.
const LIMIT: Duration = Duration::from_secs(60);

/// Pages that say what they were asked for.
struct Spoken;

impl Pages for Spoken {
    fn run(&self, folder: &Path) -> Result<String, String> {
        Ok(format!("report of {}", folder.file_name().unwrap_or_default().to_string_lossy()))
    }

    fn experiment(&self, folder: &Path) -> Result<String, String> {
        Ok(format!("experiment {}", folder.file_name().unwrap_or_default().to_string_lossy()))
    }

    fn comparison(&self, folders: &[PathBuf]) -> Result<String, String> {
        if folders.len() < 2 { Err("cannot compare <one>".to_owned()) } else { Ok("comparison".to_owned()) }
    }

    fn trend(&self, folders: &[PathBuf]) -> Result<String, String> {
        Ok(format!("trend of {}", folders.len()))
    }

    fn labs(&self) -> Vec<ServedLab> {
        let name = |name: &str| name.to_owned();
        vec![ServedLab {
            name: name("lab"),
            state: name("up"),
            hosts: vec![name("server")],
            services: vec![],
        }]
    }

    fn fleet(&self) -> Vec<ServedAgent> {
        vec![ServedAgent {
            name: "web1".to_owned(),
            state: "free".to_owned(),
            labels: "site=east".to_owned(),
            allows: "load".to_owned(),
            cpus_count: Some(8),
            busy_ratio: None,
        }]
    }

    fn is_living(&self, pid: u32, _start_ticks: u64) -> bool {
        pid == 1
    }

    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// A server of a folder with one run, until it is dropped.
struct Stage {
    runs: TempDir,
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Stage {
    fn new() -> Stage {
        Stage::of(None)
    }

    /// One that starts this program for whoever has the key.
    fn of(program: Option<&str>) -> Stage {
        let runs = tempfile::tempdir().expect("a directory");
        let path = runs.path().join("golden");
        std::fs::create_dir(&path).expect("creates");
        for file in ["manifest.json", "analysis.json", "plan.json"] {
            std::fs::copy(Path::new(GOLDEN).join(file), path.join(file)).expect("copies");
        }
        let stop = Arc::new(AtomicBool::new(false));
        let (ready, address) = mpsc::channel();
        let mut options = options(runs.path(), "127.0.0.1:0");
        options.orders = program.map(|program| RunsOrdered { program: program.into(), key: key() });
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let told = |address| ready.send(address).expect("the test waits");
            serve(options, || stopped.load(Ordering::Relaxed), told).expect("serves");
        });
        let address = address.recv_timeout(LIMIT).expect("it is ready");
        Stage { runs, address, stop, thread: Some(thread) }
    }

    /// The response to a request with these lines besides its first.
    fn ask(&self, first: &str, lines: &[&str]) -> String {
        let mut stream = self.connect();
        let head = format!("{first} HTTP/1.1\r\n{}\r\nConnection: close\r\n\r\n", lines.join("\r\n"));
        stream.write_all(head.as_bytes()).expect("sends");
        let mut response = Vec::new();
        stream.read_to_end(&mut response).expect("receives");
        String::from_utf8_lossy(&response).into_owned()
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("connects");
        stream.set_read_timeout(Some(LIMIT)).expect("sets");
        stream
    }

    fn host(&self) -> String {
        format!("Host: {}", self.address)
    }

    fn cookie(&self) -> String {
        format!("Cookie: other=1; sysdyno-{}={}", self.address.port(), token().text())
    }

    /// The response to whoever has the cookie and posts this with these lines.
    fn post(&self, path: &str, body: &str, lines: &[&str]) -> String {
        let (host, cookie) = (self.host(), self.cookie());
        let length = format!("Content-Length: {}", body.len());
        let all = [&[host.as_str(), &cookie, &length], lines].concat();
        let mut stream = self.connect();
        let head = format!("POST {path} HTTP/1.1\r\n{}\r\nConnection: close\r\n\r\n{body}", all.join("\r\n"));
        stream.write_all(head.as_bytes()).expect("sends");
        let mut response = Vec::new();
        stream.read_to_end(&mut response).expect("receives");
        String::from_utf8_lossy(&response).into_owned()
    }

    /// The response to whoever has the cookie.
    fn get(&self, path: &str) -> String {
        self.ask(&format!("GET {path}"), &[&self.host(), &self.cookie()])
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().expect("it runs").join().expect("it ends");
    }
}

fn key() -> AccessToken {
    AccessToken::new([9; 16])
}

fn token() -> AccessToken {
    AccessToken::new([7; 16])
}

fn options(runs: &Path, listen: &str) -> ServeOptions {
    ServeOptions {
        listen: listen.parse().expect("an address"),
        runs_dir: runs.to_owned(),
        experiments_dir: Some(runs.join(EXPERIMENTS)),
        cache: None,
        token: token(),
        pages: Arc::new(Spoken),
        orders: None,
    }
}

fn begins(response: &str, status: u16) {
    assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{}", &response[..response.len().min(400)]);
}

#[test]
fn nobody_gets_in_without_the_token_and_whoever_has_it_gets_a_cookie() {
    let stage = Stage::new();
    let host = stage.host();
    begins(&stage.ask("GET /", &[&host]), 403);
    begins(&stage.ask("GET /runs/golden", &[&host, "Cookie: sysdyno=1"]), 403);
    begins(&stage.ask(&format!("GET /?token={}", "0".repeat(32)), &[&host]), 403);
    begins(&stage.ask(&format!("GET /?token={}", &token().text()[..31]), &[&host]), 403);
    let admitted = stage.ask(&format!("GET /?token={}", token().text()), &[&host]);
    begins(&admitted, 303);
    assert!(admitted.contains("location: /\r\n"), "{admitted}");
    let cookie = format!(
        "set-cookie: sysdyno-{}={}; Path=/; HttpOnly; SameSite=Strict\r\n",
        stage.address.port(),
        token().text()
    );
    assert!(admitted.contains(&cookie), "{admitted}");
    begins(&stage.get("/"), 200);
}

#[test]
fn a_name_that_leads_here_from_elsewhere_is_not_answered() {
    let stage = Stage::new();
    let cookie = stage.cookie();
    for host in ["Host: evil.example", "Host: 127.0.0.1.evil.example:80", "Host: 10.0.0.1", "X: y"] {
        begins(&stage.ask("GET /", &[host, &cookie]), 421);
    }
    for host in ["Host: localhost:9999", "Host: 127.0.0.1", "Host: [::1]:8080"] {
        begins(&stage.ask("GET /", &[host, &cookie]), 200);
    }
    let twice = stage.ask("GET /", &["Host: localhost", "Host: evil.example", &cookie]);
    assert!(!twice.starts_with("HTTP/1.1 200"), "{twice}");
}

#[test]
fn every_page_is_sealed_and_made_from_its_folder() {
    let stage = Stage::new();
    let home = stage.get("/");
    begins(&home, 200);
    for part in [
        "content-security-policy: frame-ancestors 'none'",
        "referrer-policy: no-referrer",
        "cache-control: no-store",
        "x-content-type-options: nosniff",
        "default-src 'none'; connect-src 'self'; script-src 'sha256-",
        "\"name\":\"golden\"",
    ] {
        assert!(home.contains(part), "no '{part}'");
    }
    let report = stage.get("/runs/golden");
    begins(&report, 200);
    assert!(report.ends_with("report of golden"), "{report}");
    begins(&stage.get("/compare?run=golden&run=golden"), 200);
    let one = stage.get("/compare?run=golden");
    begins(&one, 422);
    assert!(!one.contains("<one>"), "text has become markup");
    assert!(stage.get("/trend").ends_with("trend of 1"));
    assert!(stage.get("/list?text=golden").contains("\"total_count\":1"));
    assert!(stage.get("/list?text=nothing").contains("\"total_count\":0"));
}

fn variant() -> ExperimentVariant {
    let plan = LoadPlan::plain(Target {
        url: "http://127.0.0.1:8080/".into(),
        endpoint: Endpoint::Tcp(SocketAddr::from(([127, 0, 0, 1], 8080))),
        host: "127.0.0.1:8080".into(),
        path: "/".into(),
    });
    ExperimentVariant {
        name: "one".into(),
        levels: Vec::new(),
        settings: Vec::new(),
        prepare: Vec::new(),
        during: Vec::new(),
        services: Vec::new(),
        service: None,
        takes: None,
        plan: Plan::Load(plan),
    }
}

#[test]
fn experiments_are_listed_with_how_far_they_have_come_and_lead_to_their_pages() {
    let stage = Stage::new();
    let experiments = stage.runs.path().join(EXPERIMENTS);
    assert!(stage.get("/list").contains("\"experiments\":[]"));
    let plan = ExperimentPlan {
        schema: EXPERIMENT_SCHEMA.into(),
        name: "ports".into(),
        blocks: 2,
        variants: vec![variant()],
        ..ExperimentPlan::default()
    };
    let mut folder = ExperimentFolder::create(&experiments, "ports-1", plan).expect("is created");
    let listed = stage.get("/list");
    assert!(
        listed.contains("\"name\":\"ports-1\",\"title\":\"ports\"")
            && listed.contains("\"measured_count\":0"),
        "{listed}"
    );
    let trial = |line: serde_json::Value| serde_json::from_value(line).expect("is a line");
    folder
        .append(trial(serde_json::json!({"began": {"trial": 1, "block": 0, "variant": 0, "run": "r"}})))
        .expect("is written");
    let ended = serde_json::json!({"trial": 1, "status": "complete", "is_spoilt": false, "not_restored": []});
    folder.append(trial(serde_json::json!({ "ended": ended }))).expect("is written");
    assert!(stage.get("/list").contains("\"measured_count\":1"));
    let page = stage.get("/experiments/ports-1");
    begins(&page, 200);
    assert!(page.ends_with("experiment ports-1"), "{page}");
    assert!(page.contains("\r\nrefresh: 10\r\n"), "a trial is left: {page}");
    let began = serde_json::json!({"trial": 2, "block": 1, "variant": 0, "run": "s"});
    folder.append(trial(serde_json::json!({ "began": began }))).expect("is written");
    let ended = serde_json::json!({"trial": 2, "status": "complete", "is_spoilt": false, "not_restored": []});
    folder.append(trial(serde_json::json!({ "ended": ended }))).expect("is written");
    let page = stage.get("/experiments/ports-1");
    assert!(!page.contains("\r\nrefresh:"), "no trial is left: {page}");
    std::fs::create_dir(experiments.join("mine")).expect("creates");
    for path in ["/experiments/mine", "/experiments/..", "/experiments/..%2F..%2Fetc"] {
        begins(&stage.get(path), 404);
    }
}

#[test]
fn orders_are_carried_out_for_the_servers_own_pages_only() {
    // `true` ignores its words, and ends at once.
    let stage = Stage::of(Some("true"));
    let order = r#"{"command":"load","url":"http://127.0.0.1:9/"}"#;
    let origin = format!("Origin: http://{}", stage.address);
    let own_key = format!("X-Sysdyno-Key: {}", key().text());
    let foreign: [&[&str]; 5] = [
        &[],
        &[&origin],
        &[&own_key],
        &[&own_key, "Origin: http://evil.example"],
        &[&origin, "X-Sysdyno-Key: 00000000000000000000000000000000"],
    ];
    for lines in foreign {
        begins(&stage.post("/job", order, lines), 403);
        begins(&stage.post("/job/stop", "", lines), 403);
    }
    assert!(stage.get("/job").ends_with("null"), "something was started");
    let own = [origin.as_str(), own_key.as_str()];
    begins(&stage.post("/job", r#"{"command":"tune","url":"x"}"#, &own), 400);
    begins(&stage.post("/job", r#"{"command":"run","url":""}"#, &own), 422);
    begins(&stage.post("/job", &format!("{{\"url\":\"{}\"}}", "x".repeat(9 << 10)), &own), 413);
    let started = stage.post("/job", order, &own);
    begins(&started, 200);
    assert!(started.contains("\"words\":[\"load\",\"--\",\"http://127.0.0.1:9/\"]"), "{started}");
    let mut looks = (0..2_000).inspect(|_| std::thread::sleep(Duration::from_millis(5)));
    let ended = "\"is_running\":false,\"is_interrupted\":false,\"code\":0";
    assert!(looks.any(|_| stage.get("/job").contains(ended)), "it does not end");
    assert!(stage.get("/").contains(key().text()), "the page does not know the key");
    assert!(!stage.get("/list").contains(key().text()));
}

#[test]
fn without_orders_nothing_can_be_started() {
    let stage = Stage::new();
    let lines = [format!("Origin: http://{}", stage.address), format!("X-Sysdyno-Key: {}", key().text())];
    begins(&stage.post("/job", r#"{"command":"undo"}"#, &[&lines[0], &lines[1]]), 404);
    begins(&stage.get("/job"), 404);
    assert!(!stage.get("/").contains(key().text()));
    assert!(
        stage.get("/labs").ends_with(r#"[{"name":"lab","state":"up","hosts":["server"],"services":[]}]"#)
    );
    assert!(
        stage.get("/fleet").contains(r#""name":"web1","state":"free","labels":"site=east","allows":"load""#)
    );
}

#[test]
fn nothing_outside_of_the_folder_is_reached_and_nothing_is_changed() {
    let stage = Stage::new();
    for path in
        ["/runs/..", "/runs/..%2F..%2Fetc", "/runs/%2Fetc", "/etc/passwd", "/runs/golden/manifest.json"]
    {
        begins(&stage.get(path), 404);
    }
    for method in ["POST", "PUT", "DELETE"] {
        begins(&stage.ask(&format!("{method} /runs/golden"), &[&stage.host(), &stage.cookie()]), 405);
    }
    let long = format!("X-Long: {}", "x".repeat(64 << 10));
    let refused = stage.ask("GET /", &[&stage.host(), &stage.cookie(), &long]);
    begins(&refused, 431);
}

#[test]
fn addresses_that_others_can_reach_are_refused_with_the_way_that_is_safe() {
    let runs = tempfile::tempdir().expect("a directory");
    for listen in ["0.0.0.0:8080", "10.0.0.1:8080", "[::]:8080"] {
        let error = serve(options(runs.path(), listen), || true, |_| {}).expect_err("refuses");
        assert!(matches!(error, ServeError::NotLoopback(_)));
        assert!(error.to_string().contains("hint: on the other host, type `ssh -L"), "{error}");
    }
}

/// A run that this test writes, as process 1, which lives.
fn begin(stage: &Stage) -> RunWriter {
    let new = NewRun {
        kind: RunKind::Load,
        tool: Tool { version: "0.1.0".into(), target: "none".into() },
        clock: ClockPair { mono_ns: MonoNs(0), unix_ns: WallNs(1_790_000_000_000_000_000) },
        command: vec!["sysdyno".into()],
        pid: 1,
        pid_start_ticks: 1,
        suffix: 1,
    };
    RunWriter::create(stage.runs.path(), new).expect("creates")
}

fn write(writer: &mut RunWriter, second: u64) {
    let line = std::fs::read_to_string(Path::new(GOLDEN).join("intervals.jsonl")).expect("reads");
    let line = line.lines().next().expect("a line");
    let mut interval: Interval = serde_json::from_str(line).expect("parses");
    interval.begin_mono_ns = MonoNs(second * 1_000_000_000);
    interval.end_mono_ns = MonoNs((second + 1) * 1_000_000_000);
    writer.interval(&interval, &LatencySet::default()).expect("writes");
}

/// The events of a run, as a browser that stays connected gets them.
struct Events(BufReader<TcpStream>);

impl Events {
    fn of(stage: &Stage, name: &str) -> Events {
        let mut stream = stage.connect();
        let head =
            format!("GET /runs/{name}/growth HTTP/1.1\r\n{}\r\n{}\r\n\r\n", stage.host(), stage.cookie());
        stream.write_all(head.as_bytes()).expect("sends");
        Events(BufReader::new(stream))
    }

    /// The next event, and how many intervals it has.
    fn next(&mut self) -> (String, usize) {
        let (mut name, mut seen) = (String::new(), String::new());
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).expect("receives") > 0, "the stream ended: {seen}");
            seen.push_str(&line);
            if let Some(event) = line.strip_prefix("event: ") {
                event.trim().clone_into(&mut name);
            } else if let Some(data) = line.strip_prefix("data:") {
                return (name, data.matches("begin_mono_ns").count());
            }
        }
    }
}

#[test]
fn several_browsers_see_a_run_grow_and_end() {
    let stage = Stage::new();
    let mut writer = begin(&stage);
    let name = writer.id().to_owned();
    assert!(stage.get(&format!("/runs/{name}")).contains("sysdyno.live/1"));
    write(&mut writer, 0);
    let mut first = Events::of(&stage, &name);
    assert_eq!(first.next(), ("begin".to_owned(), 1));
    write(&mut writer, 1);
    assert_eq!(first.next(), ("grown".to_owned(), 1));
    let mut second = Events::of(&stage, &name);
    assert_eq!(second.next(), ("begin".to_owned(), 2));
    writer.finish(RunStatus::Complete, None, WallNs(1_790_000_009_000_000_000)).expect("finishes");
    assert_eq!((first.next().0, second.next().0), ("ended".to_owned(), "ended".to_owned()));
}

#[test]
fn a_browser_is_told_that_the_folder_is_gone() {
    let stage = Stage::new();
    let writer = begin(&stage);
    let mut events = Events::of(&stage, writer.id());
    assert_eq!(events.next(), ("begin".to_owned(), 0));
    std::fs::remove_dir_all(writer.path()).expect("removes");
    assert_eq!(events.next().0, "gone");
}
