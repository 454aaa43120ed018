//! io_uring where the kernel allows it; epoll, and the reason, where it does not.

use crate::rig::program::{Outcome, Program, Running, Target};
use crate::rig::{has, skip};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// Starts a program under a seccomp filter that answers `io_uring_setup` (system call 425 on every architecture) with
/// EPERM, as container runtimes do. The filter: load the number; if it is 425, refuse; else allow.
const WITHOUT_URING: &str = r#"
import ctypes, os, struct, sys
steps = [(0x20, 0, 0, 0), (0x15, 0, 1, 425), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
"#;

fn load(url: &str) -> Vec<&str> {
    vec!["load", url, "--json", "--requests", "200", "--connections", "4"]
}

#[test]
fn a_kernel_that_forbids_io_uring_means_epoll_and_says_so() {
    if !has("a_kernel_that_forbids_io_uring_means_epoll_and_says_so", &["python3"]) {
        return;
    }
    let program = Program::new();
    let target = Target::start(&["--threads", "1"]);
    let prelude = format!("set -- python3 -c '{WITHOUT_URING}' \"$@\"");
    let run = |arguments: Vec<&str>| -> Outcome {
        Running::start(program.command_after(&prelude, arguments)).finish(LIMIT)
    };
    let outcome = run(load(target.url()));
    let generator = &outcome.json()["generator"];
    assert_eq!(generator["io"], "epoll", "{outcome}");
    let reason = generator["io_fallback"].as_str().unwrap_or_default();
    assert!(reason.contains("set up io_uring") && reason.contains("not permitted"), "{outcome}");
    assert_eq!((outcome.count("sent"), outcome.count("ok")), (200, 200), "{outcome}");

    let insisting = [load(target.url()), vec!["--io", "uring"]].concat();
    let outcome = run(insisting);
    assert_eq!(outcome.code, Some(2), "{outcome}");
    assert!(outcome.stderr.contains("cannot set up io_uring: "), "{outcome}");
}

#[test]
fn both_back_ends_count_alike() {
    for io in ["uring", "epoll"] {
        let program = Program::new();
        let target = Target::start(&["--threads", "1"]);
        let outcome = program.start([load(target.url()), vec!["--io", io]].concat()).finish(LIMIT);
        if outcome.code == Some(2) && outcome.stderr.contains("cannot set up io_uring") {
            skip("both_back_ends_count_alike", &["io_uring"]);
            continue;
        }
        let name = if io == "uring" { "io_uring" } else { "epoll" };
        assert_eq!(outcome.json()["generator"]["io"], name, "{outcome}");
        assert_eq!((outcome.count("sent"), outcome.count("ok")), (200, 200), "{outcome}");
    }
}
