//! How good the diagnoses of planted faults were: each case, what was named instead of the fault, and how often the
//! diagnosis was right.

use super::screen::{Rank, Screen};
use super::style::{Style, Tone};
use std::collections::BTreeMap;
use sysdyno_record::judged::{DiagnosisGrade, JudgedCase};

/// All cases; ends with a newline.
pub fn render_judged(cases: &[JudgedCase], style: &Style) -> String {
    let mut screen = Screen::new(Style { rows: None, ..*style });
    let (well, ill): (Vec<&JudgedCase>, Vec<&JudgedCase>) =
        cases.iter().partition(|case| case.fault.is_none());
    let groups = [("planted", &ill), ("healthy", &well)].into_iter().filter(|(_, group)| !group.is_empty());
    for (label, group) in groups.clone() {
        group.iter().for_each(|case| draw_case(case, label, &mut screen));
        screen.gap();
    }
    draw_confusion(&ill, &mut screen);
    for (label, group) in groups {
        let text = counts(group);
        let is_good = group.iter().all(|case| case.grade == DiagnosisGrade::Right);
        let tone = if is_good { Tone::Good } else { Tone::Strong };
        screen.sentence(Rank::Needed, (Tone::Quiet, label), (tone, &text));
    }
    screen.finish()
}

fn draw_case(case: &JudgedCase, label: &str, screen: &mut Screen) {
    let (tone, rest) = match case.grade {
        DiagnosisGrade::Right => (Tone::Good, case.named.clone().unwrap_or_default()),
        DiagnosisGrade::Wrong => (Tone::Bad, case.limit.clone()),
        _ => (Tone::Doubtful, case.limit.clone()),
    };
    let gap = if rest.is_empty() { "" } else { ": " };
    let text = format!("{}: {}{gap}{rest}", case.name, case.grade.name());
    screen.sentence(Rank::Needed, (tone, label), (Tone::Plain, &text));
}

/// What was named for what: `F04: 2 x F04, 1 x C13`.
fn draw_confusion(ill: &[&JudgedCase], screen: &mut Screen) {
    let mut matrix: BTreeMap<String, BTreeMap<&str, usize>> = BTreeMap::new();
    for case in ill {
        let named = case.named.as_deref().unwrap_or("nothing");
        *matrix.entry(case.planted.join(" or ")).or_default().entry(named).or_default() += 1;
    }
    for (planted, named) in &matrix {
        let named: Vec<String> = named.iter().map(|(id, count)| format!("{count} x {id}")).collect();
        let text = format!("{planted}: {}", named.join(", "));
        screen.sentence(Rank::Needed, (Tone::Quiet, "named for"), (Tone::Plain, &text));
    }
    if !matrix.is_empty() {
        screen.gap();
    }
}

/// `41 of 45 right (91%); 2 suspected, 2 silent`.
fn counts(group: &[&JudgedCase]) -> String {
    let count = |grade| group.iter().filter(|case| case.grade == grade).count();
    let right = count(DiagnosisGrade::Right);
    let others = DiagnosisGrade::ALL.into_iter().skip(1).filter(|grade| count(*grade) > 0);
    let others: Vec<String> = others.map(|grade| format!("{} {}", count(grade), grade.name())).collect();
    let percent = 100.0 * right as f64 / group.len().max(1) as f64;
    let rest = if others.is_empty() { String::new() } else { format!("; {}", others.join(", ")) };
    format!("{right} of {} right ({percent:.0}%){rest}", group.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn case(name: &str, fault: Option<&str>, named: Option<&str>, grade: DiagnosisGrade) -> JudgedCase {
        JudgedCase {
            name: name.into(),
            fault: fault.map(str::to_owned),
            level: usize::from(fault.is_some()),
            planted: fault.map(|_| "F04".to_owned()).into_iter().collect(),
            named: named.map(str::to_owned),
            grade,
            limit: named.map_or(String::new(), |id| format!("it is {id}")),
            run: PathBuf::from("/runs/1"),
        }
    }

    #[test]
    fn what_was_named_for_what_is_counted() {
        let cases = [
            case("pool 1", Some("pool"), Some("F04"), DiagnosisGrade::Right),
            case("pool 2", Some("pool"), Some("C13"), DiagnosisGrade::Wrong),
            case("half load", None, None, DiagnosisGrade::Right),
        ];
        let text = render_judged(&cases, &Style { width_columns: 80, ..Style::default() });
        for line in [
            "pool 1: right: F04",
            "pool 2: wrong: it is C13",
            "half load: right",
            "F04: 1 x C13, 1 x F04",
            "1 of 2 right (50%); 1 wrong",
            "1 of 1 right (100%)",
        ] {
            assert!(text.lines().any(|shown| shown.trim_end().ends_with(line)), "{line} is not in\n{text}");
        }
    }
}
