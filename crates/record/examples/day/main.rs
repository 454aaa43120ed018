//! Writes the run folder of a load of a day, in virtual time, as the program itself would: `day FOLDER-OF-RUNS`.
//!
//! For the benchmark: what such a folder takes, and how long it takes to read it.

mod folder;

use folder::Shape;
use std::path::PathBuf;
use std::process::ExitCode;

#[expect(clippy::print_stdout, reason = "it prints the folder that it wrote")]
fn main() -> ExitCode {
    let Some(runs) = std::env::args_os().nth(1).map(PathBuf::from) else { return ExitCode::FAILURE };
    let hours = std::env::args().nth(2).and_then(|hours| hours.parse().ok()).unwrap_or(24);
    let shape =
        Shape { seconds: hours * 3_600, sample_ns: 100_000_000, interval_s: 1, columns: 360, rate_hz: 200 };
    println!("{}", folder::write(&runs, shape).display());
    ExitCode::SUCCESS
}
