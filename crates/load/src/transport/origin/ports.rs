//! Checks before the first connection whether a load has enough ports.
//!
//! A connection is known by two addresses and two ports; the server's address and port are fixed, so each source address
//! has as many connections to it as `net.ipv4.ip_local_port_range` has ports. Whoever closes a connection first keeps its
//! port for `TCP_TIMEWAIT_LEN`, 60 s (`include/net/tcp.h`), unless `net.ipv4.tcp_tw_reuse` lets a new connection have it
//! after one second: 1 always, 2 over loopback (`Documentation/networking/ip-sysctl.rst`).
//!
//! A load that cannot work is refused. If it depends on which side closes first, which
//! only the server decides, there is a warning.

use crate::error::LoadError;
use sysdyno_record::plan::{Endpoint, KeepAlive, LoadPlan, PhaseEnd};

/// How long a port is kept by who closed first. Unit: seconds.
const TIME_WAIT_S: f64 = 60.0;

/// How long it is kept where it may be used again. Unit: seconds.
const REUSE_S: f64 = 1.0;

/// What the host allows, read by the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortLimits {
    /// First port of `net.ipv4.ip_local_port_range`.
    pub first: u16,
    /// Last port of it.
    pub last: u16,
    /// `net.ipv4.tcp_tw_reuse`.
    pub tw_reuse: u8,
}

impl PortLimits {
    /// Reads the two settings as the kernel writes them; `None`: they are not what they should be.
    pub fn parse(range: &str, tw_reuse: &str) -> Option<PortLimits> {
        let (first, last) = range.trim().split_once(char::is_whitespace)?;
        let limits = PortLimits {
            first: first.parse().ok()?,
            last: last.trim().parse().ok()?,
            tw_reuse: tw_reuse.trim().parse().ok()?,
        };
        (limits.first <= limits.last).then_some(limits)
    }

    fn count(self) -> u64 {
        u64::from(self.last - self.first) + 1
    }
}

/// Checks that there are ports enough for a load; a sentence where there may not be.
///
/// # Errors
/// More connections at a time, or more of them closed by this side within the time that a port is kept, than ports.
pub fn check_ports(plan: &LoadPlan, limits: PortLimits) -> Result<Option<String>, LoadError> {
    let Endpoint::Tcp(target) = &plan.target.endpoint else { return Ok(None) };
    let sources = plan.origin.sources.len().max(1) as u64;
    let ports = limits.count() * sources;
    let connections = u64::from(plan.connections);
    if connections > ports {
        let what = format!("{connections} connections");
        return Err(too_few(&what, connections, limits, sources));
    }
    let is_reused = limits.tw_reuse == 1 || limits.tw_reuse == 2 && target.ip().is_loopback();
    let kept_s = if is_reused { REUSE_S } else { TIME_WAIT_S };
    let in_time_wait = |hz: f64| (hz * kept_s.min(span_s(plan))).ceil() as u64;
    if let Some(hz) = plan.origin.churn_hz {
        let needed = connections + in_time_wait(hz);
        if needed > ports {
            let what = format!(
                "{hz:.0} new connections per second, each of which occupies its port for {kept_s:.0} s,"
            );
            return Err(too_few(&what, needed, limits, sources));
        }
    }
    let (KeepAlive::Requests(requests), Some(hz)) = (plan.keep_alive, greatest_rate_hz(plan)) else {
        return Ok(None);
    };
    let needed = in_time_wait(hz / f64::from(requests.max(1)));
    Ok((needed > ports).then(|| {
        format!(
            "if this host has to close connections first, it needs {needed} ports but has {ports}, and \
             requests will fail (local_ports)\nhint: {}",
            remedy(needed, limits)
        )
    }))
}

fn too_few(what: &str, needed: u64, limits: PortLimits, sources: u64) -> LoadError {
    let ports = limits.count() * sources;
    let from =
        if sources == 1 { "one source address".to_owned() } else { format!("{sources} source addresses") };
    LoadError::plan(format!(
        "{what} need {needed} ports, but {from} with net.ipv4.ip_local_port_range {} to {} provide \
         {ports}\nhint: {}",
        limits.first,
        limits.last,
        remedy(needed, limits)
    ))
}

