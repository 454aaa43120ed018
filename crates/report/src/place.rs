//! Where the report of a run is, or its folder where there is no report.

use crate::terminal::Screen;
use std::path::Path;

/// The last row of a screen.
pub(crate) fn draw(folder: &Path, has_report: bool, screen: &mut Screen) {
    let (label, path) = match has_report {
        true => ("Report", folder.join("report.html")),
        false => ("Record", folder.to_owned()),
    };
    screen.path(label, &path.to_string_lossy());
}
