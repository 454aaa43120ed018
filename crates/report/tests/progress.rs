//! Runs while they last, as they are drawn on a terminal, compared with files in `tests/golden`.

use crate::golden;
use sysdyno_record::effect::{Better, Effect, EffectScale};
use sysdyno_record::load::TrialPurpose;
use sysdyno_record::plan::{Arrival, PhaseKind};
use sysdyno_record::progress::{Closing, CpuUse, CpuUses, LoadMark, RunPicture, RunProgress, TriedLoad};
use sysdyno_record::units::SpanNs;
use sysdyno_report::escape;
use sysdyno_report::progress::{ROWS_MAX, picture};
use sysdyno_report::terminal::Style;

/// A closed load that has run for 40 seconds, the first five of them as a warm-up.
fn load() -> RunPicture {
    let wave = |second: u32| f64::from(second * 7919 % 17) / 17.0;
    let mark = |second: u32| LoadMark {
        is_measured: second >= 5,
        ok_hz: 61.0 * f64::from(second.min(4) + 4) / 8.0 + 3.0 * wave(second),
        errors_hz: 0.0,
        p50_ns: Some(512_000_000 + (40e6 * wave(second)) as u64),
        p99_ns: Some(631_000_000 + (90e6 * wave(second + 3)) as u64),
    };
    let used = |name: &str, cpus| CpuUse { name: name.into(), cpus };
    RunPicture {
        progress: RunProgress {
            trial: 1,
            purpose: TrialPurpose::Single,
            phase: PhaseKind::Steady,
            offered_hz: None,
            clients_count: None,
            achieved_hz: Some(61.0),
            p99_ns: Some(631_000_000),
            errors_count: 0,
            done_count: 2_440,
            elapsed_ns: 40_000_000_000,
            left_ns: Some(20_000_000_000),
        },
        arrival: Arrival::Closed,
        connections_count: 32,
        goal_count: None,
        marks: (0..40).map(mark).collect(),
        uses: Some(CpuUses {
            tiers: vec![used("nginx", 0.012), used("php-fpm", 1.31), used("mariadbd", 0.09)],
            other_cpus: Some(0.02),
            generator_cpus: Some(0.013),
            host_cpus_count: Some(8),
        }),
        busiest_thread_ratio: Some(0.013),
        is_generator_full: false,
        tried: vec![],
        closing: None,
    }
}

/// An open load whose server fails.
fn failing() -> RunPicture {
    let mut view = load();
    view.arrival = Arrival::Poisson;
    view.progress.offered_hz = Some(4_000.0);
    (view.progress.errors_count, view.progress.left_ns) = (12_345, None);
    (view.goal_count, view.busiest_thread_ratio, view.is_generator_full) = (Some(100_000), Some(0.97), true);
    view.marks.iter_mut().enumerate().for_each(|(second, mark)| {
        mark.errors_hz = (second as f64 - 30.0).max(0.0) * 100.0;
        if second > 35 {
            (mark.p50_ns, mark.p99_ns) = (None, None);
        }
    });
    view
}

/// A search in its grid.
fn search() -> RunPicture {
    let mut view = load();
    view.arrival = Arrival::Poisson;
    view.progress.purpose = TrialPurpose::Grid;
    (view.progress.trial, view.progress.offered_hz) = (14, Some(4_120.0));
    view.progress.left_ns = Some(372_000_000_000);
    let tried = |load, is_met| TriedLoad { load, is_met };
    view.tried = vec![
        tried(2_000.0, Some(true)),
        tried(3_400.0, Some(true)),
        tried(4_600.0, Some(false)),
        tried(4_000.0, Some(true)),
        tried(4_300.0, Some(false)),
        tried(4_010.0, Some(true)),
        tried(4_120.0, None),
        tried(4_150.0, Some(false)),
        tried(2_800.0, Some(true)),
    ];
    view
}

/// A comparison after its sixth pair.
fn tryout() -> RunPicture {
    let mut view = load();
    view.progress.purpose = TrialPurpose::Try;
    view.progress.trial = 15;
    let effect = |pairs_count: u32| Effect {
        scale: EffectScale::Ratio,
        point: 1.04,
        low: 1.04 - 0.4 / f64::from(pairs_count),
        high: 1.04 + 0.3 / f64::from(pairs_count),
        confidence_ratio: 0.95,
        narrow: None,
        pairs_count,
    };
    view.closing = Some(Closing {
        line: "pair 6 of 8 · goodput +4.0% [−2.7, +9.0], band ±3%".into(),
        budget: SpanNs::from_secs(600),
        margin: 0.03,
        better: Better::Higher,
        effects: (2..=6).map(effect).collect(),
    });
    view
}

fn check(name: &str, view: &RunPicture) {
    for (width_columns, has_unicode) in [(40, true), (80, true), (80, false), (200, true)] {
        let style = Style { width_columns, has_unicode, ..Style::default() };
        let lines = picture(view, &style);
        assert!(lines.len() <= ROWS_MAX, "{name}");
        for line in &lines {
            assert!(escape::width(line) < width_columns, "{name} at {width_columns}: {line}");
            assert!(has_unicode || line.is_ascii(), "{name}: {line}");
        }
        let ending = if has_unicode { "" } else { "-ascii" };
        golden::compare(&format!("live-{name}-{width_columns}{ending}.txt"), &(lines.join("\n") + "\n"));
        let colored = picture(view, &Style { has_color: true, ..style });
        let plain: Vec<String> = colored.iter().map(|line| golden::without_escapes(line)).collect();
        assert_eq!(plain, lines, "{name}: color does not change the text");
    }
}

#[test]
fn each_kind_of_run_has_its_picture() {
    check("load", &load());
    check("failing", &failing());
    check("search", &search());
    check("try", &tryout());
}

#[test]
fn a_run_that_has_just_begun_has_a_picture_without_numbers() {
    let mut view = load();
    view.marks.clear();
    view.uses = None;
    let lines = picture(&view, &Style { width_columns: 80, ..Style::default() });
    assert!(lines[1].starts_with("rate  –") && lines[3].starts_with("p99   –"), "{lines:#?}");
    view.closing = tryout().closing.map(|closing| Closing { effects: vec![], ..closing });
    assert_eq!(picture(&view, &Style::default()).len(), lines.len() + 1);
}

#[test]
fn names_of_processes_cannot_touch_the_terminal() {
    let mut view = load();
    if let Some(uses) = &mut view.uses {
        uses.tiers[0].name = "\u{1b}[2Jx".into();
    }
    let text = picture(&view, &Style::default()).join("\n");
    assert!(!text.contains('\u{1b}') && text.contains(r"\u{1b}[2Jx"), "{text}");
}
