//! The steps around a load wait for events, not for time.

use super::*;
use crate::agent::{
    Agent, AgentAnswer, AgentLink, AgentRequest, Generator, LocalAgent, TuneAnswer, TuneRequest,
};
use crate::clock;
use crate::error::RunError;
use std::io::{Read, Write};
use std::net::TcpListener;
use sysdyno_analyze::tryout::CommandOutcome;
use sysdyno_load::LoadOutcome;
use sysdyno_record::manifest::{RunKind, Tool};
use sysdyno_record::plan::*;
use sysdyno_record::progress::RunProgress;
use sysdyno_record::store::{NewRun, RunWriter};
use sysdyno_record::units::{MonoNs, SpanNs};

/// The agent of this process, and what it was asked for.
#[derive(Default)]
struct Noted {
    agent: LocalAgent,
    requests: Vec<&'static str>,
    /// Begin and end of the load.
    load: Option<[MonoNs; 2]>,
}

impl Agent for Noted {
    fn call(&mut self, request: AgentRequest, link: &mut dyn AgentLink) -> Result<AgentAnswer, RunError> {
        self.requests.push(request.words());
        self.agent.call(request, link)
    }
}

impl Generator for Noted {
    fn load(
        &mut self,
        trial: u32,
        plan: &LoadPlan,
        link: &mut dyn AgentLink,
    ) -> Result<LoadOutcome, RunError> {
        self.requests.push("load");
        let begin = clock::monotonic();
        let outcome = self.agent.load(trial, plan, link)?;
        self.load = Some([begin, clock::monotonic()]);
        Ok(outcome)
    }

    fn rest(&mut self, _: SpanNs, _: &mut dyn AgentLink) -> Result<(), RunError> {
        panic!("nothing rests")
    }

    fn command(
        &mut self,
        _: &[String],
        _: SpanNs,
        _: &mut dyn AgentLink,
    ) -> Result<CommandOutcome, RunError> {
        panic!("nothing is run")
    }

    fn tune(&mut self, _: TuneRequest) -> Result<TuneAnswer, RunError> {
        panic!("nothing is tuned")
    }
}

struct Nobody;

impl Watcher for Nobody {
    fn progress(&mut self, _: &RunProgress) {}

    fn is_interrupted(&mut self) -> bool {
        false
    }
}

/// A server for one connection.
fn serve() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
    let url = format!("http://{}/", listener.local_addr().expect("has an address"));
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("accepts");
        while let Ok(1..) = stream.read(&mut [0; 4096]) {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        }
    });
    url
}

fn ten_requests(url: &str) -> LoadPlan {
    let phase = PhasePlan { kind: PhaseKind::Steady, rate_hz: None, end: PhaseEnd::Requests(10) };
    let target = sysdyno_load::target::resolve(url).expect("resolves");
    LoadPlan { phases: vec![phase], spin: SpinChoice::Off, ..LoadPlan::plain(target) }
}

#[test]
fn a_load_has_readings_around_it_and_nothing_rests_for_them() {
    let folder = tempfile::tempdir().expect("creates");
    let new = NewRun {
        kind: RunKind::Load,
        tool: Tool { version: "0".into(), target: "test".into() },
        clock: clock::pair(),
        command: vec![],
        pid: std::process::id(),
        pid_start_ticks: 0,
        suffix: 0,
    };
    let mut writer = RunWriter::create(folder.path(), new).expect("creates");
    let (mut nobody, mut noted) = (Nobody, Noted::default());
    let mut journal = RunJournal::new(&mut writer, &mut nobody);
    let hosts = Hosts { generator: &mut noted, server: None, behind: &[], services: None };
    // Deadlines of readings are hours apart.
    let sampling = SamplingPlan { hz: 0.0001, pids: vec![std::process::id()] };
    load(&ten_requests(&serve()), &sampling, None, hosts, &mut journal).expect("runs");
    let [begin, end] = noted.load.expect("was asked for");
    assert_eq!(
        noted.requests,
        ["facts", "describe", "start sampling", "load", "read kernel counters", "stop sampling"]
    );
    let readings = journal.series().windows();
    assert_eq!(readings.len(), 2);
    assert!(readings[0][1] <= begin && readings[1][0] >= end, "{readings:?} around {begin:?}, {end:?}");
    let free = journal.series().values("memory.free_bytes", "host").expect("is read");
    assert!(free.iter().all(Option::is_some), "also what is read once a second: {free:?}");
}
