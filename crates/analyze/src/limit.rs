//! The sentence about the bottleneck: wrong answers first, then the bottleneck, then what could not be checked.

use crate::format::percent;
use crate::path::largest_part;
use crate::readings::ratio;
use crate::threshold::{HOUSE, Threshold};
use crate::verdict::ANSWERED_CLASSES;
use crate::view::TrialView;
use sysdyno_record::analysis::{
    Capacity, Confidence, EndedBy, EvidenceRole, Finding, Unchecked, Verdict, VerdictStatus,
};

/// Most exclusions that are named when no limit was found.
const EXCLUSIONS_MAX: usize = 3;

/// Wrong answers that are named before any limit. Unit: ratio.
const WRONG_FIRST: Threshold =
    Threshold::new("share of wrong responses that is mentioned before any bottleneck", 0.01, "ratio", HOUSE);

/// A possible limit that is named in the sentence about the limit.
const WORTH_NAMING: Threshold = Threshold::new(
    "share of failed or slow requests that a possible bottleneck must explain, to be mentioned",
    0.1,
    "ratio",
    HOUSE,
);

/// What the sentence is made of.
pub(crate) struct LimitScene<'a> {
    /// The trial that shows the limit.
    pub(crate) focus: &'a TrialView<'a>,
    pub(crate) findings: &'a [Finding],
    /// What users noticed, in a clause; `None`: nothing.
    pub(crate) noticed: Option<String>,
    pub(crate) unchecked: &'a [Unchecked],
    pub(crate) capacity: Option<&'a Capacity>,
    pub(crate) verdict: &'a Verdict,
}

/// What stops the server, or that nothing was found.
pub(crate) fn limit(scene: &LimitScene) -> String {
    let stop = of_server(scene);
    let wrong = wrong_answers(scene.focus).map_or(String::new(), |wrong| format!("{wrong}. "));
    let blind = if stop.is_named { String::new() } else { not_checked(scene.unchecked) };
    format!("{wrong}{}{blind}", stop.text)
}

/// A sentence about the limit, and whether it names one.
struct Stop {
    text: String,
    is_named: bool,
}

impl Stop {
    fn named(text: String) -> Stop {
        Stop { text, is_named: true }
    }

    fn unknown(text: String) -> Stop {
        Stop { text, is_named: false }
    }
}

/// That many answers are wrong, and what the server said in most of them; `None`: few are.
fn wrong_answers(view: &TrialView) -> Option<String> {
    let failures = &view.measured().failures;
    let wrong = ANSWERED_CLASSES.iter().filter_map(|class| Some((*class, *failures.get(class)?)));
    let wrong: Vec<_> = wrong.filter(|(_, count)| *count > 0).collect();
    let all: f64 = wrong.iter().map(|(_, count)| *count as f64).sum();
    let answers = view.counts().ok as f64 + all;
    let share = ratio(all, answers).filter(|share| *share >= WRONG_FIRST.value)?;
    let (class, _) = wrong.into_iter().max_by_key(|(_, count)| *count)?;
    let said = match view.measured().told.of(class) {
        Some(clause) => {
            clause.strip_prefix("it ").map_or(clause.to_owned(), |rest| format!("the server {rest}"))
        }
        None => class.meaning().trim_end_matches('.').to_owned(),
    };
    Some(format!("{} of the responses are wrong: {said}", percent(share)))
}

/// Limits that may be there unseen, and why.
fn not_checked(unchecked: &[Unchecked]) -> String {
    let parts: Vec<String> =
        unchecked.iter().map(|item| format!("{} ({}): {}", item.name, item.id, item.reason)).collect();
    if parts.is_empty() { String::new() } else { format!(". Not checked: {}", parts.join("; ")) }
}

/// The limit by the findings.
fn of_server(scene: &LimitScene) -> Stop {
    let LimitScene { findings, capacity, verdict, .. } = *scene;
    let is_ended_by = |end: EndedBy| capacity.is_some_and(|capacity| capacity.ended_by == end);
    if is_ended_by(EndedBy::NothingCarried) {
        return Stop::unknown("No rate was carried, so no bottleneck can be named".to_owned());
    }
    // A generator that may have been the limit leaves nothing to be said of the server, unless something speaks against it.
    let is_argued =
        |finding: &Finding| finding.evidence.iter().any(|item| item.role == EvidenceRole::Against);
    let generator = findings
        .iter()
        .find(|finding| finding.id.starts_with('G') && finding.confidence > Confidence::Excluded);
    let generator = generator.filter(|finding| !is_argued(finding));
    if let Some(finding) =
        generator.or_else(|| findings.iter().find(|finding| finding.confidence >= Confidence::Likely))
    {
        return Stop::named(with_evidence(finding));
    }
    if is_ended_by(EndedBy::Ceiling) {
        let text = "No bottleneck was reached: the server carried the highest allowed rate";
        return Stop::named(text.to_owned());
    }
    let is_possible = |finding: &&Finding| finding.confidence == Confidence::Possible && !is_beside(finding);
    if let Some(finding) = findings.iter().find(is_possible) {
        return Stop::unknown(format!("Possibly: {}", placed(finding)));
    }
    let part = scene.noticed.as_ref().and_then(|_| largest_part(scene.focus));
    let seen = part.or_else(|| exclusions(findings)).map_or(String::new(), |seen| format!(": {seen}"));
    let is_invalid = verdict.status == VerdictStatus::Invalid;
    if is_invalid {
        return Stop::unknown(format!("No bottleneck can be named{seen}"));
    }
    let host = findings.iter().find_map(|finding| finding.host.as_deref()).unwrap_or("this host");
    let although = scene.noticed.as_ref().map_or(String::new(), |noticed| format!(", although {noticed}"));
    Stop::unknown(format!("No bottleneck found on {host}{although}{seen}"))
}

/// What speaks against the first diagnoses that were excluded; `None`: nothing was.
fn exclusions(findings: &[Finding]) -> Option<String> {
    let excluded = findings.iter().filter(|finding| finding.confidence == Confidence::Excluded);
    let against = excluded.filter_map(|finding| {
        finding.evidence.iter().find(|evidence| evidence.role == EvidenceRole::Against)
    });
    let texts: Vec<&str> = against.map(|evidence| evidence.text.as_str()).take(EXCLUSIONS_MAX).collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

/// Whether it is there, and accounts for next to nothing of what the user noticed.
fn is_beside(finding: &Finding) -> bool {
    finding.explained_ratio.is_some_and(|explained| explained < WORTH_NAMING.value)
}

/// A finding's title, behind the name of its host where there are two.
fn placed(finding: &Finding) -> String {
    match &finding.host {
        Some(host) => format!("On {host}: {}", finding.title),
        None => finding.title.clone(),
    }
}

/// A finding's title with what an experiment showed of it, or else its first independent signal.
fn with_evidence(finding: &Finding) -> String {
    let of_role = |role: EvidenceRole| finding.evidence.iter().find(move |evidence| evidence.role == role);
    let title = placed(finding);
    if let Some(proof) =
        of_role(EvidenceRole::Experiment).filter(|_| finding.confidence == Confidence::Confirmed)
    {
        return format!("{title}. Proved: {}", proof.text);
    }
    match of_role(EvidenceRole::Confirmer) {
        Some(confirmer) if !title.contains(&confirmer.text) => format!("{title} ({})", confirmer.text),
        _ => title,
    }
}
