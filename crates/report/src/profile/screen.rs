//! The screen of a profile: how much was sampled, the split by kind of code, the functions of each program, and how far to
//! trust it.

use crate::number;
use crate::terminal::{Rank, Screen, Style, Tone};
use sysdyno_record::profile::{
    FrameKind, KernelUnseen, Profile, ProfileKind, ProfileSummary, ProgramShare, SampledEvent, SymbolShare,
};

/// Programs and functions that are shown, and the share from which they are.
const PROGRAMS_MAX: usize = 6;
const SYMBOLS_MAX: usize = 8;
const RATIO_MIN: f64 = 0.005;

/// Below this share of named frames, the screen says what is missing. Source: house value.
const RESOLVED_MIN: f64 = 0.7;

/// From this share of stacks that end early, total shares of callers are too small by as much. Source: house value.
const CUT_MAX: f64 = 0.05;

/// Columns of a share.
const SHARE_COLUMNS: usize = 8;

/// Longest name of a function: the rest can be read in the flame graph.
const NAME_COLUMNS_MAX: usize = 400;

/// The screen; `next` is the command that shows more.
pub fn screen(profile: &Profile, summary: &ProfileSummary, next: Option<&str>, style: &Style) -> String {
    let mut screen = Screen::new(*style);
    headline(&mut screen, profile, summary);
    for (number, program) in shown(summary).enumerate() {
        screen.gap();
        draw(&mut screen, program, if number < 2 { Rank::Useful } else { Rank::Extra });
    }
    screen.gap();
    quality(&mut screen, profile, summary);
    if let Some(next) = next {
        screen.path("Graph", next);
    }
    screen.finish()
}

fn shown(summary: &ProfileSummary) -> impl Iterator<Item = &ProgramShare> {
    let first = summary.programs.iter().take(PROGRAMS_MAX).enumerate();
    first.filter(|(number, program)| *number == 0 || program.ratio >= RATIO_MIN).map(|(_, program)| program)
}

fn headline(screen: &mut Screen, profile: &Profile, summary: &ProfileSummary) {
    if let Some(host) = &profile.host {
        screen.row(Rank::Needed, (Tone::Quiet, "Host"), &[(Tone::Plain, host)]);
    }
    let seconds = number::duration_ns(profile.duration_ns());
    let mean = summary.mean_count.map_or(number::MISSING.to_owned(), |mean| number::significant(mean, 3));
    let cpus =
        if profile.cpus_count == 1 { "1 CPU".to_owned() } else { format!("{} CPUs", profile.cpus_count) };
    let count = |noun| number::counted(profile.counts.samples_count, noun);
    let of_user = if profile.kernel_unseen.is_some() { " in user code" } else { "" };
    let (label, text) = match (profile.kind, profile.counted_event()) {
        (ProfileKind::OnCpu, Some(event)) => {
            let events = number::scaled(summary.weight.amount());
            ("On CPU", format!("{events} {}{of_user} in {seconds} · {}", event.words(), count("sample")))
        }
        (ProfileKind::OnCpu, None) => (
            "On CPU",
            format!(
                "{mean} of {cpus} busy{of_user} for {seconds} · {} ({})",
                count("sample"),
                SampledEvent::CpuClock.name()
            ),
        ),
        (ProfileKind::OffCpu, _) => {
            ("Off CPU", format!("{mean} threads waited on average, for {seconds} · {}", count("wait")))
        }
    };
    screen.answer((Tone::Quiet, label), (Tone::Strong, &text));
    if let Some(unseen) = profile.kernel_unseen {
        let text = unseen_text(unseen, summary.kernel_unseen_ratio);
        return screen.sentence(Rank::Needed, (Tone::Doubtful, "Not seen"), (Tone::Plain, &text));
    }
    let kinds = summary.kinds.iter().filter(|share| share.ratio >= RATIO_MIN);
    let kinds: Vec<String> =
        kinds.map(|share| format!("{} {}", kind_word(share.kind), number::percent(share.ratio))).collect();
    if profile.kind == ProfileKind::OnCpu && !kinds.is_empty() {
        let is_spent = matches!(profile.counted_event(), None | Some(SampledEvent::Cycles));
        let label = if is_spent { "Spent in" } else { "Counted in" };
        screen.row(Rank::Needed, (Tone::Quiet, label), &[(Tone::Plain, &kinds.join(" · "))]);
    }
}

