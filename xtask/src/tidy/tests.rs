//! Each rule finds the violation that was planted for it, in a small tree that is otherwise in order.

use super::tree::Tree;
use super::{Violation, generated, inspect};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A repository in which every rule has something to look at and nothing to object to.
const IN_ORDER: &[(&str, &str)] = &[
    ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n[workspace.dependencies]\nlibc = \"0.2\"\n"),
    ("CONTRIBUTING.md", "- `libc`: system calls that have no other binding\n- `libfuzzer-sys`: fuzzing\n"),
    (
        "README.md",
        "# A tool\n\nSee [the classes](docs/reference/failures.md#failure-classes), or [below](#a-tool).\n",
    ),
    ("docs/reference/failures.md", "# Failures\n\n## Failure classes\n\n`reset`: the server went away\n"),
    ("crates/stats/Cargo.toml", "[package]\nname = \"sysdyno-stats\"\n[lints]\nworkspace = true\n"),
    ("crates/stats/src/lib.rs", "//! Statistics.\n/// Adds.\npub fn add(a: u8) -> u8 {\n    a + 1\n}\n"),
    (
        "crates/load/Cargo.toml",
        "[package]\nname = \"sysdyno-load\"\n[lints]\nworkspace = true\n[dependencies]\nsysdyno-stats.workspace = true\nlibc.workspace = true\n",
    ),
    ("crates/load/src/lib.rs", "//! Load.\n#[cfg(test)]\nmod tests {\n    const P: &str = \"/proc\";\n}\n"),
    ("crates/load/src/driver.rs", "//! A driver.\n#[cfg(test)]\nmod rig;\n"),
    (
        "crates/load/src/driver/rig.rs",
        "//! A server for tests.\nfn now() { std::time::Instant::now(); println!(\"x\"); }\n",
    ),
    (
        "crates/load/src/sys/mod.rs",
        "//! System calls.\nfn f() {\n    // SAFETY: it has no arguments.\n    let _ =\n        unsafe { g() };\n}\n",
    ),
    ("crates/record/Cargo.toml", "[package]\nname = \"sysdyno-record\"\n[lints]\nworkspace = true\n"),
    (
        "crates/record/src/failure.rs",
        "//! Results.\nfailure_classes! {\n    Reset \"reset\" Server \"The server went away.\";\n}\n",
    ),
    ("fuzz/Cargo.toml", "[package]\nname = \"fuzz\"\n[dependencies]\nlibfuzzer-sys = \"0.4\"\n"),
    ("target/debug/anything.rs", "no header, ignored"),
];

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("a file lies in a folder")).unwrap();
    fs::write(path, text).unwrap();
}

fn tree_in_order() -> TempDir {
    let root = TempDir::new().unwrap();
    IN_ORDER.iter().for_each(|(path, text)| write(root.path(), path, text));
    root
}

fn violations(root: &Path) -> Vec<Violation> {
    inspect(&Tree::read(root).unwrap()).unwrap()
}

/// Plants `text` at `path` and expects `rule`, and nothing else, to object on `line` of it.
fn check(rule: &str, path: &str, line: usize, text: &str) {
    let root = tree_in_order();
    write(root.path(), path, text);
    let found = violations(root.path());
    let places: Vec<_> = found.iter().map(|found| (found.rule, found.path.as_str(), found.line)).collect();
    assert_eq!(places, [(rule, path, line)], "{found:#?}");
}

#[test]
fn a_tree_in_order_has_no_violation() {
    assert_eq!(violations(tree_in_order().path()), []);
}

#[test]
fn crates_depend_only_downwards() {
    let manifest = |dependency: &str| {
        format!(
            "[package]\nname = \"sysdyno-load\"\n[lints]\nworkspace = true\n[dependencies]\nlibc.workspace = true\n{dependency}\n"
        )
    };
    check("edge", "crates/load/Cargo.toml", 7, &manifest("sysdyno-observe.workspace = true"));
    check("edge", "crates/load/Cargo.toml", 8, &manifest("[dev-dependencies]\nsysdyno-lab.workspace = true"));
    let stats = "[package]\nname = \"x\"\n[lints]\nworkspace = true\n[target.'cfg(unix)'.dependencies]\nsysdyno-record.workspace = true\n";
    check("edge", "crates/stats/Cargo.toml", 6, stats);
    check("edge", "crates/extra/Cargo.toml", 1, "[package]\nname = \"x\"\n[lints]\nworkspace = true\n");
}

