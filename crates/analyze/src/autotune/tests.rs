//! The whole way against a server that is a formula, and suggestions from what was seen.

use super::course::alpha;
use super::*;
use std::collections::BTreeSet;
use sysdyno_record::allowance::Allowance;
use sysdyno_record::analysis::Confidence;
use sysdyno_record::autotune::{
    AUTOTUNE_SCHEMA, AutotuneEnding, AutotuneLine, AutotunePlan, CandidateChange, SeenFinding, SeenServer,
    SeenSetting, StepArm, StepBegan, StepEnded, StepKind, TriedWord,
};
use sysdyno_record::effect::{Comparison, Effect, EffectScale};
use sysdyno_record::experiment::{EXPERIMENT_SCHEMA, ExperimentPlan, ExperimentVariant};
use sysdyno_record::plan::{Arrival, Plan};
use sysdyno_record::units::SpanNs;

pub(super) fn plan(allow: &[Allowance]) -> AutotunePlan {
    let variant = ExperimentVariant {
        name: "base".into(),
        levels: Vec::new(),
        settings: Vec::new(),
        prepare: Vec::new(),
        during: Vec::new(),
        services: Vec::new(),
        service: None,
        takes: None,
        plan: Plan::Load(crate::corpus::load_plan(Arrival::Closed, 4, None, 5.0)),
    };
    let base = ExperimentPlan {
        schema: EXPERIMENT_SCHEMA.into(),
        name: "t".into(),
        variants: vec![variant],
        blocks: 1,
        seed: 1,
        metric: Some("goodput".into()),
        ..ExperimentPlan::default()
    };
    AutotunePlan {
        schema: AUTOTUNE_SCHEMA.into(),
        base,
        allow: allow.to_vec(),
        budget: SpanNs::from_secs(3600),
        rounds: 12,
        candidates: 8,
        race_blocks: 5,
        proof_blocks: 8,
        effect_ratio: 0.03,
        keeps: false,
    }
}

fn setting(id: &str, key: &str, value: &str) -> SeenSetting {
    let is_parameter = !id.contains([':', '*']) && id != key;
    SeenSetting { id: id.into(), key: key.into(), value: Some(value.into()), is_parameter }
}

const WORKERS: &str = "nginx:/x/nginx.conf:worker_processes";
const CHILDREN: &str = "php-fpm:/x/php-fpm.conf:www/pm.max_children";

pub(super) fn server(findings: &[(&str, Confidence)]) -> SeenServer {
    let finding = |(id, confidence): &(&str, Confidence)| SeenFinding {
        id: (*id).into(),
        title: format!("diagnosis {id}"),
        confidence: *confidence,
    };
    SeenServer {
        findings: findings.iter().map(finding).collect(),
        commands: vec!["nginx".into(), "php-fpm".into()],
        settings: vec![
            setting("nginx:*:worker_processes", WORKERS, "1"),
            setting("nginx:*:http/sendfile", "nginx:/x/nginx.conf:http/sendfile", "on"),
            setting("php-fpm:*:*/pm.max_children", CHILDREN, "2"),
            setting("php-fpm:*:*/opcache.enable", "php-fpm:/x/php.ini:PHP/opcache.enable", "0"),
            setting("wordpress.page_cache", "site.page_cache", "false"),
        ],
        cpus_count: Some(4.0),
        memory_bytes: Some(4e9),
    }
}

fn titles(candidates: &[CandidateChange]) -> Vec<&str> {
    candidates.iter().map(|candidate| candidate.title.as_str()).collect()
}

#[test]
fn what_was_seen_comes_first_and_what_is_known_to_help_after_it() {
    let seen = server(&[("F07", Confidence::Likely)]);
    let all = propose(&seen, &[], &BTreeSet::new());
    let found = titles(&all);
    assert_eq!(found[0], "php-fpm: 4 children", "{found:?}");
    assert!(
        found.contains(&"nginx: 4 worker processes") && found.contains(&"PHP: compiled programs are kept")
    );
    assert!(all[0].reason.starts_with("diagnosis F07; "), "{}", all[0].reason);
    let quiet = propose(&server(&[]), &[], &BTreeSet::new());
    assert!(!titles(&quiet).contains(&"php-fpm: 4 children"), "nothing points to it");
}

