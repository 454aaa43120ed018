//! Accept queue overflow: connections arrive faster than the server accepts them, and the kernel drops them.
//!
//! The queue of a listener holds its limit plus one (`sk_ack_backlog > sk_max_ack_backlog` means full,
//! `include/net/sock.h`). The limit is the smaller of the argument of `listen` and `net.core.somaxconn` at that moment, so
//! that a changed setting has no effect before the next `listen`.
//!
//! The kernel counts the drops of all listeners of a network namespace together. If no request of this load can have met
//! the drops, and the queue was never seen full, they belong to another server.

use super::effect::{self, EVENTS, Slow};
use super::{Case, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_by_generator, seen_in};
use crate::format::{counted, duration, name, whole};
use crate::path::listener_name;
use crate::readings::{Window, sum_known};
use crate::threshold::Threshold;
use crate::view::TrialView;
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::column::{self, NETNS, ScopeKind};
use sysdyno_record::path::PathTier;

const OVERFLOWS: Threshold = Threshold::new(
    "connections dropped because of a full accept queue, more than",
    0.0,
    "count",
    "TcpExt.ListenOverflows; netdata warns above 1/s",
);
const RETRY_NS: Threshold = Threshold::new(
    "response time that a retransmission explains",
    0.2e9,
    "ns",
    "least retransmission timeout of Linux (TCP_RTO_MIN); that of a SYN is 1 s, RFC 6298",
);

/// A SYN without an answer is sent again after this (RFC 6298 §2.1). Unit: nanoseconds.
const SYN_RETRY_NS: f64 = 1e9;

/// T01.
pub(super) const OVERFLOW: Rule = Rule {
    id: "T01",
    name: "accept-overflow",
    meaning: "The accept queue of a listening socket was full, and the kernel dropped connections.",
    thresholds: &[OVERFLOWS, RETRY_NS],
    place: Place::Server,
    needs: &[column::LISTEN_OVERFLOWS],
    remedy: "make the server accept faster (more workers, a shorter accept loop), then raise its backlog and \
             net.core.somaxconn, which take effect on the next listen()",
    counterfactual: "a longer accept queue would not stop the overflows and slow connects",
    examine: Examination::By(examine_overflow),
};

fn examine_overflow<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let dropped = |view: &&TrialView| drops(&view.server_whole());
    let total = sum_known(scene.trials.iter().map(|view| dropped(&view)))?;
    let worst =
        scene.trials.iter().max_by(|a, b| dropped(a).unwrap_or(0.0).total_cmp(&dropped(b).unwrap_or(0.0)))?;
    let window = worst.server_whole();
    let source = "/proc/PID/net/netstat TcpExt ListenOverflows, ListenDrops";
    let column = column::LISTEN_OVERFLOWS.at(NETNS);
    if let Some(case) = in_front_of_tier(&scene.focus).filter(|_| total <= OVERFLOWS.value) {
        return Some(case);
    }
    if total <= OVERFLOWS.value {
        let (first, last) = (scene.trials.first()?, scene.trials.last()?);
        let whole_run = Window::new(first.server_series(), first.begin.begin_mono_ns, last.end.end_mono_ns);
        let text = "no connection was dropped because of a full accept queue".to_owned();
        let against = seen_in(column, evidence(EvidenceRole::Against, &whole_run, source, text));
        return excluded("No accept queue overflowed", vec![against]);
    }
    let text = format!(
        "the kernel dropped {} because the accept queue was full ({} in all trials)",
        counted(dropped(&worst).unwrap_or(0.0), "connection"),
        whole(total)
    );
    let listener = fullest(&window, |_| true);
    let here = dropped(&worst).unwrap_or(0.0);
    let reach = Reach::of_connects(worst, here, effect::slower_than(worst, RETRY_NS.value));
    if !listener.as_ref().is_some_and(Listener::is_full) && reach.is_nothing(worst) {
        let text = format!(
            "that host dropped {}, but no request of this load failed to connect or took {} or more",
            counted(total, "connection"),
            duration(RETRY_NS.value)
        );
        let against = seen_in(column, evidence(EvidenceRole::Against, &window, source, text));
        return excluded("No accept queue overflowed under this load", vec![against]);
    }
    let mut found = vec![seen_in(column, evidence(EvidenceRole::Mechanism, &window, source, text))];
    found.extend(listener.as_ref().and_then(|listener| listener.evidence(&window)));
    found.extend(repeated_syns(worst));
    let place = listener.map_or(String::new(), |listener| {
        format!(
            " of {} (backlog {}, peak length {})",
            listener.address(),
            whole(listener.limit),
            whole(listener.length)
        )
    });
    let title = format!("The accept queue{place} overflowed and dropped {}", counted(total, "connection"));
    Some(Case { shown_by: Some(*worst), ..Case::new(title, found, reach) })
}

