//! Lines on standard error that are drawn over in place.
//!
//! Where the terminal has become narrower, lines that were drawn before take several rows: they are counted as such, so that
//! nothing above them is touched and nothing of them stays.

use std::io::Write;
use sysdyno_report::escape;

/// What is drawn now.
#[derive(Debug, Default)]
pub struct Block {
    /// Columns of each line.
    drawn: Vec<usize>,
}

impl Block {
    /// Draws lines over those before; the cursor stays at the begin of the last one.
    pub fn draw(&mut self, lines: &[String], columns: usize) {
        let mut text = self.back(columns);
        for (number, line) in lines.iter().enumerate() {
            text.push_str(if number > 0 { "\n" } else { "" });
            text.push_str(line);
            text.push_str("\x1b[K");
        }
        text.push_str("\x1b[J\r");
        self.drawn = lines.iter().map(|line| visible_columns(line)).collect();
        write(&text);
    }

    /// Takes them away.
    pub fn clear(&mut self, columns: usize) {
        if !self.drawn.is_empty() {
            write(&format!("{}\x1b[J", self.back(columns)));
            self.drawn.clear();
        }
    }

    /// To the begin of the first line, on a terminal that is so wide now.
    fn back(&self, columns: usize) -> String {
        let rows = |width: &usize| width.div_ceil(columns.max(1)).max(1);
        // The cursor is in the first row of the last line.
        let above = self.drawn.split_last().map_or(0, |(_, before)| before.iter().map(rows).sum::<usize>());
        if above > 0 { format!("\r\x1b[{above}A") } else { "\r".to_owned() }
    }
}

/// A closed standard error costs the progress, not the run.
fn write(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Columns of a line without its escape sequences, which end in `m`.
fn visible_columns(line: &str) -> usize {
    let mut parts = line.split('\u{1b}');
    let first = parts.next().map_or(0, escape::width);
    first + parts.map(|part| part.split_once('m').map_or(0, |(_, text)| escape::width(text))).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrower_terminal_has_more_rows_to_go_back() {
        let block = Block { drawn: vec![79, 10, 79] };
        assert_eq!(block.back(80), "\r\x1b[2A");
        assert_eq!(block.back(40), "\r\x1b[3A");
        assert_eq!(Block { drawn: vec![79] }.back(80), "\r");
        assert_eq!(Block::default().back(0), "\r");
    }

    #[test]
    fn colors_take_no_columns() {
        assert_eq!(visible_columns("\u{1b}[1mrate\u{1b}[0m ▁▂"), 7);
    }
}
