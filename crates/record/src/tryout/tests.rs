//! A tryout in its folder: written, read back, cut off.

use super::*;
use crate::command::CommandSpec;
use crate::manifest::{ClockPair, RunKind, RunStatus, Tool};
use crate::plan::Plan;
use crate::store::{NewRun, Run, RunWriter};
use crate::units::{MonoNs, SpanNs, WallNs};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn writer(runs: &Path) -> RunWriter {
    let clock = ClockPair { mono_ns: MonoNs(1), unix_ns: WallNs(1_000_000_000_000_000_000) };
    let tool = Tool { version: "0".into(), target: "test".into() };
    let (command, pid, pid_start_ticks) = (vec!["sysdyno".into()], 1, 1);
    let new = NewRun { kind: RunKind::Try, tool, clock, command, pid, pid_start_ticks, suffix: 1 };
    RunWriter::create(runs, new).expect("creates")
}

fn command(words: &[&str]) -> Action {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    Action::Command(CommandSpec { text: words.join(" "), words })
}

fn plan() -> TryPlan {
    let variant = |name: &str, action| Variant { name: name.into(), action };
    TryPlan {
        command: None,
        workload: TryWorkload::Commands,
        variants: vec![
            variant("A", command(&["curl", "-H", "Authorization: secret", "x"])),
            variant("B", command(&["true"])),
        ],
        contrasts: Vec::new(),
        metric: Metric::Time,
        effect_ratio: 0.03,
        guardrails: vec![GuardrailPlan { metric: Metric::Errors, margin: 0.0005 }],
        seed: 7,
        pairs: PairCaps { min_count: 8, max_count: 40 },
        budget: SpanNs::from_secs(60),
        window: SpanNs(0),
        warmup: None,
        rate: RatePlan::NotApplicable,
        limits: EnvironmentLimits::QUIET,
        is_calibration: false,
        keeps_better: false,
        watch_pids: Vec::new(),
        sampling_hz: 10.0,
    }
}

fn trial(number: u32) -> TryLine {
    TryLine::Trial(Box::new(TryTrial {
        trial: number,
        stage: 1,
        pair: number.div_ceil(2),
        arm: if number % 2 == 1 { TrialArm::A } else { TrialArm::B },
        variant: (number + 1) % 2,
        begin_mono_ns: MonoNs(u64::from(number) * 100),
        end_mono_ns: MonoNs(u64::from(number) * 100 + 50),
        load_trials: Vec::new(),
        values: BTreeMap::from([(Metric::Time, 1.5), (Metric::Errors, 0.0)]),
        lower_bounds: Vec::new(),
        environment: Environment::default(),
        read_back: Vec::new(),
        bites: Vec::new(),
        failure: None,
    }))
}

#[test]
fn an_experiment_is_read_back_as_it_was_written_and_keeps_no_secret() {
    let runs = tempfile::tempdir().expect("a directory");
    let mut writer = writer(runs.path());
    writer.plan(&Plan::Try(Box::new(plan()))).expect("writes");
    let digest = writer.plan_sha256().expect("was written").to_owned();
    (1..=4).for_each(|number| writer.tryout(&trial(number)).expect("writes"));
    let path = writer.path().to_owned();
    assert!(path.to_string_lossy().contains("-try-"));
    writer.finish(RunStatus::Complete, None, WallNs(2_000_000_000_000_000_000)).expect("finishes");
    let run = Run::open(&path, &|_, _| false).expect("opens");
    assert_eq!((run.damage.len(), run.tryout), (0, (1..=4).map(trial).collect::<Vec<_>>()));
    let text = fs::read_to_string(path.join("plan.json")).expect("is there");
    assert!(!text.contains("secret") && text.contains("Authorization"), "{text}");
    let Some(Plan::Try(read)) = run.plan else { panic!("no experiment") };
    assert_eq!(read.variants[1], plan().variants[1]);
    assert_eq!(digest.len(), 64);
}

#[test]
fn a_cut_experiment_is_one_with_fewer_lines() {
    let runs = tempfile::tempdir().expect("a directory");
    let mut writer = writer(runs.path());
    (1..=3).for_each(|number| writer.tryout(&trial(number)).expect("writes"));
    let file = writer.path().join("experiment.jsonl");
    let whole = fs::read(&file).expect("is there");
    for length in (0..whole.len()).step_by(37) {
        fs::write(&file, &whole[..length]).expect("is cut");
        let run = Run::open(writer.path(), &|_, _| true).expect("opens");
        let lines = whole[..length].iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(run.tryout.len(), lines);
    }
}
