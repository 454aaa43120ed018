//! The text of error pages: applications often name there the cause of the failure.

use super::logs::known::{self, OF_RESPONSES, OF_SERVERS};
use super::{Case, ENGINE, Examination, Place, Reach, Rule, Scene, evidence};
use crate::format::{counted, percent};
use crate::readings::ratio;
use crate::threshold::{HOUSE, Threshold};
use crate::verdict::ANSWERED_CLASSES;
use sysdyno_record::analysis::EvidenceRole;
use sysdyno_record::load::FailureClass;

const ANSWERED: Threshold =
    Threshold::new("wrong responses of one kind ÷ requests that failed or timed out", 0.5, "ratio", HOUSE);

/// L03.
pub(super) const SAID: Rule = Rule {
    id: "L03",
    name: "error-response",
    meaning: "The server says in its error pages why requests fail.",
    thresholds: &[ANSWERED],
    place: Place::Elsewhere,
    needs: &[],
    remedy: "read the response: it says what failed",
    counterfactual: "with that cause removed, as many requests would fail",
    examine: Examination::By(examine),
};

/// The most frequent wrong response whose words are known.
fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let view = &scene.focus;
    let measured = view.measured();
    let said = |class: &FailureClass| {
        let (text, count) = (measured.told.of(*class)?, *measured.failures.get(class)?);
        let known = known::find(text, OF_RESPONSES).or_else(|| known::find(text, OF_SERVERS))?;
        Some((count as f64, text, known))
    };
    let (count, text, known) =
        ANSWERED_CLASSES.iter().filter_map(said).max_by(|one, other| one.0.total_cmp(&other.0))?;
    let window = view.steady();
    let failed = view.counts().failed as f64 + view.counts().timed_out as f64;
    let mut found = vec![evidence(EvidenceRole::Mechanism, &window, ENGINE, text.to_owned())];
    if let Some(part) = ratio(count, failed).filter(|part| *part >= ANSWERED.value) {
        let text =
            format!("{} failed, {} of them like this", counted(failed, "request"), percent(part.min(1.0)));
        found.push(evidence(EvidenceRole::Confirmer, &window, ENGINE, text));
    }
    if known.is_symptom {
        let text = "it tells that another tier failed or was slow, not why".to_owned();
        found.push(evidence(EvidenceRole::Against, &window, ENGINE, text));
    }
    let said = text.strip_prefix("it ").unwrap_or(text);
    let reach = Reach { failures: count, events: Some(count), ..Reach::default() };
    let case = Case::new(format!("{}: the server {said}", known.cause), found, reach);
    Some(Case { remedy: Some(known.remedy.to_owned()), ..case })
}

#[cfg(test)]
mod tests {
    use crate::corpus::Specimen;
    use crate::findings::tests::{conclude, slow};
    use sysdyno_record::analysis::{Confidence, Finding};
    use sysdyno_record::load::FailureClass;

    fn told(text: &str, count: u64) -> Option<Finding> {
        let case: Specimen = slow().fail(FailureClass::Status, count).edit(|case| {
            case.end.summary.measured.told.note(FailureClass::Status, || text.to_owned());
        });
        conclude(case).into_iter().find(|finding| finding.id == "L03")
    }

    #[test]
    fn an_error_page_that_names_its_cause_is_believed() {
        let finding =
            told("it answered 500 'Database error: Too many connections'", 5_000).expect("a finding");
        assert_eq!(finding.confidence, Confidence::Likely, "{finding:?}");
        assert!(
            finding
                .title
                .starts_with("The database refuses connections beyond its limit: the server answered")
        );
        assert!(finding.remedy.is_some_and(|remedy| remedy.contains("max_connections")));
        let page = "it answered 500 'Error establishing a database connection'";
        assert!(told(page, 5_000).is_some_and(|finding| finding.confidence == Confidence::Likely));
    }

    #[test]
    fn what_follows_from_a_cause_is_no_cause_and_other_words_say_nothing() {
        let late = told("it answered 502 'recv() failed'", 5_000).expect("a finding");
        assert_eq!(late.confidence, Confidence::Possible, "{late:?}");
        assert!(told("it answered 404 'Not Found'", 5_000).is_none());
        let few = told("it answered 500 'Too many connections'", 2).expect("a finding");
        assert_eq!(few.confidence, Confidence::Possible, "two are an accident");
    }
}
