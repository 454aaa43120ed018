//! Did the servers do the same work: the same answer, as long, with the same content?

use super::{Examine, Gate, Seen, distance};
use crate::compare::profile::RunProfile;
use crate::format::{name, percent, whole};
use crate::readings::ratio;
use crate::threshold::{HOUSE, Threshold};
use std::collections::BTreeSet;
use sysdyno_record::load::LearntBody;
use sysdyno_record::workload::OperationSummary;

const STATUS_SHARE: Threshold =
    Threshold::new("share of responses for a status to count", 0.01, "ratio", HOUSE);

/// C04.
pub(super) const OTHER_STATUS: Gate = Gate {
    id: "C04",
    name: "other-status",
    meaning: "The servers answered with different status codes: an error page, a redirect, or a cached \
              response is different work.",
    thresholds: &[STATUS_SHARE],
    remedy: "request the URL by hand from both servers, and make them answer alike",
    can_be_allowed: false,
    examine: Examine::Pair(examine_status),
};

fn statuses(run: &RunProfile) -> BTreeSet<u16> {
    let all: f64 = run.work.statuses.values().map(|count| *count as f64).sum();
    let counts = |count: &u64| *count as f64 >= STATUS_SHARE.value * all && *count > 0;
    run.work.statuses.iter().filter(|(_, count)| counts(count)).map(|(status, _)| *status).collect()
}

fn examine_status(reference: &RunProfile, run: &RunProfile) -> Option<Seen> {
    let (a, b) = (statuses(reference), statuses(run));
    if a == b || a.is_empty() || b.is_empty() {
        return None;
    }
    let text = |codes: &BTreeSet<u16>| codes.iter().map(u16::to_string).collect::<Vec<_>>().join(", ");
    Seen::refused(format!("A answered with status {}, {} with {}", text(&a), run.label, text(&b)))
}

const LENGTH_NOTICED: Threshold =
    Threshold::new("difference between body lengths, to warn", 0.001, "ratio", HOUSE);
const LENGTH_REFUSED: Threshold = Threshold::new("difference between body lengths", 0.005, "ratio", HOUSE);

/// C05.
pub(super) const OTHER_LENGTH: Gate = Gate {
    id: "C05",
    name: "other-length",
    meaning: "The bodies differ in length: it is a different page, or a different encoding.",
    thresholds: &[LENGTH_NOTICED, LENGTH_REFUSED],
    remedy: "serve the same file from both, with the same Content-Encoding",
    can_be_allowed: true,
    examine: Examine::Pair(examine_length),
};

fn examine_length(reference: &RunProfile, run: &RunProfile) -> Option<Seen> {
    // Of a page that changes, the lengths that are nearest to each other.
    let lengths =
        |run: &RunProfile| run.work.bodies.iter().map(|body| body.body_bytes as f64).collect::<Vec<_>>();
    let (a, b) = (lengths(reference), lengths(run));
    let pairs = a.iter().flat_map(|a| b.iter().map(move |b| (*a, *b)));
    let apart = |(a, b): &(f64, f64)| distance(Some(*a), Some(*b)).unwrap_or(0.0);
    let nearest = pairs.min_by(|one, other| apart(one).total_cmp(&apart(other)))?;
    let text = format!("A has a body of {} bytes, {} has {}", whole(nearest.0), run.label, whole(nearest.1));
    match apart(&nearest) {
        apart if apart > LENGTH_REFUSED.value => Seen::refused(text),
        apart if apart > LENGTH_NOTICED.value => Seen::warned(text),
        _ => None,
    }
}

/// C06.
pub(super) const OTHER_BODY: Gate = Gate {
    id: "C06",
    name: "other-body",
    meaning: "The bodies differ, although each run checked that its own body stays the same. Without that \
              check, this is only a warning, because pages may contain a date.",
    thresholds: &[],
    remedy: "request the URL by hand from both servers and compare; --same-body makes a run check its own \
             body",
    can_be_allowed: true,
    examine: Examine::Pair(examine_body),
};

fn examine_body(reference: &RunProfile, run: &RunProfile) -> Option<Seen> {
    let (a, b) = (&reference.work.bodies, &run.work.bodies);
    let is_changing = |bodies: &[LearntBody]| bodies.len() > 1;
    if a.is_empty()
        || b.is_empty()
        || is_changing(a)
        || is_changing(b)
        || a.iter().any(|body| b.contains(body))
    {
        return None;
    }
    let text =
        format!("the checksum of the body is {:08x} in A, {:08x} in {}", a[0].crc32, b[0].crc32, run.label);
    let is_checked = reference.load.validators.same_body && run.load.validators.same_body;
    if is_checked { Seen::refused(text) } else { Seen::warned(text) }
}

