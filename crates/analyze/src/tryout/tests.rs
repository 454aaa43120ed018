//! Tests of whole tryouts: how often the word is wrong, which pairs are discarded, and which trial comes next.

use super::pairs::improvement;
use super::simulated::{Noise, Server, plan, run, settled};
use super::*;
use sysdyno_record::effect::Comparison;
use sysdyno_record::plan::Arrival;
use sysdyno_record::tryout::{
    DiagnosticKind, EnvironmentLimits, GuardrailState, Metric, RatePlan, StageKind, StopCause, TrialArm,
    TryLine, TryPlan, TryWorkload,
};
use sysdyno_record::units::SpanNs;
use sysdyno_stats::sample_size::{ErrorRates, pairs_to_end, pairs_to_prove_same, pairs_to_see_exact};

/// ln(1 + the smallest effect that matters) of the simulated plans.
fn delta() -> f64 {
    0.03f64.ln_1p()
}

/// How often tryouts came to each word, and how many pairs they took on average.
struct Words {
    better: f64,
    worse: f64,
    same: f64,
    cannot_tell: f64,
    pairs: f64,
}

fn words(tryouts: u64, noise: Noise, deviation: f64, shift: f64) -> Words {
    let mut words = Words { better: 0.0, worse: 0.0, same: 0.0, cannot_tell: 0.0, pairs: 0.0 };
    for seed in 1..=tryouts {
        // CPU is better when it is lower.
        let mut server = Server::new(seed + 1_000, noise, deviation * delta(), &[0.0, -shift * delta()]);
        let (_, conclusion) = run(&plan(seed, 0), &mut server);
        let count = match conclusion.verdict.word {
            Comparison::Better => &mut words.better,
            Comparison::Worse => &mut words.worse,
            Comparison::Same => &mut words.same,
            Comparison::CannotTell => &mut words.cannot_tell,
        };
        *count += 1.0 / tryouts as f64;
        words.pairs += f64::from(conclusion.stages[0].counted) / tryouts as f64;
    }
    words
}

/// Two hundred tryouts for each kind and size of noise; the promised rates are those of the rule by simulation.
#[test]
fn of_experiments_without_an_effect_no_more_give_a_false_word_than_is_claimed() {
    // Noise, deviation ÷ Δ, the same at least, can't tell at most, pairs about.
    let cells = [
        (Noise::Normal, 0.5, 1.0, 0.0, 8.8),
        (Noise::Normal, 1.0, 0.986, 0.0, 18.7),
        (Noise::Normal, 2.0, 0.836, 0.117, 39.6),
        (Noise::Spiky, 1.0, 0.984, 0.006, 25.3),
        (Noise::Spiky, 2.0, 0.646, 0.309, 39.7),
    ];
    let error = |promised: f64| (promised * (1.0 - promised) / 200.0).sqrt().max(0.007);
    for (noise, deviation, same, cannot_tell, pairs) in cells {
        let found = words(200, noise, deviation, 0.0);
        let false_ratio = found.better + found.worse;
        assert!(false_ratio <= 0.05 + 3.0 * error(0.05), "{noise:?} {deviation}: {false_ratio} false");
        assert!(found.same >= same - 4.0 * error(same), "{noise:?} {deviation}: {} same", found.same);
        let most = cannot_tell + 4.0 * error(cannot_tell);
        assert!(found.cannot_tell <= most, "{noise:?} {deviation}: {} can't tell", found.cannot_tell);
        assert!((found.pairs / pairs - 1.0).abs() < 0.15, "{noise:?} {deviation}: {} pairs", found.pairs);
    }
}

