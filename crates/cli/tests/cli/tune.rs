//! `sysdyno tune` on a tree of files: what it prints, its exit codes, and the life of a trial. No rights are needed.

use crate::rig::program::{Outcome, Program};
use crate::rig::wait_until;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(30);

/// A tree with settings, and a program that works on it.
struct Tree {
    program: Program,
    root: PathBuf,
}

impl Tree {
    fn new() -> Tree {
        let program = Program::new();
        let root = program.runs().join("root");
        let tree = Tree { program, root };
        tree.set("proc/sys/kernel/random/boot_id", "first\n");
        tree.set("proc/sys/net/core/somaxconn", "4096\n");
        tree.set("proc/sys/vm/swappiness", "60\n");
        tree
    }

    fn set(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().expect("is in a folder")).expect("makes");
        fs::write(path, text).expect("writes");
    }

    fn get(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).expect("reads").trim().to_owned()
    }

    fn tune(&self, arguments: &[&str]) -> Outcome {
        let state = self.program.runs().join("state").display().to_string();
        let root = self.root.display().to_string();
        let options = ["tune", "--root", &root, "--state-dir", &state];
        self.program.run(options.iter().chain(arguments).copied())
    }

    fn open_journals(&self) -> usize {
        fs::read_dir(self.program.runs().join("state/tune/open")).map_or(0, Iterator::count)
    }
}

#[test]
fn a_trial_is_planned_made_seen_and_undone() {
    let tree = Tree::new();
    tree.set("etc/sysctl.d/50-own.conf", "vm.swappiness = 30\n");
    let plan = tree.tune(&["plan", "vm.swappiness=10", "--json"]);
    let plan = &plan.expect_code(0).json()["plan"]["changes"][0];
    assert_eq!((plan["old"].as_str(), plan["new"].as_str()), (Some("60"), Some("10")));
    assert_eq!(plan["rivals"][0]["who"], "/etc/sysctl.d/50-own.conf:1");
    assert!(plan["undo"][0].as_str().is_some_and(|line| line.starts_with("echo '60' > ")), "{plan}");

    tree.tune(&["apply", "vm.swappiness=10", "net.core.somaxconn=8192"]).expect_code(0);
    assert_eq!(
        (tree.get("proc/sys/vm/swappiness"), tree.get("proc/sys/net/core/somaxconn")),
        ("10".into(), "8192".into())
    );
    let status = tree.tune(&["status", "--json"]);
    let trial = &status.expect_code(0).json()["trials"][0];
    assert_eq!((trial["phase"].as_str(), trial["is_guarded"].as_bool()), (Some("held"), Some(true)));
    let second = tree.tune(&["apply", "vm.swappiness=20"]);
    assert!(second.expect_code(2).stderr.contains("is still open"), "{second}");
    let undone = tree.tune(&["undo"]);
    assert!(undone.expect_code(0).stdout.contains("vm.swappiness: 10 -> 60, restored"), "{undone}");
    assert_eq!(
        (tree.get("proc/sys/vm/swappiness"), tree.get("proc/sys/net/core/somaxconn")),
        ("60".into(), "4096".into())
    );
    let history = tree.tune(&["history"]);
    assert!(history.expect_code(0).stdout.contains("undone"), "{history}");
}

#[test]
fn a_trial_ends_at_its_deadline_without_anybody() {
    let tree = Tree::new();
    tree.tune(&["apply", "vm.swappiness=10", "--for", "200ms"]).expect_code(0);
    assert!(wait_until(LIMIT, || tree.open_journals() == 0), "the trial is not undone");
    assert_eq!(tree.get("proc/sys/vm/swappiness"), "60");
    assert!(
        tree.tune(&["apply", "vm.swappiness=10", "--for", "30d"])
            .expect_code(2)
            .stderr
            .contains("the maximum is 1day")
    );
}

#[test]
fn a_commitment_stays_until_it_is_undone_by_name() {
    let tree = Tree::new();
    tree.tune(&["apply", "vm.swappiness=10"]).expect_code(0);
    let kept = tree.tune(&["commit", "--json"]);
    let id = kept.expect_code(0).json()["kept"]["id"].as_str().expect("has a name").to_owned();
    assert!(tree.tune(&["undo"]).expect_code(2).stderr.contains("no trial is open"));
    assert_eq!(tree.get("proc/sys/vm/swappiness"), "10");
    tree.set("proc/sys/vm/swappiness", "5\n");
    let refused = tree.tune(&["undo", &id]);
    assert!(refused.expect_code(7).stdout.contains("5, changed by somebody else since"), "{refused}");
    assert_eq!(tree.get("proc/sys/vm/swappiness"), "5");
}

#[test]
fn what_cannot_be_made_durable_is_not_changed() {
    let tree = Tree::new();
    fs::write(tree.program.runs().join("state"), "in the way").expect("writes");
    let refused = tree.tune(&["apply", "vm.swappiness=10"]);
    assert!(refused.expect_code(6).stderr.contains("no setting was changed"), "{refused}");
    assert_eq!(tree.get("proc/sys/vm/swappiness"), "60");
}

/// A reload would be that of this host's nginx.
#[test]
fn services_of_this_host_are_not_asked_about_files_below_another_root() {
    let tree = Tree::new();
    tree.set("etc/nginx/nginx.conf", "worker_processes 1;\nevents { }\n");
    let refused = tree.tune(&["apply", "nginx:/etc/nginx/nginx.conf:worker_processes=4"]);
    assert!(refused.expect_code(2).stderr.contains("no program is available to check it"), "{refused}");
    assert!(tree.get("etc/nginx/nginx.conf").contains("worker_processes 1;"));
}

#[test]
fn settings_are_kept_over_a_reboot_in_a_file_of_ours() {
    let tree = Tree::new();
    let file = Path::new("etc/sysctl.d/90-sysdyno.conf");
    let kept = tree.tune(&["persist", "vm.swappiness=10"]);
    assert!(kept.expect_code(0).stdout.contains("vm.swappiness = 10"), "{kept}");
    assert_eq!(tree.get("proc/sys/vm/swappiness"), "60", "what is in force is not touched");
    assert!(tree.root.join(file).exists());
    tree.tune(&["persist", "--remove"]).expect_code(0);
    assert!(!tree.root.join(file).exists());
    tree.tune(&["persist"]).expect_code(2);
}

#[test]
fn settings_are_listed_with_what_they_do() {
    let tree = Tree::new();
    let all = tree.tune(&["list", "--json"]);
    assert!(all.expect_code(0).json().as_array().is_some_and(|all| all.len() > 150));
    let some = tree.tune(&["list", "somaxconn"]);
    assert!(some.expect_code(0).stdout.starts_with("net.core.somaxconn  (1 to "), "{some}");
    tree.tune(&["list", "nonsense"]).expect_code(2);
}
