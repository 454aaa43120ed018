//! Tests of machines: two sizes of one machine, meters, emulators, and experiments that are not the same.

use super::*;
use crate::compare::tests::{clean, fact, profile_of};
use crate::corpus::Specimen;
use sysdyno_record::comparison::SideValues;
use sysdyno_record::effect::ComparisonVerdict;
use sysdyno_record::experiment::EXPERIMENT_SCHEMA;
use sysdyno_record::facts::{Fact, HostUse};
use sysdyno_record::plan::Arrival;
use sysdyno_record::power::PowerLog;

/// A machine of so many CPUs, of which the load takes so much of its rate.
fn machine(cpus_count: f64, ghz: Option<f64>, rate_ratio: f64) -> Specimen {
    let specimen = Specimen::closed(16, 4_000.0 * rate_ratio, 10.0);
    specimen.edit(|case| {
        case.end.summary.learnt_body = clean().end.summary.learnt_body;
        case.watched.iter_mut().for_each(|process| process.cpus = None);
        fact(case, "cpu.online_count", Fact::Number(4.0));
        fact(case, "cpu.cores_count", Fact::Number(4.0));
        fact(case, "cpu.allowed_count", Fact::Number(cpus_count));
        if let Some(ghz) = ghz {
            fact(case, "cpu.frequency_nominal_khz", Fact::Number(ghz * 1e6));
        }
    })
}

/// Four runs that differ by a little.
fn runs(specimen: &Specimen, name: &str) -> Vec<RunProfile> {
    let run = |number: usize| {
        let mut run = profile_of(&format!("{name}{number}"), specimen);
        let factor = 1.0 + 0.004 * number as f64;
        run.analysis.rates.goodput_hz *= factor;
        run.size.ok_count = (run.size.ok_count as f64 * factor) as u64;
        use_cores(&mut run, 0.95);
        run
    };
    (0..4).map(run).collect()
}

/// Has the server of a run use this share of its cores.
fn use_cores(run: &mut RunProfile, ratio: f64) {
    run.around.server_cpu_ns =
        run.size.cores.map(|cores| ratio * cores * 1e9 / run.analysis.rates.goodput_hz);
}

fn options(machines: &[Vec<RunProfile>]) -> MachinesOptions {
    let names = ["capacity", "goodput", "per-core", "per-ghz", "per-joule", "p99", "cpu"];
    MachinesOptions {
        experiment: "pages".into(),
        names: (0..machines.len()).map(letter).collect(),
        facts: machines.iter().map(|runs| runs[0].machine_facts().clone()).collect(),
        compare: CompareOptions {
            margin_ratio: None,
            metrics: names.map(str::to_owned).into(),
            allowed: Vec::new(),
            workload: HostUse::Web,
        },
    }
}

fn compared(machines: Vec<Vec<RunProfile>>) -> RunsComparison {
    let options = options(&machines);
    compare_machines(vec![VariantOnMachines { name: "small".into(), machines }], &options)
}

fn values<'a>(comparison: &'a RunsComparison, metric: &str) -> &'a [SideValues] {
    let found = comparison.operations[0].metrics.iter().find(|one| one.metric == metric);
    &found.unwrap_or_else(|| panic!("{metric}")).sides
}

fn verdict<'a>(comparison: &'a RunsComparison, metric: &str) -> &'a ComparisonVerdict {
    let found = comparison.operations[0].metrics.iter().find(|one| one.metric == metric);
    &found.unwrap_or_else(|| panic!("{metric}")).effects[0].verdict
}

#[test]
fn half_the_cpus_give_half_the_rate_and_the_same_per_core() {
    let (whole, half) = (machine(4.0, Some(2.5), 1.0), machine(2.0, Some(2.5), 0.5));
    let found = compared(vec![runs(&whole, "a"), runs(&half, "b")]);
    assert_eq!(verdict(&found, "goodput").word, Comparison::Worse);
    assert_eq!(verdict(&found, "per-core").word, Comparison::Same);
    let per_core = values(&found, "per-core")[0].median.expect("is known");
    assert!((per_core / 1_006.0 - 1.0).abs() < 0.01, "{per_core}");
    let per_ghz = values(&found, "per-ghz")[0].median.expect("is known");
    assert!((per_core / per_ghz - 2.5).abs() < 1e-9);
    let said =
        "Goodput of B is 50% lower, per core the same within 5.0%, per core and GHz the same within 5.0%";
    assert_eq!(found.headline, said);
    assert!(!found.is_refused && found.gates.iter().all(|gate| gate.id != "C14"), "{:?}", found.gates);
    let names: Vec<&str> = found.machines[0].differences.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["cpu.allowed_count"]);
    let hosts = found.hosts.expect("are shown").hosts;
    assert_eq!([hosts[0].cores_count, hosts[1].cores_count], [Some(4.0), Some(2.0)]);
    assert_eq!((hosts[0].frequency_ghz, hosts[0].power), (Some(2.5), None));
}

