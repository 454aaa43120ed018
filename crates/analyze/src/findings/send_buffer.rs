//! Responses that do not fit into the server's send buffer: the rest has to wait until the client's host has acknowledged the
//! beginning, a round trip for each buffer.
//!
//! The kernel keeps for each connection how long it has been sending, and for how much of that the program could not write
//! because the buffer was full. It sizes buffers by itself (`tcp_wmem`) unless a program has set one with `SO_SNDBUF`.

use super::waits::{WAITED, cpus_left, is_slow};
use super::{Case, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_in};
use crate::format::{duration, percent};
use crate::path::path_of;
use crate::readings::ratio;
use crate::threshold::{HOUSE, Threshold};
use sysdyno_record::analysis::EvidenceRole;
use sysdyno_record::column;

const HELD_BACK: Threshold = Threshold::new(
    "time in which the send buffer was full ÷ time in which the server was sending",
    0.2,
    "ratio",
    HOUSE,
);

/// T08.
pub(super) const RULE: Rule = Rule {
    id: "T08",
    name: "send-buffer",
    meaning: "The server's send buffers are smaller than a response, and each part waits for an acknowledgement of the one before.",
    thresholds: &[HELD_BACK, WAITED],
    place: Place::Server,
    needs: &[column::CONNECTIONS_HELD_BACK],
    remedy: "let the kernel size the buffers (leave out `sndbuf` of nginx's `listen`, `SendBufferSize` of Apache, any SO_SNDBUF), \
             and raise the last value of net.ipv4.tcp_wmem if they grow up to it",
    counterfactual: "with a buffer of twice the size the responses would take as long",
    examine: Examination::By(examine),
};

fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let view = &scene.focus;
    let window = view.server_steady();
    let scopes = window.scopes(column::CONNECTIONS_HELD_BACK).into_iter();
    let levels =
        scopes.filter_map(|scope| Some((scope, window.level(column::CONNECTIONS_HELD_BACK, scope)?)));
    let (scope, held_back) = levels.max_by(|(_, one), (_, other)| one.mean.total_cmp(&other.mean))?;
    let sending = window.level(column::CONNECTIONS_UNSENT, scope)?;
    let mean_ns = view.request_mean_ns()?;
    // Requests of which a part of the response is on its way are to all as that time is to theirs.
    let sending = ratio(sending.mean, view.in_flight_mean()?)?.min(1.0);
    // From the first write to the last one the program can only have waited for room, if it did nothing else that is known.
    let writing = path_of(view).first().and_then(|tier| ratio(tier.requests.as_ref()?.rest_ns?, mean_ns));
    let share = (sending * held_back.mean.min(1.0)).max(writing.unwrap_or(0.0).min(sending));
    let text = format!(
        "sending the response takes {} of a request's {}, and the send buffer is full for {} of that",
        duration(sending * mean_ns),
        duration(mean_ns),
        percent(held_back.mean.min(1.0))
    );
    let seen = |role| {
        let seen = evidence(role, &window, "sock_diag, tcpi_sndbuf_limited ÷ tcpi_busy_time", text.clone());
        seen_in(column::CONNECTIONS_HELD_BACK.at(scope), seen)
    };
    if held_back.mean < HELD_BACK.value || !is_slow(scene, mean_ns) {
        return excluded(
            "Responses do not wait for room in a send buffer",
            vec![seen(EvidenceRole::Against)],
        );
    }
    let mut found = vec![seen(EvidenceRole::Mechanism)];
    found.extend(cpus_left(scene, &window));
    let title = format!("Responses wait for room in the server's send buffers: {text}");
    Some(Case::new(title, found, Reach::used_up(view, share)))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{LISTENER, conclude, slow};
    use sysdyno_record::analysis::{Confidence, Finding};

    fn find(sending: f64, held_back: f64) -> Finding {
        let case = slow().cpu(0.05, 0.05, 0.01).server(0.05);
        let in_flight = case.view().in_flight_mean().expect("is counted");
        let case = case.gauge("connections.unsent_count", LISTENER, sending * in_flight).gauge(
            "connections.held_back_ratio",
            LISTENER,
            held_back,
        );
        conclude(case).into_iter().find(|finding| finding.id == "T08").expect("a finding")
    }

    #[test]
    fn a_buffer_that_is_full_while_most_requests_are_answered_is_the_bottleneck() {
        let full = find(0.9, 0.8);
        assert_eq!(full.confidence, Confidence::Likely, "{full:?}");
        assert!(full.title.contains("the send buffer is full for 80% of that"), "{full:?}");
        assert!(full.remedy.is_some_and(|remedy| remedy.contains("sndbuf")));
        assert_eq!(find(0.9, 0.05).confidence, Confidence::Excluded);
        assert!(find(0.1, 0.8).confidence < Confidence::Likely, "hardly a request is being answered");
        assert_eq!(find(0.7, 0.6).confidence, Confidence::Possible, "it explains less than half");
    }
}
