//! A tier that serves one request at a time: its only worker waits for something, and requests queue for it.
//!
//! A full pool waits all the time. A single worker need not: where requests come by chance, they queue for it long before, at three
//! quarters of its time for as long as it takes for one or two of them. That is a pool of one, or an event loop whose code calls
//! something that blocks.

use super::edges::{GIVEN_UP, given_up};
use super::waits::{WAITED, cpus_left, is_slow, what};
use super::{Case, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_in};
use crate::format::{duration, name, percent};
use crate::path::{called, path_of, scope_of};
use crate::readings::ratio;
use crate::threshold::{HOUSE, Threshold};
use sysdyno_record::analysis::EvidenceRole;
use sysdyno_record::column;
use sysdyno_record::path::{PathTier, WaitKind};

const ALONE: Threshold =
    Threshold::new("threads of a tier that serve, to be a single one", 1.5, "count", HOUSE);
const BLOCKED: Threshold =
    Threshold::new("share of the time in which that thread waits for something", 0.4, "ratio", HOUSE);
const COMPUTES: Threshold =
    Threshold::new("share of the time in which it runs, not to be short of CPU", 0.4, "ratio", HOUSE);
const SEVERAL: Threshold =
    Threshold::new("requests at the tier at a time, for some to queue", 1.2, "count", HOUSE);

/// F19.
pub(super) const RULE: Rule = Rule {
    id: "F19",
    name: "one-worker",
    meaning: "A service serves one request at a time, and its only worker waits for something meanwhile.",
    thresholds: &[WAITED, ALONE, BLOCKED, COMPUTES, SEVERAL, GIVEN_UP],
    place: Place::Server,
    needs: &[column::REQUESTS_INSIDE_TIME, column::WAITS_THREADS],
    remedy: "let it wait for many at once (in an event loop, call nothing that blocks: an asynchronous client, a pool of threads), or \
             run more workers; and shorten what it waits for",
    counterfactual: "with a second worker the responses would take as long",
    examine: Examination::By(examine),
};

/// A tier with one worker.
struct Alone<'a> {
    tier: &'a PathTier,
    /// What the worker mostly waits for.
    waits_for: String,
    /// How much of the time it waits. Unit: ratio.
    blocked_ratio: f64,
    /// How long a request waits for it. Unit: nanoseconds.
    queue_ns: f64,
}

fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let view = &scene.focus;
    let path = path_of(view);
    let mean_ns = view.request_mean_ns()?;
    let rate_hz = view.measured().achieved_hz;
    let alone = path.iter().filter_map(|tier| alone(&path, tier, rate_hz));
    let worst = alone.max_by(|one, other| one.queue_ns.total_cmp(&other.queue_ns))?;
    let window = view.server_steady();
    let who = called(&path, worst.tier);
    let share = ratio(worst.queue_ns, mean_ns)?.min(1.0);
    // Who waits for it for longer than a request takes has given up.
    let is_given_up = worst.queue_ns > mean_ns;
    let queued = duration(worst.queue_ns);
    let part = if is_given_up { queued } else { format!("{queued} of a request's {}", duration(mean_ns)) };
    let text = format!("requests queue for {who} for {part}");
    let seen = |role| {
        let seen = evidence(role, &window, "sk_data_ready, sock_recv_length", text.clone());
        seen_in(column::REQUESTS_UNREAD_TIME.at(&scope_of(worst.tier)), seen)
    };
    if share < WAITED.value || !is_slow(scene, mean_ns) {
        return excluded(
            "No service is slow by serving one request at a time",
            vec![seen(EvidenceRole::Against)],
        );
    }
    let waits =
        format!("its only worker waits for {} {} of the time", worst.waits_for, percent(worst.blocked_ratio));
    let blocked = evidence(EvidenceRole::Confirmer, &window, "/proc/PID/task/TID/syscall", waits.clone());
    let mut found = vec![seen(EvidenceRole::Mechanism)];
    found.push(seen_in(column::WAITS_THREADS.at(&scope_of(worst.tier)), blocked));
    found.extend(cpus_left(scene, &window).filter(|seen| seen.role == EvidenceRole::Against));
    let title =
        format!("{who} serves one request at a time: {waits}, and requests queue behind it for {part}");
    let address = worst.tier.address.as_deref().filter(|_| is_given_up);
    let given_up = address.map_or(0.0, |address| given_up(view, address));
    Some(Case::new(title, found, Reach::given_up(view, share, given_up)))
}

