//! Stacks of real programs without frame pointers, from their innermost function to where they begin.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use sysdyno_needs::{has, skip};
use sysdyno_profile::{ProfilePlan, Recording, Symbols};
use sysdyno_record::profile::{Profile, ProfileKind, SampledEvent};
use sysdyno_record::units::MonoNs;

/// Samples that are waited for, of a program that does nothing but run.
const SAMPLES_MIN: u64 = 100;

/// A program that runs until it is dropped.
struct Victim(Child);

impl Victim {
    fn start(program: &Path) -> Victim {
        Victim(Command::new(program).stdin(Stdio::null()).spawn().expect("the program starts"))
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn compiled(folder: &Path, name: &str, options: &[&str]) -> PathBuf {
    compiled_from("nested.c", folder, name, options)
}

fn compiled_from(source: &str, folder: &Path, name: &str, options: &[&str]) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(source);
    let program = folder.join(name);
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-fomit-frame-pointer"]).args(options).arg(source).arg("-o").arg(&program);
    assert!(compiler.status().expect("the compiler starts").success(), "{compiler:?}");
    program
}

/// A profile of a program that is running, as soon as it has enough samples.
fn profile(victim: &Victim, rate_hz: u32) -> Profile {
    let (kind, event) = (ProfileKind::OnCpu, Some(SampledEvent::CpuClock));
    recorded(ProfilePlan { kind, event, rate_hz, scope_pids: vec![], tree_pids: vec![] }, victim)
}

fn recorded(plan: ProfilePlan, victim: &Victim) -> Profile {
    let pids = vec![victim.0.id()];
    let plan = ProfilePlan { scope_pids: pids.clone(), tree_pids: pids, ..plan };
    let mut recording = Recording::begin(plan, MonoNs(0)).expect("profiles are allowed here");
    while recording.samples_count() < SAMPLES_MIN {
        recording.read(Duration::from_millis(50));
    }
    recording.stop(MonoNs(1_000_000_000)).named(&Symbols::of_kernel())
}

/// The share of samples whose stack has these functions in this order, anything in between.
fn ratio_with(profile: &Profile, order: &[&str]) -> f64 {
    let has_all = |names: &[&str]| {
        let mut names = names.iter();
        order.iter().all(|wanted| names.any(|name| name == wanted))
    };
    let meant = profile.stacks.iter().filter(|stack| {
        let names: Vec<&str> = profile.frames_of(stack).map(|frame| frame.name.as_str()).collect();
        has_all(&names)
    });
    meant.map(|stack| stack.count).sum::<u64>() as f64 / profile.counts.samples_count as f64
}

fn cut_ratio(profile: &Profile) -> f64 {
    profile.counts.cut_stacks_count as f64 / profile.counts.user_stacks_count as f64
}

fn can_profile(test: &str) -> bool {
    let has_events = Path::new("/proc/sys/kernel/perf_event_paranoid").exists();
    if !has_events {
        skip(test, &["perf-events"]);
    }
    has_events && has(test, &["root", "cc"])
}

#[test]
fn functions_without_frame_pointers_have_their_callers_in_order() {
    if !can_profile("functions_without_frame_pointers_have_their_callers_in_order") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    for (name, options) in
        [("pie", &["-pie", "-fPIE"][..]), ("fixed", &["-no-pie"]), ("static", &["-static"])]
    {
        let victim = Victim::start(&compiled(folder.path(), name, options));
        let profile = profile(&victim, 499);
        let chain = ["main", "outer_work", "middle_work", "innermost_work"];
        let (in_order, cut) = (ratio_with(&profile, &chain), cut_ratio(&profile));
        assert!(in_order > 0.9, "{name}: {in_order} in order; {:?}", profile.stacks);
        assert!(cut < 0.05, "{name}: {cut} cut; {:?}", profile.counts);
        let sorting = ratio_with(&profile, &["main", "innermost_work", "compare_numbers"]);
        assert!(sorting > 0.05, "{name}: {sorting} through the C library; {:?}", profile.frames);
    }
}

/// Programs whose own functions have tables for debuggers only, and what is left without those.
#[test]
fn functions_without_tables_for_exceptions_have_their_callers_by_those_for_debuggers() {
    if !can_profile("functions_without_tables_for_exceptions_have_their_callers_by_those_for_debuggers") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let without = "-fno-asynchronous-unwind-tables";
    for (name, options, has_tables) in [
        ("debug-pie", &["-pie", "-fPIE", "-g"][..], true),
        ("debug-fixed", &["-no-pie", "-g"], true),
        ("debug-static", &["-static", "-g"], true),
        ("none", &["-pie", "-fPIE"], false),
    ] {
        let program = compiled(folder.path(), name, &[&[without][..], options].concat());
        let bytes = std::fs::read(&program).expect("is there");
        let name_of_section = b"\0.debug_frame\0";
        let has_section = bytes.windows(name_of_section.len()).any(|window| window == name_of_section);
        assert_eq!(has_section, has_tables, "{name}");
        let profile = profile(&Victim::start(&program), 499);
        let in_order = ratio_with(&profile, &["main", "outer_work", "middle_work", "innermost_work"]);
        let sorting = ratio_with(&profile, &["main", "innermost_work", "compare_numbers"]);
        if has_tables {
            assert!(in_order > 0.9, "{name}: {in_order} in order; {:?}", profile.stacks);
            assert!(sorting > 0.05, "{name}: {sorting} through the C library; {:?}", profile.frames);
            assert!(cut_ratio(&profile) < 0.05, "{name}: {:?}", profile.counts);
        } else {
            assert!(in_order < 0.1, "{name}: {in_order} in order; {:?}", profile.stacks);
        }
    }
}

#[test]
fn waits_in_functions_without_frame_pointers_have_their_callers_in_order() {
    if !can_profile("waits_in_functions_without_frame_pointers_have_their_callers_in_order") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let victim = Victim::start(&compiled_from("waiting.c", folder.path(), "waiting", &["-pie", "-fPIE"]));
    let (scope_pids, tree_pids) = (vec![], vec![]);
    let plan = ProfilePlan { kind: ProfileKind::OffCpu, event: None, rate_hz: 99, scope_pids, tree_pids };
    let profile = recorded(plan, &victim);
    // A thread that was switched away from before it got to its first wait has another stack.
    let in_order = ratio_with(&profile, &["main", "outer_wait", "middle_wait", "innermost_wait"]);
    assert!(in_order > 0.9, "{in_order} in order; {:?}", profile.stacks);
    assert!(cut_ratio(&profile) < 0.05, "{:?}", profile.counts);
    let copied = profile.counts.uncopied_stacks_count;
    assert!(copied.is_some_and(|count| count < SAMPLES_MIN / 10), "{:?}", profile.counts);
}

#[test]
fn a_program_without_symbols_and_with_its_file_gone_has_whole_stacks() {
    if !can_profile("a_program_without_symbols_and_with_its_file_gone_has_whole_stacks") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let program = compiled(folder.path(), "stripped", &["-s"]);
    let victim = Victim::start(&program);
    std::fs::remove_file(&program).expect("is there");
    let profile = profile(&victim, 499);
    assert!(cut_ratio(&profile) < 0.05, "{:?}", profile.counts);
    let depth = profile.stacks.iter().map(|stack| stack.frames.len()).max();
    assert!(depth >= Some(6), "{depth:?}");
}

#[test]
fn at_the_highest_rate_stacks_are_whole_and_records_are_not_lost_unseen() {
    if !can_profile("at_the_highest_rate_stacks_are_whole_and_records_are_not_lost_unseen") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let victim = Victim::start(&compiled(folder.path(), "fast", &[]));
    let profile = profile(&victim, 10_000);
    // The copy has 1,677 bytes here, and the program keeps 2 KiB in `middle_work`: most stacks are cut there.
    let inner = ratio_with(&profile, &["middle_work", "innermost_work"]);
    assert!(inner > 0.5, "{inner}; {:?}", profile.counts);
}
