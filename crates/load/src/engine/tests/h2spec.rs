//! The engine against `h2specd`, which holds clients of HTTP/2 to RFC 7540: it listens on a port for each of its cases, misbehaves
//! there in one way, and says whether the client did what the RFC demands. `scripts/install-h2specd` installs it.

use super::http2::h2_plan;
use super::*;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

on_both_back_ends! {
    every_case_of_h2specd_passes
}

/// Cases of h2specd 2.2.1.
const CASES: u16 = 57;

/// Cases at a time: nearly all of their time is waiting.
const PARALLEL: u16 = 8;

/// Longest wait for h2specd to listen, and to have judged all cases.
const PATIENCE: Duration = Duration::from_secs(60);

/// `h2specd` with its ports: one for each case, and behind them that of its report.
struct Judge {
    child: Child,
    first_port: u16,
}

impl Drop for Judge {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program: where it is said to be, on the path, or where it is installed for tests.
fn program() -> Option<PathBuf> {
    let named = std::env::var_os("H2SPECD").map(PathBuf::from);
    let target = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(target, PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path: Vec<PathBuf> = std::env::split_paths(&path).map(|folder| folder.join("h2specd")).collect();
    let candidates = named.into_iter().chain(on_path).chain([target.join("tools/h2specd")]);
    candidates.into_iter().find(|file| file.is_file())
}

/// So many ports in a row that nobody uses, below those that the kernel gives out.
fn free_ports(count: u16) -> u16 {
    let free = |first: &u16| {
        let listeners: Option<Vec<_>> =
            (0..count).map(|number| TcpListener::bind(("127.0.0.1", first + number)).ok()).collect();
        listeners.is_some()
    };
    // Where to begin differs from process to process and from test to test.
    static TESTS: AtomicU64 = AtomicU64::new(0);
    let spread = u64::from(std::process::id()) + 50 * TESTS.fetch_add(1, Ordering::Relaxed);
    let mut firsts = (0..100).map(|number| 20_000 + ((spread + number) % 100) as u16 * 100);
    firsts.find(free).expect("there are free ports")
}

impl Judge {
    fn start(program: PathBuf) -> Judge {
        let first_port = free_ports(CASES + 1);
        let ports = [first_port, first_port + CASES].map(|port| port.to_string());
        let child = Command::new(program)
            .args(["--host", "127.0.0.1", "--timeout", "20", "--from-port", &ports[0], "--port", &ports[1]])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        let judge = Judge { child, first_port };
        let begin = Instant::now();
        // The report is there when all cases are.
        while judge.report().is_err() {
            assert!(begin.elapsed() < PATIENCE, "h2specd does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
        judge
    }

    /// The page with all results.
    fn report(&self) -> io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.first_port + CASES))?;
        stream.write_all(b"GET /report HTTP/1.0\r\n\r\n")?;
        let mut page = String::new();
        stream.read_to_string(&mut page)?;
        Ok(page)
    }

    /// By port, the cases that are judged: whether they passed, with what the page says about them.
    fn judged(&self) -> BTreeMap<u16, (bool, String)> {
        let page = self.report().expect("reports");
        let cases = page.split("<div><span").skip(1);
        let judged = cases.filter_map(|case| {
            let (mark, rest) = case.split_once('>')?.1.split_once("</span>")?;
            let port = rest.split_once("http://127.0.0.1:")?.1.split_once('/')?.0.parse().ok()?;
            let text = rest.split_once("</a>")?.1.split("<br>").next().unwrap_or_default();
            let is_passed = mark == "✔" || is_closed_by_reset(text);
            matches!(mark, "✔" | "✖").then(|| (port, (is_passed, text.to_owned())))
        });
        judged.collect()
    }
}

/// Whether a case that allows the client to close the connection saw it reset: h2spec means to count that as closed
/// (`spec/connection.go` compares with ECONNRESET), but Go has wrapped that error since. Which of the two it sees depends on
/// whether its last frame arrives before the client closes.
fn is_closed_by_reset(text: &str) -> bool {
    text.contains("Connection closed</div>") && text.ends_with("connection reset by peer</div>")
}

/// One request on one connection, which stays open until the case is judged: it may have more to say after the response.
fn try_case(io: IoChoice, judge: &Judge, port: u16) {
    let mut plan = h2_plan(io, &format!("http://127.0.0.1:{port}/"), 1);
    (plan.arrival, plan.connections) = (Arrival::Constant, 1);
    plan.phases[0].rate_hz = Some(1.0 / PATIENCE.as_secs_f64());
    plan.phases[0].end = PhaseEnd::After(SpanNs::from_secs(PATIENCE.as_secs()));
    plan.validators = Validators::default();
    plan.hard_stops.connect_failures_in_a_row = None;
    let (control, mut kept) = (Control::new(), Kept::default());
    let outcome = std::thread::scope(|scope| {
        let load = scope.spawn(|| run(&plan, 1, &control, &mut kept).expect("runs"));
        while !load.is_finished() && !judge.judged().contains_key(&port) {
            std::thread::sleep(Duration::from_millis(100));
        }
        control.stop();
        load.join().expect("ends")
    });
    assert_eq!(outcome.summary.total.sent, 1, "one request, or a case is tried more often than once");
}

fn every_case_of_h2specd_passes(io: IoChoice) {
    let Some(program) = program() else {
        return sysdyno_needs::skip("every_case_of_h2specd_passes", &["h2specd"]);
    };
    let judge = Judge::start(program);
    std::thread::scope(|scope| {
        for worker in 0..PARALLEL {
            let ports = (worker..CASES).step_by(PARALLEL.into()).map(|number| judge.first_port + number);
            let judge = &judge;
            scope.spawn(move || ports.for_each(|port| try_case(io, judge, port)));
        }
    });
    let begin = Instant::now();
    while judge.judged().len() < CASES.into() && begin.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(50));
    }
    let judged = judge.judged();
    let failed: Vec<_> = judged.iter().filter(|(_, (passed, _))| !passed).collect();
    let passed = judged.len() - failed.len();
    eprintln!("h2specd: {passed} of {CASES} cases passed");
    assert!(
        failed.is_empty() && passed == usize::from(CASES),
        "{passed} of {CASES} passed; not these: {failed:#?}"
    );
}