#[test]
fn the_next_step_starts_from_what_is_kept_and_nothing_is_suggested_twice() {
    let seen = server(&[("F07", Confidence::Likely)]);
    let first = propose(&seen, &[], &BTreeSet::new()).remove(0);
    let next = propose(&seen, std::slice::from_ref(&first), &BTreeSet::new());
    assert_eq!(next[0].title, "php-fpm: 8 children");
    let tried = BTreeSet::from([identity(&first)]);
    assert!(!titles(&propose(&seen, &[], &tried)).contains(&"php-fpm: 4 children"));
}

#[test]
fn each_remedy_is_named_once_and_points_to_rules_that_there_are() {
    let ids: BTreeSet<&str> = remedies().map(|remedy| remedy.id).collect();
    assert_eq!(ids.len(), remedies().count());
    for remedy in remedies() {
        assert!(
            !remedy.changes.is_empty() && !remedy.why.is_empty() && !remedy.source.is_empty(),
            "{remedy:?}"
        );
        for id in remedy.rules() {
            assert!(crate::findings::RULES.iter().any(|rule| rule.id == id), "{}: {id}", remedy.id);
        }
        for (_, begin) in remedy.when.iter().filter_map(|when| when.split_once(": ")) {
            assert!(
                crate::findings::is_known_cause(begin),
                "{}: no line of a log means '{begin}'",
                remedy.id
            );
        }
    }
}

fn suggested(id: &str, title: &str, settings: &[SeenSetting]) -> Vec<CandidateChange> {
    let finding = SeenFinding { id: id.into(), title: title.into(), confidence: Confidence::Likely };
    let seen = SeenServer { findings: vec![finding], settings: settings.to_vec(), ..server(&[]) };
    propose(&seen, &[], &BTreeSet::new())
}

#[test]
fn one_of_many_causes_is_answered_by_what_answers_it() {
    let settings = server(&[]).settings;
    let remedies = |title: &str| -> Vec<String> {
        let of_finding = suggested("L01", title, &settings).into_iter();
        of_finding.filter(|one| one.reason.starts_with(title)).map(|one| one.remedy).collect()
    };
    assert_eq!(remedies("All workers of php-fpm are busy: it says so"), ["php-children"]);
    assert!(remedies("A file system is read-only: nginx says so").is_empty());
}

#[test]
fn queues_and_processes_are_changed_together_and_only_disks_that_are_named() {
    let queue = |number| {
        let key = format!("netdev.eth0.rx-{number}.rps_cpus");
        setting("netdev.*.rx-*.rps_cpus", &key, if number == 1 { "0-3" } else { "none" })
    };
    let found = suggested("N01", "Receive work", &[queue(0), queue(1), queue(2)]);
    assert_eq!(titles(&found), ["kernel: packets are received by CPUs 0-3"]);
    assert_eq!(identity(&found[0]), "netdev.eth0.rx-0.rps_cpus=0-3 netdev.eth0.rx-2.rps_cpus=0-3");

    let limit = |pid, value| setting("process.*.nofile", &format!("process.{pid}.nofile"), value);
    let found = suggested("F01", "nginx ran out", &[limit(7, "1024"), limit(8, "1024"), limit(9, "1000000")]);
    assert_eq!(identity(&found[0]), "process.7.nofile=65536 process.8.nofile=65536");

    let disk = |name: &str| setting("block.*.read_ahead_kb", &format!("block.{name}.read_ahead_kb"), "128");
    let found = suggested("D09", "A disk is saturated: disk vdb was 97% busy", &[disk("vda"), disk("vdb")]);
    assert_eq!(titles(&found), ["disk: reads 512 KiB ahead", "disk: reads 16 KiB ahead"]);
    assert_eq!(identity(&found[0]), "block.vdb.read_ahead_kb=512");
}