/// What is known of a tier as one with a single worker that mostly waits; `None`: it is none.
fn alone<'a>(path: &'a [PathTier], tier: &'a PathTier, rate_hz: f64) -> Option<Alone<'a>> {
    let serving = tier.serving_count.filter(|count| *count > 0.0 && *count <= ALONE.value)?;
    let requests = tier.requests.as_ref()?;
    let at_a_time = rate_hz * (requests.unread_ns + requests.inside_ns) / 1e9;
    let is_wait = |kind: WaitKind| !matches!(kind, WaitKind::Running | WaitKind::Stopped);
    let waits: Vec<_> = tier.waits.iter().filter(|wait| is_wait(wait.kind)).collect();
    let blocked = waits.iter().map(|wait| wait.threads_count).sum::<f64>();
    let blocked_ratio = ratio(blocked, serving)?.min(1.0);
    let running = ratio(tier.threads_at(WaitKind::Running), serving)?;
    let is_alone = blocked_ratio >= BLOCKED.value && running < COMPUTES.value && at_a_time >= SEVERAL.value;
    let most = waits.first().filter(|_| is_alone)?;
    let asked = most.on.and_then(|on| path.get(on));
    let waits_for = asked.map_or_else(|| what(most.kind).to_owned(), |asked| name(&asked.called(path)));
    let queue_ns = requests.unread_ns + requests.rest_ns.unwrap_or(0.0);
    Some(Alone { tier, waits_for, blocked_ratio, queue_ns })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{conclude, slow};
    use crate::corpus::{Specimen, TARGET, with_tier};
    use sysdyno_record::analysis::{Confidence, Finding};
    use sysdyno_record::load::FailureClass;

    const BACK: &str = "127.0.0.1:8080";

    /// One thread waits for node so much of its time, and requests lie unread for so much of theirs.
    fn find(threads: f64, blocked: f64, unread: f64) -> Option<Finding> {
        let case = with_tier(slow(), "node", BACK, 1, TARGET).cpu(0.05, 0.05, 0.01).server(0.05);
        conclude(waiting(case, threads, blocked, unread)).into_iter().find(|finding| finding.id == "F19")
    }

    fn waiting(case: Specimen, threads: f64, blocked: f64, unread: f64) -> Specimen {
        let ns = case.view().request_mean_ns().expect("was filled");
        case.gauge("waits.threads_count", "tier:target", threads)
            .gauge("waits.running_count", "tier:target", 0.05)
            .gauge("waits.idle_count", "tier:target", threads - blocked)
            .gauge("waits.asking_count", &format!("tier:target>{BACK}"), blocked)
            .requests("tier:target", [unread * ns, 0.2 * ns])
    }

    fn confidence(found: Option<Finding>) -> Option<Confidence> {
        found.map(|finding| finding.confidence)
    }

    #[test]
    fn errors_of_a_tier_that_gave_up_are_those_of_the_worker_that_it_waited_for() {
        let confidence_if = |came_hz: f64| {
            let (at, asked) = (format!("tier:{BACK}"), format!("tier:target>{BACK}"));
            let case = with_tier(slow(), "node", BACK, 1, TARGET).cpu(0.05, 0.05, 0.01).server(0.05);
            let ns = case.view().request_mean_ns().expect("was filled");
            let case = case
                .fail(FailureClass::Status, 10_000)
                .gauge("waits.threads_count", &at, 1.0)
                .gauge("waits.running_count", &at, 0.05)
                .gauge("waits.timer_count", &at, 0.9)
                .requests(&at, [5.0 * ns, 0.2 * ns])
                .counter("asked.sent_count", &asked, 2_000.0)
                .counter("asked.answered_count", &asked, came_hz);
            confidence(conclude(case).into_iter().find(|finding| finding.id == "F19"))
        };
        assert!(confidence_if(500.0) >= Some(Confidence::Likely));
        assert_eq!(confidence_if(2_000.0), Some(Confidence::Possible), "nobody gave up");
    }

    #[test]
    fn requests_queue_for_a_single_worker_that_waits_most_of_its_time() {
        let finding = find(1.0, 0.7, 0.7).expect("a finding");
        assert!(finding.confidence >= Confidence::Likely, "{finding:?}");
        assert!(
            finding.title.contains("serves one request at a time: its only worker waits for node"),
            "{finding:?}"
        );
        assert_eq!(confidence(find(1.0, 0.7, 0.1)), Some(Confidence::Excluded), "hardly any queue");
        assert_eq!(confidence(find(1.0, 0.1, 0.7)), None, "it is idle");
        assert_eq!(confidence(find(4.0, 0.7, 0.7)), None, "there are others");
    }
}
