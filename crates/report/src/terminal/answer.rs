//! The two answers of a run: how much load the server takes, and what keeps it from taking more.

use super::screen::{Piece, Rank, Screen};
use super::style::Tone;
use crate::input::{CapacityClaim, ReportInput, capacity_claim};
use crate::number;
use sysdyno_record::analysis::{
    Capacity, CapacityBasis, Confidence, EndedBy, Evidence, EvidenceRole, Finding, VerdictStatus,
};
use sysdyno_record::units::MonoNs;
use sysdyno_record::workload::Headroom;

pub(super) fn draw(input: &ReportInput<'_>, screen: &mut Screen) {
    let claim = capacity_claim(input.analysis);
    if claim == CapacityClaim::NotSought && input.analysis.limit.is_empty() {
        return;
    }
    screen.gap();
    draw_capacity(input, claim, screen);
    if let Some(headroom) = &input.analysis.headroom {
        screen.sentence(Rank::Needed, (Tone::Quiet, "Headroom"), (Tone::Strong, &times_of_traffic(headroom)));
    }
    if input.analysis.limit.is_empty() {
        return;
    }
    screen.answer((Tone::Quiet, "Bottleneck"), (Tone::Strong, &input.analysis.limit));
    let Some(finding) =
        input.analysis.findings.first().filter(|first| first.confidence != Confidence::Excluded)
    else {
        return;
    };
    draw_evidence(finding, input.folder.manifest.clock.mono_ns, screen);
    if let Some(remedy) = &finding.remedy {
        screen.sentence(Rank::Useful, (Tone::Quiet, "to change"), (Tone::Plain, remedy));
    }
}

fn draw_capacity(input: &ReportInput<'_>, claim: CapacityClaim<'_>, screen: &mut Screen) {
    let label = (Tone::Quiet, "Capacity");
    match claim {
        CapacityClaim::NotSought => {}
        CapacityClaim::Estimate(capacity, rate_hz) => {
            let (rate, interval) = estimate(capacity, rate_hz);
            let rest = format!(" {interval}{}", at_objective(capacity));
            screen.row(Rank::Needed, label, &[(Tone::Strong, &rate), (Tone::Plain, &rest)]);
            draw_certificate(capacity, screen);
        }
        CapacityClaim::AtLeast(capacity, rate_hz) => {
            let rate = format!("at least {}", number::rate(rate_hz));
            let rest = format!("{}; {}", at_objective(capacity), ending(capacity.ended_by));
            screen.row(Rank::Needed, label, &[(Tone::Strong, &rate), (Tone::Plain, &rest)]);
            draw_certificate(capacity, screen);
        }
        CapacityClaim::Bounds(capacity, met_hz) => {
            let missed = capacity
                .high_hz
                .map_or(String::new(), |missed_hz| format!(", not {}", number::rate(missed_hz)));
            let seen = format!("carried {}{missed}", number::rate(met_hz));
            let rest = format!(
                "{}; {}, so the capacity is not known",
                at_objective(capacity),
                ending(capacity.ended_by)
            );
            screen.row(Rank::Needed, label, &[(Tone::Strong, &seen), (Tone::Plain, &rest)]);
        }
        CapacityClaim::Withheld(_) if input.analysis.verdict.status == VerdictStatus::Invalid => {
            screen.row(
                Rank::Needed,
                label,
                &[(Tone::Strong, "not known"), (Tone::Plain, ": the run is INVALID")],
            );
        }
        CapacityClaim::Withheld(capacity) => {
            let rest = format!("{}; {}", at_objective(capacity), ending(capacity.ended_by));
            screen.row(Rank::Needed, label, &[(Tone::Strong, "none found"), (Tone::Plain, &rest)]);
        }
    }
}

/// How many times real traffic the capacity is: of its busiest minute first, then of its busiest hour and second.
fn times_of_traffic(headroom: &Headroom) -> String {
    let need = &headroom.need;
    let file = need.file.rsplit('/').next().unwrap_or(&need.file);
    let part = |times: Option<f64>, need_hz: Option<f64>, what: &str| {
        let (times, need_hz) = times.zip(need_hz)?;
        Some(format!("{} × {what} ({})", number::significant(times, 2), number::rate(need_hz)))
    };
    let minute = part(headroom.minute_ratio, need.minute_hz, "the busiest minute");
    let hour = part(headroom.hour_ratio, need.hour_hz, "the busiest hour");
    let second = part(Some(headroom.second_ratio), Some(need.second_hz), "the busiest second");
    let mut parts: Vec<String> = [minute, hour, second].into_iter().flatten().collect();
    if let Some(first) = parts.first_mut() {
        first.push_str(&format!(" of {file}"));
        if headroom.is_lower_bound {
            first.insert_str(0, "at least ");
        }
    }
    parts.join(" · ")
}