/// Why the kernel's part is missing, how large it is, and what would show it.
fn unseen_text(unseen: KernelUnseen, ratio: Option<f64>) -> String {
    let size = ratio.map_or(String::new(), |ratio| format!(", {} of the CPU time", number::percent(ratio)));
    let setting = match unseen.perf_event_paranoid {
        Some(level) => format!(" (kernel.perf_event_paranoid is {level})"),
        None => String::new(),
    };
    format!(
        "the kernel's part{size}: this user may not sample the kernel{setting}. Run it with `sudo`, or set \
         kernel.perf_event_paranoid to 1."
    )
}

fn kind_word(kind: FrameKind) -> &'static str {
    match kind {
        FrameKind::User => "programs",
        FrameKind::Kernel => "kernel",
        FrameKind::SoftIrq => "softirqs",
        FrameKind::Irq => "interrupts",
    }
}

/// A program: its share, then its functions by the share of their own.
fn draw(screen: &mut Screen, program: &ProgramShare, rank: Rank) {
    let processes = match program.processes_count {
        1 => String::new(),
        count => format!(" ({} processes)", number::count(count.into())),
    };
    let title = format!("{}{processes}", crate::escape::terminal(&program.name, 64));
    let symbols: Vec<&SymbolShare> =
        program.symbols.iter().take(SYMBOLS_MAX).filter(|symbol| symbol.self_ratio >= RATIO_MIN).collect();
    let title = line(screen, &title, if symbols.is_empty() { ["", ""] } else { ["self", "total"] });
    let share = number::percent(program.ratio);
    screen.row(Rank::Needed, (Tone::Strong, &share), &[(Tone::Strong, title.trim_end())]);
    for symbol in symbols {
        let shares = [symbol.self_ratio, symbol.total_ratio].map(number::percent);
        let text = line(screen, &name(symbol), [&shares[0], &shares[1]]);
        screen.row(rank, (Tone::Plain, ""), &[(Tone::Plain, &text)]);
    }
}

/// A function and where it is.
fn name(symbol: &SymbolShare) -> String {
    let frame = &symbol.frame;
    let name = crate::escape::terminal(&frame.name, NAME_COLUMNS_MAX);
    match frame.kind {
        FrameKind::User if frame.is_resolved => {
            format!("{name}  {}", crate::escape::terminal(&frame.object, 40))
        }
        FrameKind::User => format!("{name} without names"),
        FrameKind::Kernel | FrameKind::SoftIrq | FrameKind::Irq => format!("{name}  {}", frame.kind.name()),
    }
}

/// Text on the left, cut where it is too long, and two shares on the right.
fn line(screen: &Screen, text: &str, shares: [&str; 2]) -> String {
    let columns = screen.body_columns().saturating_sub(2 * SHARE_COLUMNS);
    let text = crate::escape::terminal(&screen.style().characters(text), columns);
    let padding = " ".repeat(columns.saturating_sub(crate::escape::width(&text)));
    let [own, total] = shares;
    format!("{text}{padding}{own:>SHARE_COLUMNS$}{total:>SHARE_COLUMNS$}")
}