/// The operating characteristics of the stopping rule: how often an effect of the smallest size that matters is found,
/// and how many pairs that takes.
#[test]
fn effects_that_matter_are_found_as_often_as_the_power_table_says() {
    // Noise, deviation ÷ Δ, effect ÷ Δ, better at least, pairs about.
    let cells = [
        (Noise::Normal, 0.5, 1.0, 0.956, 10.0),
        (Noise::Normal, 1.0, 1.0, 0.933, 19.0),
        (Noise::Normal, 0.5, 2.0, 1.0, 8.2),
        (Noise::Normal, 1.0, 2.0, 1.0, 12.5),
        (Noise::Normal, 1.5, 2.0, 1.0, 19.7),
        (Noise::Spiky, 1.0, 1.0, 0.949, 25.0),
        (Noise::Spiky, 1.0, 2.0, 1.0, 16.9),
    ];
    for (noise, deviation, effect, promised, pairs) in cells {
        let found = words(200, noise, deviation, effect);
        let error = (promised * (1.0f64 - promised) / 200.0).sqrt().max(0.005);
        assert!(found.better >= promised - 4.0 * error, "{noise:?} {deviation} {effect}: {}", found.better);
        assert!(
            (found.pairs / pairs - 1.0).abs() < 0.25,
            "{noise:?} {deviation} {effect}: {} pairs",
            found.pairs
        );
        assert!(found.worse < 0.01);
    }
    let harm = words(50, Noise::Normal, 1.0, -2.0);
    assert!(harm.worse > 0.95 && harm.better == 0.0, "{}", harm.worse);
}

/// Pairs that are needed as a function of noise ÷ Δ; the table that forecasts rest on.
#[test]
fn the_table_of_pairs_is_that_of_the_method() {
    let rates = ErrorRates { alpha: 0.05, power: 0.80 };
    let table = [
        (0.5, 7, 5, 4),
        (0.67, 10, 6, 6),
        (1.0, 18, 10, 11),
        (1.25, 27, 15, 16),
        (1.5, 38, 20, 21),
        (2.0, 64, 34, 36),
        (3.0, 141, 73, 79),
    ];
    for (noise, end, see, same) in table {
        let near = |found: Option<u64>, wanted: u64| found.is_some_and(|found| found.abs_diff(wanted) <= 1);
        assert!(near(pairs_to_end(noise, 0.05), end), "{noise}: {:?}", pairs_to_end(noise, 0.05));
        assert!(
            near(pairs_to_see_exact(noise, rates), see),
            "{noise}: {:?}",
            pairs_to_see_exact(noise, rates)
        );
        assert!(
            near(pairs_to_prove_same(noise, rates), same),
            "{noise}: {:?}",
            pairs_to_prove_same(noise, rates)
        );
    }
}

#[test]
fn a_drift_of_the_host_is_no_effect() {
    for seed in 1..=50 {
        let mut server = Server::new(seed, Noise::Normal, 0.5 * delta(), &[0.0, 0.0]);
        server.drift = 0.2 * delta();
        let (_, conclusion) = run(&plan(seed, 0), &mut server);
        assert_eq!(conclusion.verdict.word, Comparison::Same, "{}", conclusion.headline);
    }
}

#[test]
fn the_same_trials_lead_to_the_same_next_trial_and_conclusion() {
    let plan = plan(11, 3);
    let mut server = Server::new(5, Noise::Spiky, delta(), &[0.0, 0.0, -0.2, 0.0, -0.2, -0.2, 0.0, -0.2]);
    let (course, conclusion) = run(&plan, &mut server);
    let trials = course.trials().iter().map(|trial| TryLine::Trial(Box::new(trial.clone())));
    let lines: Vec<TryLine> = [TryLine::Settled(settled())].into_iter().chain(trials).collect();
    let followed = Course::follow(&plan, &lines).expect("was settled");
    assert_eq!(followed.pairs(), course.pairs());
    assert_eq!(conclude(&plan, &settled(), &followed, Around::default()), conclusion);
    assert!(Course::follow(&plan, &lines[1..]).is_none());
    // Cut off, it is a tryout that was interrupted.
    let cut = Course::follow(&plan, &lines[..10]).expect("was settled");
    let cut = conclude(&plan, &settled(), &cut, Around::default());
    assert_eq!(cut.verdict.word, Comparison::CannotTell);
}

