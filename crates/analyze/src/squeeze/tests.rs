//! Squeezes of servers that are formulas: which resource comes first, and how near its elasticity is to theory.

use super::*;
use crate::corpus::{GENERATOR, Specimen, TARGET, with_tier};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;
use sysdyno_record::squeeze::{
    BiteCounter, BurnKind, Contrast, ResourceKind, RowWord, SqueezeBite, SqueezeConclusion, SqueezedResource,
    SumWord,
};
use sysdyno_record::tryout::{
    Action, Environment, EnvironmentLimits, Metric, PairCaps, RatePlan, Settled, TryTrial, TryWorkload,
    Variant,
};
use sysdyno_record::units::{MonoNs, SpanNs};

/// A server of which it is known what it loses; parts of resources that are left, by their positions, make its rate.
type Model = fn(&[f64]) -> f64;

/// Resources of a simulated server: what kind they are, and whose.
const RESOURCES: [(ResourceKind, &str); 5] = [
    (ResourceKind::Cpu, "php-fpm"),
    (ResourceKind::Cpu, "nginx"),
    (ResourceKind::Cpu, "mariadbd"),
    (ResourceKind::Generator, ""),
    (ResourceKind::Connections, ""),
];

fn plan(seed: u64) -> SqueezePlan {
    let tryout = TryPlan {
        command: None,
        workload: TryWorkload::Commands,
        variants: vec![Variant { name: "A".into(), action: Action::AsItIs }],
        contrasts: Vec::new(),
        metric: Metric::Goodput,
        effect_ratio: 0.03,
        guardrails: Vec::new(),
        seed,
        pairs: PairCaps { min_count: 8, max_count: 24 },
        budget: SpanNs::from_secs(1_000_000),
        window: SpanNs::from_secs(3),
        warmup: None,
        rate: RatePlan::Closed,
        limits: EnvironmentLimits::QUIET,
        is_calibration: false,
        keeps_better: false,
        watch_pids: Vec::new(),
        sampling_hz: 10.0,
    };
    SqueezePlan { tryout, depths: vec![0.2, 0.1], only: Vec::new() }
}

/// What there is to squeeze: each resource at both depths against the host as it is.
fn found() -> SqueezedResources {
    let variant = || Variant { name: String::new(), action: Action::AsItIs };
    let mut found = SqueezedResources { variants: vec![variant()], ..SqueezedResources::default() };
    for (kind, tier) in RESOURCES {
        found.resources.push(SqueezedResource {
            kind,
            tier: (kind == ResourceKind::Cpu).then(|| tier.to_owned()),
            address: None,
            available: Some(2.0),
            used: Some(0.5),
            contrasts: Vec::new(),
        });
    }
    for depth_ratio in [0.2, 0.1] {
        for resource in &mut found.resources {
            let after = resource.contrasts.first().copied();
            resource.contrasts.push(found.contrasts.len() as u32);
            let b = found.variants.len() as u32;
            found.variants.push(variant());
            let effect_ratio = (-f64::ln(1.0 - depth_ratio) * 0.2).exp_m1();
            found.contrasts.push(Contrast { a: 0, b, depth_ratio, effect_ratio, after });
        }
    }
    found
}

/// The part of each resource that a variant leaves.
fn left(found: &SqueezedResources, variant: u32) -> Vec<f64> {
    let depth = |resource: &SqueezedResource| {
        let mut of = resource.contrasts.iter().map(|number| found.contrasts[*number as usize]);
        of.find(|contrast| contrast.b == variant).map_or(0.0, |contrast| contrast.depth_ratio)
    };
    found.resources.iter().map(|resource| 1.0 - depth(resource)).collect()
}

