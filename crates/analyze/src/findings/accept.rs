//! Accept queue overflow: connections arrive faster than the server accepts them, and the kernel drops them.
//!
//! The queue of a listener holds its limit plus one (`sk_ack_backlog > sk_max_ack_backlog` means full,
//! `include/net/sock.h`). The limit is the smaller of the argument of `listen` and `net.core.somaxconn` at that moment, so
//! that a changed setting has no effect before the next `listen`.
//!
//! The kernel counts the drops of all listeners of a network namespace together. If no request of this load can have met
//! the drops, and the queue was never seen full, they belong to another server.

use super::effect;
use super::{Case, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_by_generator, seen_in};
use crate::format::{counted, duration, name, whole};
use crate::readings::{Window, sum_known};
use crate::threshold::Threshold;
use crate::view::TrialView;
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::column::{self, NETNS};

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
    let listener = fullest(&window);
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
        name(self.scope.trim_start_matches("listener:"))
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

/// The listener whose queue came nearest to its limit, or went farthest beyond.
fn fullest<'a>(window: &Window<'a>) -> Option<Listener<'a>> {
    let listeners = window.scopes(column::LISTENER_QUEUE).into_iter().filter_map(|scope| {
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
