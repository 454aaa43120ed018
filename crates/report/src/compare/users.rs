//! Simulated users of the variants of an experiment: whether each variant met the rules, and what came of its operations.

use crate::escape;
use crate::number;
use crate::terminal::{Cell, Rank, Screen, Tone, draw_scoreboard, draw_table};
use sysdyno_record::comparison::{RunsComparison, VariantShown};
use sysdyno_record::scoreboard::Scoreboard;

/// Broken rules of a variant that are printed on a terminal.
const BROKEN_MAX: usize = 2;

/// Columns of the name of a variant.
const NAME_COLUMNS: usize = 40;

/// Cells in the order in which they stand.
const CELLS: [Cell<Scoreboard>; 5] = [
    Cell { rank: 0, heading: "users", text: |board| number::count(board.users.into()) },
    Cell { rank: 2, heading: "planned", text: |board| rate(board.planned_hz) },
    Cell { rank: 1, heading: "ops/s", text: |board| rate(Some(board.rate_hz)) },
    Cell { rank: 3, heading: "of plan", text: |board| share(board.planned_ratio()) },
    Cell { rank: 4, heading: "of limit", text: |board| share(board.tightest().map(|(_, share)| share)) },
];

/// A table of the variants, the rules that they broke, and in a file or pipe the operations of each.
pub(super) fn draw(comparison: &RunsComparison, screen: &mut Screen) {
    let Some(experiment) = &comparison.experiment else { return };
    let boards: Vec<(&VariantShown, &Scoreboard)> = experiment
        .variants
        .iter()
        .filter_map(|variant| Some((variant, variant.scoreboard.as_ref()?)))
        .collect();
    if boards.is_empty() {
        return;
    }
    let rows = boards.iter().map(|(variant, board)| (named(comparison, variant, board), *board));
    draw_table(screen, Rank::Needed, "Users", &CELLS, rows);
    let text = "planned: users ÷ mean cycle time; of limit: the time of the slowest operation as a share of its limit";
    screen.sentence(Rank::Extra, (Tone::Plain, ""), (Tone::Quiet, text));
    screen.gap();
    for (variant, board) in boards.iter().filter(|(_, board)| !board.has_passed()) {
        let label = format!("✘ {}", comparison.sides[variant.side].letter);
        screen.sentence(Rank::Useful, (Tone::Bad, &label), (Tone::Plain, &broken(board, screen)));
    }
    screen.gap();
    if !screen.is_endless() {
        let text = "`sysdyno experiment report FOLDER | less` has the operations of each variant";
        screen.sentence(Rank::Extra, (Tone::Plain, ""), (Tone::Quiet, text));
        return;
    }
    for (variant, board) in boards {
        let (word, tone) =
            if board.has_passed() { ("✔ PASSED", Tone::Good) } else { ("✘ FAILED", Tone::Bad) };
        screen.sentence(Rank::Needed, (tone, word), (Tone::Strong, &told(comparison, variant, board)));
        draw_scoreboard(screen, "", &board.operations);
        screen.gap();
    }
}

/// `A lighttpd, 25: 25 users, 4.98 operations/s; 2 of 3 runs passed`.
fn told(comparison: &RunsComparison, variant: &VariantShown, board: &Scoreboard) -> String {
    let side = &comparison.sides[variant.side];
    let runs = match board.runs_count {
        1 => String::new(),
        count => format!("; {} of {} runs passed", number::count(board.passed_count), number::count(count)),
    };
    format!(
        "{} {}: {} users, {} operations/s{runs}",
        side.letter,
        escape::terminal(&side.name, NAME_COLUMNS),
        number::count(board.users.into()),
        rate(Some(board.rate_hz))
    )
}

/// `✔ A lighttpd, 25`.
fn named(comparison: &RunsComparison, variant: &VariantShown, board: &Scoreboard) -> String {
    let side = &comparison.sides[variant.side];
    let mark = if board.has_passed() { "✔" } else { "✘" };
    format!("{mark} {} {}", side.letter, escape::terminal(&side.name, NAME_COLUMNS))
}

/// The rules that were not met, as many as there is room for.
fn broken(board: &Scoreboard, screen: &Screen) -> String {
    let most = if screen.is_endless() { board.broken.len() } else { BROKEN_MAX };
    let shown: Vec<&str> = board.broken.iter().take(most).map(String::as_str).collect();
    let hidden = board.broken.len() - shown.len();
    let more =
        if hidden > 0 { format!("; and {} more", number::count(hidden as u64)) } else { String::new() };
    format!("{}{more}", shown.join("; "))
}

fn rate(hz: Option<f64>) -> String {
    hz.map_or(number::MISSING.to_owned(), |hz| number::significant(hz, 3))
}

fn share(ratio: Option<f64>) -> String {
    ratio.map_or(number::MISSING.to_owned(), number::percent)
}
