//! A process that takes up no more connections, beside others that do: where each has a listening socket for itself (`SO_REUSEPORT`),
//! the kernel goes on giving it its part of the connections, and these wait although others are idle.

use super::effect::Slow;
use super::taken_up::{QUEUED, idle_ratio};
use super::{Case, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_in};
use crate::format::percent;
use crate::path::listener_name;
use crate::readings::{Window, ratio};
use crate::threshold::{HOUSE, Threshold};
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::column;

const PART: Threshold = Threshold::new(
    "listening sockets of an address with connections that wait ÷ all of them, at most",
    0.5,
    "ratio",
    HOUSE,
);
const LASTING: Threshold =
    Threshold::new("share of readings in which connections wait there, at least", 0.9, "ratio", HOUSE);
const IDLE: Threshold = Threshold::new(
    "share of the server's threads that wait for something to do, at least",
    0.3,
    "ratio",
    HOUSE,
);

/// Requests that such a socket can have failed or delayed ÷ its part of them, at most: chance gives one some more. Unit: ratio.
const SLACK: f64 = 1.5;

/// F21.
pub(super) const RULE: Rule = Rule {
    id: "F21",
    name: "left-behind",
    meaning: "Of several processes that listen at an address, each with a socket for itself (SO_REUSEPORT), one takes up no connections, \
              and those that it got wait while the others are idle.",
    thresholds: &[QUEUED, PART, LASTING, IDLE],
    place: Place::Server,
    needs: &[column::LISTENER_WAITING],
    remedy: "find what that process waits for (ss -ltnp shows whose queue grows) and restart it; let all accept from one socket \
             (without reuseport), so that one does not hold requests",
    counterfactual: "without that process as many requests would fail or wait",
    examine: Examination::By(examine),
};

const SOURCE: &str = "sock_diag, idiag_rqueue of LISTEN sockets";

fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let view = &scene.focus;
    let window = view.server_steady();
    let scopes = window.scopes(column::LISTENER_WAITING);
    let held = scopes.iter().filter_map(|scope| Held::at(&window, scope));
    let held = held.max_by(|one, other| one.queue.total_cmp(&other.queue));
    let Some(held) = held.filter(|held| held.is_left_behind()) else {
        let scope = scopes.first()?;
        let count = window.level(column::LISTENER_SOCKETS, scope)?.mean;
        let text = match listener_name(scope) {
            name if count < 2.0 => format!("only one socket listens at {name}"),
            name => format!("none of the {count:.0} sockets that listen at {name} is left behind"),
        };
        let seen = evidence(EvidenceRole::Against, &window, SOURCE, text);
        return excluded(
            "Processes take up connections alike",
            vec![seen_in(column::LISTENER_WAITING.at(scope), seen)],
        );
    };
    let text = format!(
        "{:.1} connections wait in {:.0} of {:.0} sockets that listen at {}, in {} of the readings",
        held.queue,
        held.waiting,
        held.sockets,
        listener_name(held.scope),
        percent(held.lasting)
    );
    let seen = evidence(EvidenceRole::Mechanism, &window, SOURCE, text.clone());
    let mut found = vec![seen_in(column::LISTENER_WAITING.at(held.scope), seen)];
    let idle = idle_ratio(view, &window, held.scope).filter(|idle| *idle >= IDLE.value);
    found.extend(idle.map(|idle| others_idle(&window, idle)));
    let counts = view.counts();
    let most = counts.sent as f64 * held.waiting / held.sockets * SLACK;
    let failures = (counts.failed as f64 + counts.timed_out as f64).min(most);
    let slow = Slow::Delayed { count: most, most_ns: f64::INFINITY };
    let title = format!("A process of the server takes up no connections: {text}");
    Some(Case::new(title, found, Reach { failures, slow, ..Reach::used_up(view, 1.0) }))
}

fn others_idle(window: &Window, idle: f64) -> Evidence {
    let text = format!("{} of the server's threads waited for something to do meanwhile", percent(idle));
    evidence(EvidenceRole::Confirmer, window, "/proc/PID/task/TID/syscall", text)
}

/// The connections that wait at an address of several sockets.
struct Held<'a> {
    scope: &'a str,
    /// Of all that wait, on average.
    queue: f64,
    /// Part of the readings in which any does.
    lasting: f64,
    sockets: f64,
    /// Sockets with such, on average.
    waiting: f64,
}

impl<'a> Held<'a> {
    fn at(window: &Window, scope: &'a str) -> Option<Held<'a>> {
        let level = |gauge| window.level(gauge, scope);
        let (queue, sockets) = (level(column::LISTENER_QUEUE)?, level(column::LISTENER_SOCKETS)?.mean);
        // Where any waits, one does at least.
        let waiting = level(column::LISTENER_WAITING)?.mean.max(1.0);
        Some(Held { scope, queue: queue.mean, lasting: queue.present_ratio, sockets, waiting })
    }

    fn is_left_behind(&self) -> bool {
        self.sockets >= 2.0
            && self.queue >= QUEUED.value
            && self.lasting >= LASTING.value
            && ratio(self.waiting, self.sockets).is_some_and(|part| part <= PART.value)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{conclude, slow};
    use crate::corpus::Specimen;
    use sysdyno_record::analysis::{Confidence, Finding};
    use sysdyno_record::load::FailureClass;

    const LISTENER: &str = "listener:127.0.0.1:8080";

    /// A quarter of the requests time out, while connections wait at so many of four sockets.
    fn left(waiting: f64) -> Specimen {
        slow()
            .cpu(0.05, 0.05, 0.01)
            .server(0.05)
            .fail(FailureClass::Status, 5_000)
            .gauge("listener.queue_count", LISTENER, 40.0)
            .gauge("listener.sockets_count", LISTENER, 4.0)
            .gauge("listener.waiting_sockets_count", LISTENER, waiting)
            .gauge("waits.threads_count", "tier:target", 4.0)
            .gauge("waits.idle_count", "tier:target", 3.0)
    }

    fn find(case: Specimen) -> Option<Finding> {
        conclude(case).into_iter().find(|finding| finding.id == "F21")
    }

    #[test]
    fn a_socket_whose_connections_nobody_takes_up_is_named() {
        let finding = find(left(1.0)).expect("a finding");
        assert!(finding.confidence >= Confidence::Likely, "{finding:?}");
        assert!(
            finding.title.contains("40.0 connections wait in 1 of 4 sockets that listen at 127.0.0.1:8080"),
            "{finding:?}"
        );
        assert_eq!(
            find(left(4.0)).map(|finding| finding.confidence),
            Some(Confidence::Excluded),
            "all of them are short of workers"
        );
        assert!(find(slow()).is_none(), "nobody looked");
    }
}
