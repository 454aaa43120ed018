//! A run of a day is read in a moment: its folder was written in virtual time, through the writer of every run.

#[path = "../../../record/examples/day/folder.rs"]
mod folder;

use crate::rig::program::Program;
use folder::Shape;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Four times what the same takes on a slow machine.
const LIMIT: Duration = Duration::from_secs(60);

const MIB: u64 = 1 << 20;

/// As closely as a test has time for: written as it comes, the readings would take 110 MB, and 250 MB in memory.
const DAY: Shape =
    Shape { seconds: 86_400, sample_ns: 2_000_000_000, interval_s: 10, columns: 360, rate_hz: 20 };

fn bytes_of(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).expect("is a folder").flatten();
    entries.map(|entry| entry.metadata().expect("has a length").len()).sum()
}

#[test]
fn a_day_takes_a_small_folder_little_memory_to_read_and_a_small_page() {
    let program = Program::new();
    let day = folder::write(program.runs(), DAY);
    let hour = folder::write(program.runs(), Shape { seconds: 3_600, ..DAY });
    let bytes = bytes_of(&day);
    assert!(bytes < 90 * MIB, "the folder has {bytes} bytes");
    let [day, hour] = [day, hour].map(|folder| folder.display().to_string());
    for words in [vec!["show", &day], vec!["report", &day], vec!["compare", &day, &hour]] {
        let ended = program.start(&words).finish(LIMIT);
        assert!(matches!(ended.code, Some(0 | 1 | 3)), "{words:?}: {ended}");
        assert!(ended.peak_rss_bytes < 200 * MIB, "{words:?} took {} bytes", ended.peak_rss_bytes);
        assert!(!ended.stderr.contains("warning"), "{words:?}: {ended}");
    }
    let shown = program.run(["show", &day, "--json"]);
    assert_eq!(shown.json()["counts"]["ok"], 86_400 * 20, "{shown}");
    let page = fs::metadata(Path::new(&day).join("report.html")).expect("was written").len();
    assert!(page <= 3_000_000, "the page has {page} bytes");
}
