//! Control groups against a kernel that is a table: what is made, what is moved, and that all of it is put back.

use super::fake::FakeKernel;
use super::*;
use sysdyno_needs::skip;

/// A server with two workers, one of which has a child, beside a process that is not its own; and one elsewhere.
const SERVER: &[(u32, u32)] = &[(100, 1), (101, 100), (102, 100), (103, 102), (90, 1)];

fn v1(path: &str) -> FakeKernel {
    FakeKernel::new(true, &[(path, SERVER), ("/other", &[(104, 100)])])
}

fn v2(path: &str) -> FakeKernel {
    FakeKernel::new(false, &[(path, SERVER), ("/other.slice", &[(104, 100)])]).give_cpu_down_to(path)
}

fn all() -> Vec<(&'static str, FakeKernel)> {
    vec![
        ("/", v1("/")),
        ("/system.slice/web.service", v1("/system.slice/web.service")),
        ("/", v2("/")),
        ("/system.slice/web.service", v2("/system.slice/web.service")),
    ]
}

fn group(kernel: &FakeKernel) -> OwnGroup {
    found(kernel, 100, 7).expect("can be made")
}

#[test]
fn a_server_and_its_children_are_moved_and_nobody_else() {
    for (path, kernel) in all() {
        let (group, before) = (group(&kernel), kernel.state());
        assert_eq!(read(&kernel, &group).expect("reads"), "unlimited");
        write(&kernel, &group, "0.9").expect("is made");
        assert_eq!(read(&kernel, &group).expect("reads"), "0.9");
        let own = format!("{}/sysdyno-100-7", path.trim_end_matches('/'));
        assert_eq!([100, 101, 102, 103].map(|pid| kernel.group_of(pid)), [own.as_str(); 4], "{path}");
        assert_eq!(kernel.group_of(90), path, "not the server's");
        assert!(kernel.group_of(104).starts_with("/other"), "in another group than the server");
        write(&kernel, &group, "unlimited").expect("is undone");
        assert_eq!(kernel.state(), before, "{path}");
        write(&kernel, &group, "unlimited").expect("can be undone twice");
    }
}

#[test]
fn the_files_of_each_version_get_the_quota_of_a_short_period() {
    let check = |kernel: FakeKernel, text: &str, expected: &[(&str, &str)]| {
        let group = group(&kernel);
        write(&kernel, &group, text).expect("is made");
        assert_eq!(read(&kernel, &group).expect("reads"), text);
        for (file, expected) in expected {
            assert_eq!(kernel.text(&format!("/web/sysdyno-100-7/{file}")), *expected, "{text}");
        }
    };
    check(v1("/web"), "1.8", &[("cpu.cfs_quota_us", "18000"), ("cpu.cfs_period_us", "10000")]);
    check(v1("/web"), "0.05", &[("cpu.cfs_quota_us", "5000"), ("cpu.cfs_period_us", "100000")]);
    check(v1("/web"), "placed", &[("cpu.cfs_quota_us", "-1")]);
    check(v2("/web"), "1.8", &[("cpu.max", "18000 10000")]);
    check(v2("/web"), "placed", &[("cpu.max", "max 100000")]);
}

#[test]
fn children_that_are_started_meanwhile_come_along_both_ways() {
    for (path, kernel) in all() {
        let group = group(&kernel);
        *kernel.forks.borrow_mut() = 5;
        write(&kernel, &group, "0.5").expect("is made");
        *kernel.forks.borrow_mut() = 5;
        write(&kernel, &group, "unlimited").expect("is undone");
        assert_eq!([100, 105, 110].map(|pid| kernel.group_of(pid)), [path; 3]);
    }
}

#[test]
fn a_death_at_any_step_leaves_a_text_that_is_known_and_can_be_undone() {
    for (path, kernel) in all() {
        let (group, before) = (group(&kernel), kernel.state());
        for step in 0.. {
            *kernel.lives_for.borrow_mut() = Some(step);
            let made = write(&kernel, &group, "0.9");
            *kernel.lives_for.borrow_mut() = None;
            let text = read(&kernel, &group).expect("reads");
            let is_known =
                ["unlimited", "0.9"].contains(&text.as_str()) || CpuGroup(group.clone()).is_between(&text);
            assert!(is_known, "{text} after {step} steps in {path}");
            *kernel.lives_for.borrow_mut() = Some(step);
            let _ = write(&kernel, &group, "unlimited");
            *kernel.lives_for.borrow_mut() = None;
            write(&kernel, &group, "unlimited").expect("is undone");
            assert_eq!(kernel.state(), before, "{step} steps in {path}");
            if made.is_ok() {
                assert!(step > 5);
                break;
            }
        }
    }
}

