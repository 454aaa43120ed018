//! What counts as an edge between two modules, and what as a cycle, on crates of a few lines.

use super::super::tree::Tree;
use super::Crate;
use std::fs;
use tempfile::TempDir;

/// The crate whose root and further files these are, by their names below `src/`.
fn crate_of(files: &[(&str, &str)]) -> Crate {
    let root = TempDir::new().expect("a folder");
    for (name, code) in files {
        let path = root.path().join("crates/stats/src").join(name);
        fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("a folder");
        fs::write(path, format!("//! X.\n{code}\n")).expect("a file");
    }
    let mut all = Crate::all(&Tree::read(root.path()).expect("a tree"));
    assert_eq!(all.len(), 1, "one crate");
    all.remove(0)
}

/// What `from` names of `to`, by their names below `src/`.
fn named(it: &Crate, from: &str, to: &str) -> Vec<String> {
    let place = |name: &str| it.files.iter().position(|file| file.path == format!("crates/stats/src/{name}"));
    let ends = place(from).zip(place(to)).expect("both are modules");
    it.edges.get(&ends).map(|edge| edge.names.clone()).unwrap_or_default()
}

/// Checks that this code in the module `a` names `B` of the module `b`, or nothing of it.
fn check(code: &str, is_named: bool) {
    let it = crate_of(&[
        ("lib.rs", "pub mod a;\npub mod b;\npub use b::B;\npub use b::B as Renamed;"),
        ("a.rs", code),
        (
            "b.rs",
            "pub struct B;\nimpl B { pub fn new() -> B { B } }\npub fn as_text() {}\npub mod inner { pub use super::B; }",
        ),
    ]);
    let expected: &[&str] = if is_named { &["B"] } else { &[] };
    assert_eq!(named(&it, "a.rs", "b.rs"), expected, "{code}");
}

#[test]
fn a_name_leads_to_the_file_that_defines_it() {
    for code in [
        "use crate::b::B;",
        "use super::b::{self, B};",
        "use crate::B;",
        "use super::Renamed;",
        "use crate::Renamed as Other;",
        "use crate::b;\nfn f() -> b::B { panic!() }",
        "use crate::b as other;\nfn f() { other::B::new(); }",
        "use crate::b::inner::B;",
        "fn f(_: &super::B) {}",
        "fn f() { let _ = crate::b::B::new(); }",
        "fn f() { println!(\"{:?}\", [crate::b::B::new()]); }",
        "fn f() { use super::b; b::B::new(); }",
        "impl Trait for crate::B {}",
        "mod inner { fn f(_: super::super::B) {} }",
        "mod inner { use super::*; fn f(_: B) {} }\nuse crate::B;",
        "macro_rules! m { () => { $crate::b::B } }",
    ] {
        check(code, true);
    }
}

#[test]
fn what_names_nothing_of_the_other_file_is_no_edge() {
    for code in [
        "use crate::b;",
        "use std::b::B;",
        "use ::b::B;",
        "/// [`crate::b::B`]\nstruct A;",
        "const TEXT: &str = \"crate::b::B\";",
        "pub(in crate::b) struct A;",
        "struct B;\nfn f(_: B) {}",
        "use crate::b;\nfn f() { enum b { B }\n b::B; }",
        "#[cfg(test)]\nuse crate::b::B;",
        "#[cfg(test)]\nmod tests { fn f(_: crate::b::B) {} }",
        "struct A;\nimpl A { #[cfg(test)] fn f(_: crate::b::B) {} }",
        "#[test]\nfn f() { crate::b::B::new(); }",
    ] {
        check(code, false);
    }
}

#[test]
fn globs_macros_and_serde_lead_on_too() {
    let it = crate_of(&[
        ("lib.rs", "mod a;\nmod b;\nmod c;\npub use b::*;"),
        (
            "a.rs",
            "use crate::*;\n#[derive(Serialize)]\nstruct A(#[serde(with = \"crate::c\")] B);\nfn f(_: crate::c::Made) {}",
        ),
        ("b.rs", "pub struct B;"),
        ("c.rs", "made_by_a_macro! { Made }"),
    ]);
    assert_eq!(named(&it, "a.rs", "b.rs"), ["B"]);
    assert_eq!(named(&it, "a.rs", "c.rs"), ["crate::c", "Made"]);
    assert_eq!(named(&it, "a.rs", "lib.rs"), ["*"]);
}

#[test]
fn imports_in_a_circle_lead_nowhere() {
    let it = crate_of(&[
        ("lib.rs", "mod a;\nmod b;"),
        ("a.rs", "pub use crate::b::X;\npub use crate::b::*;\nfn f(_: Unknown) {}"),
        ("b.rs", "pub use crate::a::X;\npub use crate::a::*;\nfn f(_: Unknown) {}"),
    ]);
    assert_eq!(named(&it, "a.rs", "b.rs"), ["*"]);
}

#[test]
fn siblings_that_know_each_other_through_their_parent_are_a_cycle() {
    let parent = ("part/mod.rs", "mod a;\nmod b;\nuse a::A;\nuse b::B;\nfn f(_: A, _: B) {}\npub struct P;");
    let it = crate_of(&[
        ("lib.rs", "mod part;"),
        parent,
        ("part/a.rs", "use super::{B, P};\npub struct A(B, P);"),
        ("part/b.rs", "pub struct B;\nfn f(_: &super::A) {}"),
    ]);
    let report = [
        "stats: cycles: 1, files in them: 2 of 4",
        "  a cycle of 2 files",
        "    part/a.rs",
        "      -> part/b.rs: B (line 2) [without it: 0 files]",
        "    part/b.rs",
        "      -> part/a.rs: A (line 3) [without it: 0 files]",
    ];
    assert_eq!(it.report(), report);

    let one_way = [
        ("lib.rs", "mod part;"),
        parent,
        ("part/a.rs", "use super::{B, P};\npub struct A(B, P);"),
        ("part/b.rs", "pub struct B;\nfn f(_: &super::P) {}"),
    ];
    assert_eq!(crate_of(&one_way).report(), ["stats: cycles: 0, files in them: 0 of 4"]);
}

#[test]
fn a_cycle_over_three_files_is_one_and_two_apart_are_two() {
    let around = |file: &'static str, next: &'static str| {
        (file, format!("pub struct T;\nfn f(_: crate::{}::T) {{}}", next.trim_end_matches(".rs")))
    };
    let files = [
        around("a.rs", "b.rs"),
        around("b.rs", "c.rs"),
        around("c.rs", "a.rs"),
        around("d.rs", "e.rs"),
        around("e.rs", "d.rs"),
        around("f.rs", "a.rs"),
    ];
    let mut all: Vec<(&str, &str)> = files.iter().map(|(name, code)| (*name, code.as_str())).collect();
    all.push(("lib.rs", "mod a;\nmod b;\nmod c;\nmod d;\nmod e;\nmod f;"));
    assert_eq!(crate_of(&all).report()[0], "stats: cycles: 2, files in them: 5 of 7");
}
