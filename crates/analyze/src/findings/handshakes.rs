//! TLS handshakes that saturate the CPUs: each new connection costs as much as many requests.
//!
//! On full CPUs handshakes and requests wait alike, and their medians become the same. The fastest of each waited least: without the
//! round trip, what they took is nearly the work itself.

use super::{Case, ENGINE, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_in};
use crate::format::{cpus, duration, percent, rate};
use crate::path::{FAST_RATIO, round_trip_ns};
use crate::readings::ratio;
use crate::threshold::{HOUSE, Threshold};
use crate::verdict::is_server_saturated;
use sysdyno_record::analysis::EvidenceRole;
use sysdyno_record::column;
use sysdyno_record::event::ProcessRole;
use sysdyno_record::load::LatencyKind;

const EACH: Threshold = Threshold::new("full TLS handshakes ÷ requests", 0.2, "ratio", HOUSE);
const LONGER: Threshold = Threshold::new(
    "time of handshakes ÷ service time, of the medians or the fastest 1%, to be most of the work",
    2.0,
    "ratio",
    HOUSE,
);

/// A06.
pub(super) const HANDSHAKES: Rule = Rule {
    id: "A06",
    name: "tls-handshakes",
    meaning: "The server's CPUs are full, and much of their work is full TLS handshakes.",
    thresholds: &[EACH, LONGER],
    place: Place::Server,
    needs: &[column::CPU_IDLE],
    remedy: "keep connections alive, resume sessions (tickets, a session cache shared by all workers), and use an ECDSA \
             certificate instead of RSA",
    counterfactual: "with resumed sessions the capacity would be the same",
    examine: Examination::By(examine),
};

fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let view = &scene.focus;
    let window = view.server_steady();
    let machine = window.machine()?;
    let full = view.measured().handshakes.map_or(0.0, |handshakes| handshakes.full as f64);
    let each = ratio(full, view.counts().sent as f64)?;
    let text = match full {
        0.0 => "no connection needed a full TLS handshake".to_owned(),
        _ => format!("{} full TLS handshakes for each 100 requests", rate(100.0 * each)),
    };
    let column = column::CPU_IDLE.at(&window.cpus().first()?.scope);
    if each < EACH.value {
        let against = evidence(EvidenceRole::Against, &view.steady(), ENGINE, text);
        return excluded("TLS handshakes are not the bottleneck", vec![against]);
    }
    let busy = format!("the CPUs were {} busy", percent(machine.busy_ratio));
    if is_server_saturated(view) != Some(true) {
        let against = seen_in(column, evidence(EvidenceRole::Against, &window, "/proc/stat", busy));
        return excluded("TLS handshakes are not the bottleneck", vec![against]);
    }
    let mut found = vec![evidence(EvidenceRole::Mechanism, &view.steady(), ENGINE, text.clone())];
    found.push(seen_in(column, evidence(EvidenceRole::Mechanism, &window, "/proc/stat", busy)));
    let median = |kind| view.summary(kind).p50.map(|ns| ns as f64);
    let medians = median(LatencyKind::Handshake).zip(median(LatencyKind::Service));
    let trip_ns = round_trip_ns(view).unwrap_or(0.0);
    let fast = |kind| Some((view.latency.get(kind).quantile(FAST_RATIO)? as f64 - trip_ns).max(1.0));
    let fastest = fast(LatencyKind::Handshake).zip(fast(LatencyKind::Service));
    let is_longer = |(handshake, service): &(f64, f64)| *handshake >= LONGER.value * service;
    let texts = [
        ("the median handshake took", medians),
        ("beside a round trip, the fastest 1% of handshakes took", fastest),
    ];
    let longer = texts.into_iter().find_map(|(text, times)| Some((text, times.filter(is_longer)?)));
    let times = longer.map(|(_, times)| times).or(medians);
    found.extend(longer.map(|(text, (handshake, service))| {
        let text = format!("{text} {}, of responses {}", duration(handshake), duration(service));
        evidence(EvidenceRole::Confirmer, &view.steady(), ENGINE, text)
    }));
    let used = window.process_cpus(&view.processes(ProcessRole::Target));
    let used = used.map_or(String::new(), |used| format!("; the server used {} CPUs", cpus(used)));
    let title = format!("TLS handshakes take much of the CPU: {text}{used}");
    // Of a request and its part of a handshake, the part of the time that is the handshake's.
    let part = times.and_then(|(handshake, service)| ratio(each * handshake, each * handshake + service));
    Some(Case::new(title, found, Reach::used_up(view, part.unwrap_or(0.0))))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{conclude, slow};
    use crate::corpus::{Specimen, spread};
    use sysdyno_record::analysis::Confidence;
    use sysdyno_record::load::LatencyKind;
    use sysdyno_record::wire::HandshakeCounts;

    fn secured(full: u64, handshake_ns: f64) -> Specimen {
        slow().cpu(0.8, 0.1, 0.05).server(1.6).edit(|case| {
            case.end.summary.measured.handshakes = Some(HandshakeCounts { full, resumed: 0 });
            case.fill(LatencyKind::Handshake, spread(full, handshake_ns));
        })
    }

    fn confidence(case: Specimen) -> Option<Confidence> {
        conclude(case).into_iter().find(|finding| finding.id == "A06").map(|finding| finding.confidence)
    }

    #[test]
    fn handshakes_are_the_work_if_they_are_many_and_long_and_the_cpus_are_full() {
        assert!(confidence(secured(20_000, 5e6)) >= Some(Confidence::Likely));
        assert_eq!(confidence(secured(20_000, 0.5e6)), Some(Confidence::Possible), "they are short");
        assert_eq!(confidence(secured(200, 5e6)), Some(Confidence::Excluded), "they are few");
        let idle = secured(20_000, 5e6).cpu(0.2, 0.1, 0.0).server(0.5);
        assert_eq!(confidence(idle), Some(Confidence::Excluded), "the CPUs are idle");
        assert_eq!(confidence(slow()), Some(Confidence::Excluded), "without TLS there are none");
    }
}
