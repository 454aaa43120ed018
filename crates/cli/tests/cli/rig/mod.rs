//! What the tests are run with: the program itself, and servers good and bad.

pub mod apache;
pub mod cgroup;
pub mod fleet;
pub mod hostile;
pub mod memcached;
pub mod nginx;
pub mod pair;
pub mod program;
pub mod ssh;
pub mod star;

pub use sysdyno_needs::{find_program, has, skip};

use std::time::{Duration, Instant};

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
