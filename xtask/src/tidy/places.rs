//! Where each kind of code lives: printing, kernel files, writing, spawning, randomness, pure crates, layers of the engine.
//!
//! Each rule is a row of [`RULES`]: what is looked for in production code, and the files that may contain it. Clocks are
//! a check of their own ([`super::clocks`]), in the same form.

use super::Violations;
use super::source::has_word;
use super::tree::Tree;

/// One kind of code and its place.
pub struct CodePlace {
    /// Name of the rule.
    pub rule: &'static str,
    /// Folders and files that it is about; empty for all.
    pub within: &'static [&'static str],
    /// Beginnings of paths that may contain it.
    pub allowed: &'static [&'static str],
    /// What it is recognised by.
    pub sign: Sign,
    /// What to do instead.
    pub message: &'static str,
}

/// What a kind of code is recognised by.
pub enum Sign {
    /// One of these in code, as whole words.
    Code(&'static [&'static str]),
    /// A string literal that begins with one of these.
    Literal(&'static [&'static str]),
}

/// Crates that compute and do nothing else.
const PURE: &[&str] = &["crates/stats/", "crates/analyze/", "crates/report/"];

/// Crates that may open files and are not `observe`.
const WITH_FILES: &[&str] = &[
    "crates/record/",
    "crates/load/",
    "crates/tune/",
    "crates/plan/",
    "crates/run/",
    "crates/lab/",
    "crates/fleet/",
    "crates/cli/",
];

const RULES: &[CodePlace] = &[
    CodePlace {
        rule: "print",
        within: &[],
        allowed: &["crates/cli/", "xtask/"],
        sign: Sign::Code(&["println!", "eprintln!", "print!", "eprint!", "dbg!"]),
        message: "printing is done by crates/cli only",
    },
    CodePlace {
        rule: "kernel-file",
        within: WITH_FILES,
        // A loop device is made by opening it.
        allowed: &["crates/tune/", "crates/lab/src/sys/loop_device.rs"],
        sign: Sign::Literal(&["/proc", "/sys/", "/dev/"]),
        message: "kernel files are opened by crates/observe only",
    },
    CodePlace {
        rule: "pure",
        within: PURE,
        allowed: &[],
        sign: Sign::Code(&[
            "std::fs",
            "TcpStream",
            "TcpListener",
            "UdpSocket",
            "UnixStream",
            "ToSocketAddrs",
            "std::env",
            "std::process",
            "std::thread",
            "File::open",
            "fs::read",
        ]),
        message: "this crate promises to do no input or output",
    },
    CodePlace {
        rule: "plan",
        within: &["crates/plan/"],
        allowed: &[],
        sign: Sign::Code(&[
            "TcpStream",
            "TcpListener",
            "UdpSocket",
            "UnixStream",
            "std::env",
            "std::process",
            "std::thread",
            "Probe::open",
        ]),
        message: "a plan depends on its options, on the files that they name, and on the PlanHost that is handed in",
    },
    CodePlace {
        rule: "host-write",
        within: &["crates/"],
        allowed: &[
            "crates/record/src/store",
            "crates/tune/src/",
            "crates/lab/src/files.rs",
            "crates/lab/src/sys/loop_device.rs",
            "crates/fleet/src/files.rs",
            "crates/cli/",
        ],
        sign: Sign::Code(&[
            "fs::write",
            "File::create",
            "File::create_new",
            "File::options",
            "OpenOptions::new",
            "fs::remove_file",
            "fs::remove_dir_all",
            "fs::rename",
            "fs::create_dir",
            "fs::create_dir_all",
            "fs::set_permissions",
            "OFlags::WRONLY",
            "OFlags::RDWR",
            "OFlags::CREATE",
        ]),
        message: "files are written by crates/record/src/store, by crates/tune, by lab::files and fleet::files, and by a command at the path it was given",
    },
    CodePlace {
        rule: "spawn",
        within: &["crates/"],
        allowed: &["crates/run/", "crates/lab/", "crates/fleet/src/broker/process.rs"],
        sign: Sign::Code(&["process::Command", "fork", "execve", "posix_spawn"]),
        message: "processes are started by crates/run, crates/lab, and fleet::broker only",
    },
    CodePlace {
        rule: "randomness",
        within: &["crates/"],
        allowed: &["crates/cli/"],
        sign: Sign::Code(&[
            "rand::rng",
            "thread_rng",
            "rand::random",
            "OsRng",
            "SysRng",
            "from_os_rng",
            "RandomState::new",
        ]),
        message: "randomness is handed in: the generator is a parameter and its seed is in the plan",
    },
    CodePlace {
        rule: "layer",
        within: &["crates/load/src/transport/"],
        allowed: &[],
        sign: Sign::Code(&["crate::protocol", "crate::carrier", "crate::engine", "crate::workload"]),
        message: "a transport carries bytes and knows neither what they mean nor who sends them",
    },
    CodePlace {
        rule: "layer",
        within: &["crates/load/src/protocol/"],
        allowed: &[],
        sign: Sign::Code(&[
            "crate::transport",
            "crate::carrier",
            "crate::engine",
            "crate::workload",
            "std::net",
            "rustix",
        ]),
        message: "a protocol reads and writes bytes and knows neither sockets nor who sends them",
    },
];

/// Checks all production code.
pub fn check(tree: &Tree, found: &mut Violations) {
    RULES.iter().for_each(|place| check_place(tree, place, found));
}

/// Checks all production code for one kind of code.
pub fn check_place(tree: &Tree, place: &CodePlace, found: &mut Violations) {
    for (path, source) in tree.production(place.within) {
        if place.allowed.iter().any(|allowed| path.starts_with(allowed)) {
            continue;
        }
        match place.sign {
            Sign::Code(words) => source.production_lines().for_each(|(number, line)| {
                if let Some(word) = words.iter().find(|word| has_word(&line.code, word)) {
                    found.add(path, number, place.rule, format!("'{word}': {}", place.message));
                }
            }),
            Sign::Literal(beginnings) => source.production_strings().for_each(|literal| {
                if beginnings.iter().any(|beginning| literal.text.starts_with(beginning)) {
                    found.add(
                        path,
                        literal.line,
                        place.rule,
                        format!("'{}': {}", literal.text, place.message),
                    );
                }
            }),
        }
    }
}
