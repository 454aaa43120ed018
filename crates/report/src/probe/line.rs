//! What a probe prints while it runs: a line for each target before the first operation, then a line per operation.
//!
//! `sysdyno report FILE` reads these lines back (`sysdyno_record::probe::read_lines`): their format is specified in
//! docs/reference/formats/probe.md.

use super::NAME_COLUMNS;
use crate::escape;
use crate::number;
use sysdyno_record::probe::{ProbeOutcome, ProbeReply, ProbedTarget};
use sysdyno_record::units::WallNs;

/// The lines before the first operation, one for each target.
pub fn opening(targets: &[ProbedTarget]) -> String {
    let has_names = targets.len() > 1;
    let line = |probed: &ProbedTarget| {
        let name = if has_names { format!("{}: ", name(probed)) } else { String::new() };
        format!(
            "{name}{} probe of {}, every {}, timeout {}",
            probed.plan.kind.name(),
            escape::terminal(&probed.target.url, NAME_COLUMNS),
            probed.plan.interval,
            probed.plan.timeout
        )
    };
    targets.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The name of a target in a line.
fn name(probed: &ProbedTarget) -> String {
    escape::terminal(&probed.name, NAME_COLUMNS)
}

/// The line of an operation that ended at this instant: RFC 3339 with milliseconds, the target if there are several, number,
/// time.
pub fn line(reply: &ProbeReply, at: WallNs, targets: &[ProbedTarget]) -> String {
    let of = targets.get(usize::from(reply.target)).filter(|_| targets.len() > 1);
    let of = of.map_or_else(String::new, |probed| format!("{}  ", name(probed)));
    let trial = if reply.trial > 0 { format!("trial {}  ", reply.trial) } else { String::new() };
    let waited = number::duration_ns(reply.response_ns());
    let what = match reply.outcome {
        ProbeOutcome::Received => waited,
        ProbeOutcome::TimedOut => format!("lost: no answer within {waited}"),
        ProbeOutcome::Unsent => format!("lost: not sent within {waited}"),
        ProbeOutcome::Failed(class) => format!("lost: {} after {waited}", class.name()),
        ProbeOutcome::InFlight => format!("in flight at the end, {waited} so far"),
    };
    let mut line = format!("{}  {of}{trial}seq {}  {what}", at.rfc3339_millis(), reply.sequence);
    if let Some(status) = reply.status {
        line.push_str(&format!("  status {status}"));
    }
    // Of a TCP probe the connection is all there is.
    if let (Some(connect_ns), Some(_)) = (reply.connect_ns, reply.status) {
        line.push_str(&format!("  new connection {}", number::duration_ns(connect_ns)));
    }
    line
}
