//! A run folder is private whatever the umask says. Alone in its binary, since the umask belongs to the process.

use rustix::fs::Mode;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use sysdyno_record::manifest::{ClockPair, RunKind, RunStatus, Tool};
use sysdyno_record::store::{NewRun, RunWriter};
use sysdyno_record::units::{MonoNs, WallNs};

fn mode_of(path: &Path) -> u32 {
    std::fs::symlink_metadata(path).expect("exists").permissions().mode() & 0o7777
}

#[test]
fn a_run_folder_has_mode_0700_and_its_files_0600_under_any_umask() {
    let runs = tempfile::tempdir().expect("a directory");
    for (suffix, umask) in [(0, 0o000), (1, 0o022), (2, 0o777)] {
        let new = NewRun {
            kind: RunKind::Load,
            tool: Tool { version: "0.1.0".into(), target: "test".into() },
            clock: ClockPair { mono_ns: MonoNs(1), unix_ns: WallNs(1) },
            command: Vec::new(),
            pid: 1,
            pid_start_ticks: 1,
            suffix,
        };
        let before = rustix::process::umask(Mode::from_raw_mode(umask));
        let created = RunWriter::create(runs.path(), new);
        let writer = created.expect("creates");
        let path = writer.path().to_owned();
        writer.finish(RunStatus::Complete, None, WallNs(2)).expect("finishes");
        rustix::process::umask(before);
        assert_eq!(mode_of(&path), 0o700, "umask {umask:o}");
        for entry in std::fs::read_dir(&path).expect("reads") {
            let file = entry.expect("an entry").path();
            assert_eq!(mode_of(&file), 0o600, "umask {umask:o}, {}", file.display());
        }
    }
}