#[test]
fn the_data_plane_has_a_list_of_its_own() {
    let root = tree_in_order();
    let manifest = "[package]\nname = \"sysdyno-load\"\n[lints]\nworkspace = true\n[dependencies]\ntokio.workspace = true\nlibc.workspace = true\n";
    write(root.path(), "crates/load/Cargo.toml", manifest);
    write(root.path(), "CONTRIBUTING.md", "`libc` `libfuzzer-sys` `tokio`");
    let found = violations(root.path());
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!((found[0].rule, found[0].line), ("edge", 6));
}

#[test]
fn manifests_take_what_the_workspace_gives() {
    check("lints", "crates/stats/Cargo.toml", 1, "[package]\nname = \"x\"\n");
    let own_version = "[package]\nname = \"x\"\n[lints]\nworkspace = true\n[dependencies]\nlibc = \"0.2\"\n";
    check("dependency-version", "crates/stats/Cargo.toml", 6, own_version);
    check(
        "dependency-unused",
        "Cargo.toml",
        3,
        "[workspace.dependencies]\nlibc = \"1\"\nsysdyno-none = \"1\"\n",
    );
    check("manifest", "crates/stats/Cargo.toml", 1, "[package\n");
}

#[test]
fn each_file_says_what_it_is_for() {
    check("module-header", "crates/stats/src/lib.rs", 1, "pub fn f() {}\n");
    check("module-header", "crates/stats/src/lib.rs", 1, "//!\npub fn f() {}\n");
    check("module-header", "crates/stats/src/lib.rs", 1, "//! placeholder\n");
    check("module-header", "crates/stats/tests/t.rs", 1, "// a test\n");
}

#[test]
fn files_and_functions_stay_small() {
    let header = "//! Long.\n";
    let file = |lines: usize| format!("{header}{}", "const A: u8 = 1;\n".repeat(lines - 1));
    check("file-size", "crates/stats/src/lib.rs", 1, &file(801));
    let root = tree_in_order();
    write(root.path(), "crates/stats/src/lib.rs", &file(800));
    write(root.path(), "crates/stats/src/tests.rs", &file(2000));
    assert_eq!(violations(root.path()), []);

    let function =
        |lines: usize| format!("fn long() {{\n{}\n    // not counted\n}}\n", "    f();\n".repeat(lines));
    check("function-size", "crates/stats/src/lib.rs", 2, &format!("{header}{}", function(71)));
    write(root.path(), "crates/stats/src/lib.rs", &format!("{header}{}", function(70)));
    let expected = "#[expect(clippy::too_many_lines, reason = \"a table\")]\n";
    write(root.path(), "crates/stats/src/table.rs", &format!("{header}{expected}{}", function(100)));
    assert_eq!(violations(root.path()), []);
}

#[test]
fn unsafe_code_has_its_place_and_its_reason() {
    let with_reason = "//! X.\nfn f() {\n    // SAFETY: sound.\n    unsafe { g() };\n}\n";
    check("unsafe-place", "crates/stats/src/lib.rs", 4, with_reason);
    let without = "//! X.\nfn f() {\n    // SAFETY: of another.\n    h();\n    unsafe { g() };\n}\n";
    check("unsafe-reason", "crates/load/src/sys/mod.rs", 5, without);
    check("unsafe-reason", "crates/load/src/sys/mod.rs", 2, "//! X.\nunsafe impl Send for T {}\n");
}

#[test]
fn names_say_something() {
    check("name", "crates/stats/src/lib.rs", 2, "//! X.\npub(crate) struct ConnectionManager;\n");
    check("name", "crates/stats/src/lib.rs", 2, "//! X.\nmod utils;\n");
    check("name", "crates/stats/src/http_helper.rs", 1, "//! X.\n");
    check("name", "web/src/common.ts", 1, "export {};\n");
}