#[test]
fn a_size_that_is_not_known_gives_no_number() {
    let found = compared(vec![runs(&machine(4.0, None, 1.0), "a"), runs(&machine(4.0, Some(2.0), 1.0), "b")]);
    assert_eq!(values(&found, "per-ghz")[0].median, None);
    assert_eq!(values(&found, "per-ghz")[0].missing.as_deref(), Some("the CPU's frequency is not known"));
    let metrics: Vec<&str> = found.operations[0].metrics.iter().map(|metric| metric.metric).collect();
    assert!(!metrics.contains(&"per-joule"), "no machine has it: {metrics:?}");
}

#[test]
fn a_server_that_was_not_busy_has_a_lower_bound_of_its_rate_per_core() {
    let busy = || runs(&machine(4.0, Some(2.5), 1.0), "a");
    let mut idle = runs(&machine(4.0, Some(2.5), 2.0), "b");
    idle.iter_mut().for_each(|run| use_cores(run, 0.4));
    let found = compared(vec![busy(), idle.clone()]);
    assert!(values(&found, "per-core")[1].is_lower_bound && !values(&found, "per-core")[0].is_lower_bound);
    assert_eq!(verdict(&found, "per-core").word, Comparison::Better);
    assert!(found.headline.contains("per core at least 9"), "{}", found.headline);
    assert!(
        found.limits.iter().any(|limit| limit.ends_with("(cores used: small: B 40%)")),
        "{:?}",
        found.limits
    );
    // More per core than the busy one is known; that the busy one has less is known as well, and nothing else.
    let found = compared(vec![idle.clone(), busy()]);
    assert_eq!(verdict(&found, "per-core").word, Comparison::Worse);
    idle.iter_mut().for_each(|run| run.analysis.rates.goodput_hz /= 4.0);
    idle.iter_mut().for_each(|run| use_cores(run, 0.4));
    assert_eq!(verdict(&compared(vec![busy(), idle]), "per-core").word, Comparison::CannotTell);
}

#[test]
fn a_quota_and_shared_cores_make_fewer_cores() {
    let cores = |change: fn(&mut Specimen)| profile_of("a", &machine(4.0, None, 1.0).edit(change)).size.cores;
    assert_eq!(cores(|_| {}), Some(4.0));
    assert_eq!(cores(|case| fact(case, "cpu.cores_count", Fact::Number(2.0))), Some(2.0));
    assert_eq!(cores(|case| case.watched.iter_mut().for_each(|one| one.cpus = Some(vec![3]))), Some(1.0));
    let quota = |case: &mut Specimen| {
        case.readings = case.readings.clone().gauge("cgroup.quota_ratio", "cgroup:target", 0.5);
    };
    assert_eq!(cores(quota), Some(0.5));
    assert_eq!(cores(|case| drop(case.facts.facts.remove("cpu.online_count"))), None);
}

#[test]
fn requests_per_joule_are_those_of_the_processors_or_of_a_meter_and_never_of_both() {
    let rapl = |watts: f64| {
        machine(4.0, None, 1.0).edit(|case| {
            case.readings = case.readings.clone().counter("energy.used_uj", "energy:package-0", watts * 1e6);
        })
    };
    let found = compared(vec![runs(&rapl(40.0), "a"), runs(&rapl(10.0), "b")]);
    let per_joule = values(&found, "per-joule")[0].median.expect("is known");
    assert!((per_joule - 100.0).abs() < 2.0, "{per_joule}");
    assert!(found.headline.contains("per joule 300% higher"), "{}", found.headline);
    let meter = PowerLog::parse("90,20\n99,20\n108,20\n117,20\n126,20\n").expect("reads");
    let mut metered = runs(&rapl(10.0), "b");
    metered.iter_mut().for_each(|run| run.set_meter(&meter));
    let found = compared(vec![runs(&rapl(40.0), "a"), metered]);
    assert!(values(&found, "per-joule").iter().all(|side| side.median.is_some()));
    assert_eq!(verdict(&found, "per-joule").capped_by, ["A was read by RAPL, B by a meter"]);
}