/// A simulated squeeze of a server whose rate varies by this from trial to trial.
fn run(seed: u64, model: Model, deviation: f64, does_bite: bool) -> SqueezeConclusion {
    let (plan, found) = (plan(seed), found());
    let settled = Settled {
        plan_sha256: String::new(),
        rate_hz: None,
        pilot_hz: Some(1000.0),
        warmup: SpanNs::from_secs(1),
        window: SpanNs::from_secs(3),
        trial: SpanNs::from_secs(5),
    };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x5eed);
    let mut course = Course::new(&try_plan(&plan, &found), &settled);
    while let Some(next) = course.next(SpanNs(0)) {
        // The sum of twelve of them is nearly normal, with a deviation of 1.
        let noise = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        let value = 1000.0 * model(&left(&found, next.variant)) * (deviation * noise).exp();
        let begin = u64::from(next.trial) * 5_000_000_000;
        let moved = if does_bite { 0.3 } else { 0.0 };
        course.record(TryTrial {
            lower_bounds: Vec::new(),
            trial: next.trial,
            stage: next.stage.stage,
            pair: next.pair,
            arm: next.arm,
            variant: next.variant,
            begin_mono_ns: MonoNs(begin),
            end_mono_ns: MonoNs(begin + 4_000_000_000),
            load_trials: vec![next.trial],
            values: BTreeMap::from([(Metric::Goodput, value)]),
            environment: Environment::default(),
            read_back: Vec::new(),
            bites: vec![SqueezeBite { counter: BiteCounter::BurntCpu, moved, of: 0.3 }],
            failure: None,
        });
    }
    conclude(&plan, &found, &course, 1)
}

fn point(conclusion: &SqueezeConclusion, name: &str) -> f64 {
    let row = conclusion.rows.iter().find(|row| row.name == name).expect("is there");
    elasticity::best(row).and_then(|found| found.point).expect("is measured")
}

/// One tier uses all of its CPUs.
fn bound(left: &[f64]) -> f64 {
    left[0].min(left[1] * 3.0).min(left[2] * 5.0).min(left[3] * 4.0)
}

/// Tiers and generator share the CPUs of the host: 60, 25, 10, and 5% of a request.
fn shared(left: &[f64]) -> f64 {
    1.0 / (0.60 / left[0] + 0.25 / left[1] + 0.10 / left[2] + 0.05 / left[3])
}

/// A pool of workers that sleep; its size is not in the list.
fn pool(_: &[f64]) -> f64 {
    1.0
}

/// A server that answers after a delay, and could answer many more.
fn delay(left: &[f64]) -> f64 {
    left[4].min(left[0] * 5.0)
}

/// Two tiers, each of which is just enough.
fn two(left: &[f64]) -> f64 {
    left[0].min(left[1])
}

/// The generator is what limits.
fn generator(left: &[f64]) -> f64 {
    left[3].min(left[0] * 2.0)
}

fn seeds() -> u64 {
    if std::env::var_os("SYSDYNO_SLOW_TESTS").is_some() { 500 } else { 100 }
}

#[test]
fn the_bottleneck_ranks_first_and_its_elasticity_is_that_of_theory() {
    let (mut first, mut near, mut idle, mut complete) = (0, 0, 0, 0);
    for seed in 0..seeds() {
        let conclusion = run(seed, bound, 0.01, true);
        first +=
            u64::from(conclusion.rows[0].name == "php-fpm CPU" && conclusion.rows[0].word == RowWord::Limits);
        near += u64::from((point(&conclusion, "php-fpm CPU") - 1.0).abs() <= 0.15);
        let others = ["nginx CPU", "mariadbd CPU", "generator CPU"];
        idle += u64::from(others.iter().all(|name| point(&conclusion, name).abs() <= 0.1));
        complete += u64::from(conclusion.sum.is_some_and(|sum| sum.word == SumWord::Complete));
    }
    let of = seeds();
    println!(
        "one tier limits: it ranks first in {first} of {of}, within 0.15 of theory in {near}; the others within 0.1 in {idle}"
    );
    let least = seeds() * 95 / 100;
    assert!(first >= least && near >= least && idle >= least, "{first} {near} {idle}");
    assert!(complete >= seeds() * 9 / 10, "{complete}");
}

