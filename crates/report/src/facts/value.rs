//! Formats facts: numbers by the unit in their name, lists by the elements in which they differ.

use crate::number;
use std::collections::BTreeSet;
use sysdyno_record::facts::Fact;

/// Whole numbers from here on are not exact. Source: mantissa of IEEE 754 binary64.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
/// A text of at least so many words is a list, of which only what differs is shown.
const LIST_WORDS: usize = 3;

/// A fact by its name. Untrusted.
pub(super) fn shown(name: &str, fact: &Fact) -> String {
    match fact {
        Fact::Number(value) if name.ends_with("_bytes") && is_whole(*value) && *value >= 0.0 => {
            bytes(*value as u64)
        }
        Fact::Number(value) => exact(*value),
        Fact::Text(text) if text.is_empty() => "(empty)".to_owned(),
        Fact::Text(text) => text.clone(),
        Fact::Unavailable(reason) => format!("{} ({reason})", number::MISSING),
    }
}

/// Both values of a difference, so written that they can be told apart. Untrusted.
pub(crate) fn pair(name: &str, a: Option<&Fact>, b: Option<&Fact>) -> [String; 2] {
    if let (Some(Fact::Text(one)), Some(Fact::Text(other))) = (a, b)
        && let Some(apart) = words_apart(one, other)
    {
        return apart;
    }
    let side = |fact: Option<&Fact>| fact.map_or_else(|| "missing".to_owned(), |fact| shown(name, fact));
    match (a, b) {
        (Some(Fact::Number(one)), Some(Fact::Number(other))) if side(a) == side(b) => {
            [exact(*one), exact(*other)]
        }
        _ => [side(a), side(b)],
    }
}

/// Short lengths, such as those of packets, are written as they are.
fn bytes(value: u64) -> String {
    let is_short = value < 1 << 20 && !value.is_multiple_of(1024);
    if is_short { format!("{} B", number::count(value)) } else { number::bytes(value) }
}

fn is_whole(value: f64) -> bool {
    value.fract() == 0.0 && value.abs() < EXACT_MAX
}

fn exact(value: f64) -> String {
    match value {
        _ if !is_whole(value) => value.to_string(),
        _ if value < 0.0 => format!("-{}", number::count(-value as u64)),
        _ => number::count(value as u64),
    }
}

/// Of two lists of words, what each has more than the other; `None`: they are no lists, or only their order differs.
fn words_apart(a: &str, b: &str) -> Option<[String; 2]> {
    let words = |text: &str| -> BTreeSet<String> {
        text.split([' ', ',']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let (a, b) = (words(a), words(b));
    let are_lists = a.len().min(b.len()) >= LIST_WORDS && a.intersection(&b).count() >= LIST_WORDS;
    if !are_lists || a == b {
        return None;
    }
    let more = |one: &BTreeSet<String>, other: &BTreeSet<String>| {
        let words: Vec<&str> = one.difference(other).map(String::as_str).collect();
        if words.is_empty() { "nothing else".to_owned() } else { format!("also {}", words.join(" ")) }
    };
    Some([more(&a, &b), more(&b, &a)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_unit_of_their_name() {
        let number = |name, value| shown(name, &Fact::Number(value));
        assert_eq!(number("filesystem.root.journal_bytes", 33_554_432.0), "32.0 MiB");
        assert_eq!(number("sysctl.net.core.somaxconn", 4096.0), "4,096");
        assert_eq!(number("load.1min_tasks", 0.25), "0.25");
        assert_eq!(number("nic.eth0.mtu_bytes", 1500.0), "1,500 B");
        assert_eq!(number("x_bytes", -1.0), "-1");
        assert!(number("x_bytes", 1e300).starts_with("1000"));
        assert_eq!(shown("x", &Fact::Unavailable("why".into())), "– (why)");
    }

    #[test]
    fn values_that_differ_are_never_written_alike() {
        let number = |value| Some(Fact::Number(value));
        let pair = |a: Option<Fact>, b: Option<Fact>| pair("memory.total_bytes", a.as_ref(), b.as_ref());
        assert_eq!(
            pair(number(17_179_869_184.0), number(17_179_869_188.0)),
            ["17,179,869,184", "17,179,869,188"]
        );
        assert_eq!(pair(number(1024.0), None), ["1.00 KiB", "missing"]);
        let text = |text: &str| Some(Fact::Text(text.into()));
        let options = pair(text("rw,relatime,data=ordered,discard"), text("rw,noatime,data=ordered,discard"));
        assert_eq!(options, ["also relatime", "also noatime"]);
        assert_eq!(pair(text("a b c"), text("a b c d")), ["nothing else", "also d"]);
        assert_eq!(pair(text("a b c"), text("c b a")), ["a b c", "c b a"]);
    }
}
