//! Texts of settings: how to put one on one line, and when two of them mean the same.

/// Whether two texts of a setting mean the same: blanks and line ends do not count, and of words that are offered only
/// the one in brackets does.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    one_line(one) == one_line(other)
}

/// A text of a setting on one line; of words that are offered, the one in brackets.
pub(crate) fn one_line(text: &str) -> String {
    let in_brackets = |word: &&str| word.len() > 2 && word.starts_with('[') && word.ends_with(']');
    match text.split_whitespace().find(in_brackets) {
        Some(word) => word.trim_matches(['[', ']']).to_owned(),
        None => text.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_do_not_make_a_difference() {
        assert!(is_same("4096\t131072\t33554432\n", "4096 131072 33554432"));
        assert!(!is_same("1", "10"));
    }

    #[test]
    fn of_words_that_are_offered_the_one_in_brackets_counts() {
        assert_eq!(one_line("always defer [madvise] never"), "madvise");
    }
}