#[test]
fn tiers_that_share_the_cpus_have_their_shares_and_sum_up_to_one() {
    let (mut ranked, mut near, mut complete) = (0, 0, 0);
    for seed in 0..seeds() {
        let conclusion = run(seed, shared, 0.01, true);
        let names: Vec<&str> = conclusion.rows.iter().take(2).map(|row| row.name.as_str()).collect();
        ranked += u64::from(names == ["php-fpm CPU", "nginx CPU"]);
        near += u64::from((point(&conclusion, "php-fpm CPU") - 0.60).abs() <= 0.15);
        complete += u64::from(conclusion.sum.is_some_and(|sum| sum.word == SumWord::Complete));
    }
    let of = seeds();
    println!(
        "tiers share the CPUs: ranked right in {ranked} of {of}, the first within 0.15 of its share in {near}"
    );
    assert!(ranked >= seeds() * 95 / 100 && near >= seeds() * 95 / 100, "{ranked} {near}");
    assert!(complete >= seeds() * 8 / 10, "{complete}");
}

#[test]
fn what_is_not_in_the_list_is_missing_from_the_sum() {
    let words: Vec<SumWord> =
        (0..50).filter_map(|seed| run(seed, pool, 0.01, true).sum.map(|sum| sum.word)).collect();
    assert!(words.iter().all(|word| *word == SumWord::Missing) && words.len() == 50, "{words:?}");
    let told = run(1, pool, 0.01, true).headline;
    assert!(told.contains("not in it does: a pool or a lock, for which requests queue"), "{told}");
}

#[test]
fn too_few_connections_are_told_from_a_pool() {
    let conclusion = run(1, delay, 0.01, true);
    let first = &conclusion.rows[0];
    assert_eq!((first.kind, first.word), (ResourceKind::Connections, RowWord::Limits), "{first:?}");
    assert_eq!(conclusion.headline, first.sentence);
    assert!(first.sentence.starts_with("The load has too few connections"), "{}", first.sentence);
    assert!((point(&conclusion, "connections") - 1.0).abs() <= 0.15);
    assert_eq!(conclusion.sum.map(|sum| sum.word), Some(SumWord::Missing), "connections are no rate");
}

#[test]
fn two_that_bind_at_once_sum_up_to_two() {
    let several = (0..50).filter(|seed| {
        let conclusion = run(*seed, two, 0.01, true);
        conclusion.sum.is_some_and(|sum| sum.word == SumWord::Several && (sum.point - 2.0).abs() < 0.3)
    });
    assert!(several.count() >= 48);
}

#[test]
fn a_generator_that_matters_makes_the_run_void() {
    let conclusion = run(3, generator, 0.01, true);
    assert_eq!(conclusion.void.len(), 1);
    assert!(
        conclusion.headline.starts_with("This says nothing about the server: the generator"),
        "{}",
        conclusion.headline
    );
    assert!(run(3, bound, 0.01, true).void.is_empty());
}

#[test]
fn where_intervals_are_too_wide_no_resource_is_ruled_out() {
    for (deviation, expected) in [(0.3, "Can't tell which resource"), (0.005, "No resource in the list")] {
        let conclusion = run(3, |_| 1.0, deviation, true);
        assert!(conclusion.headline.starts_with(expected), "{}", conclusion.headline);
    }
}

#[test]
fn a_squeeze_that_did_not_bite_says_nothing() {
    let conclusion = run(3, bound, 0.01, false);
    assert!(conclusion.rows.iter().all(|row| row.word == RowWord::Void), "{:?}", conclusion.rows);
    assert_eq!(conclusion.sum, None);
    assert!(conclusion.rows[0].sentence.contains("did not bite"), "{}", conclusion.rows[0].sentence);
}

#[test]
fn shallow_depths_are_measured_only_where_the_deep_one_costs_something() {
    let conclusion = run(5, bound, 0.005, true);
    let depths = |name: &str| {
        let row = conclusion.rows.iter().find(|row| row.name == name).expect("is there");
        row.elasticities.iter().map(|found| found.depth_ratio).collect::<Vec<_>>()
    };
    assert_eq!(depths("php-fpm CPU"), [0.2, 0.1]);
    assert_eq!(depths("nginx CPU"), [0.2]);
}

