//! Patterns for fact names: `*` matches any characters, dots included; everything else matches itself.

/// Whether a name is meant by a pattern. Takes at most pattern times name steps, whatever they hold.
pub fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut at, mut seen) = (0, 0);
    // Where the last star is, and up to where it has taken characters.
    let mut star: Option<(usize, usize)> = None;
    while seen < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, seen));
                at += 1;
            }
            Some(letter) if *letter == name[seen] => {
                at += 1;
                seen += 1;
            }
            _ => {
                let Some((place, taken)) = star else { return false };
                star = Some((place, taken + 1));
                at = place + 1;
                seen = taken + 1;
            }
        }
    }
    pattern[at..].iter().all(|letter| *letter == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, name) in [
            ("cpu.model", "cpu.model"),
            ("filesystem.*.journal_bytes", "filesystem./srv/a.b.journal_bytes"),
            ("*", ""),
            ("*", "x"),
            ("a*b*c", "a--b--b--c"),
            ("nic.*", "nic."),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("cpu.model", "cpu.models"),
            ("cpu.model", "cpu.mode"),
            ("a*b", "a--b-"),
            ("", "x"),
            ("*.x", "x"),
        ] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
        assert!(!matches(&"*a".repeat(200), &"b".repeat(20_000)));
    }
}
