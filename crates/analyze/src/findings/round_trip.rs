//! The way to the server and back: distance, or whatever delays packets on the way, which no server makes up for.
//!
//! The trial in which connects were fastest says how long a round trip takes ([`round_trip_ns`]). A request on a kept
//! connection needs one; one for which a connection is opened needs one more, and one more for a TLS handshake.

use super::effect::{Slow, slower_than};
use super::waits::cpus_left;
use super::{Case, ENGINE, Examination, Place, Reach, Rule, Scene, evidence, excluded};
use crate::format::{duration, percent};
use crate::path::{CONNECTS, FAST_RATIO, REPEATED, path_of, round_trip_ns};
use crate::readings::ratio;
use crate::threshold::{HOUSE, Threshold};
use crate::view::TrialView;
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::plan::Objective;

const TRIP: Threshold =
    Threshold::new("a round trip that is more than a local network takes", 1.0, "ms", HOUSE);
const SHARE: Threshold =
    Threshold::new("round trips ÷ what a slow request took, to be what it waited for", 0.5, "ratio", HOUSE);
const ELSEWHERE: Threshold = Threshold::new(
    "share of a request's time that was not spent at the server, to confirm that it was on the way",
    0.5,
    "ratio",
    HOUSE,
);
const FASTEST: Threshold = Threshold::new(
    "fastest responses ÷ the round trips that they need, for the server to answer at once",
    1.5,
    "ratio",
    HOUSE,
);

/// N22.
pub(super) const RULE: Rule = Rule {
    id: "N22",
    name: "round-trip",
    meaning: "Packets are on the way to the server and back for most of the time that a request takes.",
    thresholds: &[TRIP, SHARE, CONNECTS, REPEATED, ELSEWHERE, FASTEST],
    place: Place::Elsewhere,
    needs: &[],
    remedy: "bring clients and server nearer (another region, a CDN), or need fewer round trips: keep connections alive, \
             HTTP/2, TLS 1.3; more connections raise the rate of a closed loop",
    counterfactual: "the same requests sent on the server's own host would take as long",
    examine: Examination::By(examine),
};

/// So many round trips are said to be one.
const ONE_TRIP: f64 = 1.05;

fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let view = &scene.focus;
    let trip_ns = scene.trials.iter().chain([view]).filter_map(round_trip_ns).min_by(f64::total_cmp)?;
    let slow_ns = slow_ns(scene)?;
    let trips = trips(view);
    let share = ratio(trips * trip_ns, slow_ns)?.min(1.0);
    let (trip, slow) = (duration(trip_ns), duration(slow_ns));
    let text = match trips < ONE_TRIP {
        true => format!("a round trip takes {trip} of a request's {slow}"),
        false => {
            let all = duration(trips * trip_ns);
            format!(
                "{trips:.1} round trips of {trip} each, {all} together, are the least for a request, which takes {slow}"
            )
        }
    };
    let window = view.steady();
    let seen = |role| evidence(role, &window, ENGINE, text.clone());
    if trip_ns < TRIP.value * 1e6 || share < SHARE.value {
        return excluded(
            "The way to the server is not what requests wait for",
            vec![seen(EvidenceRole::Against)],
        );
    }
    let mut found = vec![seen(EvidenceRole::Mechanism)];
    found.push(where_spent(view).unwrap_or_else(|| fastest(view, trips * trip_ns)));
    found.extend(cpus_left(scene, &view.server_steady()).filter(|seen| seen.role == EvidenceRole::Against));
    let title = format!("The way to the server is long: {text}");
    Some(Case::new(title, found, Reach { slow: Slow::Share(share), ..Reach::default() }))
}

/// How many round trips a request needs at least, on average.
fn trips(view: &TrialView) -> f64 {
    let measured = view.measured();
    let each = |count: u64| ratio(count as f64, measured.counts.sent as f64).unwrap_or(0.0).min(1.0);
    let handshakes = measured.handshakes.map_or(0, |made| made.full + made.resumed);
    // A closed loop does not count the connect in its times.
    let opened = if view.is_open() { each(measured.connections_opened) + each(handshakes) } else { 0.0 };
    1.0 + opened
}