#[test]
fn no_pair_is_dropped_for_its_value() {
    let mut server = Server::new(3, Noise::Spiky, 30.0 * delta(), &[0.0, 1.0]);
    let (course, conclusion) = run(&plan(3, 0), &mut server);
    assert!(course.pairs().iter().all(|pair| pair.dropped.is_none()));
    assert!(conclusion.stages[0].counted >= 8);
}

#[test]
fn a_spoilt_pair_is_dropped_as_a_whole_and_measured_again() {
    let mut server = Server::new(3, Noise::Normal, 0.3 * delta(), &[0.0, 0.0]);
    server.spoil = Some(|next| next.pair == 3 && next.arm == TrialArm::B);
    let (course, conclusion) = run(&plan(3, 0), &mut server);
    let dropped: Vec<u32> =
        course.pairs().iter().filter(|pair| pair.dropped.is_some()).map(|pair| pair.pair).collect();
    assert_eq!(dropped, [3]);
    assert_eq!((conclusion.stages[0].counted, conclusion.stages[0].dropped), (9, 1));
    assert_eq!(conclusion.verdict.word, Comparison::Same);
    let looks = &conclusion.stages[0].looks;
    assert_eq!(looks.iter().map(|look| look.pairs_count).collect::<Vec<_>>(), [7, 9]);
    assert_eq!(looks.last(), conclusion.effect.as_ref());
}

#[test]
fn trouble_of_one_arm_only_lets_nothing_be_told() {
    let mut server = Server::new(3, Noise::Normal, 0.3 * delta(), &[0.0, -0.3]);
    server.spoil = Some(|next| next.arm == TrialArm::B && next.pair % 8 < 4);
    let (_, conclusion) = run(&plan(3, 0), &mut server);
    assert_eq!(conclusion.verdict.word, Comparison::CannotTell, "{}", conclusion.headline);
    assert!(!conclusion.verdict.capped_by.is_empty() && !conclusion.is_proven);
    assert!(
        conclusion.diagnostics.iter().any(|found| found.kind == DiagnosticKind::Dropped && found.is_warning)
    );
}

#[test]
fn a_noisy_host_keeps_its_pairs_where_that_was_asked_for() {
    let limits = EnvironmentLimits::NOISY;
    let mut noisy = plan(3, 0);
    noisy.limits = limits;
    let mut server = Server::new(3, Noise::Normal, 0.3 * delta(), &[0.0, 0.0]);
    let (course, _) = run(&noisy, &mut server);
    let mut trials = [course.trials()[0].clone(), course.trials()[1].clone()];
    trials[0].environment.foreign_ratio = Some(0.9);
    trials[1].environment.foreign_ratio = Some(0.1);
    let [first, second] = &trials;
    let of = |limits: &EnvironmentLimits| pairs::pair_of(Metric::Cpu, limits, [first, second]).dropped;
    assert_eq!(of(&limits), None);
    assert!(of(&EnvironmentLimits::QUIET).is_some_and(|reason| reason.contains("other processes used 80%")));
}

#[test]
fn the_budget_and_the_cap_end_it() {
    let mut short = plan(3, 0);
    short.budget = SpanNs::from_secs(130);
    let (course, conclusion) = run(&short, &mut Server::new(3, Noise::Normal, delta(), &[0.0, 0.0]));
    assert_eq!(course.trials().len(), 12);
    assert_eq!(conclusion.stages[0].stop, Some(StopCause::Budget));
    assert_eq!(conclusion.verdict.word, Comparison::CannotTell);
    assert!(forecast(&short, settled().trial, SpanNs(0)).is_budget_short);
    let (course, conclusion) =
        run(&plan(3, 0), &mut Server::new(4, Noise::Normal, 9.0 * delta(), &[0.0, 0.0]));
    assert_eq!((course.trials().len(), conclusion.stages[0].stop), (80, Some(StopCause::Pairs)));
    let needed = conclusion.resolution.expect("is known").pairs_needed.expect("is known");
    assert!(needed > 500 && conclusion.headline.contains("would settle it"), "{}", conclusion.headline);
}