#[test]
fn nothing_points_outside_or_promises_without_an_issue() {
    let word = |parts: [&str; 2]| parts.concat();
    check("outside-reference", "README.md", 1, &format!("see {}/design.md\n", word(["../sha", "red"])));
    check("outside-reference", "scripts/run", 1, &format!("cat {}/x\n", word(["resear", "ch"])));
    check("unfinished", "crates/stats/src/lib.rs", 2, &format!("//! X.\n// {}: later\n", word(["TO", "DO"])));
    check("unfinished", "web/src/main.ts", 1, &format!("// {}\n", word(["FIX", "ME"])));
    check(
        "unfinished",
        "crates/stats/src/lib.rs",
        2,
        &format!("//! X.\nfn f() {{ {}() }}\n", word(["to", "do!"])),
    );
    let root = tree_in_order();
    write(root.path(), "crates/stats/src/lib.rs", &format!("//! X.\n// {}(#7): later\n", word(["TO", "DO"])));
    assert_eq!(violations(root.path()), []);
}

#[test]
fn each_kind_of_code_is_in_its_place() {
    let cases = [
        ("print", "crates/load/src/lib.rs", "fn f() { println!(); }"),
        ("print", "crates/stats/src/lib.rs", "fn f() { eprint!(); }"),
        ("kernel-file", "crates/load/src/lib.rs", "const P: &str = \"/proc/self/stat\";"),
        ("kernel-file", "crates/record/src/store.rs", "const P: &[u8] = b\"/sys/class/net\";"),
        ("pure", "crates/stats/src/lib.rs", "use std::fs;"),
        ("pure", "crates/stats/src/lib.rs", "use std::net::TcpStream;"),
        ("host-write", "crates/load/src/lib.rs", "fn f() { std::fs::write(a, b); }"),
        ("spawn", "crates/load/src/lib.rs", "use std::process::Command;"),
        ("randomness", "crates/load/src/lib.rs", "fn f() { rand::rng(); }"),
        ("clock", "crates/load/src/engine/mod.rs", "fn f() { Instant::now(); }"),
        ("clock", "crates/record/src/store.rs", "fn f() { SystemTime::now(); }"),
        ("layer", "crates/load/src/transport/mod.rs", "use crate::protocol::http1;"),
        ("layer", "crates/load/src/protocol/mod.rs", "use crate::transport::Slot;"),
    ];
    for (rule, path, code) in cases {
        check(rule, path, 2, &format!("//! X.\n{code}\n"));
    }
    let root = tree_in_order();
    let allowed = [
        ("crates/load/src/clock.rs", "fn f() { Instant::now(); }"),
        ("crates/record/src/store/writer.rs", "fn f() { std::fs::write(a, b); }"),
        ("crates/observe/src/source/mod.rs", "const P: &str = \"/proc\";"),
        ("crates/load/examples/show.rs", "fn f() { println!(); }"),
        ("crates/load/tests/all.rs", "fn f() { Instant::now(); }"),
        ("crates/lab/src/host.rs", "use std::process::Command;"),
    ];
    allowed.iter().for_each(|(path, code)| write(root.path(), path, &format!("//! X.\n{code}\n")));
    assert_eq!(violations(root.path()), []);
}

#[test]
fn documents_are_in_step() {
    check("dependency-reason", "CONTRIBUTING.md", 1, "- `libc`: system calls\n");
    let two =
        "//! X.\nfailure_classes! {\n    Reset \"reset\" Server \"m\";\n    Odd \"odd\" Server \"m\";\n}\n";
    check("failure-class", "crates/record/src/failure.rs", 4, two);
    check("link", "README.md", 3, "# A\n\n[gone](docs/gone.md)\n");
    check("link", "README.md", 1, "[gone](docs/reference/failures.md#no-such-heading)\n");
    check(
        "link",
        "docs/reference/failures.md",
        2,
        "## Failure classes `reset`\n[out](../../../elsewhere.md)\n\n## Failure classes\n",
    );
}

#[test]
fn missing_documents_are_violations_not_silence() {
    let root = tree_in_order();
    fs::remove_file(root.path().join("CONTRIBUTING.md")).unwrap();
    fs::remove_file(root.path().join("docs/reference/failures.md")).unwrap();
    let rules: Vec<&str> = violations(root.path()).iter().map(|found| found.rule).collect();
    assert_eq!(rules, ["dependency-reason", "link", "failure-class"]);
}