/// What a slow request took: the median of those that miss the objective, or of all, if none does. Unit: nanoseconds.
fn slow_ns(scene: &Scene) -> Option<f64> {
    let view = &scene.focus;
    let times = view.latency.get(view.felt_kind());
    let limit = scene.objective.map_or(Objective::default().limit.0, |objective| objective.limit.0);
    let slow = ratio(slower_than(view, limit as f64), times.count() as f64)?;
    let middle = if slow > 0.0 && view.is_open() { 1.0 - slow / 2.0 } else { 0.5 };
    times.quantile(middle).map(|ns| ns as f64)
}

/// Where the kernel of the server's host saw that the time was spent; `None`: it was not looked at.
fn where_spent(view: &TrialView) -> Option<Evidence> {
    let path = path_of(view);
    let share = path.first().filter(|tier| tier.address.is_none())?.requests.as_ref()?.elsewhere_ratio?;
    let role = if share >= ELSEWHERE.value { EvidenceRole::Confirmer } else { EvidenceRole::Against };
    let text = format!("{} of a request's time was not spent at the server", percent(share.max(0.0)));
    Some(evidence(role, &view.server_steady(), "sock_recv_length, sock_send_length", text))
}

/// Whether the fastest responses come as soon as they can.
fn fastest(view: &TrialView, least_ns: f64) -> Evidence {
    let fast_ns = view.latency.get(view.felt_kind()).quantile(FAST_RATIO).unwrap_or(0) as f64;
    let is_at_once = fast_ns <= FASTEST.value * least_ns;
    let role = if is_at_once { EvidenceRole::Confirmer } else { EvidenceRole::Against };
    let text = format!("the fastest responses took {}", duration(fast_ns));
    evidence(role, &view.steady(), ENGINE, text)
}

#[cfg(test)]
mod tests {
    use super::super::tests::conclude;
    use crate::corpus::{Specimen, summary};
    use sysdyno_record::analysis::{Confidence, Finding};
    use sysdyno_record::load::LatencyKind;
    use sysdyno_stats::histogram::LatencyHistogram;

    /// A latency distribution that is hardly wider than the way.
    fn narrow(count: u64, least_ns: f64) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::new();
        (0..count)
            .for_each(|rank| histogram.record((least_ns * (1.0 + 0.05 * rank as f64 / count as f64)) as u64));
        histogram
    }

    /// A server that is so far away, and whose responses take this long.
    fn far(connect_ns: f64, response_ns: f64) -> Specimen {
        Specimen::open(500.0, 20.0).cpu(0.05, 0.05, 0.01).server(0.1).edit(|case| {
            case.fill(LatencyKind::Response, narrow(10_000, response_ns));
            case.fill(LatencyKind::Service, narrow(10_000, response_ns));
            let connects = summary(&narrow(64, connect_ns));
            case.end.summary.phases[0].latency.insert(LatencyKind::Connect, connects);
        })
    }

    fn find(case: Specimen) -> Option<Finding> {
        conclude(case).into_iter().find(|finding| finding.id == "N22")
    }

    #[test]
    fn a_server_that_is_far_away_is_told_from_one_that_is_slow() {
        let finding = find(far(120e6, 125e6)).expect("a finding");
        assert!(finding.confidence >= Confidence::Likely, "{finding:?}");
        assert!(
            finding.title.starts_with("The way to the server is long: a round trip takes 1"),
            "{}",
            finding.title
        );
        let slow = find(far(20e6, 125e6)).expect("a finding");
        assert_eq!(slow.confidence, Confidence::Excluded, "{slow:?}");
        let near = find(far(80e3, 125e6)).expect("a finding");
        assert_eq!(near.title, "The way to the server is not what requests wait for");
        let repeated = find(far(1_010e6, 1_200e6));
        assert!(repeated.is_none(), "packets were repeated: {repeated:?}");
    }

    #[test]
    fn a_host_without_idle_cpus_may_have_delayed_the_connects() {
        let busy = far(120e6, 125e6).cpu(0.9, 0.08, 0.01).server(1.9);
        let finding = find(busy).expect("a finding");
        assert_eq!(finding.confidence, Confidence::Possible, "{finding:?}");
    }
}