#[test]
fn an_experiment_that_cannot_give_its_answer_is_refused_with_what_would_do() {
    let load = crate::corpus::load_plan(Arrival::Poisson, 64, None, 10.0);
    let workload = TryWorkload::Load(Box::new(load));
    let mut plan = TryPlan { workload, window: SpanNs::from_secs(10), ..plan(3, 0) };
    (plan.metric, plan.budget) = (Metric::P99, SpanNs::from_secs(1200));
    let text = |plan: &TryPlan, rate_hz| check_plan(plan, rate_hz).map_err(|error| error.to_string());
    let error = text(&plan, Some(30.0)).expect_err("300 responses have no p99");
    assert!(error.contains("10.0 s at 30.0 req/s has 300 responses") && error.contains("1,100"), "{error}");
    assert!(error.ends_with("hint: use --window 37s, or --rate 110 if the server can carry it"), "{error}");
    assert_eq!(text(&TryPlan { window: SpanNs::from_secs(37), ..plan.clone() }, Some(30.0)), Ok(()));
    assert_eq!(text(&plan, Some(110.0)), Ok(()));
    assert_eq!(text(&plan, None), Ok(()), "the pilot has to say");
    assert_eq!(text(&TryPlan { metric: Metric::Cpu, ..plan.clone() }, Some(30.0)), Ok(()));
    plan.budget = SpanNs::from_secs(100);
    let error = text(&plan, None).expect_err("8 pairs of 21 s");
    assert!(error.contains("8 pairs of trials of 10.5 s take at least 3 minutes"), "{error}");
    assert!(error.contains("--budget is 1m 40s") && error.contains("hint: use --budget 4m"), "{error}");
}

#[test]
fn what_chose_a_change_does_not_prove_it() {
    // The second of three changes is the one that helps.
    let shifts = [0.0, 0.0, -0.2, 0.0, -0.2, -0.2, 0.0, -0.2];
    let (course, conclusion) = run(&plan(7, 3), &mut Server::new(7, Noise::Normal, 0.3 * delta(), &shifts));
    let kinds: Vec<StageKind> = conclusion.stages.iter().map(|stage| stage.stage.kind).collect();
    let choosing =
        [StageKind::Alone, StageKind::Alone, StageKind::Alone, StageKind::Combined, StageKind::Proof];
    assert_eq!(kinds[..5], choosing);
    let proof = &conclusion.stages[4];
    assert_eq!(conclusion.verdict.word, Comparison::Better, "{}", conclusion.headline);
    assert_eq!(proof.counted, conclusion.effect.expect("is known").pairs_count);
    assert!(course.trials().iter().filter(|trial| trial.stage == 5).count() >= 16);
    let chosen_all = proof.stage.b == 4;
    assert_eq!(kinds.len(), if chosen_all { 8 } else { 5 });
    if chosen_all {
        let words: Vec<Comparison> = conclusion.stages[5..].iter().map(|stage| stage.verdict.word).collect();
        assert_eq!(words, [Comparison::Same, Comparison::Better, Comparison::Same]);
    }
}

