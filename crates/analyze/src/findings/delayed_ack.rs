//! Responses that take 40 ms because the server waits for an acknowledgement that the client delays.
//!
//! Nagle's algorithm (RFC 896) keeps a second small segment back until the first is acknowledged; the client's kernel delays that by
//! 40 ms at least (`TCP_DELACK_MIN`, `include/net/tcp.h`), hoping to send it with data of its own.

use super::effect::Slow;
use super::{Case, ENGINE, Reach, Scene, evidence, excluded, seen_in};
use crate::format::{duration, name, percent};
use crate::path::path_of;
use crate::readings::ratio;
use crate::threshold::{HOUSE, Threshold};
use crate::view::TrialView;
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::column::{self, NETNS};
use sysdyno_record::load::LatencyKind;

/// The responses' share between 38 and 50 ms.
pub(super) const IN_MODE: Threshold =
    Threshold::new("share of responses that took 38 to 50 ms", 0.2, "ratio", HOUSE);
/// The delayed acknowledgements.
pub(super) const PER_RESPONSE: Threshold =
    Threshold::new("delayed acknowledgements ÷ responses that took 38 to 50 ms", 0.5, "ratio", HOUSE);
/// What speaks against it.
pub(super) const ELSEWHERE: Threshold = Threshold::new(
    "share of a request's time that passes inside a tier, or at an address that one asks",
    0.5,
    "ratio",
    HOUSE,
);
/// Least and most of a response that waited once. Unit: nanoseconds.
const MODE_NS: [u64; 2] = [38_000_000, 50_000_000];
/// A connection takes less to establish if the way is not what takes the time. Unit: nanoseconds.
const NEAR_NS: f64 = 10e6;

/// T11.
pub(super) fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let view = &scene.focus;
    // The client delays it, or a proxy that is the client of the next tier.
    let windows = [view.whole(), view.server_whole()];
    let delayed =
        windows.iter().filter_map(|window| Some((window.occurrences(column::DELAYED_ACKS, NETNS)?, window)));
    let (acks, window) = delayed.max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    let all = view.latency.get(LatencyKind::Service).count() as f64;
    let mode = in_mode(view)?;
    let late = if mode.share < IN_MODE.value { kept_back(view) } else { None };
    if late.is_none() && mode.share < IN_MODE.value {
        let against = evidence(EvidenceRole::Against, &view.steady(), ENGINE, mode.text);
        return excluded("No response waited for a delayed acknowledgement", vec![against]);
    }
    let late = late.unwrap_or(mode);
    let mut found = vec![evidence(EvidenceRole::Mechanism, &view.steady(), late.source, late.text)];
    let late_count = late.part * all;
    let text =
        format!("{} acknowledgements were delayed per 100 such responses", percent_number(acks, late_count));
    let is_enough = ratio(acks, late_count).is_some_and(|part| part >= PER_RESPONSE.value);
    let source = "/proc/PID/net/netstat TcpExt DelayedACKs";
    let delayed =
        |role| seen_in(column::DELAYED_ACKS.at(NETNS), evidence(role, window, source, text.clone()));
    if !is_enough {
        let against = vec![delayed(EvidenceRole::Against)];
        return excluded("No response waited for a delayed acknowledgement", against);
    }
    found.push(delayed(EvidenceRole::Confirmer));
    found.extend(passed_elsewhere(scene));
    let reach = Reach { slow: Slow::Share(late.share), ..Reach::default() };
    let title = format!("Responses wait 40 ms for a delayed acknowledgement: {}", percent(late.part));
    Some(Case::new(format!("{title} of them"), found, reach))
}

/// Responses that may have waited for an acknowledgement.
struct Late {
    /// Of all responses.
    part: f64,
    /// Of their time, in which they waited.
    share: f64,
    text: String,
    source: &'static str,
}

/// Responses that took hardly more than that.
fn in_mode(view: &TrialView) -> Option<Late> {
    let histogram = view.latency.get(LatencyKind::Service);
    let slow = histogram.as_hdr().count_between(MODE_NS[0], MODE_NS[1]) as f64;
    let share = ratio(slow, histogram.count() as f64)?;
    let text = format!("{} of the responses took 38 to 50 ms", percent(share));
    Some(Late { part: share, share, text, source: ENGINE })
}

