//! Does an independent client see the same as the load? The probe has its own connection, thread, and schedule.

use super::check::{Check, Culprit, Examine, Observation};
use crate::format::{counted, duration, percent};
use crate::probe::ProbeTally;
use crate::threshold::{HOUSE, Threshold};
use crate::view::TrialView;
use sysdyno_record::load::LatencySummary;
use sysdyno_record::probe::{ProbeKind, ProbeSummary};
use sysdyno_stats::proportion::wilson;

const REPLIES: Threshold = Threshold::new(
    "probes in the measured phases, for medians to be compared",
    20.0,
    "count",
    "a median needs ten samples beyond it",
);
const TIMES: Threshold = Threshold::new(
    "longer ÷ shorter median, between the nearer ends of their 95% intervals (the medians, where unknown)",
    1.5,
    "ratio",
    HOUSE,
);
const MARGIN: Threshold = Threshold::new(
    "longer − shorter median, likewise",
    1e6,
    "ns",
    "house value: the cost of waking up ten times a second on an idle or busy CPU",
);
const LOSS: Threshold = Threshold::new(
    "share of lost probes, at the lower end of its 95% interval, above that of the load",
    0.02,
    "ratio",
    HOUSE,
);

/// Level of the intervals.
const LEVEL: f64 = 0.95;

/// V40.
pub(super) const DISAGREES: Check = Check {
    id: "V40",
    name: "outsider-disagrees",
    meaning: "The probe saw different latencies or failures than the open load's own requests. Either the \
              generator's view is distorted, or the server treats new clients differently.",
    thresholds: &[REPLIES, TIMES, MARGIN, LOSS],
    remedy: "check slip and connections (with too few, only the load has to wait), per-client limits, and \
             the accept queue; repeat with the probe on another host",
    blame: Culprit::Server,
    concerns: &[],
    examine: Examine::Trial(examine),
};

/// Times are compared from the actual send: that the probe's own thread was late is not the server's doing.
fn examine(view: &TrialView) -> Option<Observation> {
    let plan = view.plan().probe.filter(|plan| plan.kind == ProbeKind::Http && view.is_open())?;
    let probe = ProbeTally::of_measured(view).summary(&plan);
    let ended = probe.sent_count - probe.in_flight_count.min(probe.sent_count);
    if (ended as f64) < REPLIES.value {
        return Observation::remark(format!(
            "too few probes to compare with the load: {} in the measured phases, {} needed",
            counted(ended as f64, "operation"),
            REPLIES.value
        ));
    }
    let waited = waits(&probe.service_time_ns, &view.summary(view.felt_kind()));
    let lost = losses(&probe, view);
    match (waited, lost) {
        (None, None) => None,
        (waited, lost) => {
            let texts: Vec<String> = waited.into_iter().chain(lost).collect();
            Observation::suspect(texts.join("; "))
        }
    }
}

/// How the medians differ; `None`: not beyond their intervals and the margins.
fn waits(probe: &LatencySummary, load: &LatencySummary) -> Option<String> {
    let (mine, theirs) = (Middle::of(probe)?, Middle::of(load)?);
    // Of a lower bound it is not known how far it lies above the other.
    let is_longer = mine.is_beyond(&theirs) && !theirs.is_bound;
    let is_shorter = theirs.is_beyond(&mine) && !mine.is_bound;
    (is_longer || is_shorter).then(|| {
        let (mine, theirs) = (mine.text(), theirs.text());
        format!("median latency: probe {mine}, load {theirs} (with 95% intervals where known)")
    })
}

/// A median with its interval, of no width where it is not known. Unit: nanoseconds.
struct Middle {
    median: f64,
    low: f64,
    high: f64,
    has_interval: bool,
    is_bound: bool,
}

impl Middle {
    fn of(summary: &LatencySummary) -> Option<Middle> {
        let median = summary.p50?;
        let [low, high] = summary.p50_interval.unwrap_or([median; 2]);
        let is_bound = summary.censored_min_ns.is_some_and(|least| median >= least);
        let has_interval = summary.p50_interval.is_some();
        Some(Middle { median: median as f64, low: low as f64, high: high as f64, has_interval, is_bound })
    }

    fn is_beyond(&self, other: &Middle) -> bool {
        self.low > TIMES.value * other.high && self.low - other.high > MARGIN.value
    }

    fn text(&self) -> String {
        let sign = if self.is_bound { "at least " } else { "" };
        let median = duration(self.median);
        if self.has_interval {
            format!("{sign}{median} ({}–{})", duration(self.low), duration(self.high))
        } else {
            format!("{sign}{median}")
        }
    }
}

/// How the losses differ; what the probe could not send is not the server's doing.
fn losses(probe: &ProbeSummary, view: &TrialView) -> Option<String> {
    let lost = probe.timed_out_count + probe.failed_count;
    let all = lost + probe.received_count;
    let mine = wilson(lost, all, LEVEL)?;
    let counts = view.counts();
    let missed = counts.failed.saturating_add(counts.timed_out).saturating_add(counts.unsent);
    let theirs = wilson(missed.min(counts.scheduled), counts.scheduled, LEVEL)?;
    (mine.low > theirs.high + LOSS.value).then(|| {
        format!(
            "{lost} of {} by the probe were lost; the load lost {}",
            counted(all as f64, "operation"),
            percent(theirs.point)
        )
    })
}
