//! What a terminal can display: color, characters, columns.

use anstyle::{AnsiColor, Style as Paint};

/// How terminal text is dressed. The caller decides: `NO_COLOR`, the locale and the window are not looked at here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether escape sequences for color and weight are written.
    pub has_color: bool,
    /// Whether characters outside ASCII are written.
    pub has_unicode: bool,
    /// Columns of a line; less than 40 is treated as 40, more than 500 as 500.
    pub width_columns: usize,
    /// Rows of the terminal; `None`: the text goes to a file, a pipe or a page, where there is room for all of it.
    pub rows: Option<usize>,
}

impl Default for Style {
    fn default() -> Style {
        Style { has_color: false, has_unicode: true, width_columns: 100, rows: None }
    }
}

/// What a piece of text is, from which its color follows; meaning is never in the color alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Running text.
    Plain,
    /// The number or name that a line is about.
    Strong,
    /// Labels and what explains.
    Quiet,
    /// The word VALID.
    Good,
    /// The word SUSPECT.
    Doubtful,
    /// The word INVALID.
    Bad,
}

impl Tone {
    fn paint(self) -> Paint {
        let color = |color: AnsiColor| Paint::new().bold().fg_color(Some(color.into()));
        match self {
            Tone::Plain => Paint::new(),
            Tone::Strong => Paint::new().bold(),
            Tone::Quiet => Paint::new().dimmed(),
            Tone::Good => color(AnsiColor::Green),
            Tone::Doubtful => color(AnsiColor::Yellow),
            Tone::Bad => color(AnsiColor::Red),
        }
    }
}

/// What stands for our own characters where there is only ASCII.
const ASCII: &[(char, &str)] = &[
    ('✔', "+"),
    ('▲', "!"),
    ('▼', "v"),
    ('✘', "x"),
    ('–', "-"),
    ('—', "-"),
    ('−', "-"),
    ('·', "|"),
    ('µ', "u"),
    ('≥', ">="),
    ('≤', "<="),
    // One column, as the character that it stands for: it marks a cut at the very edge.
    ('…', "~"),
    ('→', "->"),
    ('×', "x"),
    ('÷', "/"),
    ('«', "<"),
    ('»', ">"),
    ('█', "#"),
    ('░', "."),
    ('▼', "v"),
    ('●', "o"),
    ('─', "-"),
    ('├', "["),
    ('┤', "]"),
    ('┊', ":"),
    ('◄', "<"),
    ('►', ">"),
    ('±', "+-"),
    ('←', "<-"),
    ('▸', ">"),
    ('▇', "#"),
    ('▓', "="),
    ('▒', ":"),
    ('↑', "^"),
    ('↓', "v"),
];

impl Style {
    /// Columns that are used.
    pub fn width(&self) -> usize {
        self.width_columns.clamp(40, 500)
    }

    /// `text` in characters that the terminal can show.
    pub fn characters(&self, text: &str) -> String {
        if self.has_unicode || text.is_ascii() {
            return text.to_owned();
        }
        let mut shown = String::with_capacity(text.len());
        for letter in text.chars() {
            match ASCII.iter().find(|(ours, _)| *ours == letter) {
                _ if letter.is_ascii() => shown.push(letter),
                Some((_, stand_in)) => shown.push_str(stand_in),
                None => shown.extend(letter.escape_unicode()),
            }
        }
        shown
    }

    /// `text` in the dress of its tone. Its characters must already be those of [`Style::characters`].
    pub fn dress(&self, tone: Tone, text: &str) -> String {
        if !self.has_color || tone == Tone::Plain || text.is_empty() {
            return text.to_owned();
        }
        let paint = tone.paint();
        format!("{paint}{text}{paint:#}")
    }
}
