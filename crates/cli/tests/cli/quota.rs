//! A generator that is not given enough CPU says so, and does not blame the server.

use crate::rig::cgroup::CpuQuota;
use crate::rig::nginx::Nginx;
use crate::rig::program::{Program, Running};
use crate::rig::skip;
use std::time::Duration;

#[test]
fn a_generator_under_a_cpu_quota_is_invalid_with_m01() {
    let test = "a_generator_under_a_cpu_quota_is_invalid_with_m01";
    let Some(nginx) = Nginx::start("location = /ok { return 200 'hello'; }") else {
        return skip(test, &["nginx"]);
    };
    let Some(quota) = CpuQuota::create("generator", 20) else {
        return skip(test, &["root", "cgroup-cpu"]);
    };
    let url = nginx.url("/ok");
    // The quota has to be what it waits for, and not other tests.
    let program = Program::alone();
    let load = ["load", &url, "--connections", "16", "--threads", "1", "--duration", "3s", "--json"];
    let outcome = Running::start(program.command_after(&quota.enter(), load)).finish(Duration::from_secs(60));
    outcome.expect_code(3);
    assert_eq!(outcome.json()["verdict"]["status"], "INVALID", "{outcome}");
    assert!(outcome.reasons().contains(&"M01".to_owned()), "{outcome}");

    let folder = program.run_folder().expect("the run is kept");
    let shown = program.run(["show", &folder.display().to_string()]);
    assert!(shown.stdout.contains("at least"), "{shown}");
}
