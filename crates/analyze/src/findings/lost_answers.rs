//! Answers that one tier has sent and the tier that asked never got: they are lost on the way.
//!
//! Both ends are seen by the kernel. Who waits for a tier that does not answer sees the same as who waits for an answer that was
//! lost; only the other end tells them apart. An answer that came too late, to a tier that had given up, is not lost: the other end
//! then had the request for as long as that waited.

use super::edges::{Edge, edges, failing_ns};
use super::effect::{EVENTS, Slow};
use super::{Case, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_in};
use crate::format::{counted, whole};
use crate::path::{called, path_of, scope_of};
use crate::threshold::{HOUSE, Threshold};
use sysdyno_record::analysis::EvidenceRole;
use sysdyno_record::column;

const LOST: Threshold =
    Threshold::new("answers that never came ÷ requests sent to the next tier", 0.01, "ratio", HOUSE);

pub(super) const LATE: Threshold = Threshold::new(
    "time that the other end had requests ÷ time that as many failures took as answers are missing, at most",
    0.25,
    "ratio",
    HOUSE,
);

/// N27.
pub(super) const RULE: Rule = Rule {
    id: "N27",
    name: "lost-answers",
    meaning: "Answers of one tier of the server never come to the tier that asked for them.",
    thresholds: &[LOST, LATE, EVENTS],
    place: Place::Server,
    needs: &[column::ASKED_ANSWERED, column::REQUESTS_ANSWERED],
    remedy: "look at the network between them: large packets that vanish (ping -M do -s 1472, the MTU of each link; clamp the MSS), a \
             packet filter, lost packets (ss -ti shows who repeats them)",
    counterfactual: "the tier that asked would have read as many answers as the other one sent",
    examine: Examination::By(examine),
};

/// Answers that were sent and never came. Where fewer requests are missing at the end that asked, no more than those.
fn lost(edge: &Edge) -> f64 {
    let unread = (edge.read - edge.answered).max(0.0);
    (edge.answered - edge.came).min(edge.sent - edge.came - unread).max(0.0)
}

fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let view = &scene.focus;
    let window = view.server_whole();
    let path = path_of(view);
    let all = edges(&path, &window);
    let worst = all.iter().max_by(|one, other| lost(one).total_cmp(&lost(other)))?;
    let (from, to) = (called(&path, worst.from), called(&path, worst.to));
    let lost = lost(worst);
    let text = format!(
        "{} of {} to {to} never came to {from}",
        counted(lost, "answer"),
        counted(worst.sent, "request")
    );
    let seen = |role| {
        let seen = evidence(role, &window, "sock_send_length, sock_recv_length", text.clone());
        seen_in(column::ASKED_ANSWERED.at(worst.scope), seen)
    };
    let is_late = worst.there_ns > LATE.value * lost * failing_ns(view)?;
    if lost < EVENTS.value || lost < LOST.value * worst.sent || is_late {
        return excluded("No answers between tiers are lost", vec![seen(EvidenceRole::Against)]);
    }
    let text =
        format!("{to} answered {} of {} that it read", whole(worst.answered), counted(worst.read, "request"));
    let there = evidence(EvidenceRole::Confirmer, &window, "sock_send_length", text.clone());
    let found = vec![
        seen(EvidenceRole::Mechanism),
        seen_in(column::REQUESTS_ANSWERED.at(&scope_of(worst.to)), there),
    ];
    let slow = Slow::Delayed { count: lost, most_ns: f64::INFINITY };
    let reach = Reach { failures: lost, slow, events: Some(lost) };
    let title = format!(
        "Answers of {to} do not arrive: {} of {} never came to {from}, although {text}",
        counted(lost, "answer"),
        counted(worst.sent, "request")
    );
    Some(Case::new(title, found, reach))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{conclude, slow};
    use crate::corpus::{TARGET, with_tier};
    use sysdyno_record::analysis::{Confidence, Finding};

    const BACK: &str = "10.1.2.3:7000";

    /// nginx sends two thousand requests a second to node, which answers so many of them, and so many come back.
    fn find(answered_hz: f64, came_hz: f64) -> Option<Finding> {
        find_after(1e5, answered_hz, came_hz)
    }

    /// The same where node has each for so long.
    fn find_after(inside_ns: f64, answered_hz: f64, came_hz: f64) -> Option<Finding> {
        find_of([2_000.0, 2_000.0 * inside_ns], answered_hz, came_hz)
    }

    /// The same where node reads so many a second, and has them for so long in all.
    fn find_of([read_hz, inside_ns]: [f64; 2], answered_hz: f64, came_hz: f64) -> Option<Finding> {
        let (at, asked) = (format!("tier:{BACK}"), format!("tier:target>{BACK}"));
        let case = with_tier(slow(), "node", BACK, 1, TARGET)
            .counter("asked.sent_count", &asked, 2_000.0)
            .counter("asked.answered_count", &asked, came_hz)
            .counter("asked.merged_count", &asked, 0.0)
            .counter("requests.read_count", &at, read_hz)
            .counter("requests.answered_count", &at, answered_hz)
            .counter("requests.merged_count", &at, 0.0)
            .counter("requests.unread_ns", &at, 0.0)
            .counter("requests.inside_ns", &at, inside_ns);
        conclude(case.build()).into_iter().find(|finding| finding.id == "N27")
    }

    #[test]
    fn answers_that_were_sent_and_never_came_are_lost_on_the_way() {
        let finding = find(2_000.0, 200.0).expect("a finding");
        assert!(finding.confidence >= Confidence::Likely, "{finding:?}");
        assert!(finding.title.starts_with("Answers of node do not arrive: "), "{finding:?}");
        let excluded =
            |found: Option<Finding>| found.is_some_and(|found| found.confidence == Confidence::Excluded);
        assert!(excluded(find(1_600.0, 1_600.0)), "node does not answer");
        assert!(excluded(find(2_000.0, 2_000.0)), "all came");
        assert!(excluded(find_after(1e9, 2_000.0, 200.0)), "they came too late");
        assert!(excluded(find_of([800.0, 1e5], 800.0, 800.0)), "node did not read the others");
    }
}
