//! `sysdyno explain`: why a run has the bottleneck that it has, and what a diagnosis means.

use super::{show, tryout};
use crate::args::ExplainArgs;
use crate::exit::Exit;
use crate::ui::Ui;
use anyhow::{anyhow, bail};
use serde::Serialize;
use sysdyno_analyze::analyze;
use sysdyno_analyze::findings::{RULES, Rule};
use sysdyno_analyze::verdict::{CHECKS, Check};
use sysdyno_record::analysis::{Analysis, Finding, Unchecked};
use sysdyno_record::path::PathTier;
use sysdyno_record::plan::Plan;
use sysdyno_report::ReportInput;
use sysdyno_report::terminal::{Diagnosis, render_diagnoses, render_diagnosis, render_explanation};

pub fn explain(args: ExplainArgs, ui: &Ui) -> anyhow::Result<Exit> {
    if args.list {
        print_list(args.json, ui)?;
        return Ok(Exit::Done);
    }
    let named = args.what.as_ref().and_then(|what| what.to_str()).and_then(find);
    match named {
        Some(diagnosis) if args.json => ui.print_json(&DiagnosisDocument::of(&diagnosis))?,
        Some(diagnosis) => ui.print(&render_diagnosis(&diagnosis, &ui.style())),
        None => explain_run(args, ui)?,
    }
    Ok(Exit::Done)
}

fn explain_run(args: ExplainArgs, ui: &Ui) -> anyhow::Result<()> {
    let no_diagnosis = args.what.as_ref().map(|_| "hint: `sysdyno explain --list` shows all diagnoses");
    let run = show::open(args.what.as_deref(), args.record).map_err(|error| match no_diagnosis {
        Some(hint) if !error.to_string().contains("\nhint: ") => anyhow!("{error:#}\n{hint}"),
        _ => error,
    })?;
    show::warn_of_damage(&run, ui);
    let name = run.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let has_no_load =
        matches!(run.plan, Some(Plan::Work(_) | Plan::Squeeze(_) | Plan::Probe(_) | Plan::Watch(_)));
    if has_no_load || tryout::conclusion_of(&run).is_some() {
        bail!("cannot explain '{name}': it is no load\nhint: sysdyno show {name}");
    }
    let analysis = run.analysis.clone().unwrap_or_else(|| analyze(&run.view()));
    if args.json {
        ui.print_json(&Explanation::of(&analysis))?;
    } else {
        ui.print(&render_explanation(&ReportInput::new(&run, &analysis), &ui.style()));
    }
    Ok(())
}

/// What `explain RUN --json` prints.
#[derive(Serialize)]
struct Explanation<'a> {
    headline: &'a str,
    limit: &'a str,
    path: &'a [PathTier],
    findings: &'a [Finding],
    unchecked: &'a [Unchecked],
}

impl Explanation<'_> {
    fn of(analysis: &Analysis) -> Explanation<'_> {
        Explanation {
            headline: &analysis.headline,
            limit: &analysis.limit,
            path: &analysis.path,
            findings: &analysis.findings,
            unchecked: &analysis.unchecked,
        }
    }
}

/// What `explain ID --json` prints, and `--list --json` of each.
#[derive(Serialize)]
struct DiagnosisDocument<'a> {
    id: &'a str,
    name: &'a str,
    meaning: &'a str,
    limits: &'a [String],
    readings: &'a [String],
    remedy: &'a str,
    counterfactual: Option<&'a str>,
}

impl DiagnosisDocument<'_> {
    fn of<'a>(diagnosis: &'a Diagnosis<'_>) -> DiagnosisDocument<'a> {
        DiagnosisDocument {
            id: diagnosis.id,
            name: diagnosis.name,
            meaning: diagnosis.meaning,
            limits: &diagnosis.limits,
            readings: &diagnosis.readings,
            remedy: diagnosis.remedy,
            counterfactual: diagnosis.counterfactual,
        }
    }
}

fn print_list(is_json: bool, ui: &Ui) -> anyhow::Result<()> {
    let all: Vec<Diagnosis> = all().collect();
    if is_json {
        let documents: Vec<DiagnosisDocument> = all.iter().map(DiagnosisDocument::of).collect();
        ui.print_json(&documents)?;
    } else {
        ui.print(&render_diagnoses(&all, &ui.style()));
    }
    Ok(())
}

/// The diagnosis of this number or name, in any case of its letters.
fn find(word: &str) -> Option<Diagnosis<'static>> {
    let is_it = |text: &str| text.eq_ignore_ascii_case(word);
    all().find(|diagnosis| is_it(diagnosis.id) || is_it(diagnosis.name))
}

fn all() -> impl Iterator<Item = Diagnosis<'static>> {
    RULES.iter().map(|rule| of_rule(rule)).chain(CHECKS.iter().map(|check| of_check(check)))
}

fn of_rule(rule: &'static Rule) -> Diagnosis<'static> {
    let readings = rule.readings().into_iter();
    Diagnosis {
        id: rule.id,
        name: rule.name,
        meaning: rule.meaning,
        limits: rule.thresholds().iter().map(ToString::to_string).collect(),
        readings: readings
            .map(|quantity| format!("{} ({} {})", quantity.name, quantity.file, quantity.field))
            .collect(),
        remedy: rule.remedy,
        counterfactual: Some(rule.counterfactual),
    }
}

fn of_check(check: &'static Check) -> Diagnosis<'static> {
    Diagnosis {
        id: check.id,
        name: check.name,
        meaning: check.meaning,
        limits: check.thresholds.iter().map(ToString::to_string).collect(),
        readings: Vec::new(),
        remedy: check.remedy,
        counterfactual: None,
    }
}
