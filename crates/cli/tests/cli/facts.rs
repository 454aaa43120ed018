//! `sysdyno facts`: what a host is, and what differs between two.

use crate::rig::program::{Program, Running};
use crate::rig::{find_program, skip, wait_until};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Writes a file of facts from pairs of names and JSON values.
fn save(path: &Path, facts: &[(&str, &str)]) {
    let facts: Vec<String> = facts.iter().map(|(name, fact)| format!("\"{name}\":{fact}")).collect();
    let text = format!("{{\"schema\":\"sysdyno.facts/1\",\"facts\":{{{}}}}}", facts.join(","));
    std::fs::write(path, text).expect("writes");
}

#[test]
fn this_host_is_described_in_groups_and_as_json() {
    let program = Program::new();
    let outcome = program.run(["facts", "--all"]);
    outcome.expect_code(0);
    for line in ["kernel", "cpu", "memory", "sysctl"] {
        assert!(outcome.stdout.lines().any(|other| other == line), "no group '{line}': {outcome}");
    }
    assert!(outcome.stdout.lines().all(|line| line.chars().count() <= 100), "{outcome}");
    assert!(outcome.stdout.contains("net.core.somaxconn"), "{outcome}");
    let outcome = program.run(["facts", "localhost", "--json"]);
    let document: Value = serde_json::from_str(&outcome.stdout).expect("is JSON");
    assert_eq!(document["schema"], "sysdyno.facts/1");
    assert!(document["facts"]["memory.total_bytes"]["number"].as_f64().is_some_and(|bytes| bytes > 1e6));
    for name in ["sysctl.kernel.hostname", "sysctl.net.ipv4.tcp_fastopen_key", "sysctl.kernel.random.uuid"] {
        assert!(document["facts"].get(name).is_none(), "{name}");
    }
}

#[test]
fn facts_that_were_asked_for_are_the_only_ones() {
    let program = Program::new();
    let outcome = program.run(["facts", "--only", "sysctl.vm.swap*"]);
    outcome.expect_code(0);
    assert!(outcome.stdout.starts_with("sysctl\n  vm.swappiness  "), "{outcome}");
    assert_eq!(outcome.stdout.lines().count(), 2, "{outcome}");
}

#[test]
fn a_host_does_not_differ_from_itself_nor_from_its_run() {
    let program = Program::new();
    let file = program.runs().join("facts.json");
    let path = file.to_str().expect("is text");
    program.run(["facts", "-o", path]).expect_code(0);
    // Interfaces and mounts of other tests come and go; settings and memory stay.
    for only in ["memory.*", "limits.*", "sysctl.vm.*"] {
        let outcome = program.run(["facts", path, "localhost", "--fail-if-different", "--only", only]);
        outcome.expect_code(0);
        assert!(outcome.stdout.starts_with("no differences, ranked for a web server; "), "{outcome}");
    }
    let url = format!("http://{}/", crate::rig::hostile::closed_port());
    program.run(["load", &url, "--warmup", "0s", "--requests", "1", "--json"]);
    let run = program.run_folder().expect("a run was recorded");
    let name = run.file_name().and_then(|name| name.to_str()).expect("is text");
    let outcome = program.run(["facts", name, path, "--fail-if-different", "--only", "limits.*"]);
    outcome.expect_code(0);
    assert!(outcome.stdout.contains("\nA is run "), "{outcome}");
}

#[test]
fn a_run_records_the_descriptor_limit_that_it_was_given() {
    let program = Program::new();
    let url = format!("http://{}/", crate::rig::hostile::closed_port());
    let load = ["load", &url, "--warmup", "0s", "--requests", "1", "--json"];
    Running::start(program.command_after("ulimit -Sn 500", load)).finish(Duration::from_secs(30));
    let run = program.run_folder().expect("a run was recorded");
    let run = run.to_str().expect("is text");
    let outcome = program.run(["facts", run, "--only", "limits.open_files_soft_count"]);
    assert_eq!(outcome.stdout, "limits\n  open_files_soft_count  500\n", "{outcome}");
}

#[test]
fn differences_are_ranked_explained_and_can_fail() {
    let program = Program::new();
    let [a, b] = ["a.json", "b.json"].map(|name| program.runs().join(name));
    save(
        &a,
        &[
            ("sysctl.net.core.somaxconn", "{\"number\":128}"),
            ("disk.sda.scheduler", "{\"text\":\"none\"}"),
            ("kernel.boot_id", "{\"text\":\"1\"}"),
            ("odd", "{\"text\":\"\\u001b[31m\"}"),
        ],
    );
    save(
        &b,
        &[
            ("sysctl.net.core.somaxconn", "{\"number\":4096}"),
            ("disk.sda.scheduler", "{\"text\":\"mq-deadline\"}"),
            ("kernel.boot_id", "{\"text\":\"2\"}"),
        ],
    );
    let outcome = program.run(["facts", "a.json", "b.json"]);
    outcome.expect_code(0);
    assert_eq!(
        outcome.stdout,
        "  1  sysctl.net.core.somaxconn  A 128 · B 4,096\n     \
         D30 upper limit of every accept queue: listen() backlogs are capped at it; when the queue is\n     \
         full, connections are dropped and retried after a second\n     \
         (Documentation/admin-guide/sysctl/net.rst; listen(2))\n  \
         2  disk.sda.scheduler  A none · B mq-deadline\n     \
         D06 I/O scheduler of the disk: it orders, merges, and delays requests, and decides who waits\n     \
         when reads and writes compete (Documentation/block/switching-sched.rst)\n  \
         3  odd  A \\u{1b}[31m · B missing · no rule for it\n\
         \n\
         3 differences, ranked for a web server; 0 facts are equal, 1 ignored\n\
         A is file a.json\n\
         B is file b.json\n"
    );
    let outcome =
        program.run(["facts", "a.json", "b.json", "--workload", "files", "--json", "--fail-if-different"]);
    outcome.expect_code(1);
    let document: Value = serde_json::from_str(&outcome.stdout).expect("is JSON");
    assert_eq!(document["differences"][0]["name"], "disk.sda.scheduler");
    assert_eq!(document["differences"][0]["known"]["rule"], "D06");
    assert_eq!(document["left_out"][0]["reason"], "random at every boot");
}

