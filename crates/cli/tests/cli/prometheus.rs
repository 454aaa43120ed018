//! A load as a real Prometheus has it, which scrapes it and is written to, and every query of the dashboard.

use crate::rig::program::{Program, Target};
use crate::rig::{has, wait_until};
use rustix::process::Signal;
use serde_json::Value;
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

const LIMIT: Duration = Duration::from_secs(60);

/// Metrics that a load without failures does not have.
const OF_FAILURES: &str = "sysdyno_failures_total";

const CONFIGURATION: &str = "
global: {scrape_interval: 500ms}
scrape_configs:
  - job_name: sysdyno
    file_sd_configs: [{files: [loads.json], refresh_interval: 1s}]
";

/// A Prometheus that keeps what it knows in a folder, and ends with this value.
struct Prometheus {
    child: Child,
    address: String,
    folder: TempDir,
}

impl Prometheus {
    fn start() -> Prometheus {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("prometheus.yml"), CONFIGURATION).expect("writes");
        let mut command = Command::new("prometheus");
        command.current_dir(folder.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.args(["--config.file=prometheus.yml", "--storage.tsdb.path=data"]);
        command.args(["--web.listen-address=127.0.0.1:0", "--web.enable-remote-write-receiver"]);
        let mut child = command.spawn().expect("Prometheus starts");
        let mut said = BufReader::new(child.stderr.take().expect("piped")).lines();
        let address = listening(&mut said);
        std::thread::spawn(move || said.map_while(Result::ok).for_each(drop));
        let prometheus = Prometheus { child, address, folder };
        // It listens a moment before it answers queries.
        assert!(wait_until(LIMIT, || prometheus.get("/-/ready").contains(" 200 ")), "it gets ready");
        prometheus
    }

    /// What it answers to a request for this path.
    fn get(&self, path: &str) -> String {
        self.exchange(&format!("GET {path} HTTP/1.0\r\nHost: {}\r\n\r\n", self.address))
    }

    fn exchange(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        stream.write_all(request.as_bytes()).expect("sends");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("receives");
        response
    }

    /// Has it scrape what listens there.
    fn scrape(&self, address: &str) {
        let targets = serde_json::json!([{ "targets": [address] }]).to_string();
        let (draft, file) = (self.folder.path().join("draft"), self.folder.path().join("loads.json"));
        std::fs::write(&draft, targets).and_then(|()| std::fs::rename(draft, file)).expect("writes");
    }

    /// The series that a query has now.
    fn query(&self, expression: &str) -> Vec<Value> {
        let body = format!("query={}", encoded(expression));
        let head = format!(
            "POST /api/v1/query HTTP/1.0\r\nHost: {}\r\nContent-Type: application/x-www-form-urlencoded\r\n\
             Content-Length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        let response = self.exchange(&format!("{head}{body}"));
        let (_, body) = response.split_once("\r\n\r\n").expect("a head");
        let answer: Value =
            serde_json::from_str(body).unwrap_or_else(|error| panic!("{error} in {response}"));
        assert_eq!(answer["status"], "success", "{expression}: {answer}");
        answer["data"]["result"].as_array().expect("series").clone()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where it says that it listens.
fn listening(said: &mut Lines<BufReader<ChildStderr>>) -> String {
    let mut all = String::new();
    for line in said.map_while(Result::ok) {
        let address = line.split_whitespace().find_map(|word| word.strip_prefix("address=127.0.0.1:"));
        if let Some(port) = address.filter(|port| *port != "0" && line.contains("Listening on")) {
            return format!("127.0.0.1:{port}");
        }
        all.push_str(&line);
        all.push('\n');
    }
    panic!("it does not listen: {all}");
}

/// Text in a form.
fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// The queries of the dashboard, with their variables replaced.
fn queries() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/grafana/sysdyno.json");
    let dashboard: Value =
        serde_json::from_str(&std::fs::read_to_string(path).expect("is there")).expect("is JSON");
    let panels = dashboard["panels"].as_array().expect("panels").iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().expect("targets"));
    let marks = dashboard["annotations"]["list"].as_array().expect("marks").iter();
    let expressions = targets.chain(marks).map(|target| target["expr"].as_str().expect("a query").to_owned());
    let plain = |query: String| {
        query.replace("$job", "sysdyno").replace("$instance", ".+").replace("$__rate_interval", "10s")
    };
    expressions.map(plain).collect()
}

#[test]
fn prometheus_has_a_load_by_both_ways_and_answers_the_dashboard() {
    if !has("prometheus_has_a_load_by_both_ways_and_answers_the_dashboard", &["prometheus"]) {
        return;
    }
    let (program, target, prometheus) = (Program::new(), Target::start(&[]), Prometheus::start());
    let write = format!("http://{}/api/v1/write", prometheus.address);
    // So many that each second has a 99th percentile.
    let words = ["load", target.url(), "-c", "4", "-d", "1h", "--rate", "2k/s"];
    let mut command = program.command(words);
    command.args(["--prometheus", "127.0.0.1:0", "--remote-write", &write]);
    let mut child = command.stdout(Stdio::null()).spawn().expect("it starts");
    let mut said = BufReader::new(child.stderr.take().expect("piped")).lines().map_while(Result::ok);
    let url = said.find_map(|line| line.strip_prefix("metrics: ").map(str::to_owned)).expect("its address");
    let address = url.trim_start_matches("http://").trim_end_matches("/metrics").to_owned();
    std::thread::spawn(move || said.for_each(drop));
    prometheus.scrape(&address);
    let instances = || prometheus.query("sysdyno_goodput_rate_hz > 0").len();
    assert!(wait_until(LIMIT, || instances() == 2), "scraped and written: {}", instances());
    let cpu = "sum by (instance) (sysdyno_host_cpu_ratio)";
    assert!(wait_until(LIMIT, || prometheus.query(cpu).len() == 2), "the host of the server is there");
    let panels = queries();
    assert!(panels.len() > 25, "{panels:?}");
    for query in panels {
        // Nothing fails, no rate is full, and the load has no users.
        let is_quiet =
            [OF_FAILURES, "changes(", "unless", "sysdyno_seen", "_generator_full", "_active_users"];
        let may_be_empty = is_quiet.iter().any(|part| query.contains(part));
        let is_answered = wait_until(LIMIT, || !prometheus.query(&query).is_empty() || may_be_empty);
        assert!(is_answered, "nothing for {query}");
    }
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), Signal::INT)
        .expect("it is there");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    // What was written is marked as stale at once; what was scraped ends with the next scrape.
    assert!(
        wait_until(LIMIT, || instances() == 0),
        "the load goes on: {:?}",
        prometheus.query("sysdyno_goodput_rate_hz")
    );
}
