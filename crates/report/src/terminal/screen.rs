//! Lines that know how much they matter, and the label column that they hang on.

use super::style::{Style, Tone};
use crate::escape;

/// Columns of the labels on the left, the gap included.
const LABEL_COLUMNS: usize = 12;

/// How much a line matters when the screen is full; lines of the greatest rank go first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// Never left out.
    Needed,
    /// What can be looked up elsewhere.
    Useful,
    /// What confirms or explains.
    Extra,
    /// Empty lines.
    Air,
}

/// How many lines a sentence may take; what is longer is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Detail {
    /// The result itself: headline, limit, accounting.
    result: usize,
    /// What must be said besides.
    needed: usize,
    /// What confirms or explains.
    extra: usize,
}

impl Detail {
    /// All that a screen can hold when there is little to say.
    pub(crate) const MOST: Detail = Detail { result: 3, needed: 3, extra: 3 };

    /// Ever less, for ever fuller screens.
    pub(crate) const LESS: [Detail; 3] = [
        Detail { result: 2, needed: 2, extra: 2 },
        Detail { result: 2, needed: 2, extra: 1 },
        Detail { result: 2, needed: 1, extra: 1 },
    ];
}

/// A screen that is being filled from the top.
pub(crate) struct Screen {
    style: Style,
    detail: Detail,
    lines: Vec<Line>,
}

struct Line {
    rank: Rank,
    text: String,
}

/// A piece of a line in one tone.
pub(crate) type Piece<'a> = (Tone, &'a str);

impl Screen {
    pub(crate) fn new(style: Style, detail: Detail) -> Screen {
        Screen { style, detail, lines: Vec::new() }
    }

    pub(crate) fn style(&self) -> Style {
        self.style
    }

    /// Columns beside the labels.
    pub(crate) fn body_columns(&self) -> usize {
        self.style.width() - LABEL_COLUMNS
    }

    /// An empty line.
    pub(crate) fn gap(&mut self) {
        self.push(Rank::Air, String::new());
    }

    /// A finished line.
    pub(crate) fn push(&mut self, rank: Rank, text: String) {
        self.lines.push(Line { rank, text });
    }

    /// A label and the result itself: a sentence that keeps two lines on the fullest screen.
    pub(crate) fn result(&mut self, label: Piece<'_>, body: Piece<'_>) {
        self.wrapped(Rank::Needed, label, body, self.detail.result);
    }

    /// A label and a sentence.
    pub(crate) fn sentence(&mut self, rank: Rank, label: Piece<'_>, body: Piece<'_>) {
        let lines_max = if rank == Rank::Needed { self.detail.needed } else { self.detail.extra };
        self.wrapped(rank, label, body, lines_max);
    }

    /// A label and, in its line and the ones below, text in one tone.
    fn wrapped(&mut self, rank: Rank, label: Piece<'_>, body: Piece<'_>, lines_max: usize) {
        let text = self.style.characters(&escape::terminal(body.1, usize::MAX));
        for (number, line) in wrap(&text, self.body_columns(), lines_max).iter().enumerate() {
            let label = if number == 0 { label } else { (Tone::Plain, "") };
            let line = self.style.characters(line);
            let text = format!("{}{}", self.label(label), self.style.dress(body.0, &line));
            self.push(rank, text);
        }
    }

    /// One line of a label and pieces; the last piece that does not fit is cut.
    pub(crate) fn row(&mut self, rank: Rank, label: Piece<'_>, pieces: &[Piece<'_>]) {
        let mut left = self.body_columns();
        let mut text = self.label(label);
        for (tone, piece) in pieces {
            let shown = escape::terminal(&self.style.characters(&escape::terminal(piece, usize::MAX)), left);
            left -= escape::width(&shown).min(left);
            text.push_str(&self.style.dress(*tone, &self.style.characters(&shown)));
        }
        self.push(rank, text);
    }

    fn label(&self, (tone, label): Piece<'_>) -> String {
        let label = self.style.characters(label);
        let padding = LABEL_COLUMNS.saturating_sub(escape::width(&label) + 2);
        format!("  {}{:padding$}", self.style.dress(tone, &label), "")
    }

    /// Lines that are not there for looks.
    pub(crate) fn lines_without_air(&self) -> usize {
        self.lines.iter().filter(|line| line.rank != Rank::Air).count()
    }

    /// The text of the screen, of at most `lines_max` lines.
    pub(crate) fn finish(mut self, lines_max: usize) -> String {
        while self.lines.len() > lines_max {
            let worst = self.lines.iter().map(|line| line.rank).max().unwrap_or(Rank::Needed);
            let Some(position) = self.lines.iter().rposition(|line| line.rank == worst) else { break };
            self.lines.remove(position);
        }
        let mut text = String::new();
        for line in &self.lines {
            text.push_str(line.text.trim_end());
            text.push('\n');
        }
        text
    }
}

/// Breaks text at spaces into at most `lines_max` lines of `columns`; the last one is cut with `…` if it must be.
pub(crate) fn wrap(text: &str, columns: usize, lines_max: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() && lines.len() < lines_max {
        if lines.len() + 1 == lines_max {
            lines.push(escape::terminal(rest, columns));
            break;
        }
        let (line, after) = rest.split_at(line_end(rest, columns));
        lines.push(line.trim_end().to_owned());
        rest = after.trim_start();
    }
    lines
}

/// Words that stay in the line of the number before them.
const UNITS: [&str; 6] = ["%", "ns", "µs", "ms", "s", "req/s"];

/// Whether a line may end at the space at this byte position: not between a number and its unit.
fn may_break(text: &str, space: usize) -> bool {
    let is_after_digit = text[..space].ends_with(|letter: char| letter.is_ascii_digit());
    let next = text[space + 1..].split(' ').next().unwrap_or_default();
    let next = next.trim_end_matches(|letter: char| letter.is_ascii_punctuation() && letter != '%');
    !(is_after_digit && UNITS.contains(&next))
}

/// Byte position at which the first line of `text` ends: at the last space that fits, else at the last character.
fn line_end(text: &str, columns: usize) -> usize {
    let mut used = 0;
    let mut last_space = None;
    for (position, letter) in text.char_indices() {
        if letter == ' ' && may_break(text, position) {
            last_space = Some(position);
        }
        used += escape::width(letter.encode_utf8(&mut [0; 4]));
        if used > columns {
            return last_space.filter(|space| *space > 0).unwrap_or(position.max(letter.len_utf8()));
        }
    }
    text.len()
}
