//! Responses that take 40 ms because the server waits for an acknowledgement that the client delays.
//!
//! Nagle's algorithm (RFC 896) keeps a second small segment back until the first is acknowledged; the client's kernel delays that by
//! 40 ms at least (`TCP_DELACK_MIN`, `include/net/tcp.h`), hoping to send it with data of its own.

use super::effect::Slow;
use super::{Case, ENGINE, Reach, Scene, evidence, excluded, seen_in};
use crate::format::percent;
use crate::readings::ratio;
use crate::threshold::{HOUSE, Threshold};
use sysdyno_record::analysis::EvidenceRole;
use sysdyno_record::column::{self, NETNS};
use sysdyno_record::load::LatencyKind;

/// The responses' share between 38 and 50 ms.
pub(super) const IN_MODE: Threshold =
    Threshold::new("share of responses that took 38 to 50 ms", 0.2, "ratio", HOUSE);
/// The delayed acknowledgements.
pub(super) const PER_RESPONSE: Threshold =
    Threshold::new("delayed acknowledgements ÷ responses that took 38 to 50 ms", 0.5, "ratio", HOUSE);
/// Least and most of a response that waited once. Unit: nanoseconds.
const MODE_NS: [u64; 2] = [38_000_000, 50_000_000];

/// T11.
pub(super) fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let view = &scene.focus;
    // The client delays it: that is the generator's host.
    let window = view.whole();
    let acks = window.occurrences(column::DELAYED_ACKS, NETNS)?;
    let histogram = view.latency.get(LatencyKind::Service);
    let all = histogram.count() as f64;
    let slow = histogram.as_hdr().count_between(MODE_NS[0], MODE_NS[1]) as f64;
    let share = ratio(slow, all)?;
    let text = format!("{} of the responses took 38 to 50 ms", percent(share));
    let seen = |role| evidence(role, &view.steady(), ENGINE, text.clone());
    if share < IN_MODE.value {
        return excluded(
            "No response waited for a delayed acknowledgement",
            vec![seen(EvidenceRole::Against)],
        );
    }
    let mut found = vec![seen(EvidenceRole::Mechanism)];
    let text = format!("{} acknowledgements were delayed per 100 such responses", percent_number(acks, slow));
    let role = match ratio(acks, slow) {
        Some(part) if part >= PER_RESPONSE.value => EvidenceRole::Confirmer,
        _ => EvidenceRole::Against,
    };
    let source = "/proc/PID/net/netstat TcpExt DelayedACKs";
    found.push(seen_in(column::DELAYED_ACKS.at(NETNS), evidence(role, &window, source, text)));
    let reach = Reach { slow: Slow::Share(share), ..Reach::default() };
    let title = format!("Responses wait 40 ms for a delayed acknowledgement: {}", percent(share));
    Some(Case::new(format!("{title} of them"), found, reach))
}

fn percent_number(part: f64, whole: f64) -> String {
    crate::format::whole(ratio(part, whole).unwrap_or(0.0) * 100.0)
}

#[cfg(test)]
mod tests {
    use super::super::tests::conclude;
    use crate::corpus::Specimen;
    use sysdyno_record::analysis::Confidence;
    use sysdyno_record::column::NETNS;
    use sysdyno_record::load::LatencyKind;
    use sysdyno_stats::histogram::LatencyHistogram;

    fn with(response_ns: u64, acks_hz: f64) -> Specimen {
        let mut histogram = LatencyHistogram::new();
        (0..20_000).for_each(|_| histogram.record(response_ns));
        let case = Specimen::closed(8, 2_000.0, 10.0).edit(|case| case.fill(LatencyKind::Service, histogram));
        case.counter("TcpExt.DelayedACKs", NETNS, acks_hz)
    }

    fn confidence(case: Specimen) -> Option<Confidence> {
        conclude(case).into_iter().find(|finding| finding.id == "T11").map(|finding| finding.confidence)
    }

    #[test]
    fn forty_milliseconds_and_as_many_delayed_acknowledgements() {
        assert!(confidence(with(41_000_000, 2_000.0)) >= Some(Confidence::Likely));
        assert_eq!(
            confidence(with(41_000_000, 20.0)),
            Some(Confidence::Possible),
            "it takes 40 ms for another reason"
        );
        assert_eq!(confidence(with(4_000_000, 2_000.0)), Some(Confidence::Excluded));
        assert_eq!(confidence(with(200_000_000, 2_000.0)), Some(Confidence::Excluded));
    }
}