/// The rate and, in brackets, how well it is known.
fn estimate(capacity: &Capacity, rate_hz: f64) -> (String, String) {
    match (capacity.low_hz, capacity.high_hz) {
        (Some(low_hz), Some(high_hz)) => {
            let written = number::rate_interval(rate_hz, low_hz, high_hz);
            let ends = match capacity.basis {
                CapacityBasis::Confidence => format!("(95% interval {}–{})", written.low, written.high),
                CapacityBasis::Enclosure => format!("(between {} and {})", written.low, written.high),
            };
            (format!("{} req/s", written.rate), ends)
        }
        (Some(low_hz), None) => (
            number::rate(rate_hz),
            format!("(95% interval from {}, open above)", number::significant(low_hz, 4)),
        ),
        (None, Some(high_hz)) => (
            number::rate(rate_hz),
            format!("(95% interval up to {}, open below)", number::significant(high_hz, 4)),
        ),
        (None, None) => (number::rate(rate_hz), "(no interval)".to_owned()),
    }
}

fn at_objective(capacity: &Capacity) -> String {
    if capacity.objective.is_empty() {
        String::new()
    } else {
        format!(" at {}", number::objective(&capacity.objective))
    }
}

fn draw_certificate(capacity: &Capacity, screen: &mut Screen) {
    let Some(certified_hz) = capacity.certified_hz else { return };
    let passes = capacity.certified_passes;
    let noun = if passes == 1 { "pass" } else { "passes" };
    let rate = number::rate(certified_hz);
    let text = format!("{} · {rate} certified by {passes} fresh {noun}", ending(capacity.ended_by));
    screen.row(Rank::Extra, (Tone::Plain, ""), &[(Tone::Quiet, &text)]);
}

/// Why there is no higher rate, as the end of a sentence.
pub(crate) fn ending(ended_by: EndedBy) -> &'static str {
    match ended_by {
        EndedBy::Objective => "above it, the objective is missed",
        EndedBy::AchievedRate => "above it, completions fall behind the offered rate",
        EndedBy::Errors => "above it, too many requests fail",
        EndedBy::Generator => "the generator could not send more",
        EndedBy::Ceiling => "no higher rate was allowed",
        EndedBy::Interrupted => "the search was stopped early",
        EndedBy::Saturation => "more connections did not raise the rate",
        EndedBy::NothingCarried => "no rate met the objective",
    }
}

/// What it rests on, the first signal behind how certain it is.
fn draw_evidence(finding: &Finding, origin: MonoNs, screen: &mut Screen) {
    let in_favor = |evidence: &&Evidence| evidence.role != EvidenceRole::Against;
    for (position, evidence) in finding.evidence.iter().filter(in_favor).enumerate() {
        let (rank, label) = match position {
            0 => (Rank::Needed, certainty(finding.confidence)),
            _ => (Rank::Extra, (Tone::Quiet, role_name(evidence.role))),
        };
        draw_labeled(label, evidence, origin, rank, screen);
    }
}

/// The word for how certain a finding is.
pub(super) fn certainty(confidence: Confidence) -> Piece<'static> {
    match confidence {
        Confidence::Confirmed => (Tone::Bad, "confirmed"),
        Confidence::Likely => (Tone::Bad, "likely"),
        Confidence::Possible => (Tone::Doubtful, "possible"),
        Confidence::Excluded => (Tone::Quiet, "ruled out"),
    }
}

/// One signal, with its part in the argument and its seconds.
pub(super) fn draw_signal(evidence: &Evidence, origin: MonoNs, rank: Rank, screen: &mut Screen) {
    draw_labeled((Tone::Quiet, role_name(evidence.role)), evidence, origin, rank, screen);
}

fn draw_labeled(label: Piece<'_>, evidence: &Evidence, origin: MonoNs, rank: Rank, screen: &mut Screen) {
    let begin_seconds = evidence.begin_mono_ns.seconds_since(origin);
    let end_seconds = evidence.end_mono_ns.seconds_since(origin);
    let text = format!("{begin_seconds:.0}–{end_seconds:.0} s: {}", evidence.text);
    screen.sentence(rank, label, (Tone::Plain, &text));
}

/// The word for the part of a signal in an argument.
fn role_name(role: EvidenceRole) -> &'static str {
    match role {
        EvidenceRole::Mechanism => "mechanism",
        EvidenceRole::Confirmer => "supported",
        EvidenceRole::Effect => "effect",
        EvidenceRole::Against => "against",
        EvidenceRole::Experiment => "tried",
    }
}