/// Responses that took longer, of which so much passed after the server had written them, on a way that is short.
fn kept_back(view: &TrialView) -> Option<Late> {
    let path = path_of(view);
    let tier = path.first().filter(|tier| tier.address.is_none())?;
    let mean_ns = view.summary(LatencyKind::Service).mean?;
    let share = tier.requests.as_ref()?.elsewhere_ratio?;
    let is_near = view.summary(LatencyKind::Connect).mean.is_some_and(|connect_ns| connect_ns < NEAR_NS);
    let is_in_mode = (MODE_NS[0] as f64..=MODE_NS[1] as f64).contains(&(share * mean_ns));
    let text = format!(
        "{} of a request's {} pass after {} has written the response",
        duration(share * mean_ns),
        duration(mean_ns),
        name(&tier.name)
    );
    let source = "sk_data_ready, sock_send_length";
    (is_near && is_in_mode).then_some(Late { part: 1.0, share, text, source })
}

/// That most of a request's time passes where no acknowledgement is waited for: inside a tier, or at an address that one asks.
///
/// A response that is kept back has been written: its time is in no tier.
fn passed_elsewhere(scene: &Scene) -> Option<Evidence> {
    let view = &scene.focus;
    let path = path_of(view);
    let mean_ns = view.request_mean_ns()?;
    let inside = path.iter().filter_map(|tier| Some((tier, tier.requests.as_ref()?.own_ns?)));
    let asked = path.iter().filter_map(|tier| tier.requests.as_ref()).flat_map(|requests| &requests.asked);
    let outside = asked.filter_map(|asked| {
        let tier = path.get(asked.on).filter(|tier| tier.is_outside)?;
        Some((tier, asked.waiting_ns))
    });
    // Of a request that comes in pieces, it is the rest that waits.
    let partial = path.iter().filter_map(|tier| Some((tier, tier.requests.as_ref()?.partial_ns?)));
    let (tier, most_ns) =
        inside.chain(outside).chain(partial).max_by(|one, other| one.1.total_cmp(&other.1))?;
    let text = format!(
        "{} of a request's {} pass at {}",
        duration(most_ns.min(mean_ns)),
        duration(mean_ns),
        name(&tier.name)
    );
    let source = "sock_recv_length, sock_send_length";
    (ratio(most_ns, mean_ns)? >= ELSEWHERE.value)
        .then(|| evidence(EvidenceRole::Against, &view.server_steady(), source, text))
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
            Some(Confidence::Excluded),
            "it takes 40 ms for another reason"
        );
        let inside = with(41_000_000, 2_000.0).requests("tier:target", [0.0, 38e6]);
        assert_eq!(confidence(inside), Some(Confidence::Possible), "the server had not answered yet");
        let in_pieces = with(41_000_000, 2_000.0).requests("tier:target", [0.0, 40e6]);
        let in_pieces = in_pieces.per_request("tier:target", &[("requests.partial_ns", 38e6)]);
        assert_eq!(confidence(in_pieces), Some(Confidence::Possible), "it is the request that waits");
        let kept_back = |connect_ns: u64| {
            let mut connects = LatencyHistogram::new();
            connects.record(connect_ns);
            let case = with(61_000_000, 2_000.0).edit(|case| case.fill(LatencyKind::Connect, connects));
            case.requests("tier:target", [0.0, 20e6])
        };
        assert_eq!(
            confidence(kept_back(100_000)),
            Some(Confidence::Likely),
            "on top of the server's own time"
        );
        assert_eq!(confidence(kept_back(41_000_000)), Some(Confidence::Excluded), "the way is long");
        assert_eq!(confidence(with(4_000_000, 2_000.0)), Some(Confidence::Excluded));
        assert_eq!(confidence(with(200_000_000, 2_000.0)), Some(Confidence::Excluded));
    }
}
