//! Writes the report of the sample record: `cargo run -p sysdyno-report --example sample_report -- OUT.html [VARIANT]`.
//! Instead of a variant the folder of a run may be named.
//!
//! The variants show what a report must not say, or must say less of; `hostile` puts text that tries to run as a script
//! into every field that a stranger can choose.

#[path = "../tests/fixture/mod.rs"]
mod fixture;

use std::path::{Path, PathBuf};
use sysdyno_record::store::Run;
use sysdyno_report::{ReportInput, TryInput};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let out: PathBuf = arguments.next().ok_or("name the file to write, e.g. report.html")?.into();
    let variant = arguments.next().unwrap_or_else(|| "run".into());
    if let Some(name) = variant.to_string_lossy().strip_prefix("try-") {
        let record = tryout(name).ok_or_else(|| format!("there is no experiment '{name}'"))?;
        std::fs::write(out, sysdyno_report::html::render_tryout(&record.input()))?;
        return Ok(());
    }
    if let Some(name) = variant.to_string_lossy().strip_prefix("probe-") {
        let record = match name {
            "hostile" => fixture::probes::SampleProbe::hostile(),
            _ => fixture::probes::SampleProbe::ordinary(),
        };
        std::fs::write(out, sysdyno_report::html::render_probe(&record.input()))?;
        return Ok(());
    }
    if let Some(name) = variant.to_string_lossy().strip_prefix("squeeze-") {
        let record = match name {
            "void" => fixture::squeezes::void(),
            "hostile" => fixture::squeezes::hostile(),
            _ => fixture::squeezes::found(),
        };
        std::fs::write(out, sysdyno_report::html::render_squeeze(&record.input()))?;
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
        "probed" => fixture::variants::probed(),
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

/// The sample tryout of this name.
fn tryout(name: &str) -> Option<fixture::tryout::SampleTryout> {
    Some(match name {
        "better" => fixture::tryouts::better(),
        "kept" => fixture::tryouts::kept(),
        "worse" => fixture::tryouts::worse(),
        "same" => fixture::tryouts::same(),
        "cannot-tell" => fixture::tryouts::cannot_tell(),
        "dropped" => fixture::tryouts::dropped(),
        "steps" => fixture::tryouts::steps(),
        "commands" => fixture::tryouts::commands(),
        "full" => fixture::tryouts::full(),
        "hostile" => fixture::tryouts::hostile(),
        _ => return None,
    })
}

/// The report of a recorded run, into a file beside its own.
fn write_folder(folder: &Path, out: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let run = Run::open(folder, &|_, _| false)?;
    if let Some(conclusion) = &run.conclusion {
        let input = TryInput::new(&run, conclusion);
        return Ok(std::fs::write(out, sysdyno_report::html::render_tryout(&input))?);
    }
    let analysis = run.analysis.clone().ok_or("the run has no analysis")?;
    std::fs::write(out, sysdyno_report::html::render(&ReportInput::new(&run, &analysis)))?;
    Ok(())
}
