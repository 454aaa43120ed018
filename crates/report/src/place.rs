//! Where the report of a run is, or its folder where there is no report.

use crate::escape;
use crate::terminal::{Style, Tone};
use std::path::Path;

/// The last row of a screen.
pub(crate) fn row(style: &Style, folder: &Path, has_report: bool) -> String {
    let (label, path) = match has_report {
        true => ("Report", folder.join("report.html")),
        false => ("Record", folder.to_owned()),
    };
    let path = escape::terminal(&path.to_string_lossy(), 4096);
    format!("  {}    {}", style.dress(Tone::Quiet, label), style.characters(&path))
}
