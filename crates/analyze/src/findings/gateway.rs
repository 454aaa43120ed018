//! Errors that a proxy returns because of its backend: 502 and 504.

use super::{Case, ENGINE, Examination, Place, Reach, Rule, Scene, evidence, seen_in};
use crate::format::{counted, percent};
use crate::path::listener_name;
use crate::readings::ratio;
use crate::threshold::{HOUSE, Threshold};
use crate::view::TrialView;
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::column::{self, NETNS};
use sysdyno_record::load::FailureClass;

const SHARE: Threshold = Threshold::new("share of responses with status 502 or 504", 0.01, "ratio", HOUSE);
const ATTEMPTS: Threshold =
    Threshold::new("connection attempts that failed ÷ responses with status 502 or 504", 0.5, "ratio", HOUSE);
const QUEUE_FULL: Threshold =
    Threshold::new("accept queue of a tier behind the first ÷ its limit", 0.9, "ratio", HOUSE);

/// A14.
pub(super) const BAD_GATEWAY: Rule = Rule {
    id: "A14",
    name: "bad-gateway",
    meaning: "A proxy answers for its backend, which refuses connections, closes them, or takes too long.",
    thresholds: &[SHARE, ATTEMPTS, QUEUE_FULL],
    place: Place::Elsewhere,
    needs: &[column::TCP_ATTEMPT_FAILS, column::LISTENER_QUEUE],
    remedy: "look at the backend, not at the proxy: its accept queue, its workers, and its timeouts; measure it by itself",
    counterfactual: "the backend would fail as often if it were asked directly",
    examine: Examination::By(examine),
};

/// Bad Gateway, Gateway Timeout.
const STATUSES: [u16; 2] = [502, 504];

/// What nginx logs of a request for which it asked nobody, since it had taken all back ends out of service.
pub(super) const NOBODY_ASKED: &str = "no live upstreams";

/// Requests that failed because a proxy lost its connection to a back end, or got none.
pub(super) fn bad_gateways(view: &TrialView) -> f64 {
    let logged = view.logged_by_server().into_iter();
    let unasked = logged.filter(|message| message.lines.example.contains(NOBODY_ASKED));
    let unasked: u64 = unasked.map(|message| message.likely_count).sum();
    let failed = responses(view, STATUSES[0]).min(view.failures_of(&[FailureClass::Status]) as f64);
    (failed - unasked as f64).max(0.0)
}

fn responses(view: &TrialView, status: u16) -> f64 {
    view.measured().statuses.get(&status).copied().unwrap_or(0) as f64
}

fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let view = &scene.focus;
    let statuses = &view.measured().statuses;
    let of = |status: u16| responses(view, status);
    let [refused, late] = STATUSES.map(of);
    let share = ratio(refused + late, statuses.values().map(|count| *count as f64).sum())?;
    if share < SHARE.value {
        return None;
    }
    let status = if refused >= late { STATUSES[0] } else { STATUSES[1] };
    let text = format!("{} of the responses had status {status}", percent(share));
    let mut found = vec![evidence(EvidenceRole::Mechanism, &view.steady(), ENGINE, text)];
    found.extend(failed_attempts(view, refused + late));
    found.extend(full_queue(view));
    let reach = Reach {
        failures: (refused + late).min(view.failures_of(&[FailureClass::Status]) as f64),
        ..Reach::default()
    };
    let what = if refused >= late { "fails" } else { "takes too long" };
    let title = format!("What the proxy asks {what}: {} got status {status}", counted(of(status), "request"));
    Some(Case::new(title, found, reach))
}

/// Connections from the server's host that were refused.
fn failed_attempts(view: &TrialView, errors: f64) -> Option<Evidence> {
    let window = view.server_whole();
    let failed = window.occurrences(column::TCP_ATTEMPT_FAILS, NETNS)?;
    let text = format!("{} of the server's host failed", counted(failed, "connection attempt"));
    let seen = evidence(EvidenceRole::Confirmer, &window, "/proc/PID/net/snmp Tcp AttemptFails", text);
    (failed >= ATTEMPTS.value * errors).then(|| seen_in(column::TCP_ATTEMPT_FAILS.at(NETNS), seen))
}

