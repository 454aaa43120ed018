//! The link between two tiers: a tier waits for an answer for much longer than the next one has the request.
//!
//! Both are seen by the kernel at their own end of the same connections, so the difference passes in neither: on a link with
//! a limited rate, a long way, lost packets, or segments that wait for an acknowledgement (Nagle's algorithm).

use super::backend::MANY;
use super::waits::{WAITED, cpus_left, is_slow};
use super::{Case, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_in};
use crate::format::{duration, name};
use crate::path::{path_of, scope_of};
use crate::readings::{Window, ratio};
use crate::threshold::{HOUSE, Threshold};
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::column::{self, ScopeKind};
use sysdyno_record::path::{PathTier, TierAsked};

const BETWEEN: Threshold =
    Threshold::new("time between two tiers that is more than wake-ups", 1.0, "ms", HOUSE);
const SAME: Threshold = Threshold::new(
    "requests sent by one end ÷ requests read by the other one, at most, and its inverse at least",
    1.5,
    "ratio",
    HOUSE,
);

const LOSING: Threshold = Threshold::new(
    "connections between two tiers that have sent a segment again and wait for its acknowledgement ÷ all of them, for it to lose packets",
    0.1,
    "ratio",
    HOUSE,
);

/// N23.
pub(super) const RULE: Rule = Rule {
    id: "N23",
    name: "tier-link",
    meaning: "Requests spend most of their time on the link between two tiers of the server.",
    thresholds: &[WAITED, BETWEEN, SAME, MANY, LOSING],
    place: Place::Server,
    needs: &[column::ASKED_WAITING_TIME],
    remedy: "check the network between them: a rate limit (tc -s qdisc), packet loss (ss -ti), distance; make fewer calls, keep \
             connections open, and compress or cache large answers",
    counterfactual: "with both tiers on one host the responses would take as long",
    examine: Examination::By(examine),
};

/// A link between two tiers.
struct Link<'a> {
    from: &'a PathTier,
    to: &'a PathTier,
    /// Calls over it for each request of the load.
    times: f64,
    waiting_ns: f64,
    /// In which the next tier had the requests.
    there_ns: f64,
}

impl Link<'_> {
    fn time_ns(&self) -> f64 {
        (self.waiting_ns - self.there_ns).max(0.0)
    }
}

fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let view = &scene.focus;
    let path = path_of(view);
    let mean_ns = view.request_mean_ns()?;
    let links = path.iter().flat_map(|from| {
        let asked = from.requests.iter().flat_map(|requests| &requests.asked);
        asked.filter_map(|asked| link(&path, from, asked))
    });
    let worst = links.max_by(|one, other| one.time_ns().total_cmp(&other.time_ns()))?;
    let window = view.server_steady();
    let share = ratio(worst.time_ns(), mean_ns)?.min(1.0);
    let (from, to) = (name(&worst.from.name), name(&worst.to.called(&path)));
    let part = format!("{} of a request's {}", duration(worst.time_ns().min(mean_ns)), duration(mean_ns));
    let text = format!("{part} pass between {from} and {to}");
    let scope = format!("{}>{}", scope_of(worst.from), worst.to.address.as_deref().unwrap_or_default());
    let asking = |role| {
        let seen = evidence(role, &window, "sock_send_length, sk_data_ready", text.clone());
        seen_in(column::ASKED_WAITING_TIME.at(&scope), seen)
    };
    if share < WAITED.value || worst.time_ns() < BETWEEN.value * 1e6 || !is_slow(scene, mean_ns) {
        return excluded("No link between tiers is the bottleneck", vec![asking(EvidenceRole::Against)]);
    }
    let there = format!("{to} has the request for only {}", duration(worst.there_ns));
    let there = evidence(EvidenceRole::Confirmer, &window, "sk_data_ready, sock_send_length", there);
    let column = column::REQUESTS_INSIDE_TIME.at(&scope_of(worst.to));
    let mut found = vec![asking(EvidenceRole::Mechanism), seen_in(column, there)];
    found.extend(cpus_left(scene, &window).filter(|seen| seen.role == EvidenceRole::Against));
    let title = format!("The link between {from} and {to} is slow: {part} pass on it");
    if let Some((seen, resending)) = losing(&window, worst.to) {
        found.push(seen);
        let title =
            format!("The link between {from} and {to} loses packets: {part} pass on it, and {resending}");
        return Some(Case {
            remedy: Some(LOST.to_owned()),
            ..Case::new(title, found, Reach::used_up(view, share))
        });
    }
    let case = Case::new(title, found, Reach::used_up(view, share));
    if worst.times < MANY.value {
        return Some(case);
    }
    let title = format!("{}, in {:.0} round trips", case.title, worst.times);
    let remedy = format!(
        "batch what {from} asks {to} for: one call instead of {:.0}; otherwise, {}",
        worst.times, RULE.remedy
    );
    Some(Case { title, remedy: Some(remedy), ..case })
}

