//! Records of hosts that were watched without a load, as `show` and `report` tell them.

use crate::args::OutputForm;
use crate::ui::Ui;
use anyhow::ensure;
use sysdyno_record::analysis::Analysis;
use sysdyno_record::store::Run;
use sysdyno_report::watch::{RecordedInput, recorded_document, recorded_screen};
use sysdyno_report::{ReportInput, html};

/// Prints a record as `show` does.
///
/// # Errors
/// The format is for requests.
pub fn print(run: &Run, analysis: &Analysis, form: OutputForm, ui: &Ui) -> anyhow::Result<()> {
    ensure!(
        matches!(form, OutputForm::Text | OutputForm::Json),
        "cannot print the record of a watched host in this format: it is for requests\nhint: --output json has every run"
    );
    let input = RecordedInput::new(run, analysis);
    ui.print(&match form {
        OutputForm::Json => format!("{:#}", recorded_document(&input)),
        _ => recorded_screen(&input, &ui.style()),
    });
    Ok(())
}

/// The page of a record.
pub fn page(run: &Run, analysis: &Analysis) -> String {
    html::render(&ReportInput::new(run, analysis))
}
