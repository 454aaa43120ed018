//! A result as ApacheBench 2.3 prints one, for scripts that read it line by line.
//!
//! The labels, their columns, units and the order are those of `ab`; the numbers are those of the record. What is defined
//! otherwise is said at the end, in lines that no label of `ab` begins. Lines whose number the record does not have
//! (`HTML transferred`, `Keep-Alive requests`) are not there, but for `Connect:`, which scripts rely on: it is 0, as it is
//! with `ab -k`, where no connection was opened while it was measured. A percentile that the samples do not support is `-`.

use crate::escape;
use crate::input::ReportInput;
use std::fmt::Write;
use sysdyno_record::load::{FailureClass, LatencyKind, LatencySet, PhaseSummary, TrialSummary};
use sysdyno_record::plan::{Endpoint, LoadPlan};

/// The percentages of `ab`'s last table.
const PERCENTAGES: [u32; 8] = [50, 66, 75, 80, 90, 95, 98, 99];

const NS_PER_MS: f64 = 1e6;

/// Longest text of a server or user that is printed. Unit: columns.
const MAX_TEXT: usize = 200;

/// The shown trial in the form of `ab`; ends with a newline.
pub fn render(input: &ReportInput<'_>, latency: &LatencySet) -> String {
    let mut text = String::from("This is sysdyno, in the form of ApacheBench 2.3\n");
    let verdict = input.analysis.verdict.status.name();
    let _ = writeln!(text, "Verdict: {verdict}: {}\n", escape::terminal(&input.analysis.headline, MAX_TEXT));
    let trial = input.shown_trial();
    let Some((plan, summary)) =
        trial.and_then(|trial| Some((&trial.begin.plan, &trial.end.as_ref()?.summary)))
    else {
        text.push_str("No trial was completed: there are no numbers.\n");
        return text;
    };
    target(&mut text, plan, summary);
    counts(&mut text, plan, &summary.measured, latency);
    times(&mut text, latency);
    percentages(&mut text, latency);
    notes(&mut text, latency);
    text
}

/// A label and its value, in the columns of `ab`.
fn line(text: &mut String, label: &str, value: &str) {
    let _ = writeln!(text, "{:<23} {value}", format!("{label}:"));
}

fn target(text: &mut String, plan: &LoadPlan, summary: &TrialSummary) {
    let (host, port) = match &plan.target.endpoint {
        Endpoint::Tcp(address) => (host_of(&plan.target.host).to_owned(), address.port()),
        Endpoint::Unix(path) => (path.to_string_lossy().into_owned(), 0),
    };
    line(text, "Server Software", "");
    line(text, "Server Hostname", &escape::terminal(&host, MAX_TEXT));
    line(text, "Server Port", &port.to_string());
    text.push('\n');
    line(text, "Document Path", &escape::terminal(&plan.target.path, MAX_TEXT));
    if let Some(body) = summary.learnt_body {
        line(text, "Document Length", &format!("{} bytes", body.body_bytes));
    }
    text.push('\n');
}

