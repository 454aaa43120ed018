//! A tier that gives up waiting for the next one before that answers, and mostly sends its request again.
//!
//! The other end does not know that nobody waits any more and works on all the same. Where whoever gave up repeats the request, the
//! other end gets several for one, and an overload that began with a short pause stays for good (a retry storm). An answer that was
//! sent in time and never came is something else ([`super::lost_answers`]).

use super::edges::{Edge, GIVEN_UP, edges, failing_ns};
use super::effect::{EVENTS, Slow};
use super::lost_answers::LATE;
use super::{Case, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_in};
use crate::format::{counted, duration, percent, whole};
use crate::path::{called, path_of, scope_of};
use crate::readings::{Window, ratio};
use crate::threshold::{HOUSE, Threshold};
use sysdyno_record::analysis::EvidenceRole;
use sysdyno_record::column;

const REPEATED: Threshold = Threshold::new(
    "requests to the next tier for each that came, from which on some may be repeats",
    1.5,
    "ratio",
    HOUSE,
);

/// F20.
pub(super) const RULE: Rule = Rule {
    id: "F20",
    name: "gives-up",
    meaning: "A tier gives up waiting for the next one before it answers, and fails or asks again.",
    thresholds: &[GIVEN_UP, REPEATED, LATE, EVENTS],
    place: Place::Server,
    needs: &[column::ASKED_ANSWERED, column::REQUESTS_ANSWERED],
    remedy: "find out what the requests wait for there; until then, repeat fewer of them, after pauses that grow and differ, and none \
             while most fail (a circuit breaker), or wait longer",
    counterfactual: "with a longer timeout and no repeats as many requests would fail",
    examine: Examination::By(examine),
};

fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let view = &scene.focus;
    let window = view.server_whole();
    let path = path_of(view);
    let all = edges(&path, &window);
    let unanswered = |edge: &Edge| (edge.sent - edge.came).max(0.0);
    let worst = all.iter().max_by(|one, other| unanswered(one).total_cmp(&unanswered(other)))?;
    let given_up = unanswered(worst);
    let (from, to) = (called(&path, worst.from), called(&path, worst.to));
    let part = format!("{} of {} to {to}", whole(given_up), counted(worst.sent, "request"));
    let text = format!("{from} gave up waiting for {part}");
    let seen = |role| {
        let seen = evidence(role, &window, "sock_send_length, sock_recv_length", text.clone());
        seen_in(column::ASKED_ANSWERED.at(worst.scope), seen)
    };
    if given_up < EVENTS.value || given_up < GIVEN_UP.value * worst.sent {
        return excluded("No tier gives up on the next one", vec![seen(EvidenceRole::Against)]);
    }
    // Those that the other end had for a moment only were lost on the way.
    if worst.there_ns <= LATE.value * given_up * failing_ns(view)? {
        return None;
    }
    let each_ns = ratio(worst.there_ns, worst.read)?;
    let there = format!("{to} had each request for {}", duration(each_ns));
    let there = evidence(EvidenceRole::Confirmer, &window, "sk_data_ready, sock_send_length", there);
    let found = vec![
        seen(EvidenceRole::Mechanism),
        seen_in(column::REQUESTS_ANSWERED.at(&scope_of(worst.to)), there),
    ];
    let slow = Slow::Delayed { count: given_up, most_ns: f64::INFINITY };
    let failures = Reach::given_up(view, 1.0, given_up).failures.min(given_up);
    let share = percent(given_up / worst.sent);
    let title = format!(
        "{to} answers too late for {from}, which gives up on {share} of its requests{}",
        repeats(worst, &window)
    );
    Some(Case::new(title, found, Reach { failures, slow, events: Some(given_up) }))
}

/// How often each request is sent, where that is more than once.
fn repeats(edge: &Edge, window: &Window) -> String {
    let came = window.growth(column::REQUESTS_READ, &scope_of(edge.from));
    let each = came.and_then(|came| ratio(edge.sent, came.amount)).filter(|each| *each >= REPEATED.value);
    each.map_or(String::new(), |each| format!(" and sends {each:.1} for each that it gets"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{conclude, slow};
    use crate::corpus::{Specimen, TARGET, with_tier};
    use sysdyno_record::analysis::{Confidence, Finding};
    use sysdyno_record::load::FailureClass;

    const BACK: &str = "10.1.2.3:7000";

    /// nginx sends five thousand requests a second to node for two thousand of its own; node has each for so long, and so many are
    /// answered in time.
    fn find(there_ns: f64, came_hz: f64) -> Option<Finding> {
        let (at, asked) = (format!("tier:{BACK}"), format!("tier:target>{BACK}"));
        let case = with_tier(slow(), "node", BACK, 1, TARGET).fail(FailureClass::Status, 18_000);
        let count =
            |case: Specimen, (name, scope, value): (&str, &str, f64)| case.counter(name, scope, value);
        let counters = [
            ("asked.sent_count", asked.as_str(), 5_000.0),
            ("asked.answered_count", &asked, came_hz),
            ("asked.merged_count", &asked, 0.0),
            ("requests.read_count", "tier:target", 2_000.0),
            ("requests.read_count", &at, 5_000.0),
            ("requests.answered_count", &at, 5_000.0),
            ("requests.merged_count", &at, 0.0),
            ("requests.unread_ns", &at, 0.0),
            ("requests.inside_ns", &at, 5_000.0 * there_ns),
        ];
        let case = counters.into_iter().fold(case, count).build();
        conclude(case).into_iter().find(|finding| finding.id == "F20")
    }

    #[test]
    fn requests_that_the_next_tier_has_for_longer_than_the_first_waits_are_given_up() {
        let finding = find(1e9, 1_000.0).expect("a finding");
        assert!(finding.confidence >= Confidence::Likely, "{finding:?}");
        assert!(
            finding.title.starts_with("node answers too late for nginx, which gives up on 80%"),
            "{finding:?}"
        );
        assert!(finding.title.ends_with(" and sends 2.5 for each that it gets"), "{finding:?}");
        assert!(find(1e4, 1_000.0).is_none(), "they are lost on the way");
        let few = find(1e9, 4_990.0).expect("a finding");
        assert_eq!(few.confidence, Confidence::Excluded, "they are on their way");
    }
}
