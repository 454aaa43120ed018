//! Plans: what is refused, and what is reported about a change.

use super::*;
use crate::testing::{Host, changes};
use crate::text::is_same;

fn refusal(host: &Host, texts: &[&str]) -> String {
    plan(&changes(texts), &host.roots).expect_err("is refused").to_string()
}

#[test]
fn a_plan_says_all_that_is_going_to_happen() {
    let host = Host::new();
    host.set("vm.dirty_bytes", "0\n");
    host.set("vm.dirty_ratio", "20\n");
    let plan =
        plan(&changes(&["net.core.somaxconn=8192", "vm.dirty_bytes=64MiB", "vm.swappiness=60"]), &host.roots);
    let plan = plan.expect("plans");
    let [somaxconn, dirty, same] = &plan.changes[..] else { panic!("three changes") };
    assert_eq!((somaxconn.old.as_str(), somaxconn.new.as_str()), ("4096", "8192"));
    assert_eq!(somaxconn.undo, [format!("echo '4096' > {}", host.path("net.core.somaxconn").display())]);
    assert_eq!((dirty.new.as_str(), dirty.counterpart), ("67108864", Some("vm.dirty_ratio")));
    assert_eq!(dirty.undo, [format!("echo '20' > {}", host.path("vm.dirty_ratio").display())]);
    assert!(same.is_same);
    assert_eq!(plan.intents().len(), 2);
}

#[test]
fn wrong_plans_are_refused_by_name_and_all_at_once() {
    let host = Host::new();
    let check = |texts: &[&str], expected: &[&str]| {
        let text = refusal(&host, texts);
        for part in expected {
            assert!(text.contains(part), "{texts:?}: {text}");
        }
    };
    check(&["net.core.somaxcon=1"], &["net.core.somaxcon=1", "did you mean 'net.core.somaxconn'"]);
    check(&["net.core.somaxconn=many"], &["'many' is not a number"]);
    check(&["net.core.somaxconn=0"], &["0 is out of range (1 to 2147483647"]);
    check(&["net.ipv4.tcp_rmem=4096 131072"], &["it takes 3 numbers, not 2"]);
    check(&["vm.swappiness=1", "vm.swappiness=2"], &["the plan changes it twice"]);
    check(&["vm.dirty_bytes=8192", "vm.dirty_ratio=10"], &["zeroes it when 'vm.dirty_bytes' is set"]);
    check(&["kernel.modules_disabled=1"], &["only be set in one direction"]);
    check(&["net.core.busy_poll=50"], &["this host has no '/proc/sys/net/core/busy_poll'"]);
    check(&["a=1", "vm.swappiness=900"], &["'a=1'", "'vm.swappiness=900'"]);
}

#[test]
fn a_pair_that_cannot_be_put_back_is_refused() {
    let host = Host::new();
    host.set("vm.dirty_bytes", "0\n");
    host.set("vm.dirty_ratio", "0\n");
    assert!(refusal(&host, &["vm.dirty_bytes=8192"]).contains("both it and 'vm.dirty_ratio' are 0"));
}

#[test]
fn what_shell_lines_say_is_what_an_undo_writes() {
    let host = Host::new();
    let before = host.all();
    let plan = plan(&changes(&["net.ipv4.tcp_rmem=1 2 3", "vm.swappiness=1"]), &host.roots).expect("plans");
    for change in plan.effective() {
        for write in &change.intent.apply {
            change.intent.members[write.member].place.write(&host.roots, &write.text).expect("writes");
        }
    }
    assert_ne!(host.all(), before);
    for change in plan.effective() {
        for write in &change.intent.restore {
            assert!(
                change.undo.iter().any(|line| line.contains(&format!("'{}'", write.text))),
                "{:?}",
                change.undo
            );
            change.intent.members[write.member].place.write(&host.roots, &write.text).expect("writes");
        }
    }
    let same = host.all().iter().zip(&before).all(|(one, other)| is_same(one, other));
    assert!(same);
}

#[test]
fn what_the_kernel_sets_anew_with_a_setting_is_kept_and_put_back_with_it() {
    let host = Host::new();
    let queue = |file: &str, text: &str| host.put(&format!("/sys/block/sda/queue/{file}"), text);
    queue("scheduler", "none [mq-deadline] bfq\n");
    queue("nr_requests", "256\n");
    queue("iosched/read_expire", "500\n");
    queue("iosched/fifo_batch", "16\n");
    let planned = plan(&changes(&["block.sda.scheduler=none"]), &host.roots).expect("plans");
    let [change] = &planned.changes[..] else { panic!("one change") };
    assert_eq!((change.old.as_str(), change.new.as_str()), ("mq-deadline", "none"));
    let queue = "/sys/block/sda/queue";
    let resets = ["nr_requests", "iosched/fifo_batch", "iosched/read_expire"];
    assert_eq!(change.resets, resets.map(|file| format!("{queue}/{file}")));
    let written: Vec<&str> = change.intent.restore.iter().map(|write| write.text.as_str()).collect();
    assert_eq!(written, ["mq-deadline", "256", "16", "500"], "the scheduler first, then what it resets");
    let refused = refusal(&host, &["block.sda.scheduler=none", "block.sda.nr_requests=64"]);
    assert!(
        refused.contains("'block.sda.nr_requests': it changes together with 'block.sda.scheduler'"),
        "{refused}"
    );
    assert!(refusal(&host, &["block.sda.scheduler=cfq"]).contains("available: none, mq-deadline, bfq"));
}

#[test]
fn processors_have_the_governors_that_their_driver_lists() {
    let host = Host::new();
    let policy = "/sys/devices/system/cpu/cpufreq/policy0";
    // As an Intel server under Linux 6.1 shows them, intel_pstate in active mode.
    for (file, text) in [
        ("scaling_available_governors", "performance powersave \n"),
        ("scaling_governor", "powersave\n"),
        ("scaling_driver", "intel_pstate\n"),
        ("related_cpus", "0\n"),
        ("scaling_setspeed", "<unsupported>\n"),
        ("energy_performance_preference", "balance_performance\n"),
        (
            "energy_performance_available_preferences",
            "default performance balance_performance balance_power power \n",
        ),
    ] {
        host.put(&format!("{policy}/{file}"), text);
    }
    let planned = plan(&changes(&["cpufreq.policy0.governor=performance"]), &host.roots).expect("plans");
    assert_eq!(planned.changes[0].resets.len(), 2);
    assert_eq!(planned.changes[0].intent.witnesses.len(), 2);
    plan(&changes(&["cpufreq.policy0.energy_preference=power"]), &host.roots).expect("plans");
    let refused = refusal(&host, &["cpufreq.policy0.governor=ondemand"]);
    assert!(refused.contains("available: performance, powersave"), "{refused}");
    assert!(refusal(&host, &["cpufreq.policy1.governor=performance"]).contains("policy1"));
}