/// A queue of a tier behind the first one that was full while the server's own connects were sent again. Drops are counted where
/// that tier is, which may be in another namespace.
fn in_front_of_tier<'a>(view: &TrialView<'a>) -> Option<Case<'a>> {
    let window = view.server_whole();
    let is_behind = |scope: &str| view.listening_at(scope).iter().any(|process| process.tier.is_some());
    let listener = fullest(&window, is_behind).filter(Listener::is_full)?;
    let own = own_syns(view).filter(|own| *own >= EVENTS.value)?;
    let text = format!(
        "the server retransmitted {} of its own, each after {} or more",
        counted(own, "SYN packet"),
        duration(SYN_RETRY_NS)
    );
    let source = "/proc/PID/net/netstat TcpExt TCPSynRetrans";
    let seen = evidence(EvidenceRole::Mechanism, &window, source, text.clone());
    let mut found = vec![seen_in(column::TCP_SYN_RETRANS.at(NETNS), seen)];
    found.extend(listener.evidence(&window));
    let tier = view.listening_at(listener.scope);
    let who = tier.first().map_or(String::new(), |process| format!("{} at ", name(&process.command)));
    let title = format!(
        "The accept queue of {who}{} (backlog {}) is full: {text}",
        listener.address(),
        whole(listener.limit)
    );
    let slow = Slow::Delayed { count: own, most_ns: f64::INFINITY };
    let remedy = format!(
        "make {} accept faster (more workers), raise its backlog and net.core.somaxconn there, or keep connections to it open",
        tier.first().map_or("it".to_owned(), |process| name(&process.command))
    );
    let reach = Reach { slow, events: Some(own), ..Reach::default() };
    Some(Case { remedy: Some(remedy), ..Case::new(title, found, reach) })
}

/// SYN packets that were sent again where the server is, less those of the generator where that is told apart; `None`: not read.
pub(super) fn own_syns(view: &TrialView) -> Option<f64> {
    let repeated = view.server_whole().occurrences(column::TCP_SYN_RETRANS, NETNS)?;
    let of_clients = view.whole().occurrences(column::TCP_SYN_RETRANS, NETNS);
    Some(repeated - of_clients.filter(|_| view.server.is_some()).unwrap_or(0.0))
}

/// Connections dropped at listeners. Overflows are counted among the drops.
pub(super) fn drops(window: &Window) -> Option<f64> {
    let overflows = window.occurrences(column::LISTEN_OVERFLOWS, NETNS);
    let drops = window.occurrences(column::LISTEN_DROPS, NETNS);
    overflows.map(|overflows| if overflows > 0.0 { overflows.max(drops.unwrap_or(0.0)) } else { 0.0 })
}

struct Listener<'a> {
    scope: &'a str,
    length: f64,
    limit: f64,
}