#[test]
fn a_broken_guardrail_stands_against_a_better_word() {
    let plan = plan(3, 0);
    let mut course = Course::new(&plan, &settled());
    let mut server = Server::new(3, Noise::Normal, 0.3 * delta(), &[0.0, -0.2]);
    let (done, _) = run(&plan, &mut server);
    for trial in done.trials() {
        course.next(SpanNs(0));
        let mut trial = trial.clone();
        let errors = if trial.arm == TrialArm::B { 0.02 } else { 0.0 };
        trial.values.insert(Metric::Errors, errors);
        course.record(trial);
    }
    course.next(SpanNs(0));
    let conclusion = conclude(&plan, &settled(), &course, Around::default());
    assert_eq!(conclusion.verdict.word, Comparison::Better);
    assert_eq!(
        conclusion.guardrails[0].state,
        GuardrailState::Broken,
        "{}",
        conclusion.guardrails[0].sentence
    );
    assert!(!conclusion.is_proven);
}

#[test]
fn an_effect_is_told_in_the_metrics_own_direction() {
    let (_, conclusion) = run(&plan(3, 0), &mut Server::new(3, Noise::Normal, 0.1 * delta(), &[0.0, -0.25]));
    let effect = conclusion.effect.expect("is known");
    assert!(
        effect.point < 0.8
            && effect.low < effect.point
            && effect.point < effect.high
            && !(effect.low..=effect.high).contains(&effect.none())
    );
    assert!(
        conclusion.headline.starts_with("B is better: CPU per request −22.0%"),
        "{}",
        conclusion.headline
    );
    assert!(improvement(Metric::Goodput, 1.0, 2.0).is_some_and(|gain| gain > 0.0));
    assert!(improvement(Metric::Errors, 0.0, 0.1).is_some_and(|gain| gain < 0.0));
    assert_eq!(improvement(Metric::Cpu, 0.0, 1.0), None);
}

#[test]
fn the_pilot_settles_rate_and_warm_up_by_the_weaker_arm() {
    let plan = plan(3, 0);
    let step = SpanNs::from_millis(200);
    let pilot = |goodput_hz, rising: usize| PilotTrial {
        goodput_hz,
        progress: (0..40)
            .map(|index| if index < rising { 1.0 } else { 5.0 + (index % 3) as f64 * 0.1 })
            .collect(),
        step,
    };
    assert_eq!(settle_rate(&plan, &[pilot(1000.0, 0), pilot(500.0, 0)]), Some(350.0));
    assert_eq!(settle_warmup(&plan, &[pilot(1.0, 0)]), SpanNs::from_millis(500));
    assert_eq!(settle_warmup(&plan, &[pilot(1.0, 0), pilot(1.0, 10)]), SpanNs::from_millis(2500));
    assert_eq!(settle_rate(&plan, &[pilot(0.5, 0)]), None);
    assert!(
        default_guardrails(Metric::Goodput, RatePlan::Closed).iter().all(|plan| plan.metric != Metric::P99)
    );
}

/// Values of A are about 1e5, those of B a tenth or ten times that; less is better.
#[test]
fn values_that_are_lower_bounds_support_no_word_that_greater_ones_would_not() {
    let judged = |shift: f64, limit: f64| {
        let mut server = Server::new(7, Noise::Normal, delta(), &[0.0, shift]);
        server.limit = limit;
        let (_, conclusion) = run(&plan(7, 0), &mut server);
        let kinds = conclusion.diagnostics.iter().filter(|found| found.kind == DiagnosticKind::Bounds);
        (conclusion.verdict, kinds.map(|found| found.sentence.clone()).collect::<Vec<String>>())
    };
    let tenfold = 10f64.ln();
    let (both, told) = judged(tenfold, 5e4);
    assert_eq!(both.word, Comparison::CannotTell, "both wait for the timeout: {both:?}");
    assert!(both.capped_by[0].contains("is only a lower bound"), "{both:?}");
    assert_eq!(told.len(), 1);
    assert_eq!(judged(-tenfold, 5e4).0.word, Comparison::Better, "A may only be worse still");
    assert_eq!(judged(tenfold, 5e5).0.word, Comparison::Worse, "B may only be worse still");
    let (free, told) = judged(-tenfold, f64::INFINITY);
    assert_eq!((free.word, told.len()), (Comparison::Better, 0));
}