#[test]
fn a_conclusion_follows_again_from_its_lines() {
    let (plan, found) = (plan(9), found());
    let conclusion = run(9, shared, 0.01, true);
    assert!(follow(&plan, &[]).is_none());
    let lines = [TryLine::Resources(Box::new(found.clone()))];
    assert!(follow(&plan, &lines).is_none(), "nothing was settled");
    assert_eq!(conclusion, run(9, shared, 0.01, true), "the same seed, the same trials, the same conclusion");
}

/// A server with a tier behind it: two busy threads of the first, none of the second worth a word.
fn pilot() -> Specimen {
    let mut case =
        with_tier(Specimen::closed(16, 1000.0, 4.0), "php-fpm", "127.0.0.1:9000", 1, TARGET).server(0.4);
    let child = case.watched.last().expect("is there").clone();
    let pid = child.pid;
    case = case.counter("process.cpu_us", &format!("process:{pid}"), 1.4e6);
    for thread in [1, 2] {
        case = case.counter("thread.cpu_us", &format!("thread:{pid}/{thread}"), 0.7e6);
    }
    case.build()
}

fn around() -> PilotSurroundings {
    let generator = GeneratorCpus { pid: GENERATOR, cpus: vec![1] };
    PilotSurroundings { generator, network: ServerNetwork::Own, disks: Vec::new() }
}

#[test]
fn each_tier_is_squeezed_by_a_part_of_the_cpus_that_its_threads_can_use() {
    let case = pilot();
    let found = find(&case.view(), &plan(1), &around());
    let kinds: Vec<ResourceKind> = found.resources.iter().map(|resource| resource.kind).collect();
    let expected = [
        ResourceKind::Placebo,
        ResourceKind::Generator,
        ResourceKind::Cpu,
        ResourceKind::Cpu,
        ResourceKind::HostCpu,
        ResourceKind::Connections,
    ];
    assert_eq!(kinds, expected);
    let php = found
        .resources
        .iter()
        .find(|resource| resource.tier.as_deref() == Some("php-fpm") && resource.kind == ResourceKind::Cpu);
    let php = php.expect("is found");
    assert_eq!((php.available, php.used.map(|used| (used * 10.0).round())), (Some(2.0), Some(14.0)));
    let contrast = found.contrasts[php.contrasts[0] as usize];
    let action = |variant: u32| match &found.variants[variant as usize].action {
        Action::Squeeze(squeeze) => (**squeeze).clone(),
        other => panic!("{other:?}"),
    };
    let (base, squeezed) = (action(contrast.a), action(contrast.b));
    assert_eq!((base.settings[0].value.as_str(), squeezed.settings[0].value.as_str()), ("placed", "1.6"));
    let burn = squeezed.burn.expect("burns");
    assert!((burn.ratio - 0.25).abs() < 1e-9 && matches!(burn.kind, BurnKind::Follow(_)), "{burn:?}");
    assert_eq!(base.burn.map(|burn| burn.ratio), Some(0.0));
    assert_eq!(found.contrasts[php.contrasts[1] as usize].after, Some(php.contrasts[0]));
}

#[test]
fn only_whole_connections_are_taken_away() {
    let squeezed = |connections: u32| {
        let case = Specimen::closed(connections, 1000.0, 4.0).build();
        let found = find(&case.view(), &plan(1), &around());
        let left = found.variants.iter().filter_map(|variant| match &variant.action {
            Action::Squeeze(squeeze) => squeeze.connections,
            _ => None,
        });
        let depths = found.contrasts.iter().filter(|contrast| contrast.a == 0 && contrast.depth_ratio > 0.0);
        let depths: Vec<f64> = depths.map(|contrast| (contrast.depth_ratio * 1e3).round() / 1e3).collect();
        (left.collect::<Vec<u32>>(), depths)
    };
    assert_eq!(squeezed(64), (vec![51, 58], vec![0.203, 0.094]));
    assert_eq!(squeezed(5), (vec![4], vec![0.2]));
    assert_eq!(squeezed(1), (Vec::new(), Vec::new()));
}

