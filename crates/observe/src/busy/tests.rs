//! Real threads that wait for known things.

use super::*;
use crate::discover::{host_process, host_processes};
use crate::testing::eventually;
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use sysdyno_record::plan::Endpoint;

/// A child that ends with the test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// This process as a busy one: it has used more since the look before.
fn own() -> HostProcess {
    let own = host_process(std::process::id()).expect("is there");
    HostProcess { cpu_ticks: own.cpu_ticks + 1_000_000, ..own }
}

/// Looks at this process and a child until what is wanted is there, or has come to nothing.
fn looked(pid: u32, is_wanted: impl Fn(&ThreadLook) -> bool) -> Vec<ThreadLook> {
    let mut busy = BusyThreads::default();
    let mut ticks = 0;
    let look = || {
        let process = host_process(pid)?;
        busy.look(std::slice::from_ref(&process));
        ticks += 1;
        let used = HostProcess { cpu_ticks: process.cpu_ticks + ticks, ..process };
        busy.look(&[used]).pop().map(|threads| threads.looks)
    };
    eventually(look, |looks| looks.as_ref().is_none_or(|looks| looks.iter().any(&is_wanted)))
        .unwrap_or_default()
}

fn child(command: &mut Command) -> Ended {
    Ended(command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it starts"))
}

#[test]
fn a_process_that_sleeps_waits_for_a_timer_and_one_that_reads_a_pipe_for_a_process() {
    let sleeping = child(Command::new("sleep").arg("1000"));
    let looks = looked(sleeping.0.id(), |look| look.wait == ThreadWait::Timer);
    assert_eq!(looks.iter().map(|look| look.wait).collect::<Vec<_>>(), [ThreadWait::Timer]);
    assert_eq!(looks[0].name, "sleep");
    assert!(looks[0].cpu_ns.is_some() && looks[0].run_delay_ns.is_some(), "{looks:?}");
    let reading = child(&mut Command::new("cat"));
    let looks = looked(reading.0.id(), |look| look.wait == ThreadWait::Process);
    assert_eq!(looks.iter().map(|look| look.wait).collect::<Vec<_>>(), [ThreadWait::Process]);
}

#[test]
fn a_thread_that_waits_for_a_response_is_told_with_the_address_that_it_asked() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
    let address = listener.local_addr().expect("has one");
    let mut asking = TcpStream::connect(address).expect("connects");
    let (mut accepted, _) = listener.accept().expect("accepts");
    let asks = std::thread::Builder::new().name("asks".into()).spawn(move || asking.read(&mut [0]));
    let named = |look: &ThreadLook| look.name == "asks";
    let looks = looked(std::process::id(), |look| named(look) && look.asked.is_some());
    let asked = looks.iter().find(|look| named(look)).expect("was looked at");
    assert_eq!((asked.wait, &asked.asked), (ThreadWait::Network, &Some(Endpoint::Tcp(address))));
    std::io::Write::write_all(&mut accepted, b"x").expect("answers");
    asks.expect("a thread").join().expect("ends").expect("reads");
}

#[test]
fn each_of_many_threads_has_its_turn_and_none_more_often() {
    let mut followed = Followed {
        start_ticks: 0,
        turn: 0,
        files: HashMap::new(),
        throttling: ProcessThrottling::find(&Roots::host(), std::process::id(), &mut Vec::new()),
    };
    let ids: Vec<u32> = (0..40).collect();
    let mut had = vec![0; ids.len()];
    for _ in 0..40 {
        followed.in_turn(&ids, 16).into_iter().for_each(|id| had[id as usize] += 1);
    }
    assert_eq!(had, vec![16; 40]);
    assert_eq!(followed.in_turn(&ids[..3], 16), ids[..3]);
}

#[test]
fn only_what_used_cpu_since_the_last_look_is_looked_at_the_most_first() {
    let mut busy = BusyThreads::default();
    let all = host_processes();
    assert!(busy.look(&all).is_empty(), "there was nothing to compare with");
    let calm: Vec<HostProcess> =
        all.iter().map(|one| HostProcess { is_blocked: false, ..one.clone() }).collect();
    assert!(busy.look(&calm).is_empty());
    let sleeping = child(Command::new("sleep").arg("1000"));
    let other = host_process(sleeping.0.id()).expect("is there");
    busy.look(&[own(), other.clone()]);
    let more = |process: HostProcess, ticks| HostProcess { cpu_ticks: process.cpu_ticks + ticks, ..process };
    let looked = busy.look(&[more(own(), 5_000_000), more(other.clone(), 9_000_000)]);
    assert_eq!(looked.iter().map(|one| one.pid).collect::<Vec<_>>(), [other.pid, std::process::id()]);
    assert!(looked.iter().map(|one| one.looks.len()).sum::<usize>() <= MAX_THREADS);
}