fn quality(screen: &mut Screen, profile: &Profile, summary: &ProfileSummary) {
    if let Some(ratio) = summary.resolved_ratio {
        let text = format!("{} of frames have a name", number::percent(ratio));
        screen.sentence(Rank::Needed, (Tone::Quiet, "Names"), (Tone::Plain, &text));
        if ratio < RESOLVED_MIN {
            screen.sentence(Rank::Needed, (Tone::Quiet, ""), (Tone::Plain, &remedy(summary)));
        }
    }
    if let Some(ratio) = summary.cut_ratio.filter(|ratio| *ratio >= CUT_MAX) {
        let text = format!(
            "{} of user stacks end early: their callers are not known, so the totals of callers are too low",
            number::percent(ratio)
        );
        screen.sentence(Rank::Needed, (Tone::Quiet, "Stacks"), (Tone::Plain, &text));
    }
    if let Some(ratio) = summary.uncopied_ratio.filter(|ratio| *ratio >= CUT_MAX) {
        let text = format!(
            "{} of waits have no copied stack: there were too many context switches, so callers of code without frame \
             pointers are missing there",
            number::percent(ratio)
        );
        screen.sentence(Rank::Needed, (Tone::Doubtful, "Copies"), (Tone::Plain, &text));
    }
    if !profile.unseen_pids.is_empty() {
        let text = match profile.unseen_pids.as_slice() {
            [pid] => format!("child process {pid}, which runs as another user"),
            pids => format!("{} child processes, which run as other users", number::count(pids.len() as u64)),
        };
        screen.sentence(Rank::Needed, (Tone::Doubtful, "Not seen"), (Tone::Plain, &text));
    }
    let counts = &profile.counts;
    let lost = counts.lost_count + counts.beyond_bound_count;
    if lost > 0 {
        let text =
            format!("{} of {} records", number::count(lost), number::count(lost + counts.samples_count));
        screen.sentence(Rank::Needed, (Tone::Doubtful, "Lost"), (Tone::Plain, &text));
    }
    let share = profile.cost.sampling_cpu_ns as f64 / profile.duration_ns().max(1) as f64;
    let naming = number::duration_ns(profile.cost.naming_cpu_ns);
    let text = format!("{} of one CPU to read samples, {naming} to name functions", number::percent(share));
    screen.sentence(Rank::Useful, (Tone::Quiet, "Cost"), (Tone::Plain, &text));
}

