//! What the tests are run with: the program itself, servers good and bad, and ways to say that a test was skipped.

pub mod apache;
pub mod cgroup;
pub mod hostile;
pub mod memcached;
pub mod nginx;
pub mod pair;
pub mod program;
pub mod ssh;
pub mod star;

use std::io::Write;
use std::time::{Duration, Instant};

/// Says on the real stderr, past the test runner's capture, that a test did not run and what it needs.
pub fn skip(test: &str, needs: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {test}: needs {needs}");
}

/// Waits until `condition` holds, looking often; false if it does not within `limit`.
pub fn wait_until(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let begin = Instant::now();
    while !condition() {
        if begin.elapsed() > limit {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    true
}

/// Where a program that is not part of the toolchain lies, with the folders that are not on every user's path.
pub fn find_program(name: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<_> = std::env::split_paths(&path).collect();
    folders.extend(["/usr/sbin".into(), "/sbin".into()]);
    folders.into_iter().map(|folder| folder.join(name)).find(|file| file.is_file())
}