/// What to change where packets are lost.
const LOST: &str = "find where packets are dropped between them: a limit on the rate that drops instead of queueing (tc -s filter, tc -s qdisc), \
                    a firewall, errors or full queues of an interface (ip -s link)";

/// That connections to a tier send segments again: evidence, and the same in a sentence.
fn losing(window: &Window, to: &PathTier) -> Option<(Evidence, String)> {
    let scope = format!("{}{}", ScopeKind::Listener.prefix(), to.address.as_deref()?);
    let mean = |gauge| window.level(gauge, &scope).map(|level| level.mean);
    let (resending, all) = (mean(column::CONNECTIONS_RESENDING)?, mean(column::CONNECTIONS_ESTABLISHED)?);
    ratio(resending, all).filter(|part| *part >= LOSING.value)?;
    let text = format!("{resending:.1} of its {all:.1} connections were sending a segment again at a time");
    let seen = evidence(EvidenceRole::Confirmer, window, "sock_diag, idiag_retrans", text.clone());
    Some((seen_in(column::CONNECTIONS_RESENDING.at(&scope), seen), text))
}

/// The link to the tier that is asked; `None`: its end was not seen, or not with the same requests.
fn link<'a>(path: &'a [PathTier], from: &'a PathTier, asked: &TierAsked) -> Option<Link<'a>> {
    let to = path.get(asked.on).filter(|tier| !tier.is_outside && tier.address.is_some())?;
    let there = to.requests.as_ref()?;
    let part = ratio(asked.sent_count, there.read_count)?;
    let is_same = (1.0 / SAME.value..=SAME.value).contains(&part);
    let there_ns = (there.unread_ns + there.inside_ns) * part;
    let (times, waiting_ns) = (asked.sent_count, asked.waiting_ns);
    is_same.then_some(Link { from, to, times, waiting_ns, there_ns })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{conclude, slow};
    use crate::corpus::{TARGET, with_tier};
    use sysdyno_record::analysis::{Confidence, Finding};

    const BACK: &str = "10.1.2.3:8080";

    /// nginx waits so long for node, which has a request for so long. Unit: ratio of a request's time.
    fn find(waiting: f64, there: f64, read_count: f64) -> Option<Finding> {
        find_where(waiting, there, read_count, 0.0)
    }

    /// The same while so many of eight connections send a segment again.
    fn find_where(waiting: f64, there: f64, read_count: f64, resending: f64) -> Option<Finding> {
        let case = with_tier(slow(), "node", BACK, 1, TARGET).cpu(0.05, 0.05, 0.01).server(0.05);
        let ns = case.view().request_mean_ns().expect("was filled");
        let asked = [("asked.sent_count", 1.0), ("asked.merged_count", 0.0), ("asked.unread_ns", 0.0)];
        let times = [("asked.waiting_ns", waiting * ns), ("asked.trailing_ns", 0.0)];
        let at = format!("tier:target>{BACK}");
        let case = case.requests("tier:target", [1e4, 0.95 * ns]).per_request(&at, &asked);
        let case = case.per_request(&at, &times);
        let read = [("requests.read_count", read_count), ("requests.merged_count", 0.0)];
        let had = [("requests.unread_ns", 0.0), ("requests.inside_ns", there * ns)];
        let at = format!("tier:{BACK}");
        let listener = format!("listener:{BACK}");
        let case = case.gauge("connections.established_count", &listener, 8.0);
        let case = case.gauge("connections.resending_count", &listener, resending);
        let found = conclude(case.per_request(&at, &read).per_request(&at, &had));
        found.into_iter().find(|finding| finding.id == "N23")
    }

    fn confidence(found: Option<Finding>) -> Option<Confidence> {
        found.map(|finding| finding.confidence)
    }

    #[test]
    fn what_passes_at_neither_end_passes_between_them() {
        let finding = find(0.9, 0.01, 1.0).expect("a finding");
        assert!(finding.confidence >= Confidence::Likely, "{finding:?}");
        assert!(finding.title.starts_with("The link between nginx and node is slow: "), "{finding:?}");
        assert!(finding.title.ends_with(" pass on it"), "{finding:?}");
        let lossy = find_where(0.9, 0.01, 1.0, 3.0).expect("a finding");
        assert!(lossy.title.starts_with("The link between nginx and node loses packets: "), "{lossy:?}");
        assert!(
            lossy.title.ends_with(", and 3.0 of its 8.0 connections were sending a segment again at a time"),
            "{lossy:?}"
        );
        assert_eq!(confidence(find(0.9, 0.8, 1.0)), Some(Confidence::Excluded), "node has them");
        assert_eq!(confidence(find(0.2, 0.01, 1.0)), Some(Confidence::Excluded), "that is not long");
        assert_eq!(confidence(find(0.9, 0.01, 0.2)), None, "node read other requests");
    }
}
