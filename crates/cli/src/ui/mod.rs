//! All that prints. Standard output is data, standard error is progress and diagnostics.

mod block;
mod full_screen;
mod live;
mod probe_log;
mod progress;
mod signals;

pub use full_screen::{FullScreen, Key};
pub use live::{ExperimentEnding, LiveOutput, Onlookers};
pub use probe_log::ProbeLog;
pub use progress::Console;
pub use signals::Signals;

use crate::args::Color;
use anyhow::Context;
use serde::Serialize;
use std::io::{IsTerminal, Write};
use sysdyno_record::json;
use sysdyno_report::escape;
use sysdyno_report::terminal::{Style, wrap};

/// Widest text that is printed unless `COLUMNS` asks for more: longer lines are hard to read. Unit: columns.
const MAX_COLUMNS: usize = 100;

/// How to print on this terminal.
#[derive(Clone, Copy, Debug)]
pub struct Ui {
    color: Color,
    is_quiet: bool,
}

impl Ui {
    /// A printer that colours as was asked for.
    pub fn new(color: Color) -> Ui {
        Ui { color, is_quiet: false }
    }

    /// The same, that shows no progress if none is wanted.
    pub fn quiet(self, is_quiet: bool) -> Ui {
        Ui { is_quiet, ..self }
    }

    /// Prints data. A closed pipe is not an error: whoever read it has enough.
    #[expect(clippy::unused_self, reason = "printing goes through the printer")]
    pub fn print(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(text.as_bytes());
        let _ = out.write_all(if text.ends_with('\n') { b"" } else { b"\n" });
        let _ = out.flush();
    }

    /// Prints data that need not be text, as it is.
    #[expect(clippy::unused_self, reason = "printing goes through the printer")]
    pub fn print_bytes(&self, bytes: &[u8]) {
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(bytes).and_then(|()| out.flush());
    }

    /// Prints a document as JSON.
    ///
    /// # Errors
    /// It has no JSON form.
    pub fn print_json(&self, document: &impl Serialize) -> anyhow::Result<()> {
        self.print(&json::pretty(document).context("cannot print JSON")?);
        Ok(())
    }

    /// Prints a line of data as it comes; false once nobody reads any more.
    #[expect(clippy::unused_self, reason = "printing goes through the printer")]
    pub fn try_print(&self, line: &str) -> bool {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{line}").and_then(|()| out.flush()).is_ok()
    }

    /// Prints lines of diagnostics. They may quote files and servers, so that nothing but text comes through.
    #[expect(clippy::unused_self, reason = "printing goes through the printer")]
    pub fn note(&self, text: &str) {
        let columns = terminal_size(rustix::stdio::stderr()).map(|size| size.columns);
        let mut err = std::io::stderr().lock();
        for line in text.split('\n') {
            for row in rows(&escape::terminal(line, usize::MAX), columns) {
                let _ = writeln!(err, "{row}");
            }
        }
    }

    /// Prints what a user should know of a plan.
    pub fn notes(&self, notes: &[String]) {
        notes.iter().for_each(|note| self.note(&format!("note: {note}")));
    }

    /// Prints why the program ends.
    pub fn error(&self, error: &anyhow::Error) {
        let text = causes(error);
        let hint = error.chain().find_map(|cause| hint(&cause.to_string()));
        self.note(&format!("error: {text}"));
        if let Some(hint) = hint.filter(|_| !text.contains("hint:")) {
            self.note(&format!("hint: {hint}"));
        }
    }

    /// Asks a question that is answered with yes or no; `None`: there is no terminal to ask.
    pub fn ask(&self, question: &str) -> anyhow::Result<Option<bool>> {
        if !std::io::stdin().is_terminal() {
            return Ok(None);
        }
        self.note(&format!("{question} [y/N]"));
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer).context("cannot read the answer")?;
        Ok(Some(matches!(answer.trim(), "y" | "Y" | "yes")))
    }

    /// How to draw on standard output.
    pub fn style(&self) -> Style {
        style(self.color, std::io::stdout().is_terminal(), terminal_size(rustix::stdio::stdout()))
    }

    /// How to draw on standard error.
    pub fn progress_style(&self) -> Style {
        style(self.color, std::io::stderr().is_terminal(), terminal_size(rustix::stdio::stderr()))
    }

    /// How to draw on the whole of standard output, however wide it is.
    pub fn screen_style(&self) -> Style {
        let size = terminal_size(rustix::stdio::stdout());
        let (columns, rows) = size.as_ref().map_or((80, 24), |size| (size.columns, size.rows));
        Style { width_columns: columns, rows: Some(rows), ..self.style() }
    }

    /// Columns of the terminal that progress goes to.
    pub fn progress_columns(&self) -> usize {
        terminal_size(rustix::stdio::stderr()).map_or(MAX_COLUMNS, |size| size.columns)
    }
}

