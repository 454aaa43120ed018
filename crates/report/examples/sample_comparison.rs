//! Writes the pages of sample comparisons: `cargo run -p sysdyno-report --example sample_comparison -- FOLDER`.

#[path = "../tests/fixture/comparison.rs"]
mod comparison;

use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder: PathBuf = std::env::args_os().nth(1).ok_or("name the folder to write to")?.into();
    let samples = [
        ("two", comparison::two()),
        ("bounded", comparison::bounded()),
        ("refused", comparison::refused()),
        ("many", comparison::many()),
        ("experiment", comparison::experiment()),
        ("users", comparison::users("")),
        ("machines", comparison::machines()),
        ("trend", comparison::trend()),
        ("hostile", comparison::hostile()),
    ];
    for (name, sample) in samples {
        let page = sysdyno_report::html::render_comparison(&sample, None);
        std::fs::write(folder.join(format!("{name}.html")), page)?;
    }
    Ok(())
}
