//! Reads back what `sysdyno probe` printed: somebody piped it into a file, and wants a report of it.
//!
//! Times have three digits and instants milliseconds, so the numbers of such a report are as exact as that. Instants of the intended
//! sends are exact again, because they are multiples of the interval. Format: docs/reference/formats/probe.md.

use super::{ProbeKind, ProbeOutcome, ProbePlan, ProbeReply, ProbedTarget};
use crate::load::FailureClass;
use crate::manifest::ClockPair;
use crate::plan::{Endpoint, Target};
use crate::store::MAX_PROBE_REPLIES;
use crate::units::{MonoNs, SpanNs, WallNs};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// What was read.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeLines {
    /// The wall clock at an instant of the time axis.
    pub clock: ClockPair,
    /// The targets. The address of one that was a name is not known, and is written as unspecified.
    pub targets: Vec<ProbedTarget>,
    /// The operations, in the order of the lines.
    pub replies: Vec<ProbeReply>,
    /// Lines with an instant that are no operation of a target.
    pub unknown_count: u64,
}

/// More targets than a probe can have.
const TARGETS_MAX: usize = 64;

/// The first intended send is so late on the time axis. Unit: nanoseconds.
const ORIGIN_NS: u64 = 1_000_000_000;

/// How far an instant may be from its place in the schedule: rounding, and what a wall clock drifts. Unit: nanoseconds.
const OFF_SCHEDULE_NS: u64 = 20_000_000;

/// Reads lines.
///
/// # Errors
/// These are not the lines of one probe; the cause, as a part of a sentence.
pub fn read_lines(text: &str) -> Result<ProbeLines, String> {
    let mut targets: Vec<(String, ProbedTarget)> = Vec::new();
    let mut found: Vec<(u64, ProbeReply)> = Vec::new();
    let mut unknown_count = 0;
    for (number, line) in text.lines().enumerate() {
        if let Some(heading) = heading(line) {
            if !found.is_empty() {
                return Err(format!(
                    "line {} begins a second probe\nhint: keep the lines of one",
                    number + 1
                ));
            }
            if targets.len() >= TARGETS_MAX {
                return Err(format!("it has more than {TARGETS_MAX} targets"));
            }
            targets.push(heading);
            continue;
        }
        let Some((end, rest)) = instant(line) else { continue };
        match operation(rest, end, &targets) {
            Some(operation) if found.len() < MAX_PROBE_REPLIES => found.push(operation),
            _ => unknown_count += 1,
        }
    }
    if targets.is_empty() {
        return Err(
            "it does not begin with the targets of a probe\nhint: keep the first lines that `sysdyno \
                    probe` prints"
                .to_owned(),
        );
    }
    let targets: Vec<ProbedTarget> = targets.into_iter().map(|(_, target)| target).collect();
    let interval = |reply: &ProbeReply| targets[usize::from(reply.target)].plan.interval;
    let Some(origin) = found.iter().map(|one| schedule_start(one, interval(&one.1))).min() else {
        return Err("no line of it is an operation".to_owned());
    };
    let mut replies = Vec::with_capacity(found.len());
    for (place, target) in (0u16..).zip(&targets) {
        let of_target = found.iter().filter(|(_, reply)| reply.target == place);
        replies.extend(scheduled(of_target, target.plan.interval, origin));
    }
    replies.sort_by_key(|reply: &ProbeReply| reply.end_mono_ns);
    let clock = ClockPair { mono_ns: MonoNs(ORIGIN_NS), unix_ns: WallNs(origin) };
    Ok(ProbeLines { clock, targets, replies, unknown_count })
}

/// A target, and the name that its lines have, from `[NAME: ]KIND probe of URL, every SPAN, timeout SPAN`.
fn heading(line: &str) -> Option<(String, ProbedTarget)> {
    let (lead, rest) = line.split_once(" probe of ")?;
    let (rest, timeout) = rest.rsplit_once(", timeout ")?;
    let (url, interval) = rest.rsplit_once(", every ")?;
    let (name, kind) = lead.rsplit_once(": ").map_or((None, lead), |(name, kind)| (Some(name), kind));
    let kind = ProbeKind::ALL.into_iter().find(|known| known.name() == kind)?;
    let plan = ProbePlan { kind, interval: span(interval)?, timeout: span(timeout)? };
    let target = Target { url: url.into(), endpoint: endpoint(url), host: url.into(), path: "/".into() };
    let own = name.unwrap_or_default().to_owned();
    Some((own, ProbedTarget { name: name.unwrap_or(url).to_owned(), target, plan }))
}

fn span(text: &str) -> Option<SpanNs> {
    text.parse::<SpanNs>().ok().filter(|span| span.0 > 0)
}

/// What the text of a target says of its address.
fn endpoint(url: &str) -> Endpoint {
    if let Some(path) = url.strip_prefix("unix:") {
        return Endpoint::Unix(path.into());
    }
    let unknown = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
    let host = url.split_once("://").map_or(url, |(_, rest)| rest.split('/').next().unwrap_or(rest));
    let bare = || host.parse().ok().map(|ip| SocketAddr::new(ip, 0));
    Endpoint::Tcp(host.parse().ok().or_else(bare).unwrap_or(unknown))
}