/// The host of a `Host` field without its port.
fn host_of(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

fn counts(text: &mut String, plan: &LoadPlan, measured: &PhaseSummary, latency: &LatencySet) {
    let seconds = measured.end_mono_ns.seconds_since(measured.begin_mono_ns);
    let complete: u64 = measured.statuses.values().sum();
    let failed = measured.counts.failed + measured.counts.timed_out;
    line(text, "Concurrency Level", &plan.connections.to_string());
    line(text, "Time taken for tests", &format!("{seconds:.3} seconds"));
    line(text, "Complete requests", &complete.to_string());
    line(text, "Failed requests", &failed.to_string());
    if failed > 0 {
        let [connect, receive, length, exceptions] = failures(measured);
        let _ = writeln!(
            text,
            "   (Connect: {connect}, Receive: {receive}, Length: {length}, Exceptions: {exceptions})"
        );
    }
    let others = measured.statuses.iter().filter(|(status, _)| !(200..300).contains(*status));
    let other_count: u64 = others.map(|(_, count)| count).sum();
    if other_count > 0 {
        line(text, "Non-2xx responses", &other_count.to_string());
    }
    line(text, "Total transferred", &format!("{} bytes", measured.received_bytes));
    line(text, "Requests per second", &format!("{:.2} [#/sec] (mean)", measured.achieved_hz));
    if let Some(mean_ns) = latency.get(super::felt(latency)).mean() {
        line(text, "Time per request", &format!("{:.3} [ms] (mean)", mean_ns / NS_PER_MS));
    }
    if measured.achieved_hz > 0.0 {
        let between_ms = 1e3 / measured.achieved_hz;
        line(
            text,
            "Time per request",
            &format!("{between_ms:.3} [ms] (mean, across all concurrent requests)"),
        );
    }
    if seconds > 0.0 {
        let kib_hz = measured.received_bytes as f64 / 1024.0 / seconds;
        line(text, "Transfer rate", &format!("{kib_hz:.2} [Kbytes/sec] received"));
    }
    text.push('\n');
}

/// Failures by the four causes that `ab` knows: connect, receive, length, exceptions.
fn failures(measured: &PhaseSummary) -> [u64; 4] {
    let mut counts = [0, 0, 0, measured.counts.timed_out];
    for (class, count) in &measured.failures {
        counts[cause(*class)] += count;
    }
    counts
}

/// Which of `ab`'s causes a class belongs to.
fn cause(class: FailureClass) -> usize {
    match class {
        FailureClass::ConnectRefused
        | FailureClass::ConnectTimeout
        | FailureClass::ConnectReset
        | FailureClass::ConnectUnreachable
        | FailureClass::LocalFdLimit
        | FailureClass::LocalPorts
        | FailureClass::LocalBuffers
        | FailureClass::LocalOther => 0,
        FailureClass::HeadTimeout
        | FailureClass::BodyTimeout
        | FailureClass::EofBeforeHead
        | FailureClass::Reset
        | FailureClass::BodyTruncated
        | FailureClass::Desync => 1,
        FailureClass::WrongLength | FailureClass::WrongBody => 2,
        _ => 3,
    }
}

fn times(text: &mut String, latency: &LatencySet) {
    text.push_str("Connection Times (ms)\n              min  mean[+/-sd] median   max\n");
    let rows = [
        ("Connect:", LatencyKind::Connect),
        ("Processing:", LatencyKind::Service),
        ("Waiting:", LatencyKind::FirstByte),
        ("Total:", super::felt(latency)),
    ];
    for (label, kind) in rows {
        let histogram = latency.get(kind).as_hdr();
        if histogram.is_empty() {
            if kind == LatencyKind::Connect {
                let _ = writeln!(text, "{label:<11}{:>6} {:>4} {:>5} {:>6} {:>7}", 0, 0, "0.0", 0, 0);
            }
            continue;
        }
        let _ = writeln!(
            text,
            "{label:<11}{:>6} {:>4.0} {:>5.1} {:>6} {:>7}",
            milliseconds(histogram.min()),
            histogram.mean() / NS_PER_MS,
            histogram.stdev() / NS_PER_MS,
            milliseconds(histogram.value_at_quantile(0.5).min(histogram.max())),
            milliseconds(histogram.max()),
        );
    }
    text.push('\n');
}

fn percentages(text: &mut String, latency: &LatencySet) {
    let kind = super::felt(latency);
    let histogram = latency.get(kind);
    let Some(max_ns) = histogram.max() else { return };
    text.push_str("Percentage of the requests served within a certain time (ms)\n");
    for percent in PERCENTAGES {
        let value_ns = latency.quantile(kind, f64::from(percent) / 100.0);
        let value = value_ns.map_or_else(|| "-".to_owned(), |value_ns| milliseconds(value_ns).to_string());
        let _ = writeln!(text, "{percent:>4}%  {value:>5}");
    }
    let _ = writeln!(text, " 100%  {:>5} (longest request)", milliseconds(max_ns));
    text.push('\n');
}

/// Whole milliseconds, rounded as `ab` does.
fn milliseconds(value_ns: u64) -> u64 {
    (value_ns + 500_000) / 1_000_000
}

fn notes(text: &mut String, latency: &LatencySet) {
    let felt = match super::felt(latency) {
        LatencyKind::Response => "response times, from the intended send to the last byte",
        _ => "service times, from the send to the last byte; ab adds the connect time",
    };
    if latency.get(LatencyKind::Connect).is_empty() {
        text.push_str("# no connection was opened during the measurement: Connect is 0, as with ab -k\n");
    }
    for note in [
        "an unexpected status counts as a failure here; ab counts it as complete",
        "a timed-out request counts as failed (exceptions); a complete request had a full response",
        "the test time is that during which requests were started; the mean time per request is measured, \
         while ab computes it",
        "connect times are per connection, not per request; HTML transferred is not recorded",
        "a percentile with fewer than ten requests beyond it is printed as -",
    ] {
        let _ = writeln!(text, "# {note}");
    }
    let _ = writeln!(text, "# total times are {felt}");
}
