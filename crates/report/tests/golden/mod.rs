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

/// Words of a text, however it is broken into lines.
fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// Whether a text has all of a sentence, however it is broken into lines.
fn has_sentence(text: &str, sentence: &str) -> bool {
    let (text, sentence) = (words(text), words(sentence));
    sentence.is_empty() || text.windows(sentence.len()).any(|window| window == sentence)
}

/// Checks a screen without an end: nothing is cut, and the answer is whole.
pub fn check_whole(name: &str, screen: &str, headline: &str) {
    assert!(!screen.contains('…'), "{name}:\n{screen}");
    assert!(has_sentence(screen, headline), "{name}: {headline}\n{screen}");
}

/// Checks a screen on a terminal of 24 rows: it fits above the prompt, or ends with what it began with and the limit.
pub fn check_low(name: &str, screen: &str, limit: &str) {
    assert!(!screen.contains('…'), "{name}:\n{screen}");
    let lines: Vec<&str> = screen.lines().collect();
    if lines.len() < 24 {
        return;
    }
    let again = lines.iter().rposition(|line| line.is_empty()).expect("the answer is set apart");
    assert_eq!(lines[again + 1], lines[0], "{name}:\n{screen}");
    assert!(has_sentence(&lines[again..].join("\n"), limit), "{name}: {limit}\n{screen}");
    assert!(lines.len() - again < 12, "{name}:\n{screen}");
}
