//! Squeezes on the terminal and as HTML without a browser, compared with files in `tests/golden`.
//!
//! What a browser makes of the page is tested in `web/test/browser`.

use crate::fixture::squeezes::{SampleSqueeze, found, hostile, void};
use crate::golden;
use sysdyno_report::html::render_squeeze as page;
use sysdyno_report::terminal::{Style, render_squeeze as screen};

/// Renders at several widths, checks what holds for every screen, and compares the one at 80 columns.
fn check(name: &str, record: &SampleSqueeze) {
    for width_columns in [80, 120] {
        let style = Style { width_columns, ..Style::default() };
        let shown = screen(&record.input(), &style);
        let lines = shown.lines().filter(|line| !line.trim_start().starts_with("Report"));
        for line in lines {
            let width = sysdyno_report::escape::width(line);
            assert!(width <= width_columns, "{name} at {width_columns}: {line}");
        }
        if width_columns == 80 {
            golden::compare(&format!("squeeze-{name}.txt"), &shown);
        }
    }
}

#[test]
fn what_limits_and_what_cannot_be_told_have_their_screens() {
    check("found", &found());
    check("void", &void());
}

#[test]
fn text_of_strangers_stays_text() {
    let record = hostile();
    let page = page(&record.input());
    assert!(!page.contains("<script>window.owned"), "it is part of the page's data only");
    check("hostile", &record);
}
