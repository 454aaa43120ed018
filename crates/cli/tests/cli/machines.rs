//! `sysdyno experiment export` and `import`: an experiment carried to other machines, and what comes back from them.
//!
//! The machines are this one, twice; the folder of the second is a copy of the first one's export.

use crate::rig::program::{Outcome, Program, Running, Target};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

const LIMIT: Duration = Duration::from_secs(120);

/// An experiment that names a table and a body, exported to the folder `a`.
fn exported(program: &Program, target: &Target) -> Outcome {
    let runs = program.runs();
    fs::create_dir(runs.join("home")).expect("makes");
    fs::write(runs.join("home/users.csv"), "id\n7\n8\n").expect("writes");
    fs::write(runs.join("home/body.txt"), "hello").expect("writes");
    let text = format!(
        "# Two ways to send.\nname = 'pages'\nurl = '{}?id={{{{csv:home/users.csv:id}}}}'\nblocks = 2\nnoisy = true\n\
         [load]\nconnections = 4\nduration = '1s'\nwarmup = '0s'\n\
         [target]\nmethod = 'POST'\nbody-file = 'home/body.txt'\n\
         [[variant]]\nname = 'kept'\n[[variant]]\nname = 'anew'\ntarget = {{ no-keepalive = true }}\n",
        target.url()
    );
    fs::write(runs.join("pages.toml"), text).expect("writes");
    program.run(["experiment", "export", "pages.toml", "-o", "a"])
}

/// Runs the experiment in a folder as its README.md says.
fn run_there(program: &Program, folder: &Path) -> Outcome {
    let mut command =
        program.command(["experiment", "run", "experiment.toml", "--folder", "results", "--json"]);
    command.current_dir(folder);
    Running::start(command).finish(LIMIT)
}

fn import(program: &Program, more: &[&str]) -> Outcome {
    program.run([["experiment", "import", "a", "b"].as_slice(), more].concat())
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("makes");
    for entry in fs::read_dir(from).expect("is a folder") {
        let from = entry.expect("reads").path();
        let to = to.join(from.file_name().expect("has a name"));
        if from.is_dir() { copy(&from, &to) } else { fs::copy(&from, &to).map(drop).expect("copies") }
    }
}

fn metric<'a>(comparison: &'a Value, variant: usize, name: &str) -> &'a Value {
    let metrics = comparison["operations"][variant]["metrics"].as_array().expect("a list");
    metrics.iter().find(|metric| metric["metric"] == name).unwrap_or_else(|| panic!("{name}: {comparison:#}"))
}

#[test]
fn an_experiment_runs_elsewhere_from_its_folder_alone_and_its_results_are_compared() {
    let (program, target) = (Program::new(), Target::start(&[]));
    let outcome = exported(&program, &target);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let [a, b] = ["a", "b"].map(|name| program.runs().join(name));
    // Nothing of what it named is needed any more.
    fs::remove_dir_all(program.runs().join("home")).expect("removes");
    copy(&a, &b);
    let began = SystemTime::now();
    for folder in [&a, &b] {
        let outcome = run_there(&program, folder);
        assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    }
    let seconds = |at: SystemTime| at.duration_since(SystemTime::UNIX_EPOCH).expect("is later").as_secs();
    let readings =
        (seconds(began) - 5..seconds(SystemTime::now()) + 5).map(|second| format!("{second},20\n"));
    fs::write(program.runs().join("watts.csv"), readings.collect::<String>()).expect("writes");
    let outcome = import(&program, &["--json", "--meter", "A=watts.csv", "--report", "machines.html"]);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    let found = outcome.json();
    let variants: Vec<&str> = found["operations"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|one| one["operation"].as_str())
        .collect();
    assert_eq!(variants, ["kept", "anew"]);
    assert_eq!(found["hosts"]["experiment"], "pages");
    let hosts = &found["hosts"]["hosts"];
    assert_eq!(
        (&hosts[0]["power"], hosts[0]["emulator"].is_null()),
        (&Value::from("meter"), true),
        "{hosts:#}"
    );
    let value = |name: &str| metric(&found, 0, name)["sides"][0]["median"].as_f64();
    let (goodput, per_core) = (value("goodput").expect("is known"), value("per-core").expect("is known"));
    let cores = hosts[0]["cores_count"].as_f64().expect("is known");
    assert!((per_core * cores / goodput - 1.0).abs() < 1e-9, "{per_core} {cores} {goodput}");
    // 20 W for a second are 20 J, during which so many were answered.
    let per_joule = value("per-joule").expect("is known");
    assert!((per_joule * 20.0 / goodput - 1.0).abs() < 0.1, "{per_joule} {goodput}");
    assert!(
        found["machines"].as_array().is_some_and(Vec::is_empty),
        "it is the same machine: {:#}",
        found["machines"]
    );
    assert!(fs::read_to_string(program.runs().join("machines.html")).expect("is there").contains("pages"));
    let text = import(&program, &[]);
    let words: Vec<&str> = text.stdout.split_whitespace().collect();
    let has = |phrase: &str| words.join(" ").contains(phrase);
    assert!(has("per-core") && has("no power readings"), "{text}");
}

