//! Writes the report of the sample record: `cargo run -p sysdyno-report --example sample_report -- OUT.html [VARIANT]`.
//! Instead of a variant the folder of a run may be named.
//!
//! The variants show what a report must not say, or must say less of; `hostile` puts text that tries to run as a script
//! into every field that a stranger can choose.

#[path = "../tests/fixture/mod.rs"]
mod fixture;

use std::path::{Path, PathBuf};
use sysdyno_record::store::Run;
use sysdyno_report::{ExperimentInput, ReportInput};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let out: PathBuf = arguments.next().ok_or("name the file to write, e.g. report.html")?.into();
    let variant = arguments.next().unwrap_or_else(|| "run".into());
    if let Some(name) = variant.to_string_lossy().strip_prefix("try-") {
        let record = experiment(name).ok_or_else(|| format!("there is no experiment '{name}'"))?;
        std::fs::write(out, sysdyno_report::html::render_experiment(&record.input()))?;
        return Ok(());
    }
    let record = match variant.to_string_lossy().as_ref() {
        "run" => fixture::SampleRecord::run(),
        "load" => fixture::variants::closed_load(),
        "generator-bound" => fixture::variants::generator_bound(),
        "wrong-content" => fixture::variants::wrong_content(),
        "full" => fixture::variants::full_screen(),
        "sweep" => fixture::variants::sweep(),
        "streams" => fixture::variants::streams(),
        "cache" => fixture::variants::cache(),
        "lab" => fixture::lab::load(),
        "wide" => fixture::variants::wide(),
        "hostile" => fixture::hostile::record(),
        other if Path::new(other).join("manifest.json").is_file() => {
            return write_folder(Path::new(other), &out);
        }
        other => return Err(format!("there is no variant '{other}'").into()),
    };
    std::fs::write(out, sysdyno_report::html::render(&record.input()))?;
    Ok(())
}

/// The sample experiment of this name.
fn experiment(name: &str) -> Option<fixture::experiment::SampleExperiment> {
    Some(match name {
        "better" => fixture::trials::better(),
        "kept" => fixture::trials::kept(),
        "worse" => fixture::trials::worse(),
        "same" => fixture::trials::same(),
        "cannot-tell" => fixture::trials::cannot_tell(),
        "dropped" => fixture::trials::dropped(),
        "steps" => fixture::trials::steps(),
        "commands" => fixture::trials::commands(),
        "full" => fixture::trials::full(),
        "hostile" => fixture::trials::hostile(),
        _ => return None,
    })
}

/// The report of a recorded run, into a file beside its own.
fn write_folder(folder: &Path, out: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let run = Run::open(folder, &|_, _| false)?;
    if let Some(conclusion) = &run.conclusion {
        let input = ExperimentInput::new(&run, conclusion);
        return Ok(std::fs::write(out, sysdyno_report::html::render_experiment(&input))?);
    }
    let analysis = run.analysis.clone().ok_or("the run has no analysis")?;
    std::fs::write(out, sysdyno_report::html::render(&ReportInput::new(&run, &analysis)))?;
    Ok(())
}