fn remedy(needed: u64, limits: PortLimits) -> String {
    let sources = needed.div_ceil(limits.count());
    format!("send from {sources} addresses with --source A,B,…, or widen net.ipv4.ip_local_port_range")
}

/// How long the load takes, if known. Unit: seconds.
fn span_s(plan: &LoadPlan) -> f64 {
    let span = |phase: &sysdyno_record::plan::PhasePlan| match (phase.end, phase.rate_hz) {
        (PhaseEnd::After(span), _) => span.seconds(),
        (PhaseEnd::Requests(count), Some(hz)) => count as f64 / hz,
        (PhaseEnd::Requests(_), None) => f64::INFINITY,
    };
    plan.phases.iter().map(span).sum()
}

/// The highest rate of an open load; `None`: it is closed.
fn greatest_rate_hz(plan: &LoadPlan) -> Option<f64> {
    plan.phases.iter().filter_map(|phase| phase.rate_hz).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::tests_plan as plan;
    use sysdyno_record::plan::{Arrival, PhaseKind, PhasePlan};
    use sysdyno_record::units::SpanNs;

    const LIMITS: PortLimits = PortLimits { first: 32_768, last: 60_999, tw_reuse: 2 };

    #[test]
    fn settings_are_read_as_the_kernel_writes_them() {
        assert_eq!(PortLimits::parse("32768\t60999\n", "2\n"), Some(LIMITS));
        for (range, reuse) in [("", "2"), ("5", "2"), ("9 5", "0"), ("1 70000", "0"), ("1 2", "x")] {
            assert_eq!(PortLimits::parse(range, reuse), None, "{range:?} {reuse:?}");
        }
    }

    fn check(
        connections: u32,
        sources: usize,
        churn_hz: Option<f64>,
        server: &str,
    ) -> Result<Option<String>, String> {
        let mut plan = plan(server);
        plan.connections = connections;
        plan.origin.sources = vec!["10.0.0.1".parse().expect("an address"); sources];
        plan.origin.churn_hz = churn_hz;
        let hour = PhaseEnd::After(SpanNs::from_secs(3600));
        plan.phases = vec![PhasePlan { kind: PhaseKind::Steady, rate_hz: None, end: hour }];
        check_ports(&plan, LIMITS).map_err(|error| error.to_string())
    }

    #[test]
    fn more_connections_than_ports_are_refused_with_the_number_of_addresses_that_would_do() {
        assert_eq!(check(28_232, 0, None, "http://10.0.0.9/"), Ok(None));
        let error = check(50_000, 0, None, "http://10.0.0.9/").expect_err("too many");
        assert!(error.contains("28232") && error.contains("hint: send from 2 addresses"), "{error}");
        assert_eq!(check(50_000, 2, None, "http://10.0.0.9/"), Ok(None));
        assert_eq!(check(50_000, 0, None, "unix:/s"), Ok(None));
    }

    #[test]
    fn churn_needs_the_ports_of_a_minute_unless_they_are_used_again() {
        let error = check(10, 1, Some(500.0), "http://10.0.0.9/").expect_err("too many");
        assert!(error.contains("30010 ports") && error.contains("60 s"), "{error}");
        assert_eq!(check(10, 2, Some(500.0), "http://10.0.0.9/"), Ok(None));
        assert_eq!(check(10, 1, Some(500.0), "http://127.0.0.1/"), Ok(None), "reused over loopback");
        assert!(check(10, 1, Some(50_000.0), "http://127.0.0.1/").is_err());
    }

    #[test]
    fn a_connection_per_request_is_a_warning_because_the_server_may_close_first() {
        let mut plan = plan("http://10.0.0.9/");
        plan.arrival = Arrival::Poisson;
        plan.keep_alive = KeepAlive::Requests(1);
        let minutes = PhaseEnd::After(SpanNs::from_secs(300));
        plan.phases = vec![PhasePlan { kind: PhaseKind::Steady, rate_hz: Some(1000.0), end: minutes }];
        let warning = check_ports(&plan, LIMITS).expect("may work").expect("may not");
        assert!(warning.contains("60000 ports") && warning.contains("3 addresses"), "{warning}");
        plan.keep_alive = KeepAlive::Requests(10);
        assert_eq!(check_ports(&plan, LIMITS).expect("works"), None);
    }
}
