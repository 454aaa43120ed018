//! Where a run's report is, or its folder if it has no report.

use crate::terminal::Screen;
use sysdyno_record::view::FolderView;

/// The last row of a screen.
pub(crate) fn draw(folder: &FolderView, screen: &mut Screen) {
    let (label, path) = match folder.has_report {
        true => ("Report", folder.path.join("report.html")),
        false => ("Record", folder.path.to_owned()),
    };
    screen.path(label, &path.to_string_lossy());
}
