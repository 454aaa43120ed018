//! A rate limit on requests: the server refuses or delays requests above the limit, however idle it is.

use super::{Case, ENGINE, Examination, Place, Reach, Rule, Scene, evidence, excluded};
use crate::format::{counted, percent, rate};
use crate::readings::{Window, ratio};
use crate::threshold::{HOUSE, Threshold};
use crate::verdict::own_busy_ratio;
use crate::view::TrialView;
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::column;
use sysdyno_record::load::FailureClass;

const REFUSED: Threshold =
    Threshold::new("share of responses that refuse a request (429, 503)", 0.01, "ratio", HOUSE);
const EVEN: Threshold = Threshold::new(
    "variance ÷ mean of good responses per interval, at most",
    0.1,
    "ratio",
    "house value; it is 1 where nothing but chance spreads them (Poisson), and 0.01 behind a limiter",
);
/// Whole intervals that it takes to tell.
const INTERVALS: usize = 3;
const CPU_IDLE: Threshold =
    Threshold::new("idle share of the CPUs that shows that they are not the reason", 0.50, "ratio", HOUSE);

/// A11.
pub(super) const RATE_LIMITED: Rule = Rule {
    id: "A11",
    name: "rate-limited",
    meaning: "The server, or something before it, admits a fixed rate of requests and refuses the rest.",
    thresholds: &[REFUSED, EVEN, CPU_IDLE],
    place: Place::Server,
    needs: &[column::CPU_IDLE],
    remedy: "exempt the load from the limit (limit_req, a firewall, an API gateway) to measure the server itself, or raise it",
    counterfactual: "from a second address as many requests would be refused in all",
    examine: Examination::By(examine),
};

/// What a server says that refuses a request for the sake of a limit.
const TOO_MANY: u16 = 429;
const UNAVAILABLE: u16 = 503;

fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let view = &scene.focus;
    let window = view.steady();
    let statuses = &view.measured().statuses;
    let of = |status: u16| statuses.get(&status).copied().unwrap_or(0) as f64;
    let all: f64 = statuses.values().map(|count| *count as f64).sum();
    let status = if of(TOO_MANY) >= of(UNAVAILABLE) { TOO_MANY } else { UNAVAILABLE };
    let share = ratio(of(status), all)?;
    let text = format!("{} of the responses had status {status}", percent(share));
    let seen = |role| evidence(role, &window, ENGINE, text.clone());
    if share < REFUSED.value {
        return excluded("No request was refused for its rate", vec![seen(EvidenceRole::Against)]);
    }
    let even = even(view);
    // Status 429 says so; 503 can mean anything.
    if status == UNAVAILABLE && even.is_none() {
        return excluded("Requests are not refused for their rate", vec![seen(EvidenceRole::Against)]);
    }
    let mut found = vec![seen(EvidenceRole::Mechanism)];
    found.extend(even.map(|text| evidence(EvidenceRole::Confirmer, &window, ENGINE, text)));
    found.extend(cpus_left(scene, &view.server_steady()));
    let reach = Reach {
        failures: of(status).min(view.failures_of(&[FailureClass::Status]) as f64),
        ..Reach::default()
    };
    let title = format!(
        "Requests are refused for their rate: {} got status {status}, {}/s were served",
        counted(of(status), "request"),
        rate(view.goodput_hz())
    );
    Some(Case::new(title, found, reach))
}

/// That good responses come more evenly than chance would have them.
fn even(view: &TrialView) -> Option<String> {
    let counts: Vec<f64> = view.measured_intervals().map(|interval| interval.counts.ok as f64).collect();
    // The first and the last may be parts.
    let counts = counts.get(1..counts.len().checked_sub(1)?)?;
    let number = counts.len() as f64;
    let mean = counts.iter().sum::<f64>() / number;
    let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / (number - 1.0);
    let spread = ratio(variance, mean).filter(|spread| *spread <= EVEN.value)?;
    let text = format!("good responses came evenly: variance ÷ mean of each interval was {spread:.2}");
    (counts.len() >= INTERVALS).then_some(text)
}

fn cpus_left(scene: &Scene, window: &Window) -> Option<Evidence> {
    let own = own_busy_ratio(&scene.focus, window)?;
    let text = format!("the server and the load left the CPUs {} idle", percent(1.0 - own));
    (1.0 - own >= CPU_IDLE.value).then(|| evidence(EvidenceRole::Confirmer, window, "/proc/stat", text))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{conclude, slow};
    use crate::corpus::Specimen;
    use sysdyno_record::analysis::{Confidence, Finding};
    use sysdyno_record::load::FailureClass;

    fn refused(status: u16, rate_of: fn(usize) -> f64) -> Specimen {
        let case = slow().cpu(0.1, 0.05, 0.0).server(0.1).fail(FailureClass::Status, 18_000);
        case.edit(|case| {
            case.end.summary.measured.statuses = [(200, 2_000), (status, 18_000)].into();
            case.set_intervals(|second| (rate_of(second), 1_000_000, 2));
        })
    }

    fn find(case: Specimen) -> Option<Finding> {
        conclude(case).into_iter().find(|finding| finding.id == "A11")
    }

    #[test]
    fn a_status_that_says_so_or_a_rate_that_stands_still_is_a_limiter() {
        let uneven = |second: usize| if second.is_multiple_of(2) { 300.0 } else { 100.0 };
        let finding = find(refused(429, |_| 200.0)).expect("a finding");
        assert!(finding.confidence >= Confidence::Likely, "{finding:?}");
        assert!(finding.title.contains("18,000 requests got status 429"), "{}", finding.title);
        assert!(find(refused(429, uneven)).is_some_and(|finding| finding.confidence >= Confidence::Possible));
        assert!(
            find(refused(503, |_| 200.0)).is_some_and(|finding| finding.confidence >= Confidence::Likely)
        );
        assert!(find(refused(503, uneven)).is_some_and(|finding| finding.confidence == Confidence::Excluded));
        assert!(
            find(refused(500, |_| 200.0)).is_some_and(|finding| finding.confidence == Confidence::Excluded)
        );
    }
}