/// How many times as much a server does with these changes.
fn speed(changes: &[CandidateChange]) -> f64 {
    let has = |remedy: &str| changes.iter().filter(|change| change.remedy == remedy).count() as i32;
    // A second doubling of the children brings nothing, and workers only help once PHP does not limit.
    let children = 1.8f64.powi(has("php-children").min(1));
    let opcache = 2.5f64.powi(has("php-opcache"));
    let workers = if has("php-opcache") > 0 { 1.2f64.powi(has("nginx-workers")) } else { 1.0 };
    children * opcache * workers
}

fn arm(ratio: f64) -> StepArm {
    let half = 0.01;
    let effect = Effect {
        scale: EffectScale::Ratio,
        point: ratio,
        low: ratio - half,
        high: ratio + half,
        confidence_ratio: 0.95,
        narrow: Some([ratio - half, ratio + half]),
        pairs_count: 5,
    };
    let (word, p) = match () {
        () if ratio > 1.0 + half => (Comparison::Better, 1e-6),
        () if ratio < 1.0 - half => (Comparison::Worse, 1e-6),
        () => (Comparison::Same, 0.5),
    };
    StepArm { effect: Some(effect), word, p: Some(p), sentence: String::new(), worse: Vec::new() }
}

fn measured(step: &StepBegan, seen: &SeenServer) -> StepEnded {
    let base = speed(&step.kept);
    let with = |candidate: &CandidateChange| [step.kept.as_slice(), std::slice::from_ref(candidate)].concat();
    let without = |candidate: &CandidateChange| -> Vec<CandidateChange> {
        step.kept.iter().filter(|kept| identity(kept) != identity(candidate)).cloned().collect()
    };
    let arms = match step.kind {
        StepKind::Look => Vec::new(),
        StepKind::Race | StepKind::Proof => {
            step.candidates.iter().map(|candidate| arm(speed(&with(candidate)) / base)).collect()
        }
        StepKind::Ablation => {
            step.candidates.iter().map(|candidate| arm(speed(&without(candidate)) / base)).collect()
        }
        StepKind::Outcome => vec![arm(speed(&step.candidates))],
    };
    let baseline = Some(100.0 * base);
    StepEnded { step: step.step, baseline, arms, seen: Some(seen.clone()), elapsed_ns: 1_000_000_000 }
}

/// Goes the whole way; what was written down.
fn walk(plan: &AutotunePlan, seen: &SeenServer) -> Vec<AutotuneLine> {
    let mut lines = Vec::new();
    for _ in 0..100 {
        let Some(step) = AutotuneCourse::follow(plan, &lines).next(false) else { return lines };
        let ended = measured(&step, seen);
        lines.push(AutotuneLine::Began(step));
        lines.push(AutotuneLine::Ended(Box::new(ended)));
    }
    panic!("it does not end");
}

fn concluded(plan: &AutotunePlan, lines: &[AutotuneLine]) -> sysdyno_record::autotune::AutotuneConclusion {
    let course = AutotuneCourse::follow(plan, lines);
    assert!(course.next(false).is_none(), "it is over");
    let end = AutotuneEnd { metric: ("goodput", "hz"), is_interrupted: false, is_in_force: false };
    conclude(plan, &course, end)
}

#[test]
fn the_whole_way_keeps_what_helps_and_ends_with_what_it_is_worth() {
    let plan = plan(&Allowance::DEFAULT);
    let lines = walk(&plan, &server(&[("F07", Confidence::Likely)]));
    let result = concluded(&plan, &lines);
    let kept: BTreeSet<&str> = result.kept.iter().map(|one| one.remedy.as_str()).collect();
    assert_eq!(
        kept,
        BTreeSet::from(["php-children", "php-opcache", "nginx-workers"]),
        "{:?}",
        result.headline
    );
    assert!(result.is_proven && result.outcome.is_some_and(|effect| (effect.point - 5.4).abs() < 0.01));
    assert_eq!(result.ending, AutotuneEnding::NotAllowed, "a page cache is left");
    assert_eq!(titles(&result.not_allowed), ["WordPress: whole pages are kept"]);
    let word = |title: &str| result.tried.iter().find(|one| one.candidate.title == title).map(|one| one.word);
    assert_eq!(word("php-fpm: 8 children"), Some(TriedWord::NoDifference));
    assert_eq!(word("PHP: compiled programs are kept"), Some(TriedWord::Kept));
    assert!(result.headline.starts_with("Goodput +440% (95% interval"), "{}", result.headline);
}

