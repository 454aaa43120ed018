//! Screens of facts and of differences.

use super::*;
use sysdyno_record::facts::{
    Fact, FactDifference, FactsComparison, HostFacts, HostUse, KnownFact, LeftOutFact,
};

fn style(width_columns: usize) -> Style {
    Style { width_columns, ..Style::default() }
}

fn facts(facts: impl IntoIterator<Item = (String, Fact)>) -> HostFacts {
    HostFacts { facts: facts.into_iter().collect() }
}

const JOURNAL: KnownFact =
    KnownFact { rule: "D01", what: "length of the journal", why: "a small one fills", source: "mke2fs(8)" };

fn difference(name: &str, a: Option<Fact>, b: Option<Fact>, known: Option<KnownFact>) -> FactDifference {
    FactDifference { name: name.into(), a, b, weight: 10, known }
}

fn comparison(differences: Vec<FactDifference>) -> FactsComparison {
    let left_out = vec![LeftOutFact { name: "kernel.boot_id".into(), reason: "random at every boot" }];
    FactsComparison { workload: HostUse::Files, differences, same_count: 1234, left_out }
}

#[test]
fn what_matters_most_comes_first_and_fits_a_screen() {
    let numbered = (0..100).map(|number| (format!("sysctl.vm.s{number:03}"), Fact::Number(1.0)));
    let texts = [
        ("cpu.model".to_owned(), Fact::Text("A CPU".into())),
        ("cpu.smt".to_owned(), Fact::Unavailable("there is none".into())),
    ];
    let others = (0..30).map(|number| (format!("kind{number:02}.x"), Fact::Number(2.0)));
    let host = facts(numbered.chain(texts).chain(others));
    let text = sheet(&host, Amount::Screen, &|name| u8::from(name == "sysctl.vm.s077"), &style(80));
    assert!(text.starts_with("cpu\n  model  A CPU\nsysctl\n"), "{text}");
    assert!(text.contains("  vm.s077  1\n") && !text.contains("vm.s078") && !text.contains("smt"), "{text}");
    let shown = text.lines().filter(|line| line.starts_with("  ")).count();
    assert_eq!(shown, FACTS_MAX, "{text}");
    assert!(
        text.ends_with(&format!(
            "{} more: --all prints all of them, --only 'cpu.*' one group\n",
            132 - FACTS_MAX
        )),
        "{text}"
    );
    let whole = sheet(&host, Amount::All, &|_| 0, &style(80));
    assert!(whole.contains("smt    – (there is none)") && whole.contains("vm.s078"), "{whole}");
}

#[test]
fn the_first_line_is_the_first_difference() {
    let journal = difference(
        "filesystem./srv.journal_bytes",
        Some(Fact::Number(33_554_432.0)),
        Some(Fact::Number(134_217_728.0)),
        Some(JOURNAL),
    );
    let odd = difference("odd.thing", None, Some(Fact::Text("x".into())), None);
    let text = differences(&comparison(vec![journal, odd]), ["one", "two"], Amount::Screen, &style(100));
    let expected = "  1  filesystem./srv.journal_bytes  A 32.0 MiB · B 128 MiB\n     \
        D01 length of the journal: a small one fills (mke2fs(8))\n  \
        2  odd.thing  A missing · B x · no rule for it\n\n\
        2 differences, ranked for work with many files; 1,234 facts are equal, 1 ignored\n\
        A is one\nB is two\n";
    assert_eq!(text, expected);
}

#[test]
fn output_is_bounded_and_says_what_is_left() {
    let many: Vec<FactDifference> = (0..30)
        .map(|number| difference(&format!("x.{number}"), None, Some(Fact::Number(1.0)), Some(JOURNAL)))
        .collect();
    let comparison = comparison(many);
    let text = differences(&comparison, ["a", "b"], Amount::Screen, &style(100));
    assert!(text.contains("30 differences, ranked for work with many files; 20 more with --all"), "{text}");
    assert_eq!(text.matches("D01 ").count(), 1, "{text}");
    assert!(text.lines().count() <= 24, "{text}");
    let all = differences(&comparison, ["a", "b"], Amount::All, &style(100));
    assert!(all.contains(" 30  x.29  ") && !all.contains("--all"), "{all}");
    assert_eq!(
        comparison_document(&comparison, ["a", "b"])["differences"].as_array().map(Vec::len),
        Some(30)
    );
}

#[test]
fn whatever_a_file_holds_stays_in_its_columns() {
    let nasty = ["\u{1b}[2J".repeat(200), "漢".repeat(500), "\n\r\t\u{202e}".repeat(50), String::new()];
    let pairs = || nasty.iter().flat_map(|name| nasty.iter().map(move |value| (name, value)));
    let host = facts(pairs().map(|(name, value)| (format!("{name}.{value}"), Fact::Text(value.clone()))));
    let found: Vec<FactDifference> = pairs()
        .map(|(name, value)| {
            difference(name, Some(Fact::Text(value.clone())), Some(Fact::Unavailable(name.clone())), None)
        })
        .collect();
    for width_columns in [60, 80, 100] {
        for has_unicode in [true, false] {
            let style = Style { width_columns, has_unicode, has_color: false, rows: None };
            let one = sheet(&host, Amount::All, &|_| 1, &style);
            let two = differences(&comparison(found.clone()), [&nasty[0], &nasty[1]], Amount::All, &style);
            for line in one.lines().chain(two.lines()) {
                assert!(escape::width(line) <= width_columns, "{width_columns}: {line}");
                assert!(
                    !line.contains(|letter: char| letter.is_control() || letter == '\u{202e}'),
                    "{line:?}"
                );
                assert!(has_unicode || line.is_ascii(), "{line}");
            }
        }
    }
}