const VOLUME: Threshold = Threshold::new(
    "difference between the bytes received per response, including headers",
    0.005,
    "ratio",
    HOUSE,
);

/// C07.
pub(super) const OTHER_VOLUME: Gate = Gate {
    id: "C07",
    name: "other-volume",
    meaning: "The servers sent different numbers of bytes per response, including headers. Where no body was \
              recorded, this is all that is known about the page.",
    thresholds: &[VOLUME, OPERATION_VOLUME],
    remedy: "compare the headers of both, and remove those that only one sends",
    can_be_allowed: true,
    examine: Examine::Pair(examine_volume),
};

fn examine_volume(reference: &RunProfile, run: &RunProfile) -> Option<Seen> {
    let (a, b) = (reference.work.response_bytes?, run.work.response_bytes?);
    let apart = distance(Some(a), Some(b)).filter(|apart| *apart > VOLUME.value)?;
    let text = format!(
        "{} bytes per response in A, {} in {} ({} apart)",
        whole(a),
        whole(b),
        run.label,
        percent(apart)
    );
    let is_known = !reference.work.bodies.is_empty() && !run.work.bodies.is_empty();
    // Of several operations and of drawn sizes the mean varies by itself.
    let is_mixed = !run.load.workload.is_single() || run.load.wire.memcached.is_some();
    if is_mixed && apart <= OPERATION_VOLUME.value {
        return None;
    }
    if is_known || is_mixed { Seen::warned(text) } else { Seen::refused(text) }
}

const SHARE_NOTICED: Threshold =
    Threshold::new("difference between an operation's shares of the requests, to warn", 0.01, "ratio", HOUSE);
const SHARE_REFUSED: Threshold = Threshold::new(
    "difference between an operation's shares of the requests",
    0.02,
    "ratio",
    "Faban, deviation of the mix",
);
const OPERATION_VOLUME: Threshold = Threshold::new(
    "difference between the bytes received per response of an operation",
    0.05,
    "ratio",
    "house value; pages of one operation may vary",
);

/// C16.
pub(super) const OTHER_MIX: Gate = Gate {
    id: "C16",
    name: "other-mix",
    meaning: "One of several operations was more frequent in one run, or its responses were larger. Simulated users \
              are only warned about: their session has a rule on the mix, and what they fetch depends on their \
              caches.",
    thresholds: &[SHARE_NOTICED, SHARE_REFUSED, OPERATION_VOLUME],
    remedy: "measure longer, so that the shares approach the weights; serve the same pages from both",
    can_be_allowed: true,
    examine: Examine::Pair(examine_mix),
};

fn examine_mix(reference: &RunProfile, run: &RunProfile) -> Option<Seen> {
    let all = |run: &RunProfile| {
        run.analysis.operations.iter().map(|operation| operation.counts.sent as f64).sum::<f64>()
    };
    let sums = [all(reference), all(run)];
    let pairs = reference.analysis.operations.iter().filter_map(|one| {
        let other = run.analysis.operations.iter().find(|other| other.name == one.name)?;
        Some((one, other))
    });
    let seen = pairs.filter_map(|(one, other)| {
        let operation = name(&one.name);
        let share = |of: &OperationSummary, sum: f64| ratio(of.counts.sent as f64, sum);
        let bytes = |of: &OperationSummary| ratio(of.received_bytes as f64, of.counts.ok as f64);
        if let Some(apart) =
            distance(bytes(one), bytes(other)).filter(|apart| *apart > OPERATION_VOLUME.value)
        {
            return Seen::refused(format!(
                "responses to {operation} differ by {} in length in {}",
                percent(apart),
                run.label
            ));
        }
        let (a, b) = (share(one, sums[0])?, share(other, sums[1])?);
        let text =
            format!("{operation} was {} of the requests in A, {} in {}", percent(a), percent(b), run.label);
        match (a - b).abs() {
            apart if apart > SHARE_REFUSED.value => Seen::refused(text),
            apart if apart > SHARE_NOTICED.value => Seen::warned(text),
            _ => None,
        }
    });
    let worst = seen.max_by_key(|seen| seen.severity)?;
    match run.analysis.session {
        Some(_) => Seen::warned(worst.text),
        None => Some(worst),
    }
}