#[test]
fn the_group_of_a_server_that_has_died_is_given_up() {
    for (path, kernel) in all() {
        let group = group(&kernel);
        write(&kernel, &group, "0.9").expect("is made");
        kernel.end(100);
        write(&kernel, &group, "unlimited").expect("is undone");
        assert_eq!(kernel.group_of(103), path);
        write(&kernel, &group, "0.9").expect_err("there is nobody to limit");
    }
}

#[test]
fn what_could_not_be_undone_is_refused() {
    let no_controller = FakeKernel::new(false, &[("/web", SERVER)]);
    assert!(found(&no_controller, 100, 7).expect_err("is refused").contains("not given the cpu controller"));
    let text = "0::/../elsewhere\n";
    assert_eq!(line_of(text, "cpu"), Some((false, "/../elsewhere")));
    assert_eq!(OwnGroup::parse("v2:100:7:/../elsewhere"), None);
    assert_eq!(line_of("3:cpuset:/a\n1:cpuacct,cpu:/b:c\n0::/d\n", "cpu"), Some((true, "/b:c")));
    assert_eq!(line_of("garbage", "cpu"), None);
}

#[test]
fn numbers_of_cpus_are_taken_with_three_decimals() {
    for (typed, expected) in
        [("1", "1"), ("0.90", "0.9"), ("12.345", "12.345"), ("0.010", "0.01"), ("placed", "placed")]
    {
        assert_eq!(super::typed(typed).as_deref(), Ok(expected));
    }
    for wrong in ["", "0", "0.009", "1.", ".5", "-1", "1e3", "0.1234", "2000000", "many", "1024.001"] {
        assert!(super::typed(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_live_process_is_limited_with_the_children_that_it_starts_later() {
    let test = "a_live_process_is_limited_with_the_children_that_it_starts_later";
    let script = "sleep 60 & read line; sleep 60 & echo; read line";
    let mut child = std::process::Command::new("sh")
        .args(["-c", script])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("sh can be run");
    let (roots, key) = (TuneRoots::host(), format!("process.{}.cpus", child.id()));
    let name = SettingName::of("process.*.cpus", &key).expect("is one");
    let found = CpuGroups.find(&name, &roots).map(|mut places| places.remove(0));
    let place = found.ok().filter(|place| place.unwritable(&roots).is_none());
    if let Some(place) = &place {
        is_limited_and_undone(place, &mut child, &roots);
    }
    let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", child.id()));
    for pid in children.expect("are listed").split_whitespace() {
        let pid = rustix::process::Pid::from_raw(pid.parse().expect("a number")).expect("is one");
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("ends");
    }
    child.kill().expect("ends");
    child.wait().expect("ends");
    match place {
        None => skip(test, &["root", "cgroup-cpu"]),
        Some(place) => assert_eq!(place.read(&roots).expect("nothing is left"), "unlimited"),
    }
}

fn is_limited_and_undone(place: &SettingPlace, child: &mut std::process::Child, roots: &TuneRoots) {
    use std::io::{Read, Write};
    let line = |pid: &str| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).expect("it lives");
        line_of(&text, "cpu").expect("is in one").1.to_owned()
    };
    let pid = child.id().to_string();
    let before = line(&pid);
    place.write(roots, "0.5").expect("is made");
    assert_eq!(place.read(roots).expect("reads"), "0.5");
    child.stdin.as_mut().expect("is piped").write_all(b"\n").expect("it reads");
    child.stdout.as_mut().expect("is piped").read_exact(&mut [0]).expect("it has started another one");
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).expect("are listed");
    let all: Vec<&str> = children.split_whitespace().chain([pid.as_str()]).collect();
    assert_eq!(all.len(), 3);
    assert!(
        all.iter().all(|pid| line(pid).ends_with(&format!("/sysdyno-{}", own(child.id())))),
        "all are in it"
    );
    place.put_back(roots, "unlimited").expect("is undone");
    assert!(all.iter().all(|pid| line(pid) == before), "all are back");
    let shell = place.shell_line(roots, "unlimited");
    place.write(roots, "placed").expect("is made again");
    let done = std::process::Command::new("sh").args(["-ec", &shell]).status().expect("sh can be run");
    assert!(done.success() && all.iter().all(|pid| line(pid) == before), "{shell}");
}

fn own(pid: u32) -> String {
    format!("{pid}-{}", start_ticks(pid).expect("it lives"))
}
