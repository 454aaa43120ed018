//! Lines with a priority, and the label column at their left.

use super::style::{Style, Tone};
use crate::escape;

/// Columns of the labels on the left, the gap included.
const LABEL_COLUMNS: usize = 13;

/// How much a line matters when the screen is full; lines of the greatest rank go first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// Never left out.
    Needed,
    /// Details that can be looked up elsewhere.
    Useful,
    /// What confirms or explains.
    Extra,
    /// Empty lines.
    Air,
}

/// Longest sentence: what somebody else chose is bounded, and nothing of ours is as long. Unit: columns.
const MAX_COLUMNS: usize = 8_000;

/// A screen that is being filled from the top.
///
/// Sentences are never cut: where a terminal is too low, those that matter least are left out as a whole, and where that is not
/// enough the answer is repeated at the end, where it can be seen.
pub(crate) struct Screen {
    style: Style,
    blocks: Vec<Block>,
}

/// Lines that are shown together or not at all.
struct Block {
    rank: Rank,
    lines: Vec<String>,
    /// Rows of the terminal that they take: a path is never broken here, but by the terminal.
    rows: usize,
    /// Whether it is a part of the answer.
    is_answer: bool,
}

/// A piece of a line in one tone.
pub(crate) type Piece<'a> = (Tone, &'a str);

impl Screen {
    pub(crate) fn new(style: Style) -> Screen {
        Screen { style, blocks: Vec::new() }
    }

    pub(crate) fn style(&self) -> Style {
        self.style
    }

    /// Columns beside the labels.
    pub(crate) fn body_columns(&self) -> usize {
        self.style.width() - LABEL_COLUMNS
    }

    /// Whether nothing has to be left out: the text goes to a file, a pipe or a page.
    pub(crate) fn is_endless(&self) -> bool {
        self.style.rows.is_none()
    }

    /// An empty line.
    pub(crate) fn gap(&mut self) {
        self.push(Rank::Air, String::new());
    }

    /// A finished line.
    pub(crate) fn push(&mut self, rank: Rank, text: String) {
        self.blocks.push(Block { rank, lines: vec![text], rows: 1, is_answer: false });
    }

    /// A label and a part of the answer: what is read first, and on a low terminal last as well.
    pub(crate) fn answer(&mut self, label: Piece<'_>, body: Piece<'_>) {
        self.sentence(Rank::Needed, label, body);
        self.mark_answer();
    }

    /// Makes the last line a part of the answer.
    pub(crate) fn mark_answer(&mut self) {
        if let Some(last) = self.blocks.last_mut() {
            last.is_answer = true;
        }
    }

    /// A label and, in its line and the ones below, text in one tone.
    pub(crate) fn sentence(&mut self, rank: Rank, label: Piece<'_>, body: Piece<'_>) {
        let text = self.style.characters(&escape::terminal(body.1, MAX_COLUMNS));
        let lines = wrap(&text, self.body_columns());
        let dressed = lines.iter().enumerate().map(|(number, line)| {
            let label = if number == 0 { label } else { (Tone::Plain, "") };
            format!("{}{}", self.label(label), self.style.dress(body.0, &self.style.characters(line)))
        });
        let lines: Vec<String> = dressed.collect();
        let rows = lines.len();
        self.blocks.push(Block { rank, lines, rows, is_answer: false });
    }

    /// One line of a label and pieces; what does not fit goes on below, in the tone of the first piece.
    pub(crate) fn row(&mut self, rank: Rank, label: Piece<'_>, pieces: &[Piece<'_>]) {
        let shown = |piece: &str| self.style.characters(&escape::terminal(piece, MAX_COLUMNS));
        let plain: String = pieces.iter().map(|(_, piece)| shown(piece)).collect();
        if escape::width(plain.trim_end()) > self.body_columns() {
            let tone = pieces.first().map_or(Tone::Plain, |(tone, _)| *tone);
            return self.sentence(rank, label, (tone, &plain));
        }
        let dressed = pieces.iter().map(|(tone, piece)| self.style.dress(*tone, &shown(piece)));
        let text = format!("{}{}", self.label(label), dressed.collect::<String>());
        self.push(rank, text);
    }

    /// One line of a label and a path, which is never broken, so that it can be clicked and copied.
    pub(crate) fn path(&mut self, label: &str, path: &str) {
        let path = self.style.characters(&escape::terminal(path, MAX_COLUMNS));
        let rows = (LABEL_COLUMNS + escape::width(&path)).div_ceil(self.style.width());
        let lines = vec![format!("{}{path}", self.label((Tone::Quiet, label)))];
        self.blocks.push(Block { rank: Rank::Needed, lines, rows, is_answer: false });
    }

    fn label(&self, (tone, label): Piece<'_>) -> String {
        let label = self.style.characters(label);
        let padding = LABEL_COLUMNS.saturating_sub(escape::width(&label) + 2);
        format!("  {}{:padding$}", self.style.dress(tone, &label), "")
    }

    fn rows_count(&self) -> usize {
        self.blocks.iter().map(|block| block.rows).sum()
    }

    /// The text of the screen: all of it, or what fits the rows of the terminal together with the next prompt.
    pub(crate) fn finish(mut self) -> String {
        let room = self.style.rows.map_or(usize::MAX, |rows| rows.saturating_sub(1));
        for rank in [Rank::Air, Rank::Extra, Rank::Useful] {
            while self.rows_count() > room {
                let Some(last) = self.blocks.iter().rposition(|block| block.rank == rank) else { break };
                self.blocks.remove(last);
            }
        }
        let answer = self.blocks.iter().filter(|block| block.is_answer).flat_map(|block| &block.lines);
        let again: Vec<String> = match self.rows_count() > room {
            true => std::iter::once(String::new()).chain(answer.cloned()).collect(),
            false => Vec::new(),
        };
        let lines = self.blocks.iter().flat_map(|block| &block.lines).chain(&again);
        lines.map(|line| format!("{}\n", line.trim_end())).collect()
    }
}

/// Breaks text at spaces into lines of at most so many columns.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(line_end(rest, columns));
        lines.push(line.trim_end().to_owned());
        rest = after.trim_start();
    }
    lines
}

/// Words that stay in the line of the number before them.
const UNITS: [&str; 6] = ["%", "ns", "µs", "ms", "s", "req/s"];

/// Whether a line may end at the space at this byte position: not between a number and its unit, and not in what is to be typed.
fn may_break(text: &str, space: usize) -> bool {
    if text[..space].matches('`').count() % 2 == 1 {
        return false;
    }
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