impl Listener<'_> {
    fn address(&self) -> String {
        listener_name(self.scope)
    }

    fn evidence(&self, window: &Window) -> Option<Evidence> {
        let text = format!(
            "its accept queue reached {} connections (backlog {})",
            whole(self.length),
            whole(self.limit)
        );
        let column = column::LISTENER_QUEUE.at(self.scope);
        let confirmer =
            evidence(EvidenceRole::Confirmer, window, "sock_diag, idiag_rqueue and idiag_wqueue", text);
        self.is_full().then(|| seen_in(column, confirmer))
    }

    fn is_full(&self) -> bool {
        self.length >= self.limit
    }
}

/// Whether the accept queue of a tier was seen full.
pub(super) fn is_full_at(window: &Window, tier: &PathTier) -> bool {
    let is_it = |scope: &str| scope.strip_prefix(ScopeKind::Listener.prefix()) == tier.address.as_deref();
    fullest(window, is_it).is_some_and(|listener| listener.is_full())
}

/// The listener whose queue came nearest to its limit, or went farthest beyond.
fn fullest<'a>(window: &Window<'a>, is_of_it: impl Fn(&str) -> bool) -> Option<Listener<'a>> {
    let scopes = window.scopes(column::LISTENER_QUEUE).into_iter().filter(|scope| is_of_it(scope));
    let listeners = scopes.filter_map(|scope| {
        let length = window.level(column::LISTENER_QUEUE, scope)?.max;
        let limit = window.level(column::LISTENER_LIMIT, scope)?.last;
        Some(Listener { scope, length, limit })
    });
    listeners.max_by(|a, b| (a.length - a.limit).total_cmp(&(b.length - b.limit)))
}

/// SYNs that the generator's host had to send again.
fn repeated_syns(view: &TrialView) -> Option<Evidence> {
    let window = view.whole();
    let repeated = window.occurrences(column::TCP_SYN_RETRANS, NETNS).filter(|count| *count > 0.0)?;
    let text = format!("{} SYN packets were retransmitted", whole(repeated));
    let source = "/proc/PID/net/netstat TcpExt TCPSynRetrans";
    let confirmer = evidence(EvidenceRole::Confirmer, &window, source, text);
    Some(seen_by_generator(view, &column::TCP_SYN_RETRANS.at(NETNS), confirmer))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{conclude, slow};
    use crate::corpus::{TARGET, with_tier};
    use sysdyno_record::analysis::{Confidence, Finding};
    use sysdyno_record::column::NETNS;

    /// nginx asks python, whose queue has so many of two places taken, while SYN packets of nginx are sent again.
    fn find(length: f64, repeated_hz: f64) -> Option<Finding> {
        let back = "127.0.0.1:7000";
        let case = with_tier(slow(), "python", back, 1, TARGET)
            .counter("TcpExt.ListenOverflows", NETNS, 0.0)
            .counter("TcpExt.TCPSynRetrans", NETNS, repeated_hz)
            .gauge("listener.queue_count", &format!("listener:{back}"), length)
            .gauge("listener.limit_count", &format!("listener:{back}"), 1.0);
        conclude(case).into_iter().find(|finding| finding.id == "T01")
    }

    #[test]
    fn a_full_queue_of_a_tier_is_named_where_its_drops_are_not_counted() {
        let finding = find(2.0, 2_000.0).expect("a finding");
        assert!(finding.confidence >= Confidence::Likely, "{finding:?}");
        let begin = "The accept queue of python at 127.0.0.1:7000 (backlog 1) is full: ";
        assert!(finding.title.starts_with(begin), "{finding:?}");
        assert!(finding.remedy.is_some_and(|remedy| remedy.starts_with("make python accept faster")));
        let confidence = |length, hz| find(length, hz).map(|finding| finding.confidence);
        assert_eq!(confidence(0.0, 2_000.0), Some(Confidence::Excluded), "these were lost on another way");
        assert_eq!(confidence(2.0, 0.0), Some(Confidence::Excluded), "none was dropped");
    }
}