#[test]
fn what_cannot_be_used_is_refused_with_its_cause() {
    let program = Program::new();
    std::fs::write(program.runs().join("other.json"), "{\"schema\":\"sysdyno.facts/2\",\"facts\":{}}")
        .expect("writes");
    std::fs::write(program.runs().join("broken.json"), "{\"facts\":{\"a\":").expect("writes");
    for (arguments, text) in [
        (&["facts", "web1.example"][..], "cannot find 'web1.example': it is not localhost"),
        (&["facts", "localhost", "other.json"], "its format is 'sysdyno.facts/2'"),
        (&["facts", "broken.json"], "cannot read facts 'broken.json': EOF"),
        (&["facts", "/dev/null"], "it is not a regular file"),
        (&["facts", "/"], "cannot open run '/': it has no 'manifest.json'"),
        (&["facts", "--fail-if-different"], "cannot compare one host"),
        (&["facts", "localhost", "localhost", "-o", "x"], "cannot save a comparison"),
        (&["facts", "-o", "/no/such/folder/x"], "cannot write facts '/no/such/folder/x'"),
    ] {
        let outcome = program.run(arguments.iter().copied());
        outcome.expect_code(2);
        assert!(outcome.stderr.contains(text), "{arguments:?} does not say '{text}': {outcome}");
        assert_eq!(outcome.stdout, "", "{arguments:?}");
    }
}

/// Makes an image with a journal of $2 MB, mounts it at $3 in a mount namespace of its own, which takes the mount and
/// the loop device with it when it ends, and saves the facts as $5.
const IN_NAMESPACE: &str = "truncate -s 1G \"$1\" && mkfs.ext4 -q -F -J size=\"$2\" \"$1\" || exit 77
mount -o loop \"$1\" \"$3\" || exit 77
\"$4\" facts -o \"$5\"; code=$?
umount \"$3\"; exit $code";

/// Saves the facts of this host while a file system with such a journal is mounted; false: it cannot be.
fn save_with_journal(folder: &Path, journal_mb: &str) -> bool {
    let (image, out) = (folder.join("image"), folder.join(journal_mb));
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-c", IN_NAMESPACE, "sh"]);
    command.arg(&image).arg(journal_mb).arg(folder.join("mnt")).arg(env!("CARGO_BIN_EXE_sysdyno")).arg(&out);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{path}:/usr/sbin:/sbin"));
    let outcome = command.output().expect("unshare starts");
    let told = String::from_utf8_lossy(&outcome.stderr);
    // unshare itself ends with 1 if it may not, before the program could say anything.
    if outcome.status.code() == Some(77) || told.contains("unshare failed") {
        return false;
    }
    assert!(outcome.status.success(), "{told}");
    true
}

fn is_in_use(image: &Path) -> bool {
    let loops = std::fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let backing =
        |entry: std::fs::DirEntry| std::fs::read_to_string(entry.path().join("loop/backing_file")).ok();
    loops.filter_map(backing).any(|file| file.trim_end().starts_with(image.to_str().expect("is text")))
}

#[test]
fn of_two_file_systems_that_differ_in_the_journal_the_journal_is_the_first_line() {
    let test = "of_two_file_systems_that_differ_in_the_journal_the_journal_is_the_first_line";
    let program = Program::new();
    let folder = program.runs();
    std::fs::create_dir(folder.join("mnt")).expect("makes a folder");
    let is_there = ["unshare", "mkfs.ext4", "mount"].iter().all(|name| find_program(name).is_some());
    if !is_there || !save_with_journal(folder, "32") || !save_with_journal(folder, "128") {
        return skip(test, &["root", "unshare", "e2fsprogs", "loop", "ext4"]);
    }
    let outcome = program.run(["facts", "32", "128", "--workload", "files"]);
    outcome.expect_code(0);
    let first = outcome.stdout.lines().next().expect("has a line");
    let expected = "/mnt.journal_bytes  A 32.0 MiB · B 128 MiB";
    let is_journal = first.starts_with("  1  filesystem.") && first.ends_with(expected);
    assert!(is_journal, "{outcome}");
    let only = format!("filesystem.{}.*", folder.join("mnt").display());
    let outcome = program.run(["facts", "32", "128", "--only", &only, "--json"]);
    let document: Value = serde_json::from_str(&outcome.stdout).expect("is JSON");
    assert_eq!(document["differences"].as_array().map(Vec::len), Some(1), "{outcome}");
    assert!(
        wait_until(Duration::from_secs(10), || !is_in_use(&folder.join("image"))),
        "the image is still in use"
    );
}
