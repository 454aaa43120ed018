//! What the index costs: `cargo run --release -p sysdyno-index --example index_cost -- [RUNS]`.
//!
//! Makes folders of runs (100,000 unless another number is given) in a temporary folder, and prints how long it takes to read
//! them for the first time, to open the index again, and to answer what the list of runs asks.

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};
use sysdyno_index::{RefreshMoment, RunIndex, RunQuery, RunSort};
use sysdyno_record::analysis::VerdictStatus;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../record/tests/golden/sysdyno.run-1");

fn main() -> Result<(), Box<dyn Error>> {
    let count = std::env::args().nth(1).map_or(Ok(100_000), |count| count.parse::<u64>())?;
    let folder = tempfile::tempdir()?;
    let (runs, cache) = (folder.path().join("runs"), folder.path().join("cache"));
    fs::create_dir(&runs)?;
    let golden = ["manifest.json", "analysis.json", "plan.json"]
        .map(|file| fs::read_to_string(Path::new(GOLDEN).join(file)).map(|text| (file, text)));
    for number in 0..count {
        let path = runs.join(format!("20261124-{number:06}-load-abcd"));
        fs::create_dir(&path)?;
        for file in &golden {
            let (file, text) = file.as_ref().map_err(ToString::to_string)?;
            let started = format!("\"started_unix_ns\": \"{}\"", 1_790_000_000_000_000_000 + number);
            fs::write(
                path.join(file),
                text.replace("\"started_unix_ns\": \"1790000000500000000\"", &started),
            )?;
        }
    }
    say(format!("{count} runs"))?;
    let begin = Instant::now();
    let mut index = RunIndex::open(&runs, Some(&cache))?;
    refresh(&mut index)?;
    say(format!("first reading: {:.1} s", begin.elapsed().as_secs_f64()))?;
    drop(index);
    let begin = Instant::now();
    let mut index = RunIndex::open(&runs, Some(&cache))?;
    refresh(&mut index)?;
    say(format!("opened again: {:.1} ms", begin.elapsed().as_secs_f64() * 1e3))?;
    fs::create_dir(runs.join("new"))?;
    let begin = Instant::now();
    refresh(&mut index)?;
    say(format!("refreshed with a new folder: {:.1} ms", begin.elapsed().as_secs_f64() * 1e3))?;
    let page = RunQuery { limit: Some(100), ..RunQuery::default() };
    let queries = [
        ("newest", page.clone()),
        ("highest rate", RunQuery { sort: RunSort::Rate, ..page.clone() }),
        ("verdict", RunQuery { verdict: Some(VerdictStatus::Suspect), ..page.clone() }),
        ("search", RunQuery { texts: vec!["099999-load".into()], ..page.clone() }),
        ("search, nothing found", RunQuery { texts: vec!["no such text".into()], ..page }),
    ];
    for (name, query) in queries {
        index.find(&query)?;
        let begin = Instant::now();
        let found = index.find(&query)?;
        let took_ms = begin.elapsed().as_secs_f64() * 1e3;
        say(format!("{name}: {} of {}, {took_ms:.1} ms", found.runs.len(), found.total_count))?;
    }
    Ok(())
}

fn refresh(index: &mut RunIndex) -> Result<(), Box<dyn Error>> {
    // A minute later: the folders are not being written any more.
    let now = SystemTime::now() + Duration::from_secs(60);
    let moment = RefreshMoment { now, living: &|_, _| false };
    while index.refresh(&moment)?.left_count > 0 {}
    Ok(())
}

fn say(text: String) -> std::io::Result<()> {
    writeln!(std::io::stdout(), "{text}")
}