#[test]
fn results_that_are_not_of_one_experiment_or_no_results_are_refused() {
    let (program, target) = (Program::new(), Target::start(&[]));
    assert_eq!(exported(&program, &target).code, Some(0));
    let again = program.run(["experiment", "export", "pages.toml", "-o", "a"]);
    assert_eq!(again.code, Some(2), "a folder that is there stays as it is: {again}");
    let [a, b] = ["a", "b"].map(|name| program.runs().join(name));
    copy(&a, &b);
    let outcome = import(&program, &[]);
    assert!(outcome.code == Some(2) && outcome.stderr.contains("it has no results"), "{outcome}");
    run_there(&program, &a);
    copy(&a.join("results"), &b.join("results"));
    let results =
        fs::read_dir(b.join("results")).expect("is there").next().expect("one").expect("reads").path();
    let plan = results.join("matrix.json");
    let text = fs::read_to_string(&plan).expect("reads");
    for (old, new, cause) in [
        ("\"pages\"", "\"p\\u001bges\"", "the other 'p"),
        ("\"anew\"", "\"other\"", "only one has a variant 'anew'"),
        ("\"variants\"", "\"others\"", "missing field `variants`"),
    ] {
        assert!(text.contains(old), "{old}");
        fs::write(&plan, text.replacen(old, new, 1)).expect("writes");
        let outcome = import(&program, &[]);
        assert!(outcome.code == Some(2) && outcome.stderr.contains(cause), "{cause}: {outcome}");
        assert!(!outcome.stderr.contains('\u{1b}'), "{outcome}");
    }
    fs::write(&plan, text).expect("writes");
    emulated_is_refused(&program, &results);
    for (option, value, cause) in [
        ("--meter", "C=x.csv", "there is no machine of this letter"),
        ("--meter", "A=none.csv", "cannot read meter"),
        ("--allow", "invalid-run", "cannot allow"),
    ] {
        let outcome = import(&program, &[option, value]);
        assert!(outcome.code == Some(2) && outcome.stderr.contains(cause), "{cause}: {outcome}");
    }
    let outcome = program.run(["experiment", "import", "a", "a"]);
    assert!(outcome.code == Some(2) && outcome.stderr.contains("with itself"), "{outcome}");
}

/// Of a machine that was emulated, the numbers are shown without a difference, unless that is allowed.
fn emulated_is_refused(program: &Program, results: &Path) {
    for run in fs::read_dir(results.join("runs")).expect("is there") {
        let facts = run.expect("reads").path().join("facts.json");
        let text = fs::read(&facts).expect("reads");
        let mut told: Value = serde_json::from_slice(&text).expect("is JSON");
        let emulator = &mut told["facts"]["machine.emulator"]["text"];
        assert_eq!(emulator, "none");
        *emulator = "aarch64 on x86_64".into();
        fs::write(&facts, told.to_string()).expect("writes");
    }
    let found = import(program, &["--json"]);
    assert_eq!(found.code, Some(3), "{found}");
    let gates = |severity: &str| {
        let found =
            import(program, if severity == "refused" { &["--json"] } else { &["--json", "--allow", "C17"] });
        let found = found.json();
        let gates = found["gates"].as_array().expect("a list").iter();
        gates.filter(|gate| gate["id"] == "C17" && gate["severity"] == severity).count()
    };
    assert_eq!((gates("refused"), gates("allowed")), (2, 2), "one for each variant");
    let metrics = found.json()["operations"][0]["metrics"].clone();
    let effects =
        metrics.as_array().expect("a list").iter().filter_map(|metric| metric["effects"].as_array());
    assert_eq!(effects.map(Vec::len).sum::<usize>(), 0, "{metrics:#}");
}
