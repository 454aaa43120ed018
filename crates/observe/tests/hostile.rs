//! No text of `/proc` can break a parser or the sampler: real ones, cut, changed and mixed.

use proptest::prelude::*;
use std::path::{Path, PathBuf};
use sysdyno_observe::source::{
    cgroup, cpu_list, cpu_stat, diskstats, fdinfo, file_nr, interrupts, kmsg, limits, loadavg, named,
    net_dev, net_stat, net_tcp, net_unix, pid_stat, pid_status, pressure, schedstat, snmp, sockstat,
    softirqs, softnet, stat,
};
use sysdyno_observe::{Roots, Sampler, SamplerPlan, facts};
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::series::SeriesLine;

/// Gives a text to every parser; whatever it says, it must come back.
fn parse_with_all(text: &[u8]) {
    let _ = stat::parse(text, &mut stat::Stat::default());
    let _ =
        interrupts::parse(text, &mut interrupts::Scratch::default(), |row| assert!(row.cells().count() > 0));
    let _ = softirqs::parse(text, &mut softirqs::Scratch::default(), |_| {});
    let _ = softnet::parse(text, &mut Vec::new());
    let _ = (net_stat::parse(text, ["drop"]), loadavg::parse(text));
    let _ = snmp::parse(text, &mut Vec::new(), |section| {
        assert_eq!(section.names().count(), section.values.len())
    });
    let _ = (sockstat::parse(text), pressure::parse(text), file_nr::parse(text), schedstat::parse(text));
    let _ = (pid_stat::parse(text), pid_status::parse(text), limits::parse_open_files(text));
    let _ = (net_dev::parse(text, |_| {}), diskstats::parse(text, |_| {}), cgroup::parse(text, |_| {}));
    let _ = (fdinfo::parse(text), kmsg::parse(text));
    let _ = (net_tcp::parse(text), net_unix::parse_listening(text, b"/x"), cpu_list::parse(text));
    let _ = (cpu_stat::parse(text), cpu_stat::parse_max(text), cpu_stat::parse_cfs(text, b"100000"));
    let _ = named::Picker::new(&["MemTotal", "pgfault"]).parse(text);
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// All files below a folder, in a fixed order.
fn files_below(folder: &Path, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("lists").map(|entry| entry.expect("lists").path()).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() { files_below(&entry, out) } else { out.push(entry) }
    }
}

fn all_texts() -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    files_below(&fixtures(), &mut files);
    files.iter().map(|path| std::fs::read(path).expect("reads")).collect()
}

#[test]
fn real_texts_can_be_cut_anywhere() {
    for text in all_texts() {
        let step = (text.len() / 64).max(1);
        (0..=text.len()).step_by(step).for_each(|end| parse_with_all(&text[..end]));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_break_a_parser(text in proptest::collection::vec(any::<u8>(), 0..400)) {
        parse_with_all(&text);
    }

    #[test]
    fn no_words_break_a_parser(text in "([A-Za-z0-9:=/()\\[\\].,-]{0,22}[ \t\n]){0,60}") {
        parse_with_all(text.as_bytes());
    }
}

/// Copies a tree, and hands it to `change`.
fn changed_copy(tree: &str, change: impl Fn(usize, Vec<u8>) -> Vec<u8>) -> tempfile::TempDir {
    let (source, copy) = (fixtures().join(tree), tempfile::tempdir().expect("makes a folder"));
    let mut files = Vec::new();
    files_below(&source, &mut files);
    for (index, path) in files.iter().enumerate() {
        let target = copy.path().join(path.strip_prefix(&source).expect("is below"));
        std::fs::create_dir_all(target.parent().expect("has one")).expect("makes folders");
        std::fs::write(target, change(index, std::fs::read(path).expect("reads"))).expect("writes");
    }
    copy
}

fn sample(folder: &Path) {
    let process = |pid, start_ticks| WatchedProcess::new(pid, start_ticks, "x", ProcessRole::Target);
    let watch = vec![process(900, 5900), process(901, 5901)];
    let plan = SamplerPlan { roots: Roots::at(folder), watch, ..SamplerPlan::host() };
    let mut sampler = Sampler::new(plan).expect("a tree can be sampled");
    let (mut lines, mut width) = (Vec::new(), 0);
    sampler.sample(&mut lines);
    sampler.sample(&mut lines);
    for line in lines {
        match line {
            SeriesLine::Header { columns, .. } => width = columns.len(),
            SeriesLine::Row(row) => assert_eq!(row.values.len(), width),
        }
    }
    facts(&Roots::at(folder));
}

#[test]
fn a_tree_of_cut_files_is_sampled() {
    for part in [0, 1, 3, 7] {
        let copy = changed_copy("linux-4.18-server", |index, mut text| {
            text.truncate(text.len() * ((index + part) % 8) / 8);
            text
        });
        sample(copy.path());
    }
}

#[test]
fn a_tree_of_huge_numbers_is_sampled() {
    let copy = changed_copy("linux-4.18-server", |_, text| {
        let text = String::from_utf8(text).expect("the tree is text");
        let huge = |word: &str| {
            let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
            if is_number { u64::MAX.to_string() } else { word.to_owned() }
        };
        text.split(' ').map(huge).collect::<Vec<_>>().join(" ").into_bytes()
    });
    sample(copy.path());
}

#[test]
fn a_tree_of_folders_and_long_files_is_sampled() {
    let copy =
        changed_copy("linux-4.18-server", |index, text| if index % 2 == 0 { text.repeat(300) } else { text });
    for path in ["proc/stat", "proc/900/stat", "proc/900/net/snmp"] {
        let path = copy.path().join(path);
        std::fs::remove_file(&path).expect("removes");
        std::fs::create_dir(&path).expect("makes a folder");
    }
    sample(copy.path());
}

#[test]
fn every_single_file_may_be_missing() {
    let copy = changed_copy("linux-4.18-server", |_, text| text);
    let mut files = Vec::new();
    files_below(copy.path(), &mut files);
    let hidden = copy.path().join("hidden");
    for path in files {
        std::fs::rename(&path, &hidden).expect("renames");
        sample(copy.path());
        std::fs::rename(&hidden, &path).expect("renames");
    }
}
