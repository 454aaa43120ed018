//! Judges a diagnosis when the planted fault is known.

use sysdyno_record::analysis::{Confidence, Finding};
use sysdyno_record::judged::DiagnosisGrade;

/// What `findings` are worth, strongest first, where any of `planted` is right; none of them: all is well.
pub fn judge(findings: &[Finding], planted: &[String]) -> DiagnosisGrade {
    let held: Vec<&Finding> =
        findings.iter().filter(|finding| finding.confidence > Confidence::Excluded).collect();
    let is_likely = |finding: &&Finding| finding.confidence >= Confidence::Likely;
    match (held.first(), held.iter().position(|finding| planted.contains(&finding.id))) {
        (None, _) if planted.is_empty() => DiagnosisGrade::Right,
        (None, _) => DiagnosisGrade::Silent,
        (Some(first), Some(0)) if is_likely(first) => DiagnosisGrade::Right,
        (Some(_), Some(0)) => DiagnosisGrade::Suspected,
        (Some(_), Some(_)) => DiagnosisGrade::Second,
        (Some(_), None) if held.iter().any(is_likely) => DiagnosisGrade::Wrong,
        (Some(_), None) => DiagnosisGrade::Doubtful,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(id: &str, confidence: Confidence) -> Finding {
        Finding {
            id: id.into(),
            name: String::new(),
            host: None,
            confidence,
            title: String::new(),
            evidence: Vec::new(),
            remedy: None,
            counterfactual: String::new(),
            explained_ratio: None,
        }
    }

    #[test]
    fn the_first_that_is_likely_has_to_be_what_was_planted() {
        use Confidence::{Excluded, Likely, Possible};
        let planted = ["T01".to_owned(), "L01".to_owned()];
        let both = |findings: &[(&str, Confidence)]| {
            let findings: Vec<Finding> = findings.iter().map(|(id, sure)| finding(id, *sure)).collect();
            (judge(&findings, &planted), judge(&findings, &[]))
        };
        assert_eq!(both(&[("T01", Likely), ("C13", Likely)]), (DiagnosisGrade::Right, DiagnosisGrade::Wrong));
        assert_eq!(both(&[("L01", Possible)]), (DiagnosisGrade::Suspected, DiagnosisGrade::Doubtful));
        assert_eq!(
            both(&[("C13", Likely), ("T01", Likely)]),
            (DiagnosisGrade::Second, DiagnosisGrade::Wrong)
        );
        assert_eq!(
            both(&[("C13", Likely), ("T01", Excluded)]),
            (DiagnosisGrade::Wrong, DiagnosisGrade::Wrong)
        );
        assert_eq!(both(&[("C13", Possible)]), (DiagnosisGrade::Doubtful, DiagnosisGrade::Doubtful));
        assert_eq!(both(&[("T01", Excluded)]), (DiagnosisGrade::Silent, DiagnosisGrade::Right));
    }
}
