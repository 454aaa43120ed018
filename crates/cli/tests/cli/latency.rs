//! What is measured is what arithmetic says: stalls show in the response time, and a known distribution comes back.
//!
//! Generator and server run before everything else on the machine, so that a stray process changes nothing. Where this user
//! may not have that, or a hypervisor took the CPUs, the program says so (M11, M12, V06): then only the lower bounds hold,
//! since others can make a response later and never earlier.

use crate::rig::program::{Outcome, Program, Running, Target};
use crate::rig::wait_until;
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(90);

/// Puts the shell, and what it becomes, before everything else; passed over by users who may not.
const FIRST: &str = "renice -n -20 $$ >/dev/null 2>&1 || true";

/// A quantile of the response time that arithmetic knows.
struct Known {
    name: &'static str,
    expected_ns: f64,
    tolerance_ns: f64,
}

const fn known(name: &'static str, expected_ns: f64, tolerance_ns: f64) -> Known {
    Known { name, expected_ns, tolerance_ns }
}

/// Loads a target and compares the quantiles of the response time; what was measured.
#[track_caller]
fn check(program: &Program, target: &[&str], load: &[&str], quantiles: &[Known]) -> Outcome {
    let outcome = measure(program, target, load);
    compare(&outcome, quantiles, 0.0);
    outcome
}

fn measure(program: &Program, target: &[&str], load: &[&str]) -> Outcome {
    let target = Target::start_first(target);
    let command = program.command_after(FIRST, [&["load", target.url(), "--json"], load].concat());
    Running::start(command).finish(LIMIT)
}

/// Compares the quantiles of the response time; `added_ns` is what it may be longer by.
#[track_caller]
fn compare(outcome: &Outcome, quantiles: &[Known], added_ns: f64) {
    assert_eq!(outcome.count("ok"), outcome.count("sent"), "{outcome}");
    let is_disturbed = outcome.is_disturbed();
    for known in quantiles {
        let Known { name, expected_ns, tolerance_ns } = known;
        let error_ns = known.error_ns(outcome);
        let is_right = error_ns >= -tolerance_ns && (is_disturbed || error_ns <= tolerance_ns + added_ns);
        assert!(is_right, "{name} is {error_ns} ns off {expected_ns} ± {tolerance_ns} ns: {outcome}");
    }
}

impl Known {
    /// How much longer it is than arithmetic says. Unit: nanoseconds.
    fn error_ns(&self, outcome: &Outcome) -> f64 {
        quantile(outcome, "response_time_ns", self.name) - self.expected_ns
    }
}

/// The value of `quantile` of `kind`. Unit: nanoseconds.
#[track_caller]
fn quantile(outcome: &Outcome, kind: &str, quantile: &str) -> f64 {
    let value = outcome.json()[kind][quantile].as_f64();
    value.unwrap_or_else(|| panic!("no {quantile} of {kind} in {outcome}"))
}

/// A server that answers nothing for 1 s of every 10 s, at 1,000 requests a second over one of its periods. A tenth of
/// the arrivals meets a stall, and waits for what is left of it, evenly spread over 0 to 1 s. So the quantile q > 0.9 of
/// the response time is (q − 0.9) ÷ 0.1 of a second; tolerances are 2 % of the stall, and twice that at q = 0.9, where
/// the answering of the backlog begins to show. Stalls lie on a grid of the monotonic clock: the window is begun between two
/// of them, so that it holds a whole one. One that ends within a stall leaves requests unsent, whose wait nobody knows.
#[test]
fn a_stall_shows_in_the_response_time_on_a_quiet_machine() {
    let target = ["--threads", "1", "--stall-every-ms", "10000", "--stall-for-ms", "1000"];
    let process = ["--rate", "1000/s", "--arrival", "constant", "--duration", "10s", "--warmup", "1s"];
    let load = [&process[..], &["--connections", "64", "--timeout", "5s"]].concat();
    let quantiles = [
        known("p50", 0.0, 20e6),
        known("p90", 0.0, 40e6),
        known("p99", 0.9e9, 20e6),
        known("p99_9", 0.99e9, 20e6),
        known("max", 1e9, 20e6),
    ];
    let program = Program::alone();
    // Starting and warming up may take the six seconds that are left then.
    let has_begun = |now: i64| (2..4).contains(&(now % 10));
    assert!(wait_until(LIMIT, || has_begun(clock_gettime(ClockId::Monotonic).tv_sec)), "clocks go on");
    let outcome = check(&program, &target, &load, &quantiles);
    assert_eq!(outcome.count("sent"), 10_000, "{outcome}");
    // Of the requests that waited only 64 were on a connection; the service time does not know of the others.
    let service_ns = quantile(&outcome, "service_time_ns", "p99");
    assert!(service_ns < 0.5e9, "service time p99 is {service_ns} ns: {outcome}");
    let slip_ns = quantile(&outcome, "slip_ns", "p99");
    assert!(slip_ns > 0.5e9, "slip p99 is {slip_ns} ns: {outcome}");
}

/// A server that delays its responses by 100.0, 100.1, … 199.9 ms in turn: the quantile q is 100 + 100 q ms, within 1 %.
#[test]
fn a_known_distribution_comes_back_on_a_quiet_machine() {
    let delays_us: Vec<String> = (0..1000).map(|step| (100_000 + step * 100).to_string()).collect();
    let target = ["--threads", "1", "--delays-us", &delays_us.join(",")];
    let process = ["--rate", "1000/s", "--arrival", "constant", "--duration", "10s", "--warmup", "500ms"];
    let load = [&process[..], &["--connections", "400"]].concat();
    let quantiles = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99_9", 0.999)];
    let quantiles = quantiles.map(|(name, ratio)| {
        let expected_ns = 100e6 + 100e6 * ratio;
        known(name, expected_ns, 0.01 * expected_ns)
    });
    let outcome = check(&Program::alone(), &target, &load, &quantiles);
    assert_eq!(outcome.count("sent"), 10_000, "{outcome}");
}

/// Delays of 10.000, 10.025, … 19.975 ms in turn; two of three responses have none. What sockets, timers, and CPUs of this machine add
/// to a response is the mean of the same run less that of the delays. Where delays are evenly spread, it shifts their quantiles by
/// just that: the probability of an end before t, E F(t − N), is linear in N. The generator spins, so that it is not late itself.
#[test]
fn a_known_distribution_of_short_delays_comes_back_on_a_quiet_machine() {
    let delay_us = |step: u32| if step.is_multiple_of(3) { 10_000 + step / 3 * 25 } else { 0 };
    let delays_us: Vec<String> = (0..1200).map(|step| delay_us(step).to_string()).collect();
    let mean_delay_ns = (0..1200).map(|step| f64::from(delay_us(step)) * 1e3).sum::<f64>() / 1200.0;
    let target = ["--threads", "1", "--delays-us", &delays_us.join(",")];
    let process = ["--arrival", "constant", "--rate", "1200/s", "--duration", "4s", "--warmup", "500ms"];
    let load = [&process[..], &["--connections", "100", "--spin", "on", "--threads", "1"]].concat();
    let quantiles = [("p90", 0.7), ("p95", 0.85), ("p99", 0.97)].map(|(name, ratio)| {
        let expected_ns = 10e6 + 10e6 * ratio;
        known(name, expected_ns, 0.01 * expected_ns)
    });
    let outcome = measure(&Program::alone(), &target, &load);
    compare(&outcome, &quantiles, quantile(&outcome, "response_time_ns", "mean") - mean_delay_ns);
}