#[test]
fn an_emulated_machine_is_refused_unless_that_is_allowed() {
    let emulated =
        |case: &mut Specimen| fact(case, "machine.emulator", Fact::Text("aarch64 on x86_64".into()));
    let machines = vec![
        runs(&machine(4.0, Some(2.0), 1.0), "a"),
        runs(&machine(4.0, Some(2.0), 0.1).edit(emulated), "b"),
    ];
    let found = compared(machines.clone());
    assert!(found.is_refused && found.sides[1].is_refused);
    assert_eq!(found.headline, "A and B are not comparable: C17 emulated");
    assert!(found.operations[0].metrics.iter().all(|metric| metric.effects.is_empty()));
    let mut options = options(&machines);
    options.compare.allowed.push("emulated".into());
    let found = compare_machines(vec![VariantOnMachines { name: "small".into(), machines }], &options);
    assert!(!found.is_refused, "{}", found.headline);
    assert_eq!(values(&found, "per-ghz")[1].median, None, "an emulator has no frequency");
    assert_eq!(found.hosts.expect("are shown").hosts[1].emulator.as_deref(), Some("aarch64 on x86_64"));
}

#[test]
fn what_refuses_one_variant_leaves_the_others() {
    let good = || vec![runs(&machine(4.0, None, 1.0), "a"), runs(&machine(2.0, None, 0.5), "b")];
    let failing = machine(2.0, None, 0.5).fail(sysdyno_record::load::FailureClass::Status, 2_000);
    let bad = vec![runs(&machine(4.0, None, 1.0), "c"), runs(&failing, "d")];
    let variants = vec![
        VariantOnMachines { name: "small".into(), machines: good() },
        VariantOnMachines { name: "large".into(), machines: bad },
    ];
    let found = compare_machines(variants, &options(&good()));
    assert!(found.is_refused && !found.sides[1].is_refused);
    assert!(found.gates[0].text.starts_with("large: "), "{:?}", found.gates);
    assert!(found.headline.starts_with("In 'small', goodput of B is 50% lower"), "{}", found.headline);
    assert!(found.headline.ends_with("; 1 of 2 variants is not comparable"), "{}", found.headline);
    let counts: Vec<usize> = found.operations.iter().map(|one| one.metrics[0].effects.len()).collect();
    assert_eq!(counts, [1, 0]);
}

#[test]
fn experiments_that_are_not_the_same_are_told_apart() {
    let variant = |name: &str| ExperimentVariant {
        name: name.into(),
        levels: Vec::new(),
        settings: Vec::new(),
        prepare: Vec::new(),
        during: Vec::new(),
        services: Vec::new(),
        service: None,
        takes: None,
        plan: sysdyno_record::plan::Plan::Load(crate::corpus::load_plan(Arrival::Closed, 4, None, 5.0)),
    };
    let plan = ExperimentPlan {
        schema: EXPERIMENT_SCHEMA.into(),
        name: "m".into(),
        variants: vec![variant("x"), variant("y")],
        blocks: 2,
        ..ExperimentPlan::default()
    };
    let apart = |change: fn(&mut ExperimentPlan)| {
        let mut other = plan.clone();
        change(&mut other);
        experiments_apart(&plan, &other)
    };
    assert_eq!(apart(|plan| plan.source = "elsewhere.toml".into()), None);
    assert_eq!(apart(|plan| plan.name = "n".into()).as_deref(), Some("one is 'm', the other 'n'"));
    assert_eq!(apart(|plan| drop(plan.variants.pop())).as_deref(), Some("only one has a variant 'y'"));
    let commands = apart(|plan| {
        plan.variants[1]
            .prepare
            .push(sysdyno_record::command::CommandSpec { text: "true".into(), words: vec!["true".into()] });
    });
    assert_eq!(commands.as_deref(), Some("variant 'y' has different commands"));
}