#[test]
fn what_was_not_asked_for_is_not_in_the_list() {
    let only = SqueezePlan { only: vec![ResourceKind::Connections], ..plan(1) };
    let found = find(&pilot().view(), &only, &around());
    let kinds: Vec<ResourceKind> = found.resources.iter().map(|resource| resource.kind).collect();
    assert_eq!(kinds, [ResourceKind::Placebo, ResourceKind::Generator, ResourceKind::Connections]);
}

#[test]
fn a_server_that_cannot_be_seen_is_left_out_with_the_reason() {
    let mut case = pilot();
    case.watched.retain(|process| process.pid == GENERATOR);
    let found = find(&case.view(), &plan(1), &around());
    assert!(found.left_out[0].reason.contains("run as root"), "{:?}", found.left_out);
    assert!(found.resources.iter().all(|resource| resource.kind != ResourceKind::Cpu));
}

/// The same with a link of 100 Mbit/s that carried so much.
fn pilot_behind_a_link(sent_mbps: f64) -> Specimen {
    let bytes_hz = sent_mbps * 1e6 / 8.0;
    pilot()
        .gauge("qdisc.limit_mbps", "netdev:eth0", 100.0)
        .counter("netdev.tx_bytes", "netdev:eth0", bytes_hz)
        .build()
}

#[test]
fn a_link_that_something_limits_is_squeezed_where_it_is() {
    let case = pilot_behind_a_link(90.0);
    let settings = |network: ServerNetwork| {
        let found = find(&case.view(), &plan(1), &PilotSurroundings { network, ..around() });
        let settings = found.variants.iter().flat_map(|variant| variant.action.settings().to_vec());
        settings.filter(|one| one.key.starts_with("netdev")).map(|one| one.text()).collect::<Vec<_>>()
    };
    let named = ServerNetwork::Named("web".into());
    let expected = ["netdev.web:eth0.rate_kbps=80000", "netdev.web:eth0.rate_kbps=90000"];
    assert_eq!(settings(named), expected);
    assert_eq!(settings(ServerNetwork::Own)[0], "netdev.eth0.rate_kbps=80000");
    assert_eq!(settings(ServerNetwork::Unnamed), [""; 0]);
}

#[test]
fn a_link_with_much_room_is_left_out_with_its_share() {
    let found = find(&pilot_behind_a_link(3.0).view(), &plan(1), &around());
    let told = found.left_out.iter().find(|left| left.name == "link eth0").expect("is left out");
    assert_eq!(told.reason, "it carried only 3.0% of its 100 Mbit/s");
}

#[test]
fn a_disk_is_squeezed_by_all_its_limits_and_judged_by_the_nearest() {
    let case = pilot().counter("disk.writes_count", "disk:loop3", 114.0).build();
    let case = case.counter("disk.written_bytes", "disk:loop3", 5e5).build();
    let limits = BTreeMap::from([("write_iops", 120), ("write_bps", 1_000_000)]);
    let disks = vec![SqueezableDisk { disk: "loop3".into(), limits }];
    let found = find(&case.view(), &plan(1), &PilotSurroundings { disks, ..around() });
    let disk = found.resources.iter().find(|one| one.kind == ResourceKind::Disk).expect("is found");
    assert_eq!(disk.used.map(|used| (used * 100.0).round()), Some(95.0));
    let b = found.contrasts[disk.contrasts[0] as usize].b;
    let Action::Squeeze(squeezed) = &found.variants[b as usize].action else { panic!("is a squeeze") };
    let texts: Vec<String> = squeezed.settings.iter().map(|one| one.text()).collect();
    assert_eq!(texts, ["block.loop3.write_bps=800000", "block.loop3.write_iops=96"]);
    let bites = seen_bites(&case.view(), squeezed, 16);
    assert_eq!(bites.len(), 1, "{bites:?}");
    assert!((bites[0].moved / bites[0].of - 114.0 / 96.0).abs() < 0.01, "{bites:?}");
}