/// The instant at which a line begins, and what follows it.
fn instant(line: &str) -> Option<(u64, &str)> {
    let (stamp, rest) = line.split_once("  ")?;
    let at = humantime::parse_rfc3339(stamp).ok()?;
    let since = at.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some((u64::try_from(since.as_nanos()).ok()?, rest))
}

/// An operation that ended then, and when it was to be sent; its instants are not yet on the time axis.
fn operation(rest: &str, end: u64, targets: &[(String, ProbedTarget)]) -> Option<(u64, ProbeReply)> {
    let (named, rest) = match rest.strip_prefix("seq ") {
        Some(rest) => ("", rest),
        None => rest.split_once("  seq ")?,
    };
    let place = targets.iter().position(|(name, _)| name == named)?;
    let mut parts = rest.split("  ");
    let sequence = parts.next()?.parse::<u64>().ok().filter(|sequence| *sequence > 0)?;
    let (outcome, waited) = outcome(parts.next()?)?;
    let (mut status, mut connect_ns) = (None, None);
    for part in parts {
        if let Some(code) = part.strip_prefix("status ") {
            status = code.parse().ok();
        } else if let Some(span) = part.strip_prefix("new connection ") {
            connect_ns = duration(span);
        }
    }
    let reply = ProbeReply {
        trial: 0,
        target: u16::try_from(place).ok()?,
        sequence,
        intended_mono_ns: MonoNs(0),
        sent_mono_ns: (outcome != ProbeOutcome::Unsent).then_some(MonoNs(0)),
        end_mono_ns: MonoNs(waited),
        outcome,
        connect_ns,
        status,
    };
    Some((end.checked_sub(waited)?, reply))
}

/// How an operation ended, and how long it took.
fn outcome(text: &str) -> Option<(ProbeOutcome, u64)> {
    if let Some(span) = text.strip_prefix("in flight at the end, ") {
        return Some((ProbeOutcome::InFlight, duration(span.strip_suffix(" so far")?)?));
    }
    let Some(lost) = text.strip_prefix("lost: ") else {
        return Some((ProbeOutcome::Received, duration(text)?));
    };
    for (lead, outcome) in
        [("no answer within ", ProbeOutcome::TimedOut), ("not sent within ", ProbeOutcome::Unsent)]
    {
        if let Some(span) = lost.strip_prefix(lead) {
            return Some((outcome, duration(span)?));
        }
    }
    let (class, span) = lost.split_once(" after ")?;
    let class = FailureClass::ALL.iter().find(|known| known.name() == class)?;
    Some((ProbeOutcome::Failed(*class), duration(span)?))
}

