//! What tests of this crate wait with: the kernel does some things a moment after the call that asks for them.
//!
//! A connection stands in the accept queue when its last segment was handled, on whatever CPU and whenever that has the
//! time; a socket is closed when no process that another test is just starting has a copy of it.

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