#[test]
fn after_any_line_it_goes_on_to_the_same_end() {
    let plan = plan(&Allowance::DEFAULT);
    let seen = server(&[("F07", Confidence::Likely)]);
    let all = walk(&plan, &seen);
    for cut in (0..all.len()).step_by(2) {
        let mut lines = all[..cut].to_vec();
        while let Some(step) = AutotuneCourse::follow(&plan, &lines).next(false) {
            let ended = measured(&step, &seen);
            lines.push(AutotuneLine::Began(step));
            lines.push(AutotuneLine::Ended(Box::new(ended)));
        }
        assert_eq!(lines, all, "cut after {cut} lines");
    }
}

#[test]
fn a_server_on_which_nothing_helps_is_left_as_it_was() {
    let mut seen = server(&[]);
    seen.settings.retain(|setting| setting.id == "nginx:*:worker_processes");
    let plan = plan(&Allowance::DEFAULT);
    let result = concluded(&plan, &walk(&plan, &seen));
    assert!(result.kept.is_empty() && result.outcome.is_none());
    assert_eq!(result.ending, AutotuneEnding::Exhausted);
    assert_eq!(result.headline, "Nothing helps by 3.0% or more: 1 change tried, and the server is as it was");
}

#[test]
fn a_spent_budget_still_measures_what_was_kept() {
    let plan = plan(&Allowance::DEFAULT);
    let mut lines = walk(&plan, &server(&[("F07", Confidence::Likely)]));
    let proof = lines
        .iter()
        .position(|line| matches!(line, AutotuneLine::Began(step) if step.kind == StepKind::Proof));
    lines.truncate(proof.expect("there is one") + 2);
    let next = AutotuneCourse::follow(&plan, &lines).next(true).expect("the outcome");
    assert_eq!((next.kind, next.kept.len(), next.candidates.len()), (StepKind::Outcome, 0, 1));
}

#[test]
fn the_level_is_shared_out_over_all_rounds() {
    let all: f64 = (1..100_000).map(alpha).sum();
    assert!((0.0499..=0.05).contains(&all), "{all}");
    let mut weak = arm(1.2);
    weak.p = Some(0.02);
    let plan = plan(&Allowance::DEFAULT);
    let mut lines = walk(&plan, &server(&[("F07", Confidence::Likely)]));
    let proof = lines
        .iter()
        .position(|line| matches!(line, AutotuneLine::Began(step) if step.kind == StepKind::Proof));
    lines.truncate(proof.expect("there is one") + 2);
    let Some(AutotuneLine::Ended(ended)) = lines.last_mut() else { panic!("not ended") };
    ended.arms = vec![weak];
    let Some(AutotuneLine::Began(began)) = lines.iter_mut().rev().nth(1) else { panic!("not begun") };
    began.round = 3;
    assert!(AutotuneCourse::follow(&plan, &lines).kept.is_empty(), "p = 0.02 is no proof in the third round");
}

#[test]
fn a_step_is_the_server_with_what_was_kept_and_one_more_change_each() {
    let plan = plan(&Allowance::DEFAULT);
    let seen = server(&[("F07", Confidence::Likely)]);
    let first = propose(&seen, &[], &BTreeSet::new()).remove(0);
    let candidates = propose(&seen, std::slice::from_ref(&first), &BTreeSet::new());
    let step = StepBegan {
        step: 4,
        round: 2,
        kind: StepKind::Race,
        candidates: candidates.clone(),
        kept: vec![first],
        folder: "04-race".into(),
    };
    let race = step_plan(&plan, &step);
    assert_eq!(race.variants.len(), candidates.len() + 1);
    let children = |at: usize| {
        let found = race.variants[at].settings.iter().filter(|change| change.key == CHILDREN);
        found.map(|change| change.value.clone()).collect::<Vec<_>>()
    };
    assert_eq!((children(0), children(1)), (vec!["4".to_owned()], vec!["8".to_owned()]));
}
