//! One line per sample, in columns that dstat users know.

use super::groups::{CellForm, CellValue, WatchColumn, WatchSection, sections};
use super::selection::{WatchGroup, WatchSelection};
use crate::escape;
use crate::number::MISSING;
use crate::terminal::{Style, Tone};
use sysdyno_record::live::HostFrame;

/// The head of the column of hosts, and the most columns that it takes.
const HOST: &str = "host";
const HOST_COLUMNS_MAX: usize = 24;

/// The columns that were asked for, in the order in which they are shown.
pub struct WatchColumns {
    /// Columns of a host's name; 0: there is only this host.
    host_columns: usize,
    sections: Vec<WatchSection>,
}

impl std::fmt::Debug for WatchColumns {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_list().entries(self.sections.iter().map(|section| &section.title)).finish()
    }
}

impl WatchColumns {
    /// The columns of these groups.
    pub fn new(groups: &[WatchGroup], selection: &WatchSelection) -> WatchColumns {
        let sections = groups.iter().flat_map(|group| sections(*group, selection)).collect();
        WatchColumns { host_columns: 0, sections }
    }

    /// The same for hosts of these names, which each line begins with; without any, for this host.
    pub fn of_hosts(self, names: &[String]) -> WatchColumns {
        let columns = names.iter().map(|name| escape::terminal(name, HOST_COLUMNS_MAX).chars().count()).max();
        WatchColumns { host_columns: columns.map_or(0, |columns| columns.max(HOST.len())), ..self }
    }

    /// The cell of a host's name, with what parts it from the others.
    fn host(&self, name: &str) -> String {
        match self.host_columns {
            0 => String::new(),
            columns => format!("{:<columns$} ", escape::terminal(name, columns)),
        }
    }

    /// The two lines above: titles, then heads.
    pub fn header(&self, style: &Style) -> [String; 2] {
        let shown = self.shown(style);
        let title = |section: &WatchSection| {
            let columns = width(section);
            let title = escape::terminal(&section.title, columns);
            format!("{title:-^columns$}")
        };
        let heads = |section: &WatchSection| {
            let head = |column: &WatchColumn| {
                let columns = column.form.columns();
                format!("{:>columns$}", escape::terminal(&column.head, columns))
            };
            section.columns.iter().map(head).collect::<Vec<String>>().join(" ")
        };
        let cut = if shown.len() < self.sections.len() { ">" } else { "" };
        let titles = self.host("") + &shown.iter().map(title).collect::<Vec<String>>().join(" ") + cut;
        let heads = self.host(HOST) + &shown.iter().map(heads).collect::<Vec<String>>().join("|") + cut;
        [titles, heads].map(|line| style.dress(Tone::Strong, &style.characters(&line)))
    }

    /// The line of a sample of a host; `None`: of this one.
    pub fn line(&self, host: Option<&str>, frame: &HostFrame, style: &Style) -> String {
        let section = |section: &WatchSection| {
            let cell = |column: &WatchColumn| cell(column, frame, style);
            section.columns.iter().map(cell).collect::<Vec<String>>().join(" ")
        };
        let sections = self.shown(style).iter().map(section).collect::<Vec<String>>().join("|");
        style.characters(&self.host(host.unwrap_or_default())) + &sections
    }

    /// The first line of a CSV file.
    pub fn csv_header(&self) -> String {
        let name = |section: &WatchSection, column: &WatchColumn| {
            quoted(&format!("{} {}", section.title, column.head))
        };
        let names = self
            .sections
            .iter()
            .flat_map(|section| section.columns.iter().map(|column| name(section, column)));
        let host = (self.host_columns > 0).then(|| HOST.to_owned());
        std::iter::once("time".to_owned()).chain(host).chain(names).collect::<Vec<String>>().join(",")
    }

