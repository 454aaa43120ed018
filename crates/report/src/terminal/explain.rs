//! Explains a run's bottleneck: the request path, every diagnosis with its evidence, what was excluded and by which number,
//! and what could not be checked. Nothing is left out, however short the terminal.

use super::screen::{Rank, Screen};
use super::style::{Style, Tone};
use super::{answer, path, verdict};
use crate::input::ReportInput;
use sysdyno_record::analysis::{Confidence, EvidenceRole, Finding};

/// The explanation of a run; ends with a newline.
pub fn render_explanation(input: &ReportInput<'_>, style: &Style) -> String {
    let mut screen = Screen::new(Style { rows: None, ..*style });
    verdict::draw(input, &mut screen);
    let analysis = input.analysis;
    if !analysis.limit.is_empty() {
        screen.answer((Tone::Quiet, "Bottleneck"), (Tone::Strong, &analysis.limit));
    }
    path::draw(input, &mut screen);
    let (excluded, held): (Vec<&Finding>, Vec<&Finding>) =
        analysis.findings.iter().partition(|finding| finding.confidence == Confidence::Excluded);
    held.iter().for_each(|finding| draw_finding(finding, input, &mut screen));
    if !excluded.is_empty() {
        screen.gap();
        screen.push(Rank::Needed, screen.style().dress(Tone::Quiet, "  Ruled out"));
    }
    for finding in excluded {
        let against = finding.evidence.iter().find(|evidence| evidence.role == EvidenceRole::Against);
        let text = against.map_or(finding.title.as_str(), |evidence| evidence.text.as_str());
        screen.sentence(
            Rank::Needed,
            (Tone::Quiet, &finding.id),
            (Tone::Plain, &format!("{}: {text}", finding.name)),
        );
    }
    if !analysis.unchecked.is_empty() {
        screen.gap();
        screen.push(Rank::Needed, screen.style().dress(Tone::Quiet, "  Not checked"));
    }
    for item in &analysis.unchecked {
        let text = format!("{}: {}", item.name, item.reason);
        screen.sentence(Rank::Needed, (Tone::Quiet, &item.id), (Tone::Plain, &text));
    }
    screen.finish()
}

/// One diagnosis that holds or may hold, with all that speaks for and against it.
fn draw_finding(finding: &Finding, input: &ReportInput<'_>, screen: &mut Screen) {
    screen.gap();
    let title = format!("{} ({}, {})", finding.title, finding.name, finding.id);
    screen.sentence(Rank::Needed, answer::certainty(finding.confidence), (Tone::Strong, &title));
    let origin = input.folder.manifest.clock.mono_ns;
    finding.evidence.iter().for_each(|evidence| answer::draw_signal(evidence, origin, Rank::Needed, screen));
    if let Some(remedy) = &finding.remedy {
        screen.sentence(Rank::Needed, (Tone::Quiet, "to change"), (Tone::Plain, remedy));
    }
    screen.sentence(Rank::Needed, (Tone::Quiet, "disproof"), (Tone::Plain, &finding.counterfactual));
}

/// What a diagnosis is, for people.
#[derive(Debug)]
pub struct Diagnosis<'a> {
    /// Its number, e.g. `T01`.
    pub id: &'a str,
    /// Its short name.
    pub name: &'a str,
    /// What it means, in a sentence.
    pub meaning: &'a str,
    /// What it compares with, each in a phrase.
    pub limits: Vec<String>,
    /// What it reads, each with its file.
    pub readings: Vec<String>,
    /// What could be changed.
    pub remedy: &'a str,
    /// What would disprove it; `None`: it is a check of the verdict, which nothing has to disprove.
    pub counterfactual: Option<&'a str>,
}

/// All diagnoses, one line each; ends with a newline.
pub fn render_diagnoses(diagnoses: &[Diagnosis<'_>], style: &Style) -> String {
    let mut screen = Screen::new(Style { rows: None, ..*style });
    for diagnosis in diagnoses {
        let text = format!("{}: {}", diagnosis.name, diagnosis.meaning);
        screen.sentence(Rank::Needed, (Tone::Strong, diagnosis.id), (Tone::Plain, &text));
    }
    screen.finish()
}

/// One diagnosis; ends with a newline.
pub fn render_diagnosis(diagnosis: &Diagnosis<'_>, style: &Style) -> String {
    let mut screen = Screen::new(Style { rows: None, ..*style });
    let title = format!("{}: {}", diagnosis.name, diagnosis.meaning);
    screen.sentence(Rank::Needed, (Tone::Strong, diagnosis.id), (Tone::Strong, &title));
    draw_list("reads", &diagnosis.readings, &mut screen);
    draw_list("limits", &diagnosis.limits, &mut screen);
    screen.sentence(Rank::Needed, (Tone::Quiet, "to change"), (Tone::Plain, diagnosis.remedy));
    if let Some(counterfactual) = diagnosis.counterfactual {
        screen.sentence(Rank::Needed, (Tone::Quiet, "disproof"), (Tone::Plain, counterfactual));
    }
    screen.finish()
}

fn draw_list(label: &str, lines: &[String], screen: &mut Screen) {
    for (position, line) in lines.iter().enumerate() {
        let label = if position == 0 { label } else { "" };
        screen.sentence(Rank::Needed, (Tone::Quiet, label), (Tone::Plain, line));
    }
}