/// A tier behind the first whose accept queue was full.
fn full_queue(view: &TrialView) -> Option<Evidence> {
    let window = view.server_steady();
    let is_behind = |scope: &&str| view.listening_at(scope).iter().any(|process| process.tier.is_some());
    let used = |scope: &str| {
        let limit = window.level(column::LISTENER_LIMIT, scope)?.last;
        ratio(window.level(column::LISTENER_QUEUE, scope)?.max, limit)
    };
    let scopes = window.scopes(column::LISTENER_QUEUE).into_iter().filter(is_behind);
    let full = scopes.into_iter().find(|scope| used(scope).is_some_and(|used| used >= QUEUE_FULL.value))?;
    let text = format!("the accept queue of {} was full", listener_name(full));
    let seen = evidence(EvidenceRole::Confirmer, &window, "sock_diag, idiag_rqueue of LISTEN sockets", text);
    Some(seen_in(column::LISTENER_QUEUE.at(full), seen))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{conclude, slow};
    use crate::corpus::{Specimen, TARGET, with_tier};
    use sysdyno_record::analysis::{Confidence, Finding};
    use sysdyno_record::column::{CGROUP_TARGET, HOST, NETNS};
    use sysdyno_record::load::FailureClass;

    fn answered(status: u16, count: u64) -> Specimen {
        slow().fail(FailureClass::Status, count).edit(|case| {
            let statuses = &mut case.end.summary.measured.statuses;
            statuses.insert(200, 20_000 - count);
            statuses.insert(status, count);
        })
    }

    fn find(case: Specimen) -> Option<Finding> {
        conclude(case).into_iter().find(|finding| finding.id == "A14")
    }

    #[test]
    fn what_ends_behind_a_proxy_explains_its_errors() {
        let killed = |status| {
            let case = answered(status, 5_000).counter("vmstat.oom_kill", HOST, 1_000.0);
            let case = case.counter("cgroup.oom_kills_count", CGROUP_TARGET, 1_000.0);
            conclude(case).into_iter().find(|finding| finding.id == "E04").map(|finding| finding.confidence)
        };
        assert_eq!(killed(502), Some(Confidence::Likely));
        assert_eq!(killed(500), Some(Confidence::Possible), "that is no lost connection");
    }

    #[test]
    fn errors_of_a_proxy_point_behind_it() {
        let alone = find(answered(502, 5_000)).expect("a finding");
        assert_eq!(alone.confidence, Confidence::Possible);
        assert!(alone.title.starts_with("What the proxy asks fails: 5,000 requests got"), "{}", alone.title);
        let refused =
            find(answered(502, 5_000).counter("Tcp.AttemptFails", NETNS, 500.0)).expect("a finding");
        assert!(refused.confidence >= Confidence::Likely, "{refused:?}");
        let few = find(answered(502, 5_000).counter("Tcp.AttemptFails", NETNS, 5.0)).expect("a finding");
        assert_eq!(few.confidence, Confidence::Possible);
        assert!(find(answered(500, 5_000)).is_none() && find(answered(502, 50)).is_none());
    }

    #[test]
    fn a_full_queue_behind_the_proxy_confirms_it_and_its_own_does_not() {
        let full = |address: &str| {
            let case = with_tier(answered(504, 5_000), "php-fpm", "127.0.0.1:9000", 1, TARGET);
            let scope = format!("listener:{address}");
            case.gauge("listener.queue_count", &scope, 128.0).gauge("listener.limit_count", &scope, 128.0)
        };
        let finding = find(full("127.0.0.1:9000")).expect("a finding");
        assert!(finding.confidence >= Confidence::Likely, "{finding:?}");
        assert!(finding.title.contains("takes too long"), "{}", finding.title);
        let own = find(full("127.0.0.1:8080")).expect("a finding");
        assert_eq!(own.confidence, Confidence::Possible);
    }
}
