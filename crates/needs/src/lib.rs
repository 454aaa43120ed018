//! What tests need that cargo does not bring, and whether they may do without it.
//!
//! A test that lacks a program, a right, or a part of the kernel calls [`skip`], which says so and lets it pass. Where
//! `SYSDYNO_REQUIRE` names what is lacking, [`skip`] fails the test instead: a machine for continuous integration must not
//! be green because it tested nothing. The names are those of `table`. The variable holds names separated by commas; `all`
//! stands for every name that `.ci/run` can have, and `-NAME` takes one out again. `scripts/skip` is the same for scripts and
//! for the tests of the report.
//!
//! Never a part of the program: other crates depend on this one for their tests only (tidy).

use std::io::Write;
use std::path::PathBuf;

const TABLE: &str = include_str!("../table");

/// The variable that says what must not be lacking.
pub const VARIABLE: &str = "SYSDYNO_REQUIRE";

/// Names that `all` does not stand for.
const NOT_IN_ALL: [&str; 1] = ["qemu-user"];

/// Says on the real stderr, past the test runner's capture, that `test` did not run and what it lacks.
///
/// # Panics
///
/// If `SYSDYNO_REQUIRE` asks for what it lacks, or has a name that the table does not have.
#[track_caller]
pub fn skip(test: &str, names: &[&str]) {
    let lacking = lacking(names);
    let text = std::env::var(VARIABLE).unwrap_or_default();
    let required = Required::parse(&text).unwrap_or_else(|error| panic!("{error}"));
    let wanted: Vec<&str> = lacking.iter().copied().filter(|name| required.has(name)).collect();
    assert!(wanted.is_empty(), "{test}: needs {}, which {VARIABLE}={text} requires", wanted.join(", "));
    let _ = writeln!(std::io::stderr(), "skipped: {test}: needs {}", lacking.join(", "));
}

/// Whether the rights and programs among `names` are there; [`skip`]s the test if not.
#[track_caller]
pub fn has(test: &str, names: &[&str]) -> bool {
    let is_here = names.iter().all(|name| is_lacking(name) != Some(true));
    if !is_here {
        skip(test, names);
    }
    is_here
}

/// Where a program lies, with the folders that are not on every user's path.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<_> = std::env::split_paths(&path).collect();
    folders.extend(["/usr/sbin".into(), "/sbin".into(), "/usr/local/sbin".into()]);
    folders.into_iter().map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Which of the names a test that cannot run lacks: those that are seen to be missing, else those that cannot be looked
/// for, else all of them, since a program that is there did not work.
fn lacking<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let of = |state: Option<bool>| names.iter().copied().filter(move |name| is_lacking(name) == state);
    let missing: Vec<&str> = of(Some(true)).collect();
    let unknown: Vec<&str> = of(None).collect();
    [missing, unknown, names.to_vec()].into_iter().find(|group| !group.is_empty()).unwrap_or_default()
}

/// Whether a right or a program is missing; `None` of what cannot be looked for.
#[track_caller]
fn is_lacking(name: &str) -> Option<bool> {
    if name == "root" {
        return Some(!rustix::process::geteuid().is_root());
    }
    let row =
        rows().find(|row| row.0 == name).unwrap_or_else(|| panic!("'{name}' is not in the table of needs"));
    (row.1 != "-").then(|| find_program(row.1).is_none())
}

/// Name and program of each row of the table.
fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| {
        let mut words = line.split_whitespace();
        Some((words.next()?, words.next()?))
    })
}

/// What must not be lacking.
struct Required<'a> {
    is_all: bool,
    names: Vec<&'a str>,
    exceptions: Vec<&'a str>,
}

impl<'a> Required<'a> {
    fn parse(text: &'a str) -> Result<Required<'a>, String> {
        let mut required = Required { is_all: false, names: Vec::new(), exceptions: Vec::new() };
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            let name = word.strip_prefix('-').unwrap_or(word);
            if word == "all" {
                required.is_all = true;
                continue;
            }
            if rows().all(|row| row.0 != name) {
                return Err(format!("{VARIABLE} has '{name}', which is not in crates/needs/table"));
            }
            if word == name { required.names.push(name) } else { required.exceptions.push(name) }
        }
        Ok(required)
    }

