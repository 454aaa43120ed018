//! Comparison with files of expected output.

use std::path::Path;

/// Compares `actual` with `tests/golden/NAME`, or writes it there if `UPDATE_EXPECT` is set.
pub fn compare(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, actual).expect("the golden file can be written");
        return;
    }
    let expected = std::fs::read_to_string(&path).expect("the golden file exists; UPDATE_EXPECT=1 makes it");
    assert!(actual == expected, "{name} differs\n--- expected\n{expected}\n--- actual\n{actual}");
}

/// `text` without its escape sequences of the form `ESC [ … m`.
pub fn without_escapes(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str(part.split_once('m').map_or("", |(_, after)| after));
    }
    plain
}
