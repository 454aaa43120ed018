//! `sysdyno selftest` and `inject` without a lab: what is known, and what is refused.

use crate::rig::program::Program;

#[test]
fn known_faults_are_listed_with_diagnoses_that_there_are() {
    let program = Program::new();
    let list = program.run(["selftest", "diagnose", "--list"]);
    list.expect_code(0);
    let all = program.run(["explain", "--list", "--json"]).json();
    let ids: Vec<&str> =
        all.as_array().expect("is a list").iter().filter_map(|rule| rule["id"].as_str()).collect();
    let faults: Vec<&str> =
        list.stdout.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   ")).collect();
    assert!(faults.len() >= 20, "{list}");
    for fault in faults {
        let named: Vec<&str> =
            fault.split_whitespace().skip(1).take_while(|word| ids.contains(word)).collect();
        assert!(!named.is_empty(), "{fault}");
    }
}

#[test]
fn a_fault_that_is_not_known_and_a_lab_that_is_not_up_are_refused() {
    let program = Program::new();
    let unknown = program.run(["selftest", "diagnose", "bad-luck"]);
    unknown.expect_code(2);
    assert!(unknown.stderr.contains("cannot find fault 'bad-luck'\nhint: use one of"), "{unknown}");
    let nowhere = program.run(["inject", "stopped", "--lab", "nowhere"]);
    nowhere.expect_code(2);
    assert!(nowhere.stderr.contains("nowhere"), "{nowhere}");
    let nothing = program.run(["inject", "--lab", "nowhere"]);
    nothing.expect_code(2);
}
