//! Requests that come in pieces: a tier has read a part of one and waits for the rest.
//!
//! A head and a body that are written one after the other are two segments, and Nagle's algorithm (RFC 896) keeps the second one
//! back until the first is acknowledged, which the other end delays by 40 ms at least (`TCP_DELACK_MIN`). A client that says
//! `Expect: 100-continue` (RFC 9110 §10.1.1) sends no body before it is told to, or a second has passed. And a slow way delays
//! what is large.

use super::waits::{WAITED, cpus_left, is_slow};
use super::{Case, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_in};
use crate::format::{duration, name};
use crate::path::{path_of, scope_of};
use crate::readings::ratio;
use crate::threshold::{HOUSE, Threshold};
use crate::view::TrialView;
use std::ops::RangeInclusive;
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::column;
use sysdyno_record::path::PathTier;

const SLOW: Threshold =
    Threshold::new("time until the rest of a request came that is more than wake-ups", 1.0, "ms", HOUSE);

/// N24.
pub(super) const RULE: Rule = Rule {
    id: "N24",
    name: "partial-request",
    meaning: "A tier has read part of a request and waits for the rest for most of the time that the request takes.",
    thresholds: &[WAITED, SLOW],
    place: Place::Server,
    needs: &[column::REQUESTS_PARTIAL_TIME],
    remedy: "write each request in one call, or set TCP_NODELAY; if requests are large, check the link's rate and packet loss",
    counterfactual: "with requests that arrive in one piece, responses would take as long",
    examine: Examination::By(examine),
};

/// One wait for an acknowledgement that is delayed. Unit: nanoseconds.
const DELAYED_NS: RangeInclusive<f64> = 36e6..=50e6;

/// One wait for leave to send a body. Unit: nanoseconds.
const EXPECTED_NS: RangeInclusive<f64> = 950e6..=1_100e6;

fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let view = &scene.focus;
    let path = path_of(view);
    let mean_ns = view.request_mean_ns()?;
    let partial = path.iter().filter_map(|tier| Some((tier, tier.requests.as_ref()?.partial_ns?)));
    let (tier, partial_ns) = partial.max_by(|(_, one), (_, other)| one.total_cmp(other))?;
    let window = view.server_steady();
    let share = ratio(partial_ns, mean_ns)?.min(1.0);
    let who = name(&tier.called(&path));
    let sender = match tier.asked_by.and_then(|asker| path.get(asker)) {
        Some(asker) => name(&asker.called(&path)),
        None => "the client".to_owned(),
    };
    let text = format!(
        "{who} waits {} of a request's {} for {sender} to send the rest of it",
        duration(partial_ns.min(mean_ns)),
        duration(mean_ns)
    );
    let seen = |role| {
        let seen = evidence(role, &window, "sk_data_ready, sock_recv_length", text.clone());
        seen_in(column::REQUESTS_PARTIAL_TIME.at(&scope_of(tier)), seen)
    };
    if share < WAITED.value || partial_ns < SLOW.value * 1e6 || !is_slow(scene, mean_ns) {
        return excluded("No tier waits for the rest of a request", vec![seen(EvidenceRole::Against)]);
    }
    let mut found = vec![seen(EvidenceRole::Mechanism)];
    found.extend(cpus_left(scene, &window));
    let each = each(view, tier);
    found.extend(each.as_ref().map(|(_, seen)| seen.clone()));
    let remedy = each.and_then(|(each_ns, _)| remedy(each_ns, &sender));
    let title = format!("Requests arrive in pieces: {text}");
    Some(Case { remedy, ..Case::new(title, found, Reach::used_up(view, share)) })
}

/// How long the rest of a request takes to come, each time.
fn each(view: &TrialView, tier: &PathTier) -> Option<(f64, Evidence)> {
    let window = view.server_steady();
    let scope = scope_of(tier);
    let grown = |counter| window.growth(counter, &scope).map(|growth| growth.amount);
    let each_ns = ratio(grown(column::REQUESTS_PARTIAL_TIME)?, grown(column::REQUESTS_MERGED)?)?;
    let text = format!("the rest of a request arrived {} after the first part", duration(each_ns));
    let seen = evidence(EvidenceRole::Confirmer, &window, "sk_data_ready, sock_recv_length", text);
    Some((each_ns, seen_in(column::REQUESTS_MERGED.at(&scope), seen)))
}

/// What to change, where the time itself tells; `None`: it does not.
fn remedy(each_ns: f64, sender: &str) -> Option<String> {
    if DELAYED_NS.contains(&each_ns) {
        return Some(format!(
            "set TCP_NODELAY in {sender}, or have it write each request in one call: Nagle's algorithm holds the second part back \
             until the first is acknowledged, which takes 40 ms"
        ));
    }
    EXPECTED_NS.contains(&each_ns).then(|| {
        format!(
            "if {sender} sends 'Expect: 100-continue', remove that header, or answer it: {sender} waits a second before it sends the \
             body"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{conclude, slow};
    use crate::corpus::{TARGET, with_tier};
    use sysdyno_record::analysis::{Confidence, Finding};

    const BACK: &str = "127.0.0.1:7000";

    /// nginx asks python, which gets the rest of each request so much later, in two parts. Unit: ratio of a request's time.
    fn find(partial: f64, trailing_ns: f64) -> Option<Finding> {
        let case = with_tier(slow(), "python", BACK, 1, TARGET).cpu(0.05, 0.05, 0.01).server(0.05);
        let ns = case.view().request_mean_ns().expect("was filled");
        let asked = [("asked.sent_count", 1.0), ("asked.merged_count", 1.0), ("asked.unread_ns", 0.0)];
        let at = format!("tier:target>{BACK}");
        let case = case.requests("tier:target", [1e4, 0.99 * ns]).per_request(&at, &asked);
        let case = case.per_request("tier:target", &[("requests.partial_ns", 0.0)]);
        let case =
            case.per_request(&at, &[("asked.waiting_ns", 0.95 * ns), ("asked.trailing_ns", trailing_ns)]);
        let read =
            [("requests.read_count", 1.0), ("requests.merged_count", 2.0), ("requests.unread_ns", 0.0)];
        let at = format!("tier:{BACK}");
        let case = case.per_request(&at, &read);
        let had = [("requests.inside_ns", 0.9 * ns), ("requests.partial_ns", partial * ns)];
        conclude(case.per_request(&at, &had)).into_iter().find(|finding| finding.id == "N24")
    }

    #[test]
    fn the_rest_of_a_request_that_comes_late_is_what_is_waited_for() {
        let finding = find(0.75, 0.0).expect("a finding");
        assert!(finding.confidence >= Confidence::Likely, "{finding:?}");
        assert!(finding.title.starts_with("Requests arrive in pieces: python waits "), "{finding:?}");
        assert!(finding.remedy.is_some_and(|remedy| remedy.starts_with("set TCP_NODELAY in nginx")));
        let short = find(0.1, 0.0).expect("a finding");
        assert_eq!(short.confidence, Confidence::Excluded, "{short:?}");
        let several = find(0.75, 30e6);
        assert!(
            several.is_none_or(|finding| finding.confidence == Confidence::Excluded),
            "several at a time"
        );
    }

    #[test]
    fn the_time_tells_what_it_is_waited_for() {
        let remedy = |each_ns| super::remedy(each_ns, "php-fpm").unwrap_or_default();
        assert!(remedy(1_001e6).starts_with("if php-fpm sends 'Expect: 100-continue'"));
        assert!(remedy(40e6).contains("Nagle"));
        assert_eq!(remedy(300e6), "");
    }
}
