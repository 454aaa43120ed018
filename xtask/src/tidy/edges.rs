//! Which crate may depend on which: the diagram of `ARCHITECTURE.md` as a table.
//!
//! Dev-dependencies are held to the same edges, so that no test needs what the crate may not know.

use super::tree::Tree;
use super::{Violations, manifests};

const RULE: &str = "edge";

/// What a crate may depend on.
struct Allowed {
    /// The crate, by its folder below `crates/`.
    name: &'static str,
    /// Crates of ours, by folder.
    ours: &'static [&'static str],
    /// Third-party crates outside tests; `None` where there is no list of its own.
    third_party: Option<&'static [&'static str]>,
}

const fn edges(name: &'static str, ours: &'static [&'static str]) -> Allowed {
    Allowed { name, ours, third_party: None }
}

/// The diagram, bottom to top.
const DIAGRAM: &[Allowed] = &[
    edges("needs", &[]),
    edges("stats", &[]),
    edges("netlink", &[]),
    edges("record", &["stats"]),
    Allowed { name: "load", ours: &["record", "stats"], third_party: Some(LOAD_THIRD_PARTY) },
    edges("observe", &["record", "stats", "netlink"]),
    edges("profile", &["record"]),
    edges("tune", &["record", "stats", "netlink"]),
    edges("analyze", &["record", "stats"]),
    edges("target", &["record", "observe"]),
    edges("plan", &["load", "analyze", "record"]),
    edges("run", &["load", "observe", "profile", "tune", "analyze", "record"]),
    edges("lab", &["run", "observe", "tune", "record", "netlink"]),
    edges("fleet", &["run", "observe", "record"]),
    edges("report", &["record"]),
    edges("index", &["record"]),
    edges("serve", &["record", "report", "index"]),
    edges(
        "cli",
        &[
            "stats", "record", "load", "observe", "tune", "analyze", "plan", "target", "run", "lab", "fleet",
            "report", "index", "serve",
        ],
    ),
];

/// The crate that only tests may depend on.
const TESTS_ONLY: &str = "needs";

/// What the data plane is made of; everything else stays out of it.
const LOAD_THIRD_PARTY: &[&str] = &[
    "libc",
    "rustix",
    "io-uring",
    "httparse",
    "memchr",
    "crc32fast",
    "rustls",
    "rustls-pki-types",
    "hdrhistogram",
    "rand",
    "rand_xoshiro",
    "rand_distr",
    "thiserror",
    "log",
];

/// Checks every manifest below `crates/`.
pub fn check(tree: &Tree, found: &mut Violations) {
    for (path, manifest) in manifests::parsed(tree) {
        let Some(name) = path.strip_prefix("crates/").and_then(|rest| rest.strip_suffix("/Cargo.toml"))
        else {
            continue;
        };
        let Some(allowed) = DIAGRAM.iter().find(|allowed| allowed.name == name) else {
            found.add(path, 1, RULE, format!("crate '{name}' is not in the diagram"));
            continue;
        };
        for dependency in manifests::dependencies(&manifest) {
            let line = manifests::line_of(&tree.texts[path], &dependency.name);
            match dependency.name.strip_prefix("sysdyno-") {
                // Tests of every crate may say what they need; no program has it.
                Some(TESTS_ONLY) if dependency.is_dev => {}
                Some(other) if !allowed.ours.contains(&other) => {
                    found.add(path, line, RULE, format!("'{name}' must not depend on '{other}'"));
                }
                None if !dependency.is_dev && !allowed.allows_third_party(&dependency.name) => {
                    let message =
                        format!("'{}' is not among the third-party crates of '{name}'", dependency.name);
                    found.add(path, line, RULE, message);
                }
                _ => {}
            }
        }
    }
}

impl Allowed {
    fn allows_third_party(&self, name: &str) -> bool {
        self.third_party.is_none_or(|list| list.contains(&name))
    }
}