#[test]
fn links_into_documents_that_are_built_are_checked() {
    let root = tree_in_order();
    write(
        root.path(),
        "docs/README.md",
        "[a](reference/cli.md)\n[b](reference/cli.md#load)\n[c](reference/cli.md#gone)\n",
    );
    let found = |documents: &[(&str, &str)]| {
        let mut tree = Tree::read(root.path()).unwrap();
        let documents = documents.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        generated::add(&mut tree, documents.collect());
        inspect(&tree).unwrap().into_iter().map(|violation| violation.line).collect::<Vec<_>>()
    };
    assert_eq!(found(&[]), [1, 2, 3]);
    assert_eq!(found(&[("docs/reference/cli.md", "# Commands\n\n## load\n")]), [3]);
}

#[test]
fn files_that_are_not_rust_are_not_passed_over() {
    check("syntax", "crates/stats/src/lib.rs", 2, "//! X.\nfn f( {}\n");
}

/// A tree with two modules that know each other, and three types of one name that other files see.
fn tree_with_counts() -> TempDir {
    let root = tree_in_order();
    let files = [
        ("crates/stats/src/lib.rs", "mod a;\nmod b;\nstruct T;"),
        ("crates/stats/src/a.rs", "pub struct T;\nfn f(_: super::b::U) {}"),
        ("crates/stats/src/b.rs", "pub struct U;\nfn f(_: crate::a::T) {}"),
        ("crates/load/src/lib.rs", "pub(crate) enum T {}\nmod m {\n    pub(super) type T = u8;\n}"),
        ("crates/load/src/sample.rs", "#[cfg(test)]\npub struct T;\nimpl I for X {\n    type T = u8;\n}"),
        ("crates/load/tests/all.rs", "pub struct T;"),
    ];
    files.iter().for_each(|(path, code)| write(root.path(), path, &format!("//! X.\n{code}\n")));
    root
}

#[test]
fn modules_in_a_circle_and_types_of_one_name_are_violations() {
    let found = violations(tree_with_counts().path());
    let found: Vec<String> = found.iter().map(Violation::to_string).collect();
    let expected = [
        "crates/load/src/lib.rs:2: type-name: 3 types are named 'T', also crates/load/src/lib.rs:4, \
         crates/stats/src/a.rs:2; 1 allowed",
        "crates/stats/src/lib.rs:1: module-cycle: 2 files of 'stats' are in cycles between modules \
         ('cargo xtask cycles stats' shows them); 0 allowed",
    ];
    assert_eq!(found, expected);
}

#[test]
fn allowed_counts_may_only_fall() {
    let root = tree_with_counts();
    let with = |cycles: &str, types: &str| {
        let text = format!("[count.module-cycle]\n{cycles}\n[count.type-name]\n{types}\n");
        write(root.path(), "xtask/tidy-exceptions.toml", &text);
        let found = violations(root.path());
        found.iter().map(|found| format!("{} {}", found.rule, found.line)).collect::<Vec<_>>()
    };
    assert_eq!(with("stats = 2", "T = 3"), [""; 0]);
    assert_eq!(with("stats = 1", "T = 2"), ["type-name 2", "module-cycle 1"]);
    assert_eq!(with("stats = 3", "T = 3"), ["exception 2"]);
    assert_eq!(with("stats = 2", "T = 4"), ["exception 4"]);
    assert_eq!(with("stats = 2\nload = 0", "T = 3\nU = 1"), ["exception 3", "exception 6"]);
    assert_eq!(with("stats = 2\nnone = 2", "T = 3\nNone = 2"), ["exception 3", "exception 6"]);
    assert_eq!(with("stats = 2", "T = 3\n[count.odd]\nT = 1"), ["exception 5"]);
}

#[test]
fn exceptions_need_a_reason_and_a_violation() {
    let root = tree_in_order();
    write(root.path(), "crates/stats/src/lib.rs", "//! X.\nfn f() { println!(); }\n");
    let list = |rule: &str, reason: &str| {
        let text = format!(
            "[[exception]]\nrule = \"{rule}\"\npath = \"crates/stats/src/lib.rs\"\nreason = \"{reason}\"\n"
        );
        write(root.path(), "xtask/tidy-exceptions.toml", &text);
        violations(root.path()).iter().map(|found| found.rule).collect::<Vec<_>>()
    };
    assert_eq!(list("print", "a reason"), [""; 0]);
    assert_eq!(list("print", " "), ["exception"]);
    assert_eq!(list("clock", "a reason"), ["print", "exception"]);
}