/// `312 µs`, `1.03 s`, `1,020 s`. Unit: nanoseconds.
fn duration(text: &str) -> Option<u64> {
    let (number, unit) = text.split_once(' ')?;
    let scale = match unit {
        "ns" => 1.0,
        "µs" | "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    let number = number.replace(',', "").parse::<f64>().ok()?;
    let value = number * scale;
    (0.0..1e18).contains(&value).then_some(value.round() as u64)
}

/// How long after the first operation of its target one is due. Unit: nanoseconds.
fn due(sequence: u64, interval: SpanNs) -> u64 {
    (sequence - 1).saturating_mul(interval.0)
}

/// When the schedule of an operation's target began, by this operation.
fn schedule_start((at, reply): &(u64, ProbeReply), interval: SpanNs) -> u64 {
    at.saturating_sub(due(reply.sequence, interval))
}

/// Operations of one target on the time axis that begins at `origin`, each at its place in the schedule unless the wall clock was
/// set in between.
fn scheduled<'a>(
    operations: impl Iterator<Item = &'a (u64, ProbeReply)> + Clone,
    interval: SpanNs,
    origin: u64,
) -> Vec<ProbeReply> {
    let start = operations.clone().map(|one| schedule_start(one, interval)).min().unwrap_or(origin);
    let is_off = |(at, reply): &(u64, ProbeReply)| {
        let rounding = reply.end_mono_ns.0 / 100;
        at.abs_diff(start.saturating_add(due(reply.sequence, interval))) > OFF_SCHEDULE_NS + rounding
    };
    let keeps_time = !operations.clone().any(is_off);
    let placed = |(at, reply): &(u64, ProbeReply)| {
        let wall = if keeps_time { start.saturating_add(due(reply.sequence, interval)) } else { *at };
        let intended = MonoNs(wall.saturating_sub(origin).saturating_add(ORIGIN_NS));
        let waited = reply.end_mono_ns.0;
        ProbeReply {
            intended_mono_ns: intended,
            sent_mono_ns: reply.sent_mono_ns.map(|_| intended),
            end_mono_ns: MonoNs(intended.0.saturating_add(waited)),
            ..*reply
        }
    };
    operations.map(placed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "\
a: icmp probe of 10.0.0.1, every 100ms, timeout 2s
b=: tcp probe of [fd00::1]:80, every 1s 500ms, timeout 2s
2026-11-20T13:02:01.123Z  a  seq 1  312 µs
2026-11-20T13:02:01.224Z  a  seq 2  1.03 ms
2026-11-20T13:02:01.900Z  b=  seq 1  lost: connect_refused after 80.0 µs
2026-11-20T13:02:03.322Z  a  seq 3  lost: no answer within 2.00 s
2026-11-20T13:02:03.400Z  b=  seq 2  in flight at the end, 900 ns so far
1 sent, and other words
2026-11-20T13:02:03.400Z  c  seq 2  1 ms

Loss windows (UTC)
13:02:03.123  3.10 s: lost a
";

    #[test]
    fn what_a_probe_printed_is_read_back() {
        let lines = read_lines(TWO).expect("reads");
        let names: Vec<&str> = lines.targets.iter().map(|target| target.name.as_str()).collect();
        assert_eq!((names, lines.unknown_count), (vec!["a", "b="], 1));
        assert_eq!(lines.targets[1].plan.interval, SpanNs::from_millis(1_500));
        assert_eq!(
            lines.targets[1].target.endpoint,
            Endpoint::Tcp("[fd00::1]:80".parse().expect("an address"))
        );
        let of_a: Vec<_> = lines.replies.iter().filter(|reply| reply.target == 0).collect();
        let intended: Vec<u64> = of_a.iter().map(|reply| reply.intended_mono_ns.0 - ORIGIN_NS).collect();
        assert_eq!(intended, [0, 100_000_000, 200_000_000]);
        assert_eq!((of_a[1].response_ns(), of_a[2].response_ns()), (1_030_000, 2_000_000_000));
        assert_eq!(of_a[2].outcome, ProbeOutcome::TimedOut);
        let of_b: Vec<_> = lines.replies.iter().filter(|reply| reply.target == 1).collect();
        assert_eq!(of_b[0].outcome, ProbeOutcome::Failed(FailureClass::ConnectRefused));
        assert_eq!((of_b[1].outcome, of_b[1].response_ns()), (ProbeOutcome::InFlight, 900));
        assert_eq!(lines.clock.wall(MonoNs(ORIGIN_NS)).rfc3339_millis(), "2026-11-20T13:02:01.122Z");
    }

    #[test]
    fn a_single_target_has_no_name_in_its_lines() {
        let text = "http probe of http://web/, every 1s, timeout 5s\n\
                    2026-11-20T13:02:01.123Z  seq 1  312 µs  status 200  new connection 80.0 µs\n";
        let lines = read_lines(text).expect("reads");
        let reply = lines.replies[0];
        assert_eq!((reply.status, reply.connect_ns), (Some(200), Some(80_000)));
        assert_eq!(lines.targets[0].name, "http://web/");
    }

    #[test]
    fn a_wall_clock_that_was_set_leaves_every_operation_where_its_line_says() {
        let text = "icmp probe of 10.0.0.1, every 1s, timeout 5s\n\
                    2026-11-20T13:02:01.000Z  seq 1  1.00 ms\n\
                    2026-11-20T14:02:02.000Z  seq 2  1.00 ms\n";
        let lines = read_lines(text).expect("reads");
        let apart = lines.replies[1].intended_mono_ns.since(lines.replies[0].intended_mono_ns);
        assert_eq!(apart, 3_601_000_000_000);
    }

    #[test]
    fn what_is_no_probe_is_refused() {
        let refused = |text: &str| read_lines(text).expect_err(text);
        assert!(refused("").contains("targets"));
        assert!(refused("2026-11-20T13:02:01.123Z  seq 1  312 µs").contains("targets"));
        assert!(refused("icmp probe of 10.0.0.1, every 1s, timeout 5s\nno line").contains("no line"));
        assert!(
            refused(&format!("{TWO}{TWO}")).contains("line 13 begins a second probe"),
            "{}",
            refused(&format!("{TWO}{TWO}"))
        );
        assert!(refused("icmp probe of 10.0.0.1, every 0s, timeout 5s").contains("targets"));
        let many = "icmp probe of 10.0.0.1, every 1s, timeout 5s\n".repeat(TARGETS_MAX + 1);
        assert!(refused(&many).contains("more than"));
    }

    #[test]
    fn any_bytes_are_read_or_refused() {
        for cut in 0..TWO.len() {
            let Some(text) = TWO.get(..cut) else { continue };
            let _ = read_lines(text);
            let _ = read_lines(&format!("{text}\u{fffd}{}", &TWO[TWO.len() / 2..]));
        }
        for number in ["18446744073709551615", "0", "-1", "9e999", "NaN"] {
            let text = format!(
                "icmp probe of x, every {number}s, timeout 5s\nicmp probe of x, every 1s, timeout 5s\n\
                 2026-11-20T13:02:01.123Z  seq {number}  {number} s\n1970-01-01T00:00:00.000Z  seq 1  {number} s\n"
            );
            let _ = read_lines(&text);
        }
    }
}