    fn has(&self, name: &str) -> bool {
        let is_named = self.names.contains(&name) || self.is_all && !NOT_IN_ALL.contains(&name);
        is_named && !self.exceptions.contains(&name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// What is required, what is lacking, and whether a test may be skipped.
    const CASES: [(&str, &str, bool); 12] = [
        ("", "nginx", true),
        ("all", "nginx", false),
        ("all", "root", false),
        ("all", "ports-in-turn", false),
        ("all", "qemu-user", true),
        ("all,qemu-user", "qemu-user", false),
        ("all,-nginx", "nginx", true),
        ("all, -nginx", "root", false),
        ("nginx,root", "nginx", false),
        ("nginx,root", "chromium", true),
        ("ngnix", "nginx", false),
        ("nginx", "ngnix", false),
    ];

    #[test]
    fn what_is_required_fails_a_test_that_lacks_it_and_so_does_a_name_that_nobody_knows() {
        for (required, name, may_skip) in CASES {
            let is_known = rows().any(|row| row.0 == name);
            let parsed = Required::parse(required);
            let may = is_known && parsed.is_ok_and(|required| !required.has(name));
            assert_eq!(may, may_skip, "{VARIABLE}={required}, {name} is lacking");
        }
    }

    #[test]
    fn scripts_skip_and_fail_in_the_same_cases() {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/skip");
        for (required, name, may_skip) in CASES {
            let mut command = Command::new(script);
            let output = command.args(["a test", name]).env(VARIABLE, required).output().expect("it runs");
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.success(), may_skip, "{VARIABLE}={required}, {name} is lacking: {text}");
            let skipped = format!("skipped: a test: needs {name}\n");
            assert_eq!(text == skipped, may_skip, "{VARIABLE}={required}, {name} is lacking: {text}");
        }
    }

    /// Runs the test of this name alone in a process with `SYSDYNO_REQUIRE`, so that the real variable is read.
    fn ends_well(required: Option<&str>) -> bool {
        let own = std::env::current_exe().expect("has a path");
        let mut command = Command::new(own);
        command.args(["--exact", "tests::lacks_a_machine", "--ignored"]).env_remove(VARIABLE);
        command.envs(required.map(|required| (VARIABLE, required)));
        command.output().expect("it runs").status.success()
    }

    #[test]
    #[ignore = "run by the test below, with and without the requirement"]
    fn lacks_a_machine() {
        // Root and cargo's own programs are no reason; what cannot be looked for is.
        skip("a test", &["qemu-user"]);
    }

    #[test]
    fn a_test_that_lacks_what_is_required_fails_and_passes_otherwise() {
        assert!(ends_well(None));
        assert!(ends_well(Some("nginx,all")));
        assert!(!ends_well(Some("nginx,qemu-user")));
    }

    #[test]
    fn what_is_seen_to_be_missing_is_the_reason_and_not_what_is_there() {
        // Without a shell nobody runs these tests; the table has no row for it, so a program that every system has serves.
        let is_here = |name: &str| is_lacking(name) == Some(false);
        let there =
            rows().map(|row| row.0).find(|name| is_here(name)).expect("cargo's machine has a program");
        assert_eq!(lacking(&[there, "qemu-user"]), ["qemu-user"]);
        assert_eq!(lacking(&[there]), [there]);
    }

    /// Files below a folder, without what is built or fetched.
    fn files_below(folder: PathBuf) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&folder).expect("a folder of the repository").flatten();
        let paths = entries.map(|entry| entry.path()).filter(|path| !path.ends_with("target"));
        paths.flat_map(|path| if path.is_dir() { files_below(path) } else { vec![path] }).collect()
    }

    #[test]
    fn no_other_test_or_script_says_by_itself_that_it_is_skipped() {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
        let folders = ["crates", "scripts", "bench", "web/test", "xtask", ".ci"];
        let files = folders.iter().flat_map(|folder| files_below(root.join(folder)));
        let says = |path: &PathBuf| {
            let text = std::fs::read(path).unwrap_or_default();
            String::from_utf8_lossy(&text).contains("skipped: ")
        };
        let is_source = |path: &PathBuf| path.extension().is_none_or(|kind| kind != "html" && kind != "svg");
        let saying: Vec<PathBuf> = files.filter(is_source).filter(says).collect();
        let expected = [root.join("crates/needs/src/lib.rs"), root.join("scripts/skip")];
        assert_eq!(saying, expected, "say it by sysdyno_needs::skip, or by scripts/skip");
    }

    #[test]
    fn every_name_is_in_the_table_once() {
        let mut names: Vec<&str> = rows().map(|row| row.0).collect();
        assert!(NOT_IN_ALL.iter().all(|name| names.contains(name)));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
