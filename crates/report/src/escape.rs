//! Text that somebody else chose, made safe for a terminal.
//!
//! A server, a process, or a file may choose text that moves the cursor, changes the color, hides what follows, or reverses
//! the direction of writing. Such characters are replaced by a visible notation, and the result is bounded in length.
//! Sources: ECMA-48 (C0 and C1 control functions), Unicode UAX #9 (directional formatting), UTR #36 (invisible text).

/// Characters that change how their neighbors are shown, and are not themselves seen.
const INVISIBLE: &[std::ops::RangeInclusive<char>] = &[
    '\u{00ad}'..='\u{00ad}',
    '\u{034f}'..='\u{034f}',
    '\u{061c}'..='\u{061c}',
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    '\u{180b}'..='\u{180f}',
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{3164}'..='\u{3164}',
    '\u{fe00}'..='\u{fe0f}',
    '\u{feff}'..='\u{feff}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{fff0}'..='\u{fffb}',
    '\u{e0000}'..='\u{e0fff}',
];

/// Characters that take two columns on a terminal. Source: Unicode `EastAsianWidth.txt`, W and F, by block.
const WIDE: &[std::ops::RangeInclusive<char>] = &[
    '\u{1100}'..='\u{115f}',
    '\u{2e80}'..='\u{303e}',
    '\u{3041}'..='\u{a4cf}',
    '\u{ac00}'..='\u{d7a3}',
    '\u{f900}'..='\u{faff}',
    '\u{fe30}'..='\u{fe6f}',
    '\u{ff00}'..='\u{ff60}',
    '\u{ffe0}'..='\u{ffe6}',
    '\u{1f300}'..='\u{1f64f}',
    '\u{1f900}'..='\u{1f9ff}',
    '\u{20000}'..='\u{3fffd}',
];

/// Combining marks that a base character may carry; more are dropped, since stacks of them reach into other lines.
const MAX_COMBINING_MARKS: usize = 2;

/// Blocks of combining marks. Source: Unicode `Blocks.txt`.
const COMBINING: &[std::ops::RangeInclusive<char>] = &[
    '\u{0300}'..='\u{036f}',
    '\u{0483}'..='\u{0489}',
    '\u{1ab0}'..='\u{1aff}',
    '\u{1dc0}'..='\u{1dff}',
    '\u{20d0}'..='\u{20ff}',
    '\u{fe20}'..='\u{fe2f}',
];

fn is_in(ranges: &[std::ops::RangeInclusive<char>], letter: char) -> bool {
    ranges.iter().any(|range| range.contains(&letter))
}

/// Columns that a character takes on a terminal.
fn letter_width(letter: char) -> usize {
    match letter {
        _ if is_in(COMBINING, letter) => 0,
        _ if is_in(WIDE, letter) => 2,
        _ => 1,
    }
}

/// Columns that a text takes on a terminal; the text must be free of control characters.
pub fn width(text: &str) -> usize {
    text.chars().map(letter_width).sum()
}

/// Untrusted text for one line of a terminal: control and invisible characters written as `\u{..}`, at most
/// `max_columns` wide, `…` where it was cut.
pub fn terminal(text: &str, max_columns: usize) -> String {
    let mut safe = String::new();
    let mut columns = 0;
    let mut marks = 0;
    for letter in text.chars() {
        marks = if is_in(COMBINING, letter) { marks + 1 } else { 0 };
        if marks > MAX_COMBINING_MARKS {
            continue;
        }
        let written = if letter.is_control() || is_in(INVISIBLE, letter) {
            letter.escape_default().to_string()
        } else {
            letter.to_string()
        };
        let needed = width(&written);
        if columns + needed > max_columns {
            return cut(safe, max_columns);
        }
        columns += needed;
        safe.push_str(&written);
    }
    safe
}

/// Shortens `text` so that it fits together with the `…` that says so.
fn cut(mut text: String, max_columns: usize) -> String {
    while width(&text) + 1 > max_columns && text.pop().is_some() {}
    if max_columns > 0 {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_moves_the_cursor_or_hides_text_comes_through() {
        let check = |text: &str, safe: &str| assert_eq!(terminal(text, 80), safe, "{text:?}");
        check("plain, with ümläuts and 漢字", "plain, with ümläuts and 漢字");
        check("\u{1b}[31mred\u{1b}]8;;http://x\u{7}", r"\u{1b}[31mred\u{1b}]8;;http://x\u{7}");
        check("a\r\nb\tc", r"a\r\nb\tc");
        check("user\u{202e}gpj.exe", r"user\u{202e}gpj.exe");
        check("zero\u{200b}width\u{feff}", r"zero\u{200b}width\u{feff}");
        check("c1\u{9b}31m", r"c1\u{9b}31m");
        check("\u{e0041}tag", r"\u{e0041}tag");
        check("x\u{0301}\u{0301}\u{0301}\u{0301}y", "x\u{0301}\u{0301}y");
    }

    #[test]
    fn what_is_too_long_is_cut_and_says_so() {
        assert_eq!(terminal("abcdef", 6), "abcdef");
        assert_eq!(terminal("abcdefg", 6), "abcde…");
        assert_eq!(terminal("漢字漢字", 5), "漢字…");
        assert_eq!(terminal("abc", 0), "");
        assert_eq!(terminal(&"\u{1b}".repeat(100_000), 20), r"\u{1b}\u{1b}\u{1b}…");
    }
}