/// What to install, by the files without names.
fn remedy(summary: &ProfileSummary) -> String {
    let mut objects: Vec<&str> = Vec::new();
    for object in summary.programs.iter().flat_map(|program| &program.unnamed_objects) {
        if !objects.contains(&object.as_str()) && objects.len() < 4 {
            objects.push(object);
        }
    }
    if objects.contains(&"kernel") {
        return "the kernel hides its names from this user: see kernel.kptr_restrict, and run it with `sudo`"
            .to_owned();
    }
    match objects.as_slice() {
        [] => "functions in memory without a file have no names: let the runtime write a perf map".to_owned(),
        objects => format!("install the debug symbols of {}", objects.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::folded::tests::{counted, sample};
    use sysdyno_record::profile::{KindShare, ProfileFrame, StackWeight};

    fn summary() -> ProfileSummary {
        let symbol = |name: &str, kind, self_ratio, total_ratio| SymbolShare {
            frame: ProfileFrame {
                name: name.into(),
                object: "nginx".into(),
                kind,
                is_resolved: !name.starts_with('['),
            },
            self_ratio,
            total_ratio,
        };
        ProfileSummary {
            weight: StackWeight::Time(10_000_000_000),
            mean_count: Some(1.0),
            resolved_ratio: Some(0.6),
            cut_ratio: Some(0.25),
            uncopied_ratio: None,
            kernel_unseen_ratio: None,
            kinds: vec![
                KindShare { kind: FrameKind::User, ratio: 0.61 },
                KindShare { kind: FrameKind::SoftIrq, ratio: 0.39 },
            ],
            programs: vec![
                ProgramShare {
                    name: "nginx\u{1b}[31m".into(),
                    processes_count: 4,
                    ratio: 0.8,
                    symbols: vec![
                        symbol("tcp_sendmsg", FrameKind::Kernel, 0.707, 0.798),
                        symbol(&"long::".repeat(30), FrameKind::User, 0.1, 0.1),
                        symbol("rare", FrameKind::User, 0.001, 0.9),
                    ],
                    unnamed_objects: vec![],
                },
                ProgramShare {
                    name: "php".into(),
                    processes_count: 1,
                    ratio: 0.2,
                    symbols: vec![symbol("[libx.so]", FrameKind::User, 0.2, 0.2)],
                    unnamed_objects: vec!["libx.so".into()],
                },
            ],
        }
    }

    #[test]
    fn the_screen_says_how_much_where_and_how_far_to_trust_it() {
        let style = Style { width_columns: 80, ..Style::default() };
        let text = screen(&sample(), &summary(), Some("sysdyno profile -o profile.html"), &style);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.iter().all(|line| crate::escape::width(line) <= 80), "{text}");
        assert!(!text.contains('\u{1b}') && !text.contains("rare"), "{text}");
        assert_eq!(lines[0], "  On CPU     1.00 of 2 CPUs busy for 10.0 s · 990 samples (cpu-clock)");
        assert_eq!(lines[1], "  Spent in   programs 61.0% · softirqs 39.0%");
        for expected in [
            "(4 processes)",
            "tcp_sendmsg  kernel",
            "70.7%   79.8%",
            "[libx.so] without names",
            "60.0% of frames have a name",
            "install the debug symbols of libx.so",
            "25.0% of user stacks end early",
            "0.20% of one CPU to read samples, 300 ms to name functions",
            "sysdyno profile -o profile.html",
        ] {
            assert!(text.contains(expected), "'{expected}' is not in\n{text}");
        }
        assert!(!text.contains("Lost"), "{text}");
    }

    #[test]
    fn what_this_user_may_not_see_is_said_with_its_size_and_what_would_show_it() {
        let unseen = KernelUnseen { perf_event_paranoid: Some(2), processes_cpu_ns: Some(16_000_000_000) };
        let profile = Profile { kernel_unseen: Some(unseen), unseen_pids: vec![7, 8], ..sample() };
        let summary = ProfileSummary { kernel_unseen_ratio: Some(0.375), ..summary() };
        let text = screen(&profile, &summary, None, &Style { width_columns: 400, ..Style::default() });
        for expected in [
            "1.00 of 2 CPUs busy in user code for 10.0 s",
            "the kernel's part, 37.5% of the CPU time: this user may not sample the kernel (kernel.perf_event_paranoid is 2)",
            "set kernel.perf_event_paranoid to 1",
            "2 child processes, which run as other users",
        ] {
            assert!(text.contains(expected), "'{expected}' is not in\n{text}");
        }
        assert!(!text.contains("Spent in"), "{text}");
    }

    #[test]
    fn counted_events_are_named_with_their_number_and_no_time() {
        let summary =
            ProfileSummary { weight: StackWeight::Events(5_005_000_000), mean_count: None, ..summary() };
        let text = screen(&counted(), &summary, None, &Style { width_columns: 80, ..Style::default() });
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "  On CPU     5.01 G cache misses in 10.0 s · 990 samples");
        assert_eq!(lines[1], "  Counted in programs 61.0% · softirqs 39.0%");
    }

    #[test]
    fn waits_without_a_copied_stack_are_said() {
        let of = |uncopied_ratio| {
            let summary = ProfileSummary { uncopied_ratio, ..summary() };
            screen(&sample(), &summary, None, &Style { width_columns: 400, ..Style::default() })
        };
        let text = of(Some(0.34));
        assert!(
            text.contains("34.0% of waits have no copied stack: there were too many context switches"),
            "{text}"
        );
        assert!(!of(Some(0.04)).contains("Copies") && !of(None).contains("Copies"));
    }

    #[test]
    fn lost_records_are_said() {
        let mut profile = sample();
        profile.counts.lost_count = 10;
        let text = screen(&profile, &summary(), None, &Style::default());
        assert!(text.contains("10 of 1,000 records"), "{text}");
    }
}