    /// The line of a sample in a CSV file: seconds since 1970, the host if it was named, then all values as they are, shares in percent.
    pub fn csv_line(&self, host: Option<&str>, frame: &HostFrame) -> String {
        let value = |column: &WatchColumn| match (column.read)(frame) {
            CellValue::Number(None) => String::new(),
            CellValue::Number(Some(number)) if column.form == CellForm::Percent => {
                format!("{:.3}", number * 100.0)
            }
            CellValue::Number(Some(number)) => format!("{number:.3}"),
            CellValue::Text(text) => quoted(&escape::terminal(&text, usize::MAX)),
        };
        let values = self.sections.iter().flat_map(|section| section.columns.iter().map(value));
        let seconds = format!("{:.3}", frame.unix_ns.0 as f64 / 1e9);
        let host = host.filter(|_| self.host_columns > 0);
        let host = host.map(|name| quoted(&escape::terminal(name, usize::MAX)));
        std::iter::once(seconds).chain(host).chain(values).collect::<Vec<String>>().join(",")
    }

    /// Sections that a terminal has room for; a file has room for all.
    fn shown(&self, style: &Style) -> &[WatchSection] {
        if style.rows.is_none() {
            return &self.sections;
        }
        let mut left = style.width().saturating_sub(self.host("").len());
        let fits = |section: &&WatchSection| {
            let needed = width(section) + 1;
            let is_room = needed <= left + 1;
            left = left.saturating_sub(needed);
            is_room
        };
        let count = self.sections.iter().take_while(fits).count();
        &self.sections[..count.max(1).min(self.sections.len())]
    }
}

/// Columns of a section, its gaps included.
fn width(section: &WatchSection) -> usize {
    let columns: usize = section.columns.iter().map(|column| column.form.columns()).sum();
    columns + section.columns.len().saturating_sub(1)
}

fn cell(column: &WatchColumn, frame: &HostFrame, style: &Style) -> String {
    let columns = column.form.columns();
    let (text, tone) = match (column.read)(frame) {
        CellValue::Text(text) => (style.characters(&escape::terminal(&text, columns)), Tone::Plain),
        CellValue::Number(None) => (style.characters(MISSING), Tone::Quiet),
        CellValue::Number(Some(number)) => written(column.form, number),
    };
    // Only what has a tone is dressed: a plain cell is plain text.
    style.dress(tone, &format!("{text:>columns$}"))
}

/// A number in its places.
fn written(form: CellForm, number: f64) -> (String, Tone) {
    let text = match form {
        CellForm::Percent => format!("{:.0}", (number * 100.0).clamp(0.0, 100.0)),
        CellForm::Bytes => short(number, 1024.0),
        CellForm::Count | CellForm::Loss | CellForm::Text(_) => short(number, 1000.0),
    };
    let tone = match form {
        CellForm::Loss if number > 0.0 => Tone::Doubtful,
        _ if text == "0" => Tone::Quiet,
        _ => Tone::Plain,
    };
    (text, tone)
}

/// A number in at most four places and a letter: `0`, `87`, `9.4k`, `120M`.
pub(super) fn short(number: f64, base: f64) -> String {
    if !number.is_finite() {
        return MISSING.to_owned();
    }
    let (mut scaled, mut unit) = (number.max(0.0), "");
    for next in ["k", "M", "G", "T", "P", "E", "Z"] {
        if scaled < 999.5 {
            break;
        }
        (scaled, unit) = (scaled / base, next);
    }
    match scaled < 9.95 && !unit.is_empty() {
        true => format!("{scaled:.1}{unit}"),
        false => format!("{scaled:.0}{unit}"),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fit_into_their_places() {
        let check = |number: f64, base: f64, text: &str| {
            assert_eq!(short(number, base), text);
            assert!(text.len() <= 5);
        };
        check(0.0, 1000.0, "0");
        check(0.4, 1000.0, "0");
        check(999.4, 1000.0, "999");
        check(999.6, 1000.0, "1.0k");
        check(12_345.0, 1000.0, "12k");
        check(1024.0 * 1024.0 * 9.9, 1024.0, "9.9M");
        check(1020.0 * 1024.0, 1024.0, "1.0M");
        check(f64::NAN, 1024.0, "–");
    }
}
