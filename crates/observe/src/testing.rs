//! Waiting in the tests of this crate: the kernel does some things a moment after the call that requests them.
//!
//! A connection is in the accept queue once its last segment has been handled, on any CPU and whenever that CPU has time; a
//! socket is closed only when no process that another test is just starting has a copy of it.

use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(10);

/// Asks again and again until the answer is right; the last answer, right or not.
pub(crate) fn eventually<T>(mut ask: impl FnMut() -> T, is_right: impl Fn(&T) -> bool) -> T {
    let begin = Instant::now();
    loop {
        let answer = ask();
        if is_right(&answer) || begin.elapsed() > LIMIT {
            return answer;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