/// Says what of a command line is not understood, and what to type instead where that is known.
pub fn refused(error: &clap::Error, hint: Option<&str>) -> std::process::ExitCode {
    match hint {
        // Options of similar letters and the usage would only hide what to type.
        Some(hint) => {
            let said = error.render().to_string();
            let ui = Ui::new(Color::Auto);
            ui.note(said.lines().next().unwrap_or_default());
            ui.note(&format!("hint: {hint}"));
        }
        // Help and versions are data, and come this way too; a closed pipe is not an error.
        None => drop(error.print()),
    }
    u8::try_from(error.exit_code()).unwrap_or(2).into()
}

/// An error and its causes, each said once: many say their cause themselves.
pub fn causes(error: &anyhow::Error) -> String {
    error.chain().fold(String::new(), |said, cause| match cause.to_string() {
        cause if said.is_empty() => cause,
        cause if said.contains(&cause) => said,
        cause => format!("{said}: {cause}"),
    })
}

/// A line as rows of a terminal that end at spaces, all of them indented as it is. It stays whole elsewhere.
fn rows(line: &str, columns: Option<usize>) -> Vec<String> {
    let indent = line.len() - line.trim_start_matches(' ').len();
    match columns {
        Some(columns) if escape::width(line) > columns && columns > 2 * indent => {
            let rows = wrap(line, columns - indent);
            rows.into_iter().map(|row| format!("{:indent$}{row}", "")).collect()
        }
        _ => vec![line.to_owned()],
    }
}

fn style(color: Color, is_terminal: bool, size: Option<Size>) -> Style {
    let is_unset = |name| std::env::var_os(name).is_none_or(|value| value.is_empty());
    let has_color = match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => is_terminal && is_unset("NO_COLOR"),
    };
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find(|name| !is_unset(name))
        .and_then(|name| std::env::var(name).ok());
    let has_unicode = locale.is_none_or(|locale| locale != "C" && locale != "POSIX");
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse::<usize>().ok());
    let found = size.as_ref().map_or(MAX_COLUMNS, |size| size.columns.min(MAX_COLUMNS));
    let width_columns = asked.filter(|columns| *columns > 0).unwrap_or(found);
    // A terminal is as high as it is; a pipe and a file have no end.
    Style { has_color, has_unicode, width_columns, rows: size.map(|size| size.rows) }
}

/// Size of a terminal.
struct Size {
    columns: usize,
    rows: usize,
}

/// `None`: it is no terminal, or does not say.
fn terminal_size(fd: impl rustix::fd::AsFd) -> Option<Size> {
    let size = rustix::termios::tcgetwinsize(fd).ok()?;
    let size = Size { columns: usize::from(size.ws_col), rows: usize::from(size.ws_row) };
    (size.columns > 0 && size.rows > 0).then_some(size)
}

/// What to type, for errors that have an answer.
fn hint(cause: &str) -> Option<&'static str> {
    let hints = [
        ("public address", "load your own server through its private address, or from the same host"),
        ("https is not supported", "load the plain HTTP port behind the TLS terminator, or a Unix socket"),
        ("Permission denied", "run it with sudo, or use a file or folder that this user can access"),
        ("no runs", "record one with `sysdyno demo`"),
    ];
    hints.into_iter().find(|(part, _)| cause.contains(part)).map(|(_, hint)| hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_broken_for_a_terminal_only_and_keeps_its_indent() {
        assert_eq!(rows("  one two three", Some(9)), ["  one two", "  three"]);
        assert_eq!(rows("one two three", Some(20)), ["one two three"]);
        assert_eq!(rows("one two three", None), ["one two three"]);
        assert_eq!(rows("", Some(9)), [""]);
    }
}
